package linalg

// This file writes covariances, correlations and traces of small matrices into loops.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// traceElements is the sum of the diagonal.
func traceElements(e *op.Elements) op.Element {
	x := e.In[0]
	if !x.Rows.Known() || x.Rows.Const == 0 {
		return nil
	}
	out := dense.Storage(e.Out.Elem)
	s := e.Fold(loop.Sum, out, x.Rows, loop.Num(1), func(i, _ loop.Lin) []loop.Val { return []loop.Val{define.ConvertBody(e.B, out, x.At(i, i))} })
	return func(loop.Lin, loop.Lin) loop.Val { return s }
}

// mostVariables is up to how many variables have covariances in a loop: all of them are
// define.Written.
const mostVariables = 8

// covariance is covRef, as elements of the result's type.
func covariance(e *op.Elements) [][]loop.Val {
	x, elem := e.In[0], dense.Storage(e.Out.Elem)
	if !x.Rows.Known() || !x.Cols.Known() || x.Rows.Const == 0 || x.Cols.Const > mostVariables {
		return nil
	}
	n, m := int(x.Rows.Const), int(x.Cols.Const)
	mean := make([]loop.Val, m)
	for j := range mean {
		mean[j] = e.Fold(loop.Mean, e.Out.Elem, x.Rows, loop.Num(1), func(i, _ loop.Lin) []loop.Val {
			v := x.At(i, loop.Num(int64(j)))
			if e.B.Type(v) == types.Bool {
				v = e.B.Op(loop.ToI64, v)
			}
			return []loop.Val{v}
		})
	}
	divisor := float64(n)
	if e.Attrs.Bool("sample") {
		divisor--
	}
	d := func(k loop.Lin, j int) loop.Val {
		return e.B.Op(loop.Sub, define.ConvertBody(e.B, elem, x.At(k, loop.Num(int64(j)))), mean[j])
	}
	c := make([][]loop.Val, m)
	for i := range c {
		c[i] = make([]loop.Val, m)
		for j := range i + 1 {
			s := e.Chain(define.Numeral(e.B, elem, 0), loop.Num(int64(n)), func(k loop.Lin) (x, y loop.Val) { return d(k, i), d(k, j) })
			s = e.B.Op(loop.Div, define.ConvertBody(e.B, types.F64, s), floatNumeral(e.B, divisor))
			c[i][j] = define.ConvertBody(e.B, elem, s)
			c[j][i] = c[i][j]
		}
	}
	return c
}

// covElements is covRef.
func covElements(e *op.Elements) op.Element {
	c := covariance(e)
	if c == nil {
		return nil
	}
	return define.Picked(e, c)
}

// corElements is correlations.
func corElements(e *op.Elements) op.Element {
	c := covariance(e)
	if c == nil {
		return nil
	}
	b := e.B
	dev := make([]loop.Val, len(c))
	for i := range c {
		dev[i] = b.Op(loop.Sqrt, define.ConvertBody(b, types.F64, c[i][i]))
	}
	one := floatNumeral(b, 1)
	out := make([][]loop.Val, len(c))
	for i := range c {
		out[i] = make([]loop.Val, len(c))
		for j := range c {
			x := b.Op(loop.Div, define.ConvertBody(b, types.F64, c[i][j]), b.Op(loop.Mul, dev[i], dev[j]))
			if i == j {
				varies := b.Op(loop.And, b.Op(loop.Lt, floatNumeral(b, 0), dev[i]), b.Op(loop.Lt, dev[i], floatNumeral(b, math.Inf(1))))
				x = b.Op(loop.Select, varies, one, x)
			}
			x = b.Op(loop.Min, b.Op(loop.Max, x, floatNumeral(b, -1)), one)
			out[i][j] = define.ConvertBody(b, dense.Storage(e.Out.Elem), x)
		}
	}
	return define.Picked(e, out)
}

func floatNumeral(b *loop.Builder, x float64) loop.Val {
	return b.Const(types.F64, math.Float64bits(x))
}
