package encode

// This file writes reductions by code into loops.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
)

// keyOfRow is the code in a row of operand k, which must be one of 0..n-1.
func keyOfRow(e *op.Elements, k, n int, row loop.Lin) loop.Val {
	b := e.B
	x := e.In[k].At(row, loop.Num(0))
	if b.Type(x).IsFloat() {
		x = define.ConvertBody(b, types.F64, x)
		limit := b.Const(types.F64, math.Float64bits(float64(n)))
		inside := b.Op(loop.And, b.Op(loop.Le, define.Numeral(b, types.F64, 0), x), b.Op(loop.Lt, x, limit))
		b.Check(0, b.Op(loop.And, inside, b.Op(loop.Eq, x, b.Op(loop.Floor, x))), x)
		return b.Op(loop.ToI64, x)
	}
	x = define.ConvertBody(b, types.I64, x)
	// Less than n as a number without sign.
	const sign = 1 << 63
	b.Check(0, b.Op(loop.Lt, b.Op(loop.Xor, x, b.Const(types.I64, sign)), b.Const(types.I64, sign^loop.Word(n))), x)
	return x
}

// noOrder is op.Keyed.Panel of reductions whose result does not depend on the order of rows.
func noOrder(*op.Attrs) int { return op.NoOrder }

// oneMore returns a row that adds one to element key of the result.
func oneMore(e *op.Elements, key loop.Val) op.KeyedRow {
	return op.KeyedRow{Class: loop.Count, Key: key, Terms: [][]loop.Val{{e.B.Const(types.Bool, 1)}}}
}

// panelOfSums is how many rows of onehot.sums make a chain.
func panelOfSums(a *op.Attrs) int {
	if n := a.Int("panel"); n > 0 {
		return n
	}
	return op.OneChain
}

// sumsOfRow is a row of onehot.sums: fma(1, x, s) adds a finite x. Of others the result tells, and
// it is computed in another way: see sumsBody.
func sumsOfRow(e *op.Elements) op.KeyedRow {
	b := e.B
	w := op.KeyedRow{Class: loop.Chain, Key: keyOfRow(e, 0, e.Attrs.Int("k"), loop.Num(0))}
	one := define.Numeral(b, types.F64, 1)
	for j := range e.In[1].Type.Cols {
		w.Terms = append(w.Terms, []loop.Val{one, e.In[1].At(loop.Num(0), loop.Num(int64(j)))})
	}
	return w
}
