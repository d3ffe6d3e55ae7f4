package compiler_test

import (
	"fmt"
	"strings"

	"flow/ir/types"
)

// This file draws statements on channel arrays: sends tile by tile, and equations.

// channels cuts a matrix into tiles, sends over them, and lays them together.
func (g *generator) channels() {
	a, ok := g.matrix(func(v variable) bool {
		return v.typ.Elem.IsFloat() && v.typ.Count() > 0 && !strings.HasPrefix(v.text, "(")
	})
	if !ok {
		return
	}
	nb := 1 + g.rng.IntN(6)
	if max(a.typ.Rows, a.typ.Cols) > 6*nb {
		nb = 4
	}
	nb = min(nb, max(a.typ.Rows, a.typ.Cols))
	c, i, j, k := fmt.Sprintf("c%d", g.names), fmt.Sprintf("i%d", g.names), fmt.Sprintf("j%d", g.names), fmt.Sprintf("k%d", g.names)
	g.names++
	square := a.typ.Rows == a.typ.Cols
	var body []string
	switch g.rng.IntN(6) {
	case 0:
		body = append(body, fmt.Sprintf("for %s in 0..%s.rows, %s in 0..%s.cols { %s[%s,%s] <- %s[%s,%s] * 2 + sqrt(abs(%s[%s,%s])) }", i, c, j, c, c, i, j, c, i, j, c, i, j))
	case 1: // a running product along the first row of tiles
		body = append(body, fmt.Sprintf("for %s in 1..%s.rows, %s in 0..%s.cols { %s[%s,%s] <- %s[%s,%s] - %s[%s,0] @ t(%s[0,0]) @ %s[0,%s] }", i, c, j, c, c, i, j, c, i, j, c, i, c, c, j))
	case 2:
		if !square {
			return
		}
		body = append(body, fmt.Sprintf("for %s in 0..%s.rows, %s in 0..%s.rows, %s in 0..=%s { %s[%s,%s] <- %s[%s,%s] - %s[%s,%s] @ t(%s[%s,%s]) }",
			k, c, i, c, j, i, c, i, j, c, i, j, c, i, k, c, j, k))
	case 3: // only another name for a token: no task
		body = append(body, fmt.Sprintf("%s[0,0] <- %s[0,0]", c, c))
	case 4:
		body = append(body, fmt.Sprintf("for %s in 0..%s.rows by 2, %s in 0..%s.cols { if %s != %s { %s[%s,%s] <- %s[%s,%s] - %s[%s,0] * sum(%s[0,%s]) / 100 } }",
			i, c, j, c, i, j, c, i, j, c, i, j, c, i, c, j))
		if a.typ.Cols%nb != 0 || a.typ.Cols > nb && nb == 0 {
			return // the first and the last column of tiles differ in width
		}
	default:
		body = append(body, fmt.Sprintf("for %s in 0..%s.rows, %s in 0..%s.cols { %s[%s,%s] <- t(t(%s[%s,%s]) @ (%s[%s,%s] @ ones(%s[%s,%s].cols, %s[%s,%s].rows))) }",
			i, c, j, c, c, i, j, c, i, j, c, i, j, c, i, j, c, i, j))
		if !square || a.typ.Rows%nb != 0 || a.typ.Elem != types.F64 {
			return
		}
	}
	if nb == 4 && g.rng.IntN(2) == 0 {
		nb = 0
	}
	g.line("chan %s = tiles(%s, %d)", c, a.text, nb)
	for _, l := range body {
		g.line("%s", l)
	}
	g.bind("untile("+c+")", a.typ)
}

// equation declares an array by a recurrence and lays it together.
func (g *generator) equation() {
	a, ok := g.matrix(func(v variable) bool { return v.typ.Elem.IsFloat() && v.typ.Count() > 0 && v.typ.Rows > 3 })
	if !ok {
		return
	}
	c := fmt.Sprintf("e%d", g.names)
	g.names++
	n := 2 + g.rng.IntN(4)
	if g.rng.IntN(2) == 0 {
		g.line("chan %s[i in 0..%d] = if i == 0 { %s[0, :] } else { %s[i - 1] * 2 + %s[i %% 4, :] }", c, n, a.text, c, a.text)
		g.bind("untile("+c+")", types.DenseOf(a.typ.Elem, n, a.typ.Cols))
		return
	}
	g.line("chan %s[i in 0..%d, j in 0..=i] = if j == 0 { %s[i %% 4, 0] } else { %s[i, j - 1] + %s[i - 1, j - 1] * 2 }", c, n, a.text, c, c)
	g.bind("untile("+c+")", types.DenseOf(a.typ.Elem, n, n))
}
