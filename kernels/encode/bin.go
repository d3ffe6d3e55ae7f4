package encode

// This file runs bin as loops.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
)

// binOperations is how many operations an element of bin takes: see launch.Steps.
const binOperations = 8

// binKey is what the loop of a bin depends on.
type binKey struct {
	elem  types.Elem
	right bool
	even  bool  // by a number of intervals of equal width
	steps int64 // else: see stepsOf
}

// The loops of bin, and the work that has been seen for them.
var (
	binsSeen launch.Steps
	binsMade define.Made[binKey, *launch.Loop]
)

// runBin bins the first argument of a call: by f, or where there has been enough work for machine code by a
// loop with these operands.
func runBin(c *op.Call, f func(x float64) int64, k binKey, operands func() []value.Value) {
	t := c.In[0].Type()
	if !t.IsScalar() && t.Count() > 0 && binsSeen.Pay(int64(t.Count()), func() int { return binOperations }) {
		in := operands()
		if k.elem = t.Elem; !k.even {
			k.steps = stepsIn(in[0].(*value.Dense))
		}
		l := binsMade.Of(k, func() *launch.Loop { return launch.New(binNest(k)) })
		if _, err := l.Alone(&launch.Run{}, append([]value.Value{c.In[0]}, in...), []*value.Dense{c.Result()}, t.Rows, t.Cols); err == nil {
			launch.Begun.Add(1)
			return
		}
	}
	if t.IsScalar() {
		c.Out = eachElement(c, f)
	} else {
		c.Result().CopyFrom(eachElement(c, f).(*value.Dense))
	}
}

// binNest writes the nest of a bin. Its operands are the elements and what bin.edges makes of edges; of equal
// intervals where they begin, how wide they are together, and how many there are.
func binNest(k binKey) *loop.Nest {
	b := loop.New()
	x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, dense.Storage(k.elem))}
	rows, cols := loop.Of(loop.RowsSym, x.N), loop.Of(loop.ColsSym, x.N)
	i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: rows, By: 1}))
	j := loop.Of(loop.IndexSym, b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1}))
	v := define.ConvertBody(b, types.F64, b.Load(x, i, j))
	var n loop.Val
	if k.even {
		scalar := func() loop.Val {
			return b.Load(loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.ScalarParam, types.F64)})
		}
		lo, width, many := scalar(), scalar(), scalar()
		one := define.Numeral(b, types.F64, 1)
		p := b.Op(loop.Mul, b.Op(loop.Div, b.Op(loop.Sub, v, lo), width), many)
		if k.right {
			p = b.Op(loop.Sub, b.Op(loop.Ceil, p), one)
		}
		n = b.Op(loop.ToI64, clamped(b, p, b.Op(loop.Sub, many, one)))
		n = b.Op(loop.Select, b.Op(loop.Ne, v, v), define.Numeral(b, types.I64, -1), n)
	} else {
		table := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.F64)}
		n = interval(b, v, func(at loop.Lin) loop.Val { return b.Load(table, at, loop.Num(0)) }, k.steps, k.right)
	}
	b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(types.I64, rows, cols)}, i, j, n)
	return b.Done()
}

// clamped is f between 0 and most, and most for a nan.
func clamped(b *loop.Builder, f, most loop.Val) loop.Val {
	zero := define.Numeral(b, types.F64, 0)
	f = b.Op(loop.Select, b.Op(loop.Lt, f, most), f, most)
	return b.Op(loop.Select, b.Op(loop.Lt, zero, f), f, zero)
}
