package kernels

// This file writes factorisations, substitutions and parts of small matrices into loops: the definitions of linalg_ref.go, element by
// element, in registers.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/dense"
)

// written is a matrix of the body by its elements, which are numbers of e; nil where it has too many of them.
func written(e *op.Elements, x op.Source, elem types.Elem) [][]loop.Val {
	if !x.Rows.Known() || !x.Cols.Known() || x.Rows.Const*x.Cols.Const > unrolled {
		return nil
	}
	m := make([][]loop.Val, x.Rows.Const)
	for i := range m {
		m[i] = make([]loop.Val, x.Cols.Const)
		for j := range m[i] {
			m[i][j] = convertBody(e.B, dense.Storage(elem), x.At(loop.Num(int64(i)), loop.Num(int64(j))))
		}
	}
	return m
}

// picked is the elements of a matrix that are listed row by row.
func picked(e *op.Elements, m [][]loop.Val) op.Element {
	var list []loop.Val
	for _, row := range m {
		list = append(list, row...)
	}
	return e.Held(list)
}

// less is s - x y, rounded once.
func less(b *loop.Builder, s, x, y loop.Val) loop.Val { return b.Op(loop.FMA, b.Op(loop.Neg, x), y, s) }

// getrfElements is getrfRef.
func getrfElements(e *op.Elements) op.Element {
	b := e.B
	a := written(e, e.In[0], e.Out.Elem)
	if len(a) == 0 {
		return nil
	}
	var singular loop.Val
	for i := range a {
		for j := range a {
			s := a[i][j]
			for k := range min(i, j) {
				s = less(b, s, a[i][k], a[k][j])
			}
			if j < i {
				s = b.Op(loop.Div, s, a[j][j])
			}
			a[i][j] = s
		}
		zero := b.Op(loop.Eq, a[i][i], numeral(b, b.Type(a[i][i]), 0))
		if i == 0 {
			singular = zero
		} else {
			singular = b.Op(loop.Or, singular, zero)
		}
	}
	if !e.Attrs.Bool("singular") {
		b.Check(0, b.Op(loop.Not, singular))
		return picked(e, a)
	}
	for i := range a {
		for j := range a {
			a[i][j] = b.Op(loop.Select, singular, numeral(b, b.Type(a[i][j]), 0), a[i][j])
		}
	}
	return picked(e, a)
}

// potrfElements is potrfRef.
func potrfElements(e *op.Elements) op.Element {
	b := e.B
	l := written(e, e.In[0], e.Out.Elem)
	if len(l) == 0 {
		return nil
	}
	zero := numeral(b, b.Type(l[0][0]), 0)
	for i := range l {
		for j := range i + 1 {
			s := l[i][j]
			for k := range j {
				s = less(b, s, l[i][k], l[j][k])
			}
			if j < i {
				l[i][j] = b.Op(loop.Div, s, l[j][j])
				continue
			}
			b.Check(0, b.Op(loop.Lt, zero, s))
			l[i][i] = b.Op(loop.Sqrt, s)
		}
		for j := i + 1; j < len(l); j++ {
			l[i][j] = zero
		}
	}
	return picked(e, l)
}

// elements is substituteRef.
func (f triangular) elements(e *op.Elements) op.Element {
	b := e.B
	t, x := written(e, e.In[0], e.Out.Elem), written(e, e.In[1], e.Out.Elem)
	if len(t) == 0 || len(x) == 0 || len(x[0]) == 0 {
		return nil
	}
	others := len(x)
	if f.left {
		others = len(x[0])
	}
	place := func(p int) int {
		if f.backward {
			return len(t) - 1 - p
		}
		return p
	}
	unknown := func(i, o int) *loop.Val {
		if f.left {
			return &x[i][o]
		}
		return &x[o][i]
	}
	coef := func(i, k int) loop.Val {
		if f.turn {
			return t[k][i]
		}
		return t[i][k]
	}
	for o := range others {
		for p := range t {
			i := place(p)
			s := *unknown(i, o)
			for q := range p {
				k := place(q)
				s = less(b, s, *unknown(k, o), coef(i, k))
			}
			if !e.Attrs.Bool("unit") {
				s = b.Op(loop.Div, s, coef(i, i))
			}
			*unknown(i, o) = s
		}
	}
	return picked(e, x)
}

// layElements is the elements of a matrix laid out of windows. Groups of operators on whole matrices, which have no inner loops, take none:
// there the blocks are tasks.
func layElements(e *op.Elements) op.Element {
	if e.Rounds == nil {
		return nil
	}
	elem := dense.Storage(e.Out.Elem)
	if len(e.In) == 1 {
		if from, to := boxOf(e.Attrs, 0); to.r0 == 0 && to.c0 == 0 && from.rows == e.Out.Rows && from.cols == e.Out.Cols {
			return func(i, j loop.Lin) loop.Val {
				return convertBody(e.B, elem, e.In[0].At(i.Plus(loop.Num(int64(from.r0))), j.Plus(loop.Num(int64(from.c0)))))
			}
		}
	}
	if e.Out.Count() > unrolled {
		return nil
	}
	m := make([][]loop.Val, e.Out.Rows)
	for i := range m {
		for range e.Out.Cols {
			m[i] = append(m[i], numeral(e.B, elem, 0))
		}
	}
	for k := range e.In {
		from, to := boxOf(e.Attrs, k)
		for i := range from.rows {
			for j := range from.cols {
				m[to.r0+i][to.c0+j] = convertBody(e.B, elem, e.In[k].At(loop.Num(int64(from.r0+i)), loop.Num(int64(from.c0+j))))
			}
		}
	}
	return picked(e, m)
}

// lowerElements is lowerRef.
func lowerElements(e *op.Elements) op.Element {
	zero := func() loop.Val { return numeral(e.B, dense.Storage(e.Out.Elem), 0) }
	strict := loop.Num(int64(offDiagonal(e.Attrs)))
	return func(i, j loop.Lin) loop.Val {
		below := func() loop.Val { return e.In[0].At(i, j) }
		if !e.Attrs.Bool("unit") {
			return e.Below(j, i.Plus(loop.Num(1)).Plus(strict.Times(-1)), below, zero)
		}
		one := func() loop.Val { return numeral(e.B, dense.Storage(e.Out.Elem), 1) }
		return e.Below(j, i, below, func() loop.Val { return e.Below(i, j, zero, one) })
	}
}

// upperElements is upperRef.
func upperElements(e *op.Elements) op.Element {
	strict := loop.Num(int64(offDiagonal(e.Attrs)))
	return func(i, j loop.Lin) loop.Val {
		return e.Below(j, i.Plus(strict), func() loop.Val { return numeral(e.B, dense.Storage(e.Out.Elem), 0) }, func() loop.Val { return e.In[0].At(i, j) })
	}
}

// diagElements is diagRef.
func diagElements(e *op.Elements) op.Element {
	x := e.In[0]
	if !spreads(x.Type) {
		return func(i, _ loop.Lin) loop.Val { return x.At(i, i) }
	}
	zero := func() loop.Val { return numeral(e.B, dense.Storage(e.Out.Elem), 0) }
	return func(i, j loop.Lin) loop.Val {
		return e.Below(i, j, zero, func() loop.Val {
			return e.Below(j, i, zero, func() loop.Val { return x.At(i, loop.Num(0)) })
		})
	}
}

// traceElements is the sum of the diagonal.
func traceElements(e *op.Elements) op.Element {
	x := e.In[0]
	if !x.Rows.Known() || x.Rows.Const == 0 {
		return nil
	}
	out := dense.Storage(e.Out.Elem)
	s := e.Fold(loop.Sum, out, int(x.Rows.Const), 1, func(i, _ loop.Lin) []loop.Val { return []loop.Val{convertBody(e.B, out, x.At(i, i))} })
	return func(loop.Lin, loop.Lin) loop.Val { return s }
}

// mostVariables is up to how many variables have covariances in a loop: all of them are written.
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
		mean[j] = e.Fold(loop.Mean, e.Out.Elem, n, 1, func(i, _ loop.Lin) []loop.Val {
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
		return e.B.Op(loop.Sub, convertBody(e.B, elem, x.At(k, loop.Num(int64(j)))), mean[j])
	}
	c := make([][]loop.Val, m)
	for i := range c {
		c[i] = make([]loop.Val, m)
		for j := range i + 1 {
			s := e.Chain(numeral(e.B, elem, 0), n, func(k loop.Lin) (x, y loop.Val) { return d(k, i), d(k, j) })
			s = e.B.Op(loop.Div, convertBody(e.B, types.F64, s), floatNumeral(e.B, divisor))
			c[i][j] = convertBody(e.B, elem, s)
			c[j][i] = c[i][j]
		}
	}
	return c
}

func covElements(e *op.Elements) op.Element {
	c := covariance(e)
	if c == nil {
		return nil
	}
	return picked(e, c)
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
		dev[i] = b.Op(loop.Sqrt, convertBody(b, types.F64, c[i][i]))
	}
	one := floatNumeral(b, 1)
	out := make([][]loop.Val, len(c))
	for i := range c {
		out[i] = make([]loop.Val, len(c))
		for j := range c {
			x := b.Op(loop.Div, convertBody(b, types.F64, c[i][j]), b.Op(loop.Mul, dev[i], dev[j]))
			if i == j {
				varies := b.Op(loop.And, b.Op(loop.Lt, floatNumeral(b, 0), dev[i]), b.Op(loop.Lt, dev[i], floatNumeral(b, math.Inf(1))))
				x = b.Op(loop.Select, varies, one, x)
			}
			x = b.Op(loop.Min, b.Op(loop.Max, x, floatNumeral(b, -1)), one)
			out[i][j] = convertBody(b, dense.Storage(e.Out.Elem), x)
		}
	}
	return picked(e, out)
}

func floatNumeral(b *loop.Builder, x float64) loop.Val {
	return b.Const(types.F64, math.Float64bits(x))
}
