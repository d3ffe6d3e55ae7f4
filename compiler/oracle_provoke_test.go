package compiler_test

import (
	"fmt"
	"strings"

	"flow/ir/types"
)

// This file draws what single passes and rules look for, so that none of them is spared.

// tall binds what passes make of matrices with many rows: sums of panels, sums by code, pipes that
// make their product.
func (g *generator) tall() {
	n, m, seed := 9+g.rng.IntN(25), 1+g.rng.IntN(4), g.rng.IntN(50)
	x := fmt.Sprintf("X%d", g.names)
	g.names++
	g.line("%s = rand(%d, %d, seed = %d) - 0.25", x, n, m, seed)
	if g.rng.IntN(2) == 0 {
		g.vars = append(g.vars, variable{text: x, typ: types.DenseOf(types.F64, n, m)})
	}
	c := fmt.Sprintf("rand(3, %d, seed = %d)", m, seed+1)
	switch g.rng.IntN(10) {
	case 9: // many columns, whose reductions take running values as they are made
		wide := 250 + 4*g.rng.IntN(20)
		g.name(fmt.Sprintf("%s(abs(%s(rand(%d, %d, seed = %d) - 0.5)))", []string{"colmax", "colmin"}[g.rng.IntN(2)], []string{"cumsum", "cummax"}[g.rng.IntN(2)], n, wide, seed), variable{typ: types.DenseOf(types.F64, 1, wide), open: true})
	case 7: // rows in blocks of several
		g.byRows(variable{text: x, typ: types.DenseOf(types.F64, n, m)})
	case 8:
		// The matrix of a sparse product is never built if its rows are reduced. One is so full that it is
		// not kept sparse, and one has a transpose.
		s := fmt.Sprintf("rand_sparse(%d, %d, density = 0.5, seed = %d)", n, m, seed)
		g.name(fmt.Sprintf("rowmax(%s * t(seq(1, %d)))", s, m+1), variable{typ: types.DenseOf(types.F64, n, 1)})
		g.name(fmt.Sprintf("colsum(%s @ rand_sparse(%d, %d, density = 0.9, seed = 3))", s, m, m), variable{typ: types.DenseOf(types.F64, 1, m)})
		g.name(fmt.Sprintf("t(%s) @ rand(%d, %d, seed = 7)", s, n, 1+seed%3), variable{typ: types.DenseOf(types.F64, m, 1+seed%3)})
	case 0:
		g.bind(fmt.Sprintf("t(%[1]s) @ %[1]s", x), types.DenseOf(types.F64, m, m))
	case 1:
		g.bind(fmt.Sprintf("t(%s) @ rand(%d, 3, seed = 4)", x, n), types.DenseOf(types.F64, m, 3))
	case 2:
		g.name(fmt.Sprintf("onehot(seq(0, %d) * %d %% 4, 4)", n, 1+seed%5), variable{typ: types.DenseOf(types.F64, n, 4)})
		h := g.vars[len(g.vars)-1].text
		g.name(fmt.Sprintf("(t(%s) @ %s) / (t(colsum(%s)) + 1)", h, x, h), variable{typ: types.DenseOf(types.F64, 4, m)})
	case 3:
		g.name(c, variable{typ: types.DenseOf(types.F64, 3, m)})
		k := g.vars[len(g.vars)-1].text
		g.name(fmt.Sprintf("rowargmin(t(rowsum(%[1]s ^ 2)) - 2 * %[2]s @ t(%[1]s))", k, x), variable{typ: types.DenseOf(types.I64, n, 1)})
	case 4:
		g.name(fmt.Sprintf("sum(rowmax(abs(%s @ t(%s) - 0.5) + rand(%d, 1, seed = 3)))", x, c, n), variable{typ: types.ScalarOf(types.F64)})
	case 5: // a layer, and the softmax of it
		g.name(fmt.Sprintf("max(%s @ t(%s) + rand(1, 3, seed = %d), 0.0)", x, c, seed), variable{typ: types.DenseOf(types.F64, n, 3)})
		g.byRows(g.vars[len(g.vars)-1])
	default:
		g.name(fmt.Sprintf("t(%s) @ (%s @ rand(%d, 1, seed = 5) - rand(%d, 1, seed = 6)) / %d", x, x, m, n, n), variable{typ: types.DenseOf(types.F64, m, 1)})
	}
}

// narrowed reads the lower half of a product alone.
func (g *generator) narrowed() {
	n := 1 + g.rng.IntN(9)
	t := types.DenseOf(types.F64, n, n)
	of := []string{"potrf(rand_spd(%[1]d, seed = 2) + %[2]s @ t(%[2]s))", "cholesky(rand_spd(%[1]d, seed = 3) + %[2]s @ t(%[2]s), tile = 3)", "potrf(%[1]d * eye(%[1]d) + t(%[2]s) @ %[2]s)"}
	x := fmt.Sprintf("X%d", g.names)
	g.names++
	g.line("%s = rand(%d, %d, seed = 1)", x, n, n)
	g.name(fmt.Sprintf(of[g.rng.IntN(len(of))], n, x), variable{typ: t})
}

// invariant is a loop with work that is the same in all rounds, and in the rounds of the loop
// around it.
func (g *generator) invariant() {
	a, ok := g.matrix(func(v variable) bool {
		return v.typ.Elem == types.F64 && v.typ.Count() > 0 && !strings.HasPrefix(v.text, "(")
	})
	if !ok {
		return
	}
	same := fmt.Sprintf(invariants[g.rng.IntN(len(invariants))], a.text)
	x, k, y, j := fmt.Sprintf("v%d", g.names), fmt.Sprintf("v%d", g.names+1), fmt.Sprintf("y%d", g.names), fmt.Sprintf("j%d", g.names)
	g.names += 2
	step := fmt.Sprintf("next %[1]s = %[1]s * 0.5 + %[2]s", x, same)
	if g.rng.IntN(2) == 0 {
		step = fmt.Sprintf("next %[1]s = if %[2]s %% 2 == 1 { %[1]s * 0.5 + %[3]s } else { %[1]s - 1 }", x, k, same)
	}
	if g.rng.IntN(3) == 0 {
		step = fmt.Sprintf("iterate %[1]s = %[2]s, %[3]s = 0 until %[3]s == 2 { next %[1]s = %[1]s / 2 + %[4]s * f64(%[5]s); next %[3]s = %[3]s + 1 }; next %[2]s = %[1]s", y, x, j, same, k)
	}
	rounds := g.rng.IntN(6)
	g.line("iterate %[1]s = %[2]s, %[3]s = 0 until %[3]s == %[4]d or sum(%[2]s * 2) > 1e9 { %[5]s; next %[3]s = %[3]s + 1 }", x, a.text, k, rounds, step)
	g.vars = append(g.vars, variable{text: x, typ: a.typ}, variable{text: k, typ: types.ScalarOf(types.I64)})
}

// tilesOfLoops cuts the result of a loop into tiles, sends over them, and gives what is laid
// together to a loop.
func (g *generator) tilesOfLoops() {
	a, ok := g.matrix(func(v variable) bool { return v.typ.Elem == types.F64 && v.typ.Count() > 0 })
	if !ok {
		return
	}
	c, x, y := fmt.Sprintf("c%d", g.names), fmt.Sprintf("v%d", g.names), fmt.Sprintf("v%d", g.names+1)
	g.names += 2
	nb := max(2+g.rng.IntN(4), max(a.typ.Rows, a.typ.Cols)/5)
	nb = min(nb, max(a.typ.Rows, a.typ.Cols))
	g.line("iterate %[1]s = %[2]s times %[3]d with (unroll = %[4]d) { next %[1]s = %[1]s * 0.5 + 1 }", x, a.text, g.rng.IntN(7), g.rng.IntN(3))
	g.line("chan %s = tiles(%s, %d)", c, x, nb)
	i, j := "i"+x, "j"+x
	switch g.rng.IntN(3) {
	case 0:
		g.line("for %[1]s in 0..%[3]s.rows, %[2]s in 0..%[3]s.cols { %[3]s[%[1]s,%[2]s] <- exp(-abs(%[3]s[%[1]s,%[2]s] @ t(%[3]s[%[1]s,%[2]s]) @ %[3]s[%[1]s,%[2]s])) }", i, j, c)
	case 1:
		g.line("for %[1]s in 0..%[3]s.rows, %[2]s in 0..%[3]s.cols { %[3]s[%[1]s,%[2]s] <- guard(%[3]s[%[1]s,%[2]s], %[4]s) + sum(%[5]s) }", i, j, c, g.least(), x)
	default: // a loop on each tile
		g.line("for %[1]s in 0..%[3]s.rows, %[2]s in 0..%[3]s.cols { iterate z%[3]s = %[3]s[%[1]s,%[2]s], k%[3]s = 0 until k%[3]s == 5 { next z%[3]s = z%[3]s * 0.5 - 1; next k%[3]s = k%[3]s + 1 }; %[3]s[%[1]s,%[2]s] <- z%[3]s * 2 }", i, j, c)
	}
	g.line("iterate %[1]s = untile(%[2]s), k%[1]s = 0 until k%[1]s == %[3]d or sum(%[1]s) > 1e3 { next %[1]s = %[1]s * 1.5 + %[4]s; next k%[1]s = k%[1]s + 1 }", y, c, g.rng.IntN(6), x)
	g.vars = append(g.vars, variable{text: x, typ: a.typ}, variable{text: y, typ: a.typ})
}

// What an idiom gives: a matrix as x, its transpose, a number, ...
const (
	sameAs = iota
	turned
	number
	whole
	truths
	truth
	column
	rowOf
	square
	corner
)

// idioms are what rules rewrite, at least one for every rule: x and y are matrices of one shape and
// of f64, %[3]s is x < y.
var idioms = []struct {
	text  string
	gives int
}{
	{"t(t(%[1]s))", sameAs}, {"-(-%[1]s)", sameAs}, {"not (not %[3]s)", truths}, {"max(%[1]s, %[1]s)", sameAs}, {"%[3]s and %[3]s", truths},
	{"abs(abs(%[1]s))", sameAs}, {"abs(-%[1]s)", sameAs}, {"floor(ceil(%[1]s))", sameAs}, {"sign(sign(%[1]s))", sameAs}, {"f64(%[1]s)", sameAs}, {"bool(i64(%[3]s))", truths},
	{"%[1]s * 1", sameAs}, {"%[1]s / 1", sameAs}, {"%[1]s ^ 1", sameAs}, {"f64(i64(%[1]s) + 0)", sameAs}, {"f64(i64(%[1]s) // 1)", sameAs},
	{"%[1]s - (-%[2]s)", sameAs}, {"%[1]s + (-%[2]s)", sameAs}, {"(-%[1]s) * (-%[2]s)", sameAs}, {"(-%[1]s) / (-%[2]s)", sameAs}, {"%[1]s * -1", sameAs}, {"%[1]s / -1", sameAs},
	{"%[1]s / 4", sameAs}, {"%[1]s / 3", sameAs}, {"%[1]s ^ 2", sameAs}, {"%[1]s ^ -1", sameAs}, {"%[1]s ^ 3", sameAs}, {"%[1]s ^ 0.5", sameAs},
	{"ifelse(true, %[1]s, %[2]s)", sameAs}, {"ifelse(false, %[1]s, %[2]s)", sameAs}, {"ifelse(%[3]s, %[1]s, %[1]s)", sameAs}, {"ifelse(not (%[3]s), %[1]s, %[2]s)", sameAs},
	{"not (%[1]s == %[2]s)", truths}, {"not (%[1]s != %[2]s)", truths}, {"not (i64(%[1]s) < i64(%[2]s))", truths}, {"not (i64(%[1]s) >= 3)", truths}, {"not (%[1]s < %[2]s)", truths},
	{"identical(%[1]s, %[1]s)", truth}, {"%[1]s[:, :]", sameAs}, {"dense(%[1]s)", sameAs}, {"(%[1]s[0.., :])[0..1, :]", rowOf}, {"(%[1]s[0..1, :])[0, 0]", number},
	{"t(%[1]s)[0..1, 0..1]", corner}, {"t(%[1]s)[0, 0]", number}, {"(%[1]s * 2 - sqrt(abs(%[2]s)))[0..1, 0..1]", corner}, {"(%[1]s * rowmax(%[2]s))[0, 0]", number},
	{"rbind(%[1]s, %[2]s, %[1]s)[%[4]d - 1..2 * %[4]d - 1, :]", sameAs}, {"cbind(%[1]s, %[2]s * 2)[%[4]d - 1.., 1..][:, 0..1]", corner}, {"rbind(%[1]s, %[2]s)[%[4]d, 0]", number},
	{"(%[1]s @ t(%[2]s))[0..1, 0..1]", corner}, {"(%[1]s - %[2]s @ t(%[2]s) @ %[1]s)[0..1, 0..1]", corner}, {"rowsum(%[1]s)[0..1, :]", corner}, {"colmax(%[1]s)[:, 0..1]", corner},
	{"zeros(9, 9)[2..3, 4..5] + sum(%[1]s)", corner}, {"ones(7, 9)[1..2, 4..5] * sum(%[1]s)", corner}, {"fill(2.5, 7, 7)[3..4, 1..2] - sum(%[1]s)", corner}, {"eye(8)[2..3, 2..3] * %[1]s[0, 0]", corner},
	{"seq(1.0, 20.0)[4..5, :] + sum(%[1]s)", corner}, {"rand(9, 9, seed = 3)[2..3, 4..5] + %[1]s[0, 0]", corner},
	{"t(%[1]s * 2 + t(t(%[2]s)))", turned}, {"t(t(%[1]s) * 2 + 1)", sameAs}, {"t(sqrt(t(abs(%[1]s))) - t(%[2]s))", sameAs}, {"trace(t(%[1]s @ t(%[1]s) * 2))", number}, {"t(upper(t(%[1]s)))", sameAs}, {"t(lower(t(%[1]s)))", sameAs},
	{"sum(t(%[1]s))", number}, {"max(reverse(%[1]s))", number}, {"norm(t(%[1]s))", number}, {"rowsum(t(%[1]s * 1.5))", rowOf + 100}, {"colmean(t(%[1]s))", column + 100}, {"rowmax(reverse(%[1]s))", column},
	{"min(rowmin(%[1]s))", number}, {"max(colmax(%[1]s))", number}, {"sum(rowsum(i64(9 * %[1]s)))", whole}, {"sum(colsum(%[3]s))", whole},
	{"norm(-%[1]s)", number}, {"norm(abs(%[1]s))", number}, {"rownorm(-%[1]s)", column}, {"count(-%[1]s)", whole}, {"any(abs(%[1]s) > 0.5)", truth}, {"count(abs(%[1]s))", whole},
	{"max(-%[1]s)", number}, {"min(-%[1]s)", number}, {"any(not (%[3]s))", truth}, {"all(not (%[3]s))", truth}, {"sum(f64(%[3]s))", number},
	{"t(%[1]s) @ %[2]s", 200}, {"%[1]s @ t(%[2]s)", square}, {"t(%[1]s @ t(%[2]s))", square}, {"%[1]s @ t(%[1]s) - (-%[1]s) @ t(%[2]s)", square}, {"(-%[1]s) @ t(-%[2]s)", square},
	{"zeros(%[4]d, %[4]d) + %[1]s @ t(%[2]s)", square}, {"zeros(%[4]d, %[4]d) - %[1]s @ t(%[2]s)", square},
}

// idiom binds what a few rules rewrite.
func (g *generator) idiom() {
	for range 2 + g.rng.IntN(5) {
		g.oneIdiom()
	}
}

func (g *generator) oneIdiom() {
	x, ok := g.matrix(func(v variable) bool { return v.typ.Elem == types.F64 && v.typ.Count() > 0 })
	if !ok {
		return
	}
	y, ok := g.matrix(func(v variable) bool { return v.typ == x.typ })
	if !ok {
		return
	}
	n, m := x.typ.Rows, x.typ.Cols
	d := idioms[g.rng.IntN(len(idioms))]
	text := fmt.Sprintf(d.text, x.text, y.text, "("+x.text+" < "+y.text+")", n)
	f64 := func(r, c int) types.Type { return types.DenseOf(types.F64, r, c) }
	t := map[int]types.Type{sameAs: x.typ, turned: f64(m, n), number: types.ScalarOf(types.F64), whole: types.ScalarOf(types.I64), truths: x.typ.With(types.Bool), truth: types.ScalarOf(types.Bool),
		column: f64(n, 1), rowOf: f64(1, m), square: f64(n, n), corner: f64(1, 1), rowOf + 100: f64(m, 1), column + 100: f64(1, n), 200: f64(m, m)}[d.gives]
	if strings.HasPrefix(text, "-") || !strings.Contains(text, "(") {
		text = "(" + text + ")"
	}
	g.bind(text, t)
}
