package compiler_test

import (
	"fmt"
	"strings"

	"flow/ir/types"
)

// This file draws functions that assert, beside products, in loops and around what loops give.

// guards are the functions, at the head of every program; what does not call them loses the lines.
var guards = []string{
	`fn guard(x, lo) { assert min(x) >= lo, fmt("the least is {}", min(x)); x }`,
	`fn bounded(x: _[n,m]) { y = abs(x) * 0.5; assert sum(y) >= 0.0 and n > 0, "no sum"; assert max(y) < 1e200; y - 1 }`,
}

// least is a bound that nothing is below, or now and then one that much is.
func (g *generator) least() string {
	if g.rng.IntN(15) == 0 {
		return "0.3"
	}
	return "-1e300"
}

func (g *generator) asserted() {
	a, ok := g.matrix(func(v variable) bool { return v.typ.Elem == types.F64 && v.typ.Count() > 0 })
	if !ok {
		return
	}
	n, m := a.typ.Rows, a.typ.Cols
	square := types.DenseOf(types.F64, n, n)
	switch g.rng.IntN(9) {
	case 0:
		g.name(fmt.Sprintf("guard(%s, %s)", a.text, g.least()), variable{typ: a.typ})
	case 1:
		g.name(fmt.Sprintf("guard(%[1]s, %[2]s) @ t(guard(%[1]s * 2, -1e300))", a.text, g.least()), variable{typ: square})
	case 2:
		g.name(fmt.Sprintf("max(guard(%[1]s @ t(%[1]s), %[2]s) - 0.5, 0.25)", a.text, g.least()), variable{typ: square})
	case 3:
		g.name(fmt.Sprintf("bounded(%s)", a.text), variable{typ: a.typ})
	case 4: // an assert on a product of which a chain is made
		g.name(fmt.Sprintf("guard(%[1]s @ t(%[1]s), %[2]s)", a.text, g.least()), variable{typ: square})
		p := g.vars[len(g.vars)-1].text
		g.name(fmt.Sprintf("exp(-abs(%[1]s + rowmax(%[1]s)))", p), variable{typ: square})
	case 5: // in all rounds of a loop
		x, k := fmt.Sprintf("v%d", g.names), fmt.Sprintf("v%d", g.names+1)
		g.names += 2
		g.line("iterate %[1]s = %[2]s, %[3]s = 0 until %[3]s == %[4]d { y%[1]s = guard(%[1]s, %[5]s); next %[1]s = bounded(y%[1]s * 0.5); next %[3]s = %[3]s + 1 }", x, a.text, k, g.rng.IntN(9), g.least())
		g.vars = append(g.vars, variable{text: x, typ: a.typ}, variable{text: k, typ: types.ScalarOf(types.I64)})
	case 6: // in a branch
		g.name(fmt.Sprintf("if sum(%[1]s) > %[2]d { guard(%[1]s, %[3]s) * 2 } else { bounded(%[1]s) }", a.text, g.rng.IntN(4), g.least()), variable{typ: a.typ})
	case 7: // on its own, told last or first
		g.line("assert max(%s) < %s, %q", a.text, []string{"1e300", "1e300", "1e300", "0.4"}[g.rng.IntN(4)], "too large")
	default: // around a parfor
		if strings.HasPrefix(a.text, "(") {
			return
		}
		g.name(fmt.Sprintf("guard(parfor i in 0..%d { %s[i, :] * 0.5 }, %s)", n, a.text, g.least()), variable{typ: types.DenseOf(types.F64, n, m)})
	}
}
