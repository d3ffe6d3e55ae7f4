package compiler_test

import (
	"fmt"
	"strings"

	"flow/ir/types"
)

// This file draws parfor for random programs: bodies of numbers over what is in sight, bodies that
// read their own rows of a constructor, bodies with work that is the same in every iteration, and
// bodies of rows and matrices.

// parallel binds a parfor, or what it is reduced to at once.
func (g *generator) parallel() {
	a, ok := g.matrix(func(v variable) bool {
		return v.typ.Elem == types.F64 && v.typ.Count() > 0 && !strings.HasPrefix(v.text, "(")
	})
	if !ok {
		return
	}
	switch g.rng.IntN(6) {
	case 0:
		g.lanes(a)
	case 1, 2:
		g.drawn()
	case 3:
		g.kept(a)
	default:
		g.ofRows(a)
	}
}

// body is a drawer of blocks over a matrix and what is always in sight. Its names are none that
// another body of the program has.
func (g *generator) body(a variable, f64 ...string) *bodies {
	g.names++
	b := &bodies{rng: g.rng, names: 1000 * g.names, fail: g.rng.IntN(12) == 0, i64: []string{"i", "i", "3"},
		f64: append([]string{"0.5", "2.0"}, f64...), mats: []matrixName{{a.text, a.typ.Rows, a.typ.Cols}}}
	for _, v := range g.vars {
		if v.typ == types.ScalarOf(types.F64) && g.rng.IntN(4) == 0 {
			b.f64 = append(b.f64, v.text)
		}
	}
	return b
}

// given binds a loop of rows x cols values, as it is or reduced.
func (g *generator) given(loop string, elem types.Elem, rows, cols int) {
	t := types.DenseOf(elem, rows, cols)
	how := g.rng.IntN(8)
	if t.Count() == 0 && how != 0 {
		how = 7
	}
	switch how {
	case 0:
		g.name("sum("+loop+")", variable{typ: sumOf(elem)})
	case 1:
		g.name("mean("+loop+")", variable{typ: types.ScalarOf(types.F64)})
	case 2:
		g.name("count("+loop+")", variable{typ: types.ScalarOf(types.I64)})
	case 3:
		if elem == types.Bool {
			g.name("all("+loop+")", variable{typ: types.ScalarOf(elem)})
			return
		}
		g.name("max("+loop+")", variable{typ: types.ScalarOf(elem)})
	case 4:
		if elem == types.F64 {
			g.name("sqrt(abs("+loop+")) * 2 - 1", variable{typ: t})
			return
		}
		g.name("colsum("+loop+")", variable{typ: types.DenseOf(sumOf(elem).Elem, 1, cols)})
	default:
		g.name(loop, variable{typ: t})
	}
}

func sumOf(elem types.Elem) types.Type {
	if elem == types.Bool {
		elem = types.I64
	}
	return types.ScalarOf(elem)
}

// lanes is a body of numbers over one or two indices, with a step, whose first value may be
// negative.
func (g *generator) lanes(a variable) {
	b := g.body(a)
	n, lo, by := []int{0, 1, 7, 33, 70}[g.rng.IntN(5)], g.rng.IntN(9)-4, 1+g.rng.IntN(3)
	head := fmt.Sprintf("i in %d..%d by %d", lo, lo+n, by)
	if g.rng.IntN(4) == 0 {
		head = fmt.Sprintf("i in %d..%d by -%d", lo+n, lo, by)
	}
	rows, cols := (n+by-1)/by, 1
	if g.rng.IntN(3) == 0 {
		b.i64, cols = append(b.i64, "j"), 1+g.rng.IntN(4)
		head += fmt.Sprintf(", j in 0..%d", cols)
	}
	if g.rng.IntN(5) == 0 { // as many j as the index says
		b.i64, cols, by = append(b.i64, "j"), 1, []int{1, 2, -1}[by-1]
		r := [...]string{"0..i", "i..5", "i..=i + 1", "i..3"}[g.rng.IntN(4)]
		head, rows = fmt.Sprintf("i in %d..%d, j in %s by %d", lo, lo+n, r, by), 0
		for i := lo; i < lo+n; i++ {
			from, to := i, map[string]int{"0..i": i, "i..5": 5, "i..=i + 1": i + 2, "i..3": 3}[r]
			if r == "0..i" {
				from = 0
			}
			if r == "i..=i + 1" && by < 0 {
				to = i
			}
			for j := from; by > 0 && j < to || by < 0 && j > to; j += by {
				rows++
			}
		}
	}
	elem, value := types.F64, (*bodies).float
	switch g.rng.IntN(4) {
	case 0:
		elem, value = types.I64, (*bodies).int
	case 1:
		elem, value = types.Bool, (*bodies).bool
	}
	g.given("parfor "+head+" { "+b.block(2, value)+" }", elem, rows, cols)
}

// drawn reads rows of a constructor: those of the index alone, or others besides, in all iterations
// or in a branch.
func (g *generator) drawn() {
	n, lo, seed := 1+g.rng.IntN(70), g.rng.IntN(3), g.rng.IntN(100)
	made := []string{"rand(%d, 2, seed = %d)", "randn(%d, 2, seed = %d)", "abs(fill(%[2]d, %[1]d, 2))", "ones(%d, 2) * 1", "rand(%d, 2, seed = %d) - 0.5"}
	x := fmt.Sprintf("x%d", g.names)
	text := made[g.rng.IntN(len(made))]
	if strings.Contains(text, "ones") {
		text = fmt.Sprintf(text, n+lo)
	} else {
		text = fmt.Sprintf(text, n+lo, seed)
	}
	g.line("%s = %s", x, text)
	elem := types.F64
	if strings.Contains(text, "fill") {
		elem = types.I64
	}
	v := variable{text: x, typ: types.DenseOf(elem, n+lo, 2)}
	own := []string{x + "[i, 0]", x + "[i, 1]", x + "[i, -1]"}
	if elem == types.I64 {
		for k := range own {
			own[k] = "f64(" + own[k] + ")"
		}
	}
	b := g.body(v, own...)
	if elem == types.I64 || g.rng.IntN(3) > 0 {
		b.mats = []matrixName{{"(" + x + "z)", 1, 1}} // no other elements than the index's
		g.line("%sz = rand(1, 1, seed = 2)", x)
	}
	g.given(fmt.Sprintf("parfor i in %d..%d { %s }", lo, lo+n, b.block(2, (*bodies).float)), types.F64, n, 1)
	if g.rng.IntN(4) == 0 { // somebody else reads it
		g.vars = append(g.vars, v)
	}
}

// invariants are expressions of one f64 over a matrix, the same wherever they stand.
var invariants = []string{"f64(rowargmax(%s)[0, 0])", "sum(%[1]s @ t(%[1]s))", "norm(exp(-abs(%s)))", "sum(cumsum(%s))", "max(colsum(%s))", "sum(sparse(%s) * 2)", "mean(%[1]s - rowmean(%[1]s))"}

// kept has work in a branch, in a loop or in no iteration at all that is the same everywhere.
func (g *generator) kept(a variable) {
	var same []string
	for range 2 {
		same = append(same, fmt.Sprintf(invariants[g.rng.IntN(len(invariants))], a.text))
	}
	b := g.body(a, append(same, same...)...)
	n := []int{0, 1, 5, 20}[g.rng.IntN(4)]
	bound := fmt.Sprint(n)
	if g.rng.IntN(4) == 0 { // which only the run knows
		bound = fmt.Sprintf("count(%s) * 0 + %d", a.text, n)
		g.name(fmt.Sprintf("sum(parfor i in 0..%s { %s })", bound, b.block(3, (*bodies).float)), variable{typ: types.ScalarOf(types.F64)})
		return
	}
	g.given(fmt.Sprintf("parfor i in 0..%s { %s }", bound, b.block(3, (*bodies).float)), types.F64, n, 1)
}

// ofRows computes with the rows of a matrix: differences from each, products of each with a matrix,
// slices that move, loops of matrices.
func (g *generator) ofRows(a variable) {
	n, m := a.typ.Rows, a.typ.Cols
	w, ok := g.matrix(func(v variable) bool {
		return v.typ.Elem == types.F64 && v.typ.Rows == m && v.typ.Cols > 0 && !strings.HasPrefix(v.text, "(")
	})
	if !ok {
		w = variable{text: "t(" + a.text + ")", typ: types.DenseOf(types.F64, m, n)}
	}
	rows := []struct {
		body string
		cols int
	}{
		{"D = %[1]s - %[1]s[i, :]; colsum(D * (1 / (rowsum(D ^ 2) + 1) ^ 1.5))", m},
		{"D = %[1]s - %[1]s[i, :]; r = rowsum(D * D) + 0.01; t(1 / (r * sqrt(r))) @ D", m},
		{"%[1]s[i, :] @ %[2]s", w.typ.Cols},
		{"max(%[1]s[i, :] @ %[2]s - 0.25, 0.0) * 2", w.typ.Cols},
		{"x = %[1]s[i, :]; e = exp(x - max(x)); e / sum(e)", m},
		{"if %[1]s[i, 0] > 0.5 { %[1]s[i, :] * 2 } else { colmean(%[1]s) + colmax(%[1]s) * f64(i) }", m},
		{"sum(%[1]s[i..-1, :])", 1},
		{"sum(%[1]s[min(i, 1)..i + 1, :] @ %[2]s)", 1},
		{"sort(t(%[1]s[i, :]))[0, 0] + f64(argmax(%[1]s[i, :]))", 1},
		{"iterate X = %[1]s, k = 0 until k >= i %% 4 { next X = X * 0.5 + 1; next k = k + 1 }; colsum(X)", m},
		{"iterate x = %[1]s[i, :], k = 0 until sum(x) > 3 or k >= 5 { next x = abs(x) * 1.5; next k = k + 1 }; x", m},
		{"M = %[1]s @ %[2]s; M[i, :] * f64(i)", w.typ.Cols},
		{"S = sparse(%[1]s > 0.3) * f64(i + 1); rowsum(S)[i, 0] + sum(S @ %[2]s)", 1},
		{"t(parfor j in 0..3 { sum(%[1]s[i, :]) * f64(j) })", 3},
	}
	r := rows[g.rng.IntN(len(rows))]
	body := fmt.Sprintf(r.body, a.text, w.text)
	if g.rng.IntN(5) == 0 {
		g.given(fmt.Sprintf("parfor i in 0..%d with (schedule = \"fac2\", grain = 2) { %s }", n, body), types.F64, n, r.cols)
		return
	}
	g.given(fmt.Sprintf("parfor i in 0..%d { %s }", n, body), types.F64, n, r.cols)
}
