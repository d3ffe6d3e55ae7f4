package kernels

// This file defines the row `pipe`: a fused chain of elementwise operators and the reduction that reads it, in one pass
// over memory and without storing what is between them; and how pipelines, maps and reductions run as loops. The
// reductions are in pipe_fold.go, the chain's execution in fused_run.go.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// pipeRow is the row. Its attributes are those of map, the shape of the index space and the name of the reduction.
func pipeRow(run *engine) *op.Def {
	return &op.Def{
		Name:   "pipe",
		Hidden: true,
		Doc:    "pipe reduces a chain of elementwise operators over one index space without storing it; fusion makes it.",
		Args:   []op.Arg{{Name: "x", Rest: true}},
		// The result's type belongs to the node: it follows from the body, which a type rule does not see.
		Type: func(s *op.Sig) (types.Type, error) {
			return types.Type{}, op.Faultf(-1, codeKind, "`pipe` has the type that its node says")
		},
		Ref:   pipeRef,
		Laws:  op.Pure,
		Flow:  op.Flow{Rate: op.Once},
		Shard: op.Shard{Kind: op.ShardWhole}, // Partition cuts it as its reduction is cut
		Cost:  pipeCost,
		Kernel: func(c *op.Call) error {
			j, err := pipeJob(c)
			if err != nil {
				return err
			}
			return run.whole(c, j)
		},
		Loop: &op.Loop{
			Space: func(c *op.Call) (n, leaf int) {
				j, err := pipeJob(c)
				if err != nil {
					return 0, 1
				}
				return j.space()
			},
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
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
	w := readCost(s, 0)
	w.Flops = 8 * n
	return w
}

// job is what an execution works on: a program over an index space, and what becomes of its elements.
type job struct {
	p          *op.Program
	in         []value.Value
	rows, cols int
	fold       *fold // nil: they are stored
	elem       types.Elem
	out        *value.Dense // of a map, and of reductions along an axis
	result     types.Type
	alias      bool // out may be the memory of an operand
}

func pipeJob(c *op.Call) (job, error) {
	if c.Body == nil {
		return job{}, op.Failf(codeData, "pipe without a body")
	}
	f := foldNamed(c.Attrs.Str("fold"))
	if f == nil {
		return job{}, op.Failf(codeData, "BUG: no pipeline ends with %q", c.Attrs.Str("fold"))
	}
	j := job{p: c.Body, in: c.In, rows: c.Attrs.Int("rows"), cols: c.Attrs.Int("cols"), fold: f,
		elem: c.Body.Elem(), result: c.Type}
	j.out, _ = c.Out.(*value.Dense)
	return j, nil
}

// pipeRef is the chain stored, then the definition of the reduction.
func pipeRef(c *op.Call) (value.Value, error) {
	j, err := pipeJob(c)
	if err != nil {
		return nil, err
	}
	y, err := mapRef(&op.Call{Def: c.Def, In: c.In, Body: c.Body, Type: types.DenseOf(j.elem, j.rows, j.cols)})
	if err != nil {
		return nil, err
	}
	return j.fold.def.Ref(&op.Call{Def: j.fold.def, In: []value.Value{y}, Type: c.Type})
}

// whole runs a job on the calling worker.
func (e *engine) whole(c *op.Call, j job) error {
	if j.rows == 0 || j.cols == 0 {
		if j.fold == nil {
			return nil
		}
		empty := *c
		empty.Def, empty.In, empty.Attrs = j.fold.def, []value.Value{value.New(j.elem, j.rows, j.cols)}, nil
		err := j.fold.def.Kernel(&empty)
		c.Out = empty.Out
		return err
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
