package ir

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
)

// This file determines which nodes may fail in the run. Nodes are in program order, and a run
// reports its first failure. So a pass may not move such a node across another one or across an
// effect, and an engine lets a visible effect wait for those before it (Guards).

// Ranges holds the ranges of region arguments that are constants, or indices or counters of enclosing
// loops.
type Ranges map[ID][2]int64

// of returns the range of node id, if known.
func (at Ranges) of(g *Graph, id ID) (r [2]int64, ok bool) {
	if r, ok = at[id]; ok {
		return r, true
	}
	if c, ok := wholeConst(g, id); ok || at == nil {
		return [2]int64{c, c}, ok
	}
	if r, ok = at.computed(g, id); ok {
		at[id] = r
	}
	return r, ok
}

// computed returns the range of a row's result for integers of known ranges.
func (at Ranges) computed(g *Graph, id ID) (r [2]int64, ok bool) {
	n, in := &g.Nodes[id], g.In(id)
	if n.Op.Body == nil || len(in) != 2 || g.Type(id) != types.ScalarOf(types.I64) {
		return r, false
	}
	var of [2][2]int64
	for k, x := range in {
		if of[k], ok = at.of(g, x); !ok || g.Type(x) != g.Type(id) {
			return r, false
		}
	}
	return n.Op.Span(of)
}

// below reports whether subscript id is known to be in 0..n.
func (at Ranges) below(g *Graph, id ID, n int) bool {
	r, ok := at.of(g, id)
	return ok && r[0] >= 0 && r[1] < int64(n)
}

// wholeConst returns the value of an integer constant.
func wholeConst(g *Graph, id ID) (c int64, ok bool) {
	n := &g.Nodes[id]
	v, is := n.Attrs.Get("value")
	return v.I, n.Op.Role == op.Constant && is && v.Kind == op.IntVal
}

// MayFail reports whether a node of g may fail in the run, or is or contains an effect. A loop that
// does not end does not fail.
func MayFail(g *Graph, id ID) bool { return mayFail(g, id, nil) }

// MayFail is the function MayFail for a node of a region whose arguments have these ranges.
func (at Ranges) MayFail(g *Graph, id ID) bool { return mayFail(g, id, at) }

// mayFail is MayFail with what is known of a region's arguments.
func mayFail(g *Graph, id ID, at Ranges) bool {
	n, in := &g.Nodes[id], g.In(id)
	switch {
	case n.Op.Role == op.Argument || n.Op.Role == op.Constant || n.Op.Role == op.Exchange || n.Op.Role == op.Gathers || n.Op.Control == op.Part:
		return false
	case n.Op.Role == op.Points || n.Op.Role == op.Rounds || n.Op.Control == op.Iterate || n.Op.Control == op.Select:
		return bodiesMayFail(g, id, at)
	case !n.Op.Laws.Has(op.Pure) || !sized(g.Type(id)):
		return true
	}
	for _, x := range in {
		if t := g.Type(x); !sized(t) || n.Region != nil && t.Count() == 0 {
			return true
		}
	}
	if n.Region != nil { // a chain or a group of rows fails where one of its operators does
		inner := at.Within(g, id, n.Region)
		for i := range n.Region.Graph.Nodes {
			if mayFail(n.Region.Graph, ID(i), inner) {
				return true
			}
		}
		return false
	}
	switch {
	case n.Op.Laws.Has(op.Total), n.Op.Order != nil && n.Op.Order.Part != "": // a sort has all rows
		return false
	case n.Op.Role == op.Picks:
		t := g.Type(in[0])
		return !at.below(g, in[1], t.Rows) || !at.below(g, in[2], t.Cols)
	case n.Op.Role == op.Windows:
		t, of := g.Type(id), g.Type(in[0])
		return t.Rows > of.Rows || t.Cols > of.Cols || !at.below(g, in[1], of.Rows-t.Rows+1) || !at.below(g, in[2], of.Cols-t.Cols+1)
	case n.Op.Laws.Has(op.Elementwise) && n.Op.Elt != nil, n.Op.Partial != op.Everywhere:
		return at.elementFails(g, id)
	case (n.Op.Fold != op.NoFold || n.Op.Once) && len(in) == 1: // an extreme or a quantile: it needs an element
		return g.Type(in[0]).Count() == 0
	}
	return !n.Op.Laws.Has(op.View) || n.Op.Shard.Kind != op.ShardAligned // materialize
}

// elementFails reports an elementwise operator without a value for some elements that its inputs
// may have.
func (at Ranges) elementFails(g *Graph, id ID) bool {
	n, in := &g.Nodes[id], g.In(id)
	if !n.Op.Fails(g.Type(in[0]).Elem, g.Type(id).Elem) {
		return false
	}
	by, known := at.of(g, in[len(in)-1])
	return n.Op.Partial != op.NotByZero || !known || by[0] <= 0 && by[1] >= 0
}

// sized reports whether the sizes of a type are known before the run.
func sized(t types.Type) bool { return !t.IsMatrix() || t.Known() }

// bodiesMayFail is mayFail for a loop or branch.
func bodiesMayFail(g *Graph, id ID, at Ranges) bool {
	n := &g.Nodes[id]
	if n.Op.Role == op.Points && (n.Attrs.Ints("lo") == nil || !sized(g.Type(id))) {
		return true
	}
	for r := n.Region; r != nil; r = r.Next {
		inner := at.Within(g, id, r)
		for i := range r.Graph.Nodes {
			if mayFail(r.Graph, ID(i), inner) {
				return true
			}
		}
	}
	return false
}

// Within returns the ranges of the arguments of region r of node id.
func (at Ranges) Within(g *Graph, id ID, r *Region) Ranges {
	n, in, inner := &g.Nodes[id], g.In(id), Ranges{}
	// first: the first input that is constant over all rounds, and its place among the
	// arguments
	first := 0
	if n.Op.Role != op.Points {
		first = max(n.Carried(), n.FirstArg())
	} else if lo := n.Attrs.Ints("lo"); lo != nil {
		count := n.Attrs.Ints("n")
		for d, by := range n.Attrs.Ints("by") {
			last := lo[d] + by*max(count[d]-1, 0)
			inner[r.Args[d]] = [2]int64{min(lo[d], last), max(lo[d], last)}
		}
	}
	// arguments that are no inputs, minus inputs that are no arguments
	shift := len(r.Args) - len(in)
	for k := max(first, -shift); k < len(in); k++ { // not the bounds of a parfor
		if v, ok := at.of(g, in[k]); ok {
			inner[r.Args[k+shift]] = v
		}
	}
	times, known := n.Times()
	if n.Op.Control != op.Iterate || !known && r != n.Region {
		return inner
	}
	steps := map[int]int64{} // by carried value: what a round adds to a counter
	for k := range n.Carried() {
		if v, ok := at.of(g, in[k]); ok && v[0] == v[1] {
			if s, ok := inner.step(r, k); ok {
				steps[k] = s
			}
		}
	}
	if !known {
		times, known = at.until(g, id, n.Region.Next.Yields[0], steps)
	}
	for k, s := range steps {
		if v, _ := at.of(g, in[k]); known && times <= mostCounted && max(v[0], -v[0]) < mostCounted {
			last := v[0] + s*max(times-1, 0)
			inner[r.Args[k]] = [2]int64{min(v[0], last), max(v[0], last)}
		}
	}
	return inner
}

// until returns the most rounds of iterate id, which ends when value x of its condition holds. steps
// holds the number that a round adds to each counter, by carried value. known is false without a bound.
func (at Ranges) until(g *Graph, id, x ID, steps map[int]int64) (times int64, known bool) {
	end := g.Nodes[id].Region.Next
	d, in := end.Graph.Nodes[x].Op, end.Graph.In(x)
	if d.Body == nil || len(in) != 2 || end.Graph.Type(x) != types.ScalarOf(types.Bool) {
		return 0, false
	}
	number := types.ScalarOf(types.I64)
	for j, y := range in {
		rounds, ends := int64(0), false
		if k := slices.Index(end.Args, y); end.Graph.Type(y) == number && end.Graph.Type(in[1-j]) == number {
			bound, fixed := wholeConst(end.Graph, in[1-j])
			if at := slices.Index(end.Args, in[1-j]); at >= g.Nodes[id].Carried() {
				bound, fixed = wholeConst(g, g.In(id)[at])
			}
			if step, is := steps[k]; is && fixed {
				from, _ := at.of(g, g.In(id)[k])
				rounds, ends = d.Until(j, from[0], step, bound)
			}
		} else if end.Graph.Type(y) == types.ScalarOf(types.Bool) && d.Either() {
			rounds, ends = at.until(g, id, y, steps)
		}
		if ends && (!known || rounds < times) {
			times, known = rounds, true
		}
	}
	return times, known
}

// mostCounted bounds steps and rounds of counters, so that nothing overflows.
const mostCounted = 1 << 30

// step returns the number that each round adds to carried value k of a loop. ok is false if it adds
// different ones, or something else changes the value.
func (at Ranges) step(r *Region, k int) (step int64, ok bool) {
	y := r.Yields[k]
	d, in := r.Graph.Nodes[y].Op, r.Graph.In(y)
	if d.Body == nil || len(in) != 2 || r.Graph.Type(y) != types.ScalarOf(types.I64) {
		return 0, false
	}
	of := [2][2]int64{}
	for j, x := range in {
		by, is := at.of(r.Graph, in[1-j])
		if x != r.Args[k] || !is || by[0] != by[1] {
			continue
		}
		of[1-j] = by
		zero, ok := d.Span(of)
		of[j] = [2]int64{1, 1}
		one, _ := d.Span(of)
		// what gives so at 0 and at 1 is a sum: a span is of sums, differences and products
		if step := zero[0]; ok && one[0] == step+1 && max(step, -step) < mostCounted {
			return step, true
		}
	}
	return 0, false
}
