package kernels

// This file defines the row `pipe`: a fused chain of elementwise operators and the reductions that
// read it, in one pass over memory and without storing what is between them. The reductions are in
// pipe_fold.go, the chain's execution in fused_run.go, how pipelines and maps run as loops in
// fused_loop.go.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/reduce"
)

// pipeRow is the row. Its attributes are those of map, the shape of the index space and, in fold,
// the names of the reductions. With one name the result is that reduction's, with several it is a
// tuple of theirs; the first of several may be `store`, the elements themselves. Reductions of rows
// and of columns do not mix.
func pipeRow(run *engine) *op.Def {
	return &op.Def{
		Name:   "pipe",
		Role:   op.Reduces,
		Hidden: true,
		Doc:    "pipe reduces a chain of elementwise operators over one index space in one pass over memory; fusion makes it.",
		Args:   []op.Arg{{Name: "x", Rest: true}},
		// The result's type belongs to the node: it follows from the body, which a type rule does
		// not see.
		Type: func(s *op.Sig) (types.Type, error) {
			return types.Type{}, op.Faultf(-1, define.CodeKind, "`pipe` has the type that its node says")
		},
		Ref:   pipeRef,
		Laws:  op.Pure,
		Flow:  op.Flow{Rate: op.Once},
		Nests: pipeNests,
		Shard: op.Shard{Kind: op.ShardWhole}, // Partition cuts it as its reduction is cut
		Cost:  pipeCost,
		// As in map. Results of reductions are written when the elements that they are of have been
		// made.
		Alias: true,
		Kernel: func(c *op.Call) error {
			lendResults(c)
			j, err := pipeJob(c)
			if err != nil {
				return err
			}
			return run.whole(c, j)
		},
		Loop: &op.Loop{
			Rows: func(s *op.Sig, _ types.Type) int { return s.Attrs.Int("rows") },
			Space: func(c *op.Call) (n, leaf int) {
				j, err := pipeJob(c)
				if err != nil {
					return 0, 1
				}
				return j.space()
			},
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				lendResults(c)
				j, err := pipeJob(c)
				if err != nil {
					return nil, err
				}
				return run.begin(c, j, workers), nil
			},
		},
	}
}

func pipeCost(s *op.Sig, out types.Type) op.Work {
	n := float64(s.Attrs.Int("rows")) * float64(s.Attrs.Int("cols"))
	w := define.ReadCost(s, 0)
	w.Flops = 8 * n
	if out.Kind == types.Tuple {
		for _, f := range out.Ext.Fields {
			w.Bytes += float64(f.Type.Bytes())
			w.Flops += 4 * n
		}
	}
	return w
}

// job is what an execution works on: a program over an index space, and what becomes of its
// elements.
type job struct {
	p          *op.Program
	in         []value.Value
	rows, cols int
	elem       types.Elem
	out        *value.Dense // where the elements are stored; nil: they are not
	ends       []ending
	alias      bool   // out may be the memory of an operand
	from       offset // of the index space in those of constructors
	fold       string // the names of the reductions
}

// ending is a reduction of the elements of a job.
type ending struct {
	*reduce.Fold
	at     int          // of several results
	out    *value.Dense // of reductions along an axis, and of accumulators
	result types.Type
}

// axis is what the reductions go over; those over all elements go along with any.
func (j *job) axis() reduce.Axis {
	for k := range j.ends {
		if a := j.ends[k].Axis; a != reduce.OverAll {
			return a
		}
	}
	return reduce.OverAll
}

func pipeJob(c *op.Call) (job, error) {
	if c.Body == nil {
		return job{}, op.Failf(define.CodeData, "pipe without a body")
	}
	folds, ok := foldsNamed(c.Attrs.Str("fold"))
	if !ok {
		return job{}, op.Failf(define.CodeData, "BUG: no pipeline ends with %q", c.Attrs.Str("fold"))
	}
	j := job{p: c.Body, in: c.In, rows: c.Attrs.Int("rows"), cols: c.Attrs.Int("cols"), elem: c.Body.Elem(), from: placeOf(c), fold: c.Attrs.Str("fold"),
		ends: make([]ending, 0, len(folds))}
	if c.Type.Kind != types.Tuple {
		out, _ := c.Out.(*value.Dense)
		j.ends = append(j.ends, ending{Fold: folds[0], result: c.Type, out: out})
		return j, nil
	}
	lent, _ := c.Out.(value.Tuple)
	for k, f := range folds {
		e := ending{Fold: f, at: k, result: c.Type.Ext.Fields[k].Type}
		if lent != nil {
			e.out, _ = lent[k].(*value.Dense)
		}
		if f != nil {
			j.ends = append(j.ends, e)
		} else if j.out = e.out; j.out != nil && j.rows > 0 && j.cols > 0 {
			j.alias = lendsMemory(c.In, j.out)
		}
	}
	return j, nil
}

// lendResults makes the memory of several results where nobody has lent it: in calls outside of an
// engine.
func lendResults(c *op.Call) {
	if c.Type.Kind != types.Tuple || c.Out != nil {
		return
	}
	out := make(value.Tuple, len(c.Type.Ext.Fields))
	for k, f := range c.Type.Ext.Fields {
		if f.Type.Sized() {
			out[k] = value.New(f.Type.Elem, f.Type.Rows, f.Type.Cols)
		}
	}
	c.Out = out
}

// give sets the result of an ending that is no lent matrix.
func (x *ending) give(c *op.Call, v value.Value) {
	if t, ok := c.Out.(value.Tuple); ok {
		t[x.at] = v
		return
	}
	c.Out = v
}

// pipeRef is the chain stored, then the definitions of the reductions.
func pipeRef(c *op.Call) (value.Value, error) {
	j, err := pipeJob(c)
	if err != nil {
		return nil, err
	}
	y, err := mapRef(&op.Call{Def: c.Def, Attrs: c.Attrs, In: c.In, Body: c.Body, Type: types.DenseOf(j.elem, j.rows, j.cols)})
	if err != nil {
		return nil, err
	}
	if c.Type.Kind != types.Tuple {
		return j.ends[0].ref(y)
	}
	out := make(value.Tuple, len(c.Type.Ext.Fields))
	out[0] = y // if it is a result
	for k := range j.ends {
		if out[j.ends[k].at], err = j.ends[k].ref(y); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (x *ending) ref(y value.Value) (value.Value, error) {
	return x.Def.Ref(&op.Call{Def: x.Def, In: []value.Value{y}, Type: x.result})
}

// whole runs a job on the calling worker.
func (e *engine) whole(c *op.Call, j job) error {
	if j.rows == 0 || j.cols == 0 {
		return j.empty(c)
	}
	x := e.begin(c, j, 1)
	var err error
	if j.byColumns() {
		err = x.Chunk(0, 0, j.groups())
	} else {
		err = x.worker(0).work(x, area{0, j.rows, 0, j.cols})
	}
	if end := x.End(); err == nil {
		err = end
	}
	return err
}

// empty reduces an index space without elements: each reduction says what it is of nothing.
func (j *job) empty(c *op.Call) error {
	nothing := []value.Value{value.New(j.elem, j.rows, j.cols)}
	for k := range j.ends {
		x := &j.ends[k]
		call := op.Call{Def: x.Def, In: nothing, Type: x.result}
		if x.out != nil {
			call.Out = x.out
		}
		if err := x.Def.Kernel(&call); err != nil {
			return err
		}
		x.give(c, call.Out)
	}
	return nil
}
