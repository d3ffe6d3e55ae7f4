package encode

// This file defines rows that add terms to a table in the order of the rows, one window of rows after the
// other (op.Shard.Chain).

import (
	"math"

	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// inRows returns what adds some rows of a call, from what adds all of them.
func inRows(add func(c *op.Call) error) func(c *op.Call, lo, hi int) error {
	return func(c *op.Call, lo, hi int) error { return add(define.RowsOf(c, lo, hi)) }
}

// addRows adds the rows of a call of onehot.sums to the table in Call.Out. It fails for a code beyond the
// table.
func addRows(c *op.Call) error {
	b := sumsBody{codes: codeColumn{c.Dense(0), c.Attrs.Int("k")}, x: dense.GridOf[float64](c.Dense(1))}
	return b.add(dense.GridOf[float64](c.Result()), 0, b.x.Rows)
}

// addRowsRef is the definition of addRows.
func addRowsRef(c *op.Call) error {
	a, x, out := c.Dense(0), c.Dense(1), c.Result()
	for i := range a.Rows {
		p, err := code("onehot", a.At(i, 0), out.Rows)
		if err != nil {
			return err
		}
		for j := range x.Cols {
			out.Set(p, j, value.F64(math.FMA(1, x.At(i, j).F, out.At(p, j).F)))
		}
	}
	return nil
}

// addPairsRef is the definition of addPairsInOrder.
func addPairsRef(c *op.Call) error {
	for i := range c.Dense(0).Rows {
		if err := wrongCode(c, i, i+1); err != nil {
			return err
		}
		p, in, _ := codeWithin(c.Dense(0).At(i, 0), sizeOf(c.Attrs, "n"), c.Attrs.Bool("crop"))
		q, also, _ := codeWithin(c.Dense(1).At(i, 0), sizeOf(c.Attrs, "m"), c.Attrs.Bool("crop"))
		if in && also {
			c.Result().Set(p, q, plus(c.Result().At(p, q), weightOf(c, i)))
		}
	}
	return nil
}

// addPairsInOrder adds the rows of a call of ctable, with or without weights, to the table in Call.Out.
func addPairsInOrder(c *op.Call) error {
	return dense.ForNumber(c.Type.Elem, addWeights[float64], addWeights[float32], addWeights[int64])(c)
}
