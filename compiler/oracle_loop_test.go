package compiler_test

import (
	"fmt"
	"strings"

	"flow/ir/types"
)

// This file draws loops and branches of the run: their bodies are drawn as programs are, from what
// is in sight.

// inside draws a body of about n statements: its lines, and what is bound in it. Names outside are
// in sight.
func (g *generator) inside(n, depth int, carried ...variable) (lines []string, vars []variable) {
	outer, seen := g.out.lines, g.vars
	g.out.lines, g.vars = nil, append(append([]variable(nil), seen...), carried...)
	for range n {
		switch k := g.rng.IntN(16); {
		case k >= 14:
			g.parallel()
		case k == 13:
			g.asserted()
		case k == 12:
			g.idiom()
		case k < 7:
			g.operator()
		case k < 9:
			g.product()
		case k < 10:
			g.window()
		case k < 11 && depth > 0:
			g.loop(depth - 1)
		default:
			g.channels()
		}
	}
	lines, vars = g.out.lines, g.vars[len(seen):]
	g.out.lines, g.vars = outer, seen
	return lines, vars
}

// of is a value of type t among vars, the last ones first, or otherwise.
func (g *generator) of(vars []variable, t types.Type, otherwise string) string {
	for i := len(vars) - 1; i >= 0; i-- {
		if vars[i].typ == t && !vars[i].open && g.rng.IntN(3) > 0 {
			return vars[i].text
		}
	}
	return otherwise
}

// closed is a value of a size that is known before the run.
func (g *generator) closed() variable {
	for {
		if v := g.vars[g.rng.IntN(len(g.vars))]; !v.open {
			return v
		}
	}
}

// loop binds the results of an iterate with one to three carried values.
func (g *generator) loop(depth int) {
	var carried []variable
	var head, body []string
	for range 1 + g.rng.IntN(2) {
		from := g.closed()
		v := variable{text: fmt.Sprintf("v%d", g.names), typ: from.typ}
		g.names++
		carried = append(carried, v)
		head = append(head, v.text+" = "+from.text)
	}
	lines, vars := g.inside(1+g.rng.IntN(4), depth, carried...)
	body = append(body, lines...)
	for _, v := range carried {
		otherwise := v.text
		if v.typ.Elem == types.F64 && !v.typ.IsSparse() {
			otherwise = "(" + v.text + ") * 0.5 + 1"
		}
		body = append(body, fmt.Sprintf("next %s = %s", v.text, g.of(vars, v.typ, otherwise)))
	}
	rounds := g.rng.IntN(6)
	switch g.rng.IntN(4) {
	case 0:
		g.line("iterate %s times %d with (unroll = 0) { %s }", strings.Join(head, ", "), rounds, strings.Join(body, "; "))
	case 1:
		g.line("iterate %s times %d { %s }", strings.Join(head, ", "), rounds, strings.Join(body, "; "))
	case 2: // a number that only the run knows
		g.line("iterate %s times i64(sum(ones(%d, 1))) { %s }", strings.Join(head, ", "), rounds, strings.Join(body, "; "))
	default:
		r := fmt.Sprintf("v%d", g.names)
		g.names++
		stop := fmt.Sprintf("%s == %d", r, rounds)
		if c := carried[0]; c.typ.IsDense() && c.typ.Elem.IsFloat() && g.rng.IntN(2) == 0 {
			stop += fmt.Sprintf(" or sum(%s) > 3", c.text)
		}
		g.line("iterate %s, %s = 0 until %s { %s; next %s = %s + 1 }", strings.Join(head, ", "), r, stop, strings.Join(body, "; "), r, r)
		carried = append(carried, variable{text: r, typ: types.ScalarOf(types.I64)})
	}
	g.vars = append(g.vars, carried...)
}

// branch binds an `if` on a value of the run.
func (g *generator) branch() {
	c, ok := g.matrix(func(v variable) bool { return v.typ.Elem.IsNumeric() })
	if !ok {
		return
	}
	a, va := g.inside(1+g.rng.IntN(3), 1)
	b, vb := g.inside(1+g.rng.IntN(3), 1)
	like := g.closed()
	if len(va) > 0 && !va[len(va)-1].open && g.rng.IntN(3) > 0 {
		like = va[len(va)-1]
	}
	otherwise := g.of(g.vars, like.typ, "")
	x, y := g.of(va, like.typ, otherwise), g.of(vb, like.typ, otherwise)
	if x == "" || y == "" {
		return
	}
	join := func(lines []string, last string) string { return strings.Join(append(lines, last), "; ") }
	g.name(fmt.Sprintf("if sum(%s) > %d { %s } else { %s }", c.text, g.rng.IntN(5)-1, join(a, x), join(b, y)), variable{typ: like.typ})
}
