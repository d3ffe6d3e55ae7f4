package compiler_test

// This file draws products and chains on them.

import (
	"fmt"

	"flow/ir/types"
)

// product binds an expression of the kinds that contraction knows.
func (g *generator) product() {
	a, ok := g.matrix(func(v variable) bool { return v.typ.Elem.IsFloat() })
	if !ok {
		return
	}
	b, ok := g.matrix(func(v variable) bool { return v.typ.Elem == a.typ.Elem })
	if !ok {
		return
	}
	x, y := a, b
	n, k := a.typ.Rows, a.typ.Cols
	if g.rng.IntN(2) == 0 {
		x.text, n, k = "t("+a.text+")", k, n
	}
	switch k {
	case b.typ.Rows:
	case b.typ.Cols:
		y.text, y.typ.Cols = "t("+b.text+")", b.typ.Rows
	default:
		if n, k = a.typ.Rows, a.typ.Cols; x.text != a.text {
			n, k = k, n
		}
		y.text, y.typ = "t("+x.text+")", types.DenseOf(a.typ.Elem, k, n)
	}
	t := types.DenseOf(a.typ.Elem, n, y.typ.Cols)
	if t.Count() > 400 {
		return
	}
	prod := x.text + " @ " + y.text
	if g.rng.IntN(3) == 0 {
		g.epilogue(prod, t)
		return
	}
	c, ok := g.matrix(func(v variable) bool { return v.typ == t })
	if !ok {
		g.bind(prod, t)
		return
	}
	switch g.rng.IntN(7) {
	case 0:
		g.bind(prod, t)
	case 1:
		g.bind(c.text+" + "+prod, t)
	case 2:
		g.bind(prod+" - "+c.text, t)
	case 3:
		g.bind(c.text+" - ("+prod+" + "+prod+")", t)
	case 4:
		g.bind(prod+" + "+c.text+" - "+prod, t)
	case 5:
		g.bind("sqrt(abs("+c.text+" - "+prod+")) + "+c.text, t)
	default:
		g.bind(c.text+" - "+prod, t)
	}
}

// epilogue binds a chain on a product: beside it a matrix, read transposed or not, a row, a column
// or a number, or what is drawn.
func (g *generator) epilogue(prod string, t types.Type) {
	n, m := t.Rows, t.Cols
	beside := fmt.Sprintf("%d.5", g.rng.IntN(3))
	if t.Elem == types.F64 && g.rng.IntN(4) == 0 {
		beside = fmt.Sprintf("rand(%d, %d, seed = %d)", n, m, g.rng.IntN(100))
	}
	for range 4 {
		shapes := [...][2]int{{n, m}, {m, n}, {1, m}, {n, 1}}
		shape := shapes[g.rng.IntN(len(shapes))]
		v, ok := g.matrix(func(v variable) bool { return v.typ == types.DenseOf(t.Elem, shape[0], shape[1]) })
		if ok && g.rng.IntN(2) == 0 {
			beside = v.text
			if shape == shapes[1] && n != m {
				beside = "t(" + v.text + ")"
			}
		}
	}
	switch g.rng.IntN(4) {
	case 0:
		g.name(fmt.Sprintf("max(%s + %s, 0.25)", prod, beside), variable{typ: t})
	case 1:
		g.name(fmt.Sprintf("exp(-abs(%s * (%s)))", beside, prod), variable{typ: t})
	case 2:
		g.name(fmt.Sprintf("%s > %s", prod, beside), variable{typ: t.With(types.Bool)})
	default:
		g.name(fmt.Sprintf("ifelse(%s < 0.5, %s, (%s) * 2)", beside, beside, prod), variable{typ: t})
	}
}
