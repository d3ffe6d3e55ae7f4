package linalg

// This file writes products into loops by their elements, and factorisations, substitutions and
// parts of small matrices: the definitions of ref.go, element by element, in registers.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// chainElements is the elements of a product: a chain of fused multiply-adds from +0, or from the
// elements of c.
func chainElements(e *op.Elements, in []op.Source, c op.Element) op.Element {
	a, b := in[0], in[1]
	ta, tb, sub := e.Attrs.Bool("ta"), e.Attrs.Bool("tb"), c != nil && e.Attrs.Bool("sub")
	rows, n, m, cols := a.Rows, a.Cols, b.Rows, b.Cols
	if ta {
		rows, n = n, rows
	}
	if tb {
		m, cols = cols, m
	}
	e.Size(rows, cols)
	if !a.Type.Known() || !b.Type.Known() {
		if c != nil && !(rows.Known() && cols.Known()) {
			return nil
		}
		e.Agree(n, m)
	}
	elem := dense.Storage(e.Out.Elem)
	return func(i, j loop.Lin) loop.Val {
		from := define.Numeral(e.B, elem, 0)
		if c != nil {
			from = define.ConvertBody(e.B, elem, c(i, j))
		}
		return e.Chain(from, n, func(k loop.Lin) (x, y loop.Val) {
			ai, ak, bk, bj := i, k, k, j
			if ta {
				ai, ak = ak, ai
			}
			if tb {
				bk, bj = bj, bk
			}
			x, y = define.ConvertBody(e.B, elem, a.At(ai, ak)), define.ConvertBody(e.B, elem, b.At(bk, bj))
			if sub {
				x = e.B.Op(loop.Neg, x)
			}
			return x, y
		})
	}
}

// less is s - x y, rounded once.
func less(b *loop.Builder, s, x, y loop.Val) loop.Val { return b.Op(loop.FMA, b.Op(loop.Neg, x), y, s) }

func getrfElements(e *op.Elements) op.Element {
	b := e.B
	a := define.Written(e, e.In[0], e.Out.Elem)
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
		zero := b.Op(loop.Eq, a[i][i], define.Numeral(b, b.Type(a[i][i]), 0))
		if i == 0 {
			singular = zero
		} else {
			singular = b.Op(loop.Or, singular, zero)
		}
	}
	if !e.Attrs.Bool("singular") {
		b.Check(0, b.Op(loop.Not, singular))
		return define.Picked(e, a)
	}
	for i := range a {
		for j := range a {
			a[i][j] = b.Op(loop.Select, singular, define.Numeral(b, b.Type(a[i][j]), 0), a[i][j])
		}
	}
	return define.Picked(e, a)
}

func potrfElements(e *op.Elements) op.Element {
	b := e.B
	l := define.Written(e, e.In[0], e.Out.Elem)
	if len(l) == 0 {
		return nil
	}
	zero := define.Numeral(b, b.Type(l[0][0]), 0)
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
	return define.Picked(e, l)
}

// elements is substituteRef.
func (f triangular) elements(e *op.Elements) op.Element {
	b := e.B
	t, x := define.Written(e, e.In[0], e.Out.Elem), define.Written(e, e.In[1], e.Out.Elem)
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
	return define.Picked(e, x)
}

func lowerElements(e *op.Elements) op.Element {
	zero := func() loop.Val { return define.Numeral(e.B, dense.Storage(e.Out.Elem), 0) }
	strict := loop.Num(int64(OffDiagonal(e.Attrs)))
	return func(i, j loop.Lin) loop.Val {
		below := func() loop.Val { return e.In[0].At(i, j) }
		if !e.Attrs.Bool("unit") {
			return e.Below(j, i.Plus(loop.Num(1)).Plus(strict.Times(-1)), below, zero)
		}
		one := func() loop.Val { return define.Numeral(e.B, dense.Storage(e.Out.Elem), 1) }
		return e.Below(j, i, below, func() loop.Val { return e.Below(i, j, zero, one) })
	}
}

func upperElements(e *op.Elements) op.Element {
	strict := loop.Num(int64(OffDiagonal(e.Attrs)))
	return func(i, j loop.Lin) loop.Val {
		return e.Below(j, i.Plus(strict), func() loop.Val { return define.Numeral(e.B, dense.Storage(e.Out.Elem), 0) }, func() loop.Val { return e.In[0].At(i, j) })
	}
}

func diagElements(e *op.Elements) op.Element {
	x := e.In[0]
	if !spreads(x.Type) {
		return func(i, _ loop.Lin) loop.Val { return x.At(i, i) }
	}
	zero := func() loop.Val { return define.Numeral(e.B, dense.Storage(e.Out.Elem), 0) }
	return func(i, j loop.Lin) loop.Val {
		return e.Below(i, j, zero, func() loop.Val {
			return e.Below(j, i, zero, func() loop.Val { return x.At(i, loop.Num(0)) })
		})
	}
}
