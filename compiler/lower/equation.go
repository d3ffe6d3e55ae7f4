package lower

import (
	"slices"
	"strings"

	"flow/ir"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates the equation form of channel arrays, chan L[i in 0..n] = e: on demand,
// memoised, with cycle detection.

// equations declares an array by one equation an element. Nothing is evaluated yet.
func (l *lowerer) equations(s *ast.Chan, place ir.Placement) {
	if s.Expr == nil {
		l.failf("E401", s.Span(), "the equation form needs `= e`")
	}
	// The array spans the box of all indices. Elements outside the domain stay empty.
	var points [][]int
	head := &scope{parent: l.scope}
	outer := l.scope
	l.scope = head
	at := make([]int, len(s.Ranges))
	dims := make([]int, len(s.Ranges))
	for _, r := range s.Ranges {
		if r.Name == nil || r.Hi == nil {
			l.failf("E416", r.Span(), "an equation's range is `i in a..b`")
		}
	}
	l.ranges(s.Ranges, head, func(d, x int, _ val) {
		at[d] = x
	}, func() {
		for d, x := range at {
			if x < 0 {
				l.failf("E212", s.Ranges[d].Span(), "subscript %d is negative", x)
			}
			if x >= l.limit() || len(points) >= l.limit() {
				l.failf("E410", s.Name.At, "the array has more than %d elements", l.limit())
			}
			dims[d] = max(dims[d], x+1)
		}
		points = append(points, append([]int(nil), at...))
	})
	l.scope = outer
	g := l.newGrid(s.Name.Name, s.Name.At, dims...)
	g.eq = &equation{decl: s, env: l.scope, nest: l.nest, at: slices.Clone(l.loopAt), call: l.call, calls: append([]*ast.Call(nil), l.calls...), state: make([]uint8, len(g.cur))}
	for i := range g.eq.state {
		g.eq.state[i] = 3
	}
	for _, p := range points {
		g.eq.state[g.offset(p)] = 0
	}
	g.place = place
	l.openGrid(g)
	l.declare(s.Name, arrayVal(g))
	g.eq.env = l.scope
	// All elements in order of their indices. Each requests what it needs.
	for _, p := range points {
		if off := g.offset(p); g.eq.state[off] == 0 {
			l.solve(g, off, s.Name.At)
		}
	}
}

// maxChain bounds the recursion of elements that need unsolved ones: each takes a few kilobytes of
// stack.
const maxChain = 10_000

// solve evaluates the equation of one element.
func (l *lowerer) solve(g *grid, off int, at source.Span) {
	q := g.eq
	switch q.state[off] {
	case 3:
		return // outside the domain: the reader reports it
	case 1:
		cycle := ""
		for i := len(q.path) - 1; i >= 0; i-- {
			cycle = " needs " + g.elemName(q.path[i]) + cycle
			if q.path[i] == off {
				break
			}
		}
		l.fail(source.Errorf("E404", at, "the equations of %s form a cycle: %s", g.name, strings.TrimPrefix(cycle, " needs ")+" needs "+g.elemName(off)).
			WithNote(g.span, "declared here"))
	}
	if len(q.path) >= maxChain {
		l.fail(source.Errorf("E410", at, "the equations of %s need each other more than %d deep", g.name, maxChain).
			WithNote(g.span, "declared here").WithHelp("equations are solved in order of their indices: let an element need those before it"))
	}
	q.state[off] = 1
	q.path = append(q.path, off)
	outerScope, outerLoop, outerNest, outerAt, outerCall, outerCalls := l.scope, l.loop, l.nest, l.loopAt, l.call, l.calls
	head := &scope{parent: q.env}
	idx := g.at(off)
	l.nest = q.nest
	nest := l.nestOf(q.decl, q.decl.Ranges)
	for i, r := range q.decl.Ranges {
		head.bind(r.Name.Name, intVal(idx[i]), r.Name.At)
	}
	l.scope, l.nest, l.loopAt, l.call, l.calls = head, nest, append(slices.Clip(q.at), idx...), q.call, q.calls
	l.loop = l.g.Loop(nest, l.loopAt)
	id := l.sent(g, off, q.decl.Expr)
	l.scope, l.loop, l.nest, l.loopAt, l.call, l.calls = outerScope, outerLoop, outerNest, outerAt, outerCall, outerCalls
	q.path = q.path[:len(q.path)-1]
	q.state[off] = 2
	g.cur[off], g.typ[off] = id, l.g.Type(id)
	l.sends++
}
