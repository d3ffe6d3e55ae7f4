package encode

// This file defines rows that add terms to a table in the order of the rows, one window of rows after the
// other (op.Shard.Chain).

import (
	"flow/ir/op"
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

// addPairsInOrder adds the rows of a call of ctable, with or without weights, to the table in Call.Out.
func addPairsInOrder(c *op.Call) error {
	return dense.ForNumber(c.Type.Elem, addAllWeights[float64], addAllWeights[float32], addAllWeights[int64])(c)
}
