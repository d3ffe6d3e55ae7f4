package kernels

// This file defines the row `byrows`: operators of which each row of a result follows from the same row of the operands, run
// block of rows by block of rows. What is between them stays in a cache: a softmax reads its matrix from memory once and
// writes its result once.

import (
	"strings"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// byRows is the row. Its body is the operators on whole matrices; its attributes are their number of rows, that of columns of
// the widest, and the number of rows of a block. Its attribute held is 0 for each argument in whose memory a
// result may lie: one that has been read, in a block, before any result of its type is written. An argument of as many rows is read by rows, any other as a whole. Operators of a body may not fail. A pipe may
// reduce all elements, too; what it gives is there when all blocks are done, so that nothing in the body reads it.
func byRows() *op.Def {
	return &op.Def{
		Name:   "byrows",
		Hidden: true,
		Doc:    "byrows runs reductions of rows and what is made of their results by blocks of rows; the pass row-blocks makes it.",
		Args:   []op.Arg{{Name: "x", Rest: true}},
		Type:   define.OwnType,
		Ref: func(c *op.Call) (value.Value, error) {
			out, err := c.Bodies[0].Eval(c.In, c)
			if err != nil || c.Type.Kind == types.Tuple {
				return value.Tuple(out), err
			}
			return out[0], nil
		},
		Laws:  op.Pure,
		Flow:  op.Flow{Rate: op.Once},
		Shard: op.Shard{Kind: op.ShardWhole},
		Alias: true, // of the arguments for which the attribute held is 0
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := define.ReadCost(s, 0)
			w.Flops = 16 * float64(s.Attrs.Int("rows")) * float64(s.Attrs.Int("cols"))
			w.Bytes += float64(out.Bytes())
			return w
		},
		Kernel: func(c *op.Call) error {
			lendResults(c)
			x := newRowBlocks(c, 1)
			if err := x.Chunk(0, 0, x.rows); err != nil {
				return err
			}
			return x.End()
		},
		Loop: &op.Loop{
			Space: func(c *op.Call) (n, leaf int) {
				return c.Attrs.Int("rows"), c.Attrs.Int("block")
			},
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				lendResults(c)
				return newRowBlocks(c, workers), nil
			},
		},
	}
}

// rowBlocks is one execution.
type rowBlocks struct {
	c       *op.Call
	body    *op.Body
	rows    int
	height  int            // of a block
	yield   []*value.Dense // of each register: the result that it is, or nil
	full    []rowStep      // the actions on a block
	last    []rowStep      // on the one at the end, if that is less high
	totals  []rowTotal
	workers []*rowWorker
}

// rowTotal is a reduction of all elements: of a block register reg is the accumulator.
type rowTotal struct {
	ending
	reg  int
	acc  types.Type
	n    int // elements in all
	pipe int // the action
}

// rowStep is what an action of the body is on a block.
type rowStep struct {
	attrs *op.Attrs
	typ   types.Type
}

// rowWorker is the memory of one worker.
type rowWorker struct {
	reg    []value.Value
	window []value.Dense // of each register, over the matrix or result that it is a part of
	own    []*value.Dense
	parts  []value.Tuple
	totals []*value.Dense
	call   op.Call
	in     []value.Value
}

func newRowBlocks(c *op.Call, workers int) *rowBlocks {
	x := &rowBlocks{c: c, body: c.Bodies[0], rows: c.Attrs.Int("rows"), height: c.Attrs.Int("block"), workers: make([]*rowWorker, workers)}
	b := x.body
	x.yield = make([]*value.Dense, len(b.Args)+len(b.Acts))
	lent, several := c.Out.(value.Tuple)
	at := make(map[int]int, len(b.Yields))
	for k, r := range b.Yields {
		if at[r] = k; several {
			x.yield[r], _ = lent[k].(*value.Dense)
		} else {
			x.yield[r], _ = c.Out.(*value.Dense)
		}
	}
	x.total(at)
	x.full = x.steps(x.height)
	if h := x.rows % x.height; h > 0 {
		x.last = x.steps(h)
	}
	return x
}

// total finds the reductions of all elements; at is the result that a register is.
func (x *rowBlocks) total(at map[int]int) {
	b := x.body
	for k := range b.Acts {
		a := &b.Acts[k]
		if a.Def.Name != "pipe" {
			continue
		}
		folds, _ := foldsNamed(a.Attrs.Str("fold"))
		for i, f := range folds {
			if f == nil || f.axis != overAll {
				continue
			}
			r := len(b.Args) + k
			if len(folds) > 1 {
				r = x.partOf(r, i)
			}
			e := a.Chain.Elem()
			x.totals = append(x.totals, rowTotal{ending: ending{fold: f, at: at[r], result: b.Register(r)}, reg: r, acc: f.w.acc(e),
				n: a.Attrs.Int("rows") * a.Attrs.Int("cols"), pipe: k})
		}
	}
}

// partOf is the register of result i of register r.
func (x *rowBlocks) partOf(r, i int) int {
	b := x.body
	for k := range b.Acts {
		if p := &b.Acts[k]; p.Def.Control == op.Part && p.Args[0] == r && p.Attrs.Int("at") == i {
			return len(b.Args) + k
		}
	}
	panic("BUG: nothing stands for a result of a pipe in a body by rows")
}

// steps is the actions on blocks of that many rows.
func (x *rowBlocks) steps(height int) []rowStep {
	out := make([]rowStep, len(x.body.Acts))
	for k := range out {
		a := &x.body.Acts[k]
		out[k] = rowStep{a.Attrs, x.high(a.Type, height)}
		if _, has := a.Attrs.Get("rows"); has {
			out[k].attrs = a.Attrs.With("rows", op.Int(height))
		}
	}
	for i := range x.totals { // of a block there is a partial result
		t := &x.totals[i]
		s := &out[t.pipe]
		names := strings.Fields(s.attrs.Str("fold"))
		if s.typ.Kind != types.Tuple {
			s.typ = t.acc
			names[0] = t.def.Shard.Partial
		} else {
			k := x.body.Acts[t.reg-len(x.body.Args)].Attrs.Int("at")
			names[k] = t.def.Shard.Partial
			var ts []types.Type
			for j, f := range s.typ.Ext.Fields {
				if j == k {
					f.Type = t.acc
				}
				ts = append(ts, f.Type)
			}
			s.typ = types.TupleOf(ts...)
		}
		s.attrs = s.attrs.With("fold", op.Str(strings.Join(names, " ")))
	}
	return out
}

// high is the part of that many rows of a t.
func (x *rowBlocks) high(t types.Type, height int) types.Type {
	if t.Kind == types.Tuple {
		var ts []types.Type
		for _, f := range t.Ext.Fields {
			ts = append(ts, x.high(f.Type, height))
		}
		return types.TupleOf(ts...)
	}
	if t.IsDense() && t.Rows == x.rows {
		t.Rows = height
	}
	return t
}

// worker is the memory of worker k: made when it first has a chunk.
func (x *rowBlocks) worker(k int) *rowWorker {
	if w := x.workers[k]; w != nil {
		return w
	}
	b := x.body
	n := len(b.Args) + len(b.Acts)
	w := &rowWorker{reg: make([]value.Value, n), window: make([]value.Dense, n), own: make([]*value.Dense, n), parts: make([]value.Tuple, n)}
	for k := range b.Acts {
		r := len(b.Args) + k
		switch a := &b.Acts[k]; {
		case a.Type.Kind == types.Tuple:
			w.parts[r] = make(value.Tuple, len(a.Type.Ext.Fields))
			for i := range b.Acts { // its results lie where the actions that stand for them do
				if p := &b.Acts[i]; p.Def.Control == op.Part && p.Args[0] == r {
					w.room(x, len(b.Args)+i, p.Type)
				}
			}
		case a.Def.Control != op.Part:
			w.room(x, r, a.Type)
		}
	}
	for i := range x.totals {
		t := &x.totals[i]
		w.own[t.reg] = value.New(t.acc.Elem, t.acc.Rows, t.acc.Cols)
		w.totals = append(w.totals, value.New(t.acc.Elem, t.acc.Rows, t.acc.Cols))
		t.w.empty(w.totals[i])
	}
	x.workers[k] = w
	return w
}

// room makes the memory of a block of register r, unless it is a part of a result.
func (w *rowWorker) room(x *rowBlocks, r int, t types.Type) {
	if x.yield[r] == nil && t.IsDense() {
		w.own[r] = value.New(t.Elem, x.height, t.Cols)
	}
}

// Chunk runs the blocks of rows lo..hi-1.
func (x *rowBlocks) Chunk(worker, lo, hi int) error {
	w := x.worker(worker)
	for i := lo; i < hi; i += x.height {
		if err := x.block(w, i, min(x.height, hi-i)); err != nil {
			return err
		}
	}
	return nil
}

// block runs the body on rows i..i+height-1.
func (x *rowBlocks) block(w *rowWorker, i, height int) error {
	b := x.body
	for r, v := range x.c.In {
		w.reg[r] = v
		if d, ok := v.(*value.Dense); ok && d.Rows == x.rows {
			d.Window(&w.window[r], i, 0, height, d.Cols)
			w.reg[r] = &w.window[r]
		}
	}
	steps := x.full
	if height < x.height {
		steps = x.last
	}
	for k := range b.Acts {
		if err := x.act(w, k, &steps[k], i, height); err != nil {
			return err
		}
	}
	for k := range x.totals {
		t := &x.totals[k]
		t.w.join(w.totals[k], w.own[t.reg])
	}
	return nil
}

// at is where rows i.. of register r go.
func (w *rowWorker) at(x *rowBlocks, r, i, height int) *value.Dense {
	if y := x.yield[r]; y != nil {
		y.Window(&w.window[r], i, 0, height, y.Cols)
	} else if w.own[r].Rows != x.height { // an accumulator
		return w.own[r]
	} else {
		w.own[r].Window(&w.window[r], 0, 0, height, w.own[r].Cols)
	}
	return &w.window[r]
}

// act runs action k on a block.
func (x *rowBlocks) act(w *rowWorker, k int, s *rowStep, i, height int) error {
	b := x.body
	a, r := &b.Acts[k], len(b.Args)+k
	if a.Def.Control == op.Part {
		w.reg[r] = w.reg[a.Args[0]].(value.Tuple)[a.Attrs.Int("at")]
		return nil
	}
	c := &w.call
	w.in = w.in[:0]
	for _, y := range a.Args {
		w.in = append(w.in, w.reg[y])
	}
	*c = op.Call{Def: a.Def, Attrs: s.attrs, Type: s.typ, In: w.in, Body: a.Chain, Env: x.c.Env, Stopped: x.c.Stopped}
	if p := w.parts[r]; p != nil {
		for j := range b.Acts {
			if q := &b.Acts[j]; q.Def.Control == op.Part && q.Args[0] == r {
				p[q.Attrs.Int("at")] = w.at(x, len(b.Args)+j, i, height)
			}
		}
		c.Out = p
	} else {
		c.Out = w.at(x, r, i, height)
	}
	err := a.Def.Kernel(c)
	w.reg[r] = c.Out
	return err
}

// End puts the workers' accumulators together.
func (x *rowBlocks) End() error {
	for k := range x.totals {
		t := &x.totals[k]
		acc := value.New(t.acc.Elem, t.acc.Rows, t.acc.Cols)
		t.w.empty(acc)
		for _, w := range x.workers {
			if w != nil {
				t.w.join(acc, w.totals[k])
			}
		}
		t.give(x.c, t.w.done(acc, t.result.Elem, t.n))
	}
	x.workers = nil
	return nil
}
