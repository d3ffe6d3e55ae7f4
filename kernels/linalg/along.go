package linalg

// This file defines panels.along: an operator that makes a matrix row by row, and a product that sums
// over these rows. A block of rows is made and then multiplied while a cache has it and the operands of
// its rows, so t(X) @ f(X @ w) reads X from memory once. Each chain of the product goes on from block to
// block, so the bits are those of the two operators one after the other.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// alongElements is about the number of elements of a block of rows, those of all operands together: they
// fit a second-level cache.
const alongElements = 1 << 15

// along is the row. Its body has two actions: an operator with an Early loop, and the product over its
// rows. The results are the two actions' results. The attribute panel is that of the product.
func (l *Linear) along() *op.Def {
	space := func(c *op.Call) (n, leaf int) {
		panel := c.Attrs.Int("panel")
		return (c.Type.Ext.Fields[0].Type.Rows + panel - 1) / panel, 1
	}
	return define.OfBody(op.Def{
		Name: "panels.along",
		Doc:  "panels.along makes the rows of a matrix and sums a product over them, block of rows by block of rows; fusion makes it.",
		Rate: "gemm",
		Cost: func(s *op.Sig, out types.Type) op.Work { // as if a product made the rows, and some operations an element
			w := define.ReadCost(s, 0)
			made, sums := out.Parts()[0], out.Parts()[1]
			w.Flops = float64(made.Rows) * (4*float64(sums.Count()) + 8*float64(made.Cols))
			w.Bytes += float64(made.Bytes())
			return w
		},
		Loop: &op.Loop{Space: space, Begin: l.beginAlong},
	})
}

// rowsBefore makes the rows of a factor before the product reads them.
type rowsBefore struct {
	op.LoopBody
	of    *op.Call
	each  int // iterations a row
	block int // rows of a block
}

// beginAlong begins both loops. Where the first action is no loop it is run at once.
func (l *Linear) beginAlong(c *op.Call, workers int) (op.LoopBody, error) {
	define.LendResults(c)
	var calls [2]op.Call
	body, out := c.Bodies[0], c.Out.(value.Tuple)
	registers := append(slices.Clone(c.In), out...)
	width := 0
	for k := range calls {
		a := &body.Acts[k]
		calls[k] = op.Call{Def: a.Def, Attrs: a.Attrs, Type: a.Type, Out: out[k], Env: c.Env, Stopped: c.Stopped, Body: a.Chain, Bodies: a.Bodies}
		for _, r := range a.Args {
			calls[k].In = append(calls[k].In, registers[r])
		}
	}
	first, product := &calls[0], &calls[1]
	rows := first.Type.Rows
	for _, v := range registers {
		if d, ok := v.(*value.Dense); ok && d.Rows == rows {
			width += d.Cols
		}
	}
	n, _ := first.Def.Loop.Space(first)
	if n == 0 || n%rows != 0 {
		startRows(first, 0, rows)
		if err := first.Def.Kernel(first); err != nil {
			return nil, err
		}
		return l.beginPanels(product, workers, nil), nil
	}
	b, err := first.Def.Loop.Begin(first, workers)
	if err != nil {
		return nil, err
	}
	return l.beginPanels(product, workers, &rowsBefore{b, first, n / rows, RoundUp(max(1, alongElements/width), dense.Panel)}), nil
}

// make makes rows from..to-1.
func (r *rowsBefore) make(worker, from, to int) error {
	startRows(r.of, from, to)
	return r.Chunk(worker, from*r.each, to*r.each)
}

// incomplete reports whether some of the rows are there only when the loop has ended.
func (r *rowsBefore) incomplete() bool {
	x, ok := r.LoopBody.(op.Incomplete)
	return ok && x.Incomplete()
}

// startRows gives rows from..to-1 of a result what they start from (op.Def.Accum).
func startRows(c *op.Call, from, to int) {
	if a := c.Def.Accum; a > 0 {
		out := c.Result()
		out.View(from, 0, to-from, out.Cols).CopyFrom(c.Dense(a-1).View(from, 0, to-from, out.Cols))
	}
}
