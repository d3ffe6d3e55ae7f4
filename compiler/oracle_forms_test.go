package compiler_test

import (
	"fmt"

	"flow/ir/types"
)

// This file draws forms of the language that no row of the table stands for: pairs of a column and
// a row.

// form draws one of them.
func (g *generator) form() {
	forms := []func(){g.pairs, g.parts, g.texts, g.selected, g.selected}
	forms[g.rng.IntN(len(forms))]()
}

// vector is a column of n numbers as text, now and then of a size that only the run knows.
func (g *generator) vector(n int) string {
	x := fmt.Sprintf("rand(%d, 1, seed = %d)", n, g.rng.IntN(100))
	switch g.rng.IntN(6) {
	case 0:
		return "i64(9 * " + x + ")"
	case 1:
		return "f64(" + x + " < 0.5)"
	case 2:
		return fmt.Sprintf("sort(%s)[0..count(%[1]s) * 0 + %d, :]", x, n)
	}
	return x
}

// pairs binds f of every element of a column and every element of a row, alone, in a chain, and
// with what has its shape.
func (g *generator) pairs() {
	n, m := g.size(), g.size()
	x, y := g.vector(n), "t("+g.vector(m)+")"
	if g.rng.IntN(2) == 0 {
		x, y = y, x
	}
	text := []string{"%s + %s", "%s - %s", "max(%s, %s)", "ifelse(%s < %s, 2, 3)", "sqrt(abs(%[1]s * %[2]s - %[2]s))", "f64(%s == %s) * 0.5", "(%s - %s) ^ 2 + 1"}[g.rng.IntN(7)]
	text = fmt.Sprintf(text, x, y)
	t := types.DenseOf(types.F64, n, m)
	if b, ok := g.matrix(func(v variable) bool { return v.typ.Rows == n && v.typ.Cols == m && v.typ.Elem == types.F64 }); ok {
		text = fmt.Sprintf("%s - (%s)", b.text, text)
	} else {
		text = fmt.Sprintf("0.5 * (%s)", text)
	}
	switch g.rng.IntN(4) {
	case 0:
		g.name("sum("+text+")", variable{typ: types.ScalarOf(types.F64)})
	case 1:
		g.name("colsum("+text+")", variable{typ: types.DenseOf(types.F64, 1, m)})
	default:
		g.bindOpen(text, t)
	}
}

// parts binds parts of a tuple with names, of one that the run chooses, or of one that a function
// gives.
func (g *generator) parts() {
	a := g.pick()
	if a.open || a.typ.Elem == types.Str || a.typ.IsSparse() {
		return
	}
	r := fmt.Sprintf("r%d", g.names)
	g.names++
	switch g.rng.IntN(3) {
	case 0:
		sign := "+"
		if a.typ.Elem == types.Bool {
			sign = ""
		}
		g.line("%s = (p = %s%s, q = 3)", r, sign, a.text)
	case 1:
		g.line("%s = if sum(rand(2, 2, seed = %d)) > 2 { (p = %s, q = 1) } else { (p = %s, q = 2) }", r, g.rng.IntN(9), a.text, a.text)
	default:
		typ := "_"
		if !a.typ.IsScalar() {
			typ = "_[_,_]"
		}
		g.line("fn f%s(x, y) -> (p: %s, q: i64) = (x, y)", r, typ)
		g.line("%s = f%[1]s(%s, 4)", r, a.text)
	}
	if g.rng.IntN(2) == 0 {
		g.line("%sp, %[1]sq = %[1]s", r)
		r += "p"
	} else {
		r += ".p"
	}
	g.name(r, variable{typ: a.typ})
}

// texts emits a text that is made of numbers of the program.
func (g *generator) texts() {
	v := g.vars[g.rng.IntN(len(g.vars))]
	x := v.text
	switch {
	case v.open || v.typ.Elem == types.Str:
		return
	case !v.typ.IsScalar():
		x = "sum(" + x + ")"
	}
	layout := []string{"", ":>12", ":<9", ":+", ":^20", ":*^20", ":.3f", ":012.4f", ":e", ":.2g", ":,.1f", ":.1%"}[g.rng.IntN(12)]
	if v.typ.Elem == types.Bool && v.typ.IsScalar() {
		layout = ":>7"
	}
	g.line("emit \"s \" + str(%[1]s) + fmt(\" {%[2]s} {}\", %[1]s, %[3]d)", x, layout, g.rng.IntN(10))
}

// selected binds rows and columns that positions and masks choose.
func (g *generator) selected() {
	a, ok := g.matrix(func(v variable) bool { return v.typ.Rows > 0 && v.typ.Cols > 0 && v.typ.Elem != types.Str })
	if !ok {
		return
	}
	n, m := a.typ.Rows, a.typ.Cols
	of := func(n int) (text string, size int, open bool) {
		if g.rng.IntN(4) == 0 {
			lo, s := g.rng.IntN(n), 1+g.rng.IntN(3)
			switch g.rng.IntN(4) {
			case 0:
				return fmt.Sprintf("%d.. by -%d", lo, s), lo/s + 1, false
			case 1:
				return fmt.Sprintf("%d.. by %d", lo, s), (n - lo + s - 1) / s, false
			case 2:
				return fmt.Sprintf("count(%s) * 0 + %d..=0 by -%d", a.text, lo, s), -1, true
			}
			return fmt.Sprintf("-1..%d - count(%s) * 0 by -%d", lo, a.text, s), -1, true
		}
		k := g.rng.IntN(2 * n)
		draw := fmt.Sprintf("rand(%d, 1, seed = %d)", k, g.rng.IntN(99))
		switch g.rng.IntN(7) {
		case 0:
			return ":", n, false
		case 1:
			return fmt.Sprintf("[%d, %d]", g.rng.IntN(n), g.rng.IntN(n)-n), 2, false
		case 2:
			return fmt.Sprintf("i64(%s * %d)", draw, n), k, false
		case 3:
			return fmt.Sprintf("t(i64(%s * %d) - %d)", draw, n, n), k, k == 0
		case 4:
			return fmt.Sprintf("%d..%d", g.rng.IntN(n), n), -1, true
		case 5:
			return fmt.Sprintf("t(rand(%d, 1, seed = %d)) < 0.6", n, g.rng.IntN(99)), -1, true
		}
		return fmt.Sprintf("rand(%d, 1, seed = %d) < 0.6", n, g.rng.IntN(99)), -1, true
	}
	rows, r, openRows := of(n)
	cols, c, openCols := of(m)
	text := fmt.Sprintf("%s[%s, %s]", a.text, rows, cols)
	switch {
	case g.rng.IntN(4) == 0:
		g.name(fmt.Sprintf("sum(%s)", text), variable{typ: sumOf(a.typ.Elem)})
	case openRows || openCols:
		g.bindOpen(text, types.DenseOf(a.typ.Elem, max(r, 0), max(c, 0)))
	default:
		g.bind(text, types.DenseOf(a.typ.Elem, r, c))
	}
}
