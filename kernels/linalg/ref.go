package linalg

// This file defines what the linear algebra rows mean: textbook loops over scalars, one fused
// multiply-add after the other. Nothing here is fast, and nothing is shared with the kernels.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// number is an element of a product: F where it is a float, I where it is an integer. It is a third
// of a value.Scalar, and the definitions of products are most of what tests compute.
type number struct {
	F float64
	I int64
}

// numberOf is s as an element of e.
func numberOf(e types.Elem, s value.Scalar) number {
	s = s.Convert(e)
	return number{s.F, s.I}
}

// scalar is the number as a scalar of e.
func (n number) scalar(e types.Elem) value.Scalar {
	if !e.IsFloat() {
		return value.I64(n.I)
	}
	return value.Scalar{Elem: e, F: n.F}
}

// stepRef is z ± x*y in element type e, rounded once; integers wrap.
func stepRef(e types.Elem, sub bool, x, y, z number) number {
	if sub {
		x.F, x.I = -x.F, -x.I
	}
	switch e {
	case types.F64:
		return number{F: math.FMA(x.F, y.F, z.F)}
	case types.F32:
		return number{F: float64(loop.FMA32(float32(x.F), float32(y.F), float32(z.F)))}
	}
	return number{I: z.I + x.I*y.I}
}

// StepRef is stepRef of scalars.
func StepRef(e types.Elem, sub bool, x, y, z value.Scalar) value.Scalar {
	return stepRef(e, sub, numberOf(e, x), numberOf(e, y), numberOf(e, z)).scalar(e)
}

// divideRef is x / y, rounded once.
func divideRef(e types.Elem, x, y value.Scalar) value.Scalar {
	if e == types.F32 {
		return value.Scalar{Elem: e, F: float64(float32(x.F) / float32(y.F))}
	}
	return value.F64(x.F / y.F)
}

// atRef is element (i, j) of d, or of t(d).
func atRef(d *value.Dense, t bool, i, j int) value.Scalar {
	if t {
		return d.At(j, i)
	}
	return d.At(i, j)
}

// ProductRef adds op(a) @ op(b) into c; only the lower triangle when lower is set.
func ProductRef(c, a, b *value.Dense, ta, tb, sub, lower bool) *value.Dense {
	x, y := linesRef(a, ta, c.Elem), linesRef(b, !tb, c.Elem)
	for i := range c.Rows {
		for j := range c.Cols {
			if lower && j > i {
				continue
			}
			s := numberOf(c.Elem, c.At(i, j))
			for k := range x[i] {
				s = stepRef(c.Elem, sub, x[i][k], y[j][k], s)
			}
			c.Set(i, j, s.scalar(c.Elem))
		}
	}
	return c
}

// linesRef is the rows of d, or of t(d), as elements of e.
func linesRef(d *value.Dense, t bool, e types.Elem) [][]number {
	rows, cols := define.Turned(d.Type(), t)
	lines := make([][]number, rows)
	for i := range lines {
		lines[i] = make([]number, cols)
		for j := range lines[i] {
			lines[i][j] = numberOf(e, atRef(d, t, i, j))
		}
	}
	return lines
}

func MatmulRef(c *op.Call) (value.Value, error) {
	zero := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	return ProductRef(zero, c.Dense(0), c.Dense(1), c.Attrs.Bool("ta"), c.Attrs.Bool("tb"), false, false), nil
}

func GemmRef(c *op.Call) (value.Value, error) {
	return ProductRef(c.Dense(0).Clone(), c.Dense(1), c.Dense(2), c.Attrs.Bool("ta"), c.Attrs.Bool("tb"), c.Attrs.Bool("sub"), false), nil
}

func syrkRef(c *op.Call) (value.Value, error) {
	a, ta := c.Dense(1), c.Attrs.Bool("ta")
	return ProductRef(c.Dense(0).Clone(), a, a, ta, !ta, c.Attrs.Bool("sub"), true), nil
}

func potrfRef(c *op.Call) (value.Value, error) {
	l := c.Dense(0).Clone()
	for i := range l.Rows {
		for j := range i + 1 {
			s := l.At(i, j)
			for k := range j {
				s = StepRef(l.Elem, true, l.At(i, k), l.At(j, k), s)
			}
			if j < i {
				l.Set(i, j, divideRef(l.Elem, s, l.At(j, j)))
				continue
			}
			if !(s.F > 0) {
				return nil, notDefinite(i+1, s)
			}
			l.Set(i, i, value.Scalar{Elem: l.Elem, F: math.Sqrt(s.F)}) // rounds once in f32 too: 53 >= 2*24 + 2
		}
		for j := i + 1; j < l.Cols; j++ {
			l.Set(i, j, value.Scalar{Elem: l.Elem})
		}
	}
	return l, nil
}

func getrfRef(c *op.Call) (value.Value, error) {
	a := c.Dense(0).Clone()
	for i := range a.Rows {
		for j := range a.Cols {
			s := a.At(i, j)
			for k := range min(i, j) {
				s = StepRef(a.Elem, true, a.At(i, k), a.At(k, j), s)
			}
			if j < i {
				s = divideRef(a.Elem, s, a.At(j, j))
			}
			a.Set(i, j, s)
			if i == j && s.F == 0 && c.Attrs.Bool("singular") {
				return value.New(a.Elem, a.Rows, a.Cols), nil
			}
			if i == j && s.F == 0 {
				return nil, zeroPivot(i + 1)
			}
		}
	}
	return a, nil
}

// substituteRef solves for n unknowns one after the other, first to last or last to first: the
// unknown at place i is what remains of it after all solved before, in their order, divided by the
// diagonal. coef(i, k) is the coefficient of unknown k in equation i; x is read and overwritten
// through its rows (byRow) or columns.
func substituteRef(x *value.Dense, byRow, backward, unit bool, coef func(i, k int) value.Scalar) *value.Dense {
	n, others := x.Rows, x.Cols
	if !byRow {
		n, others = others, n
	}
	place := func(p int) int {
		if backward {
			return n - 1 - p
		}
		return p
	}
	for o := range others {
		for p := range n {
			i := place(p)
			s := atRef(x, !byRow, i, o)
			for q := range p {
				k := place(q)
				s = StepRef(x.Elem, true, atRef(x, !byRow, k, o), coef(i, k), s)
			}
			if !unit {
				s = divideRef(x.Elem, s, coef(i, i))
			}
			if byRow {
				x.Set(i, o, s)
			} else {
				x.Set(o, i, s)
			}
		}
	}
	return x
}
