package ir

import (
	"flow/ir/op"
	"flow/ir/types"
)

// This file tells which nodes may fail in the run. The order of nodes is that of the program, and of several failures a run tells the
// first. So a pass may not move such a node over another one, or over an effect, and an engine lets an effect that the user sees wait
// for those before it (Guards).

// indices is the least and the greatest value of arguments of a region that are indices of loops around it, or constants.
type indices map[ID][2]int64

// of is the range of node id, if it is known.
func (at indices) of(g *Graph, id ID) (r [2]int64, ok bool) {
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

// computed is the range of what a row makes of integers whose ranges are known.
func (at indices) computed(g *Graph, id ID) (r [2]int64, ok bool) {
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

// below reports that subscript id is known to be one of 0..n.
func (at indices) below(g *Graph, id ID, n int) bool {
	r, ok := at.of(g, id)
	return ok && r[0] >= 0 && r[1] < int64(n)
}

// wholeConst is the value of a constant that is an integer.
func wholeConst(g *Graph, id ID) (c int64, ok bool) {
	n := &g.Nodes[id]
	v, is := n.Attrs.Get("value")
	return v.I, n.Op.Role == op.Constant && is && v.Kind == op.IntVal
}

// MayFail reports a node of g that may fail in the run, or is or holds an effect. A loop that does not end does not fail.
func MayFail(g *Graph, id ID) bool { return mayFail(g, id, nil) }

// mayFail is MayFail; at is what is known of the arguments of a region.
func mayFail(g *Graph, id ID, at indices) bool {
	n, in := &g.Nodes[id], g.In(id)
	switch {
	case n.Op.Role == op.Argument || n.Op.Role == op.Constant || n.Op.Role == op.Exchange || n.Op.Control == op.Part:
		return false
	case n.Op.Role == op.Points || n.Op.Control == op.Iterate || n.Op.Control == op.Select:
		return bodiesMayFail(g, id, at)
	case !n.Op.Laws.Has(op.Pure) || !sized(g.Type(id)):
		return true
	}
	for _, x := range in {
		if t := g.Type(x); !sized(t) || n.Region != nil && t.Count() == 0 {
			return true
		}
	}
	if n.Region != nil { // a chain, or a group of rows: it fails where an operator of it does
		for i := range n.Region.Graph.Nodes {
			if mayFail(n.Region.Graph, ID(i), nil) {
				return true
			}
		}
		return false
	}
	switch {
	case n.Op.Laws.Has(op.Total):
		return false
	case n.Op.Name == "element":
		t := g.Type(in[0])
		return !at.below(g, in[1], t.Rows) || !at.below(g, in[2], t.Cols)
	case n.Op.Laws.Has(op.Elementwise) && n.Op.Elt != nil:
		return elementFails(g, id)
	case n.Op.Fold != op.NoFold && len(in) == 1: // an extreme: it needs an element
		return g.Type(in[0]).Count() == 0
	}
	return !n.Op.Laws.Has(op.View) || n.Op.Shard.Kind != op.ShardAligned // materialize
}

// elementFails reports an elementwise operator that has no value of some elements, which its inputs may have.
func elementFails(g *Graph, id ID) bool {
	n, in := &g.Nodes[id], g.In(id)
	if !n.Op.Fails(g.Type(in[0]).Elem, g.Type(id).Elem) {
		return false
	}
	c, known := wholeConst(g, in[len(in)-1])
	return n.Op.Partial != op.NotByZero || !known || c == 0
}

// sized reports a type whose sizes are known before the run.
func sized(t types.Type) bool { return !t.IsMatrix() || t.Known() }

// bodiesMayFail is mayFail of a loop or branch.
func bodiesMayFail(g *Graph, id ID, at indices) bool {
	n := &g.Nodes[id]
	first := 0 // the input that is the first of those which all rounds read as they are, and where it is among the arguments
	var own indices
	switch {
	case n.Op.Role != op.Points:
		first = max(n.Carried(), n.FirstArg())
	case n.Attrs.Ints("lo") == nil || !sized(g.Type(id)):
		return true
	default:
		own = indices{}
		lo, count := n.Attrs.Ints("lo"), n.Attrs.Ints("n")
		for d, by := range n.Attrs.Ints("by") {
			last := lo[d] + by*max(count[d]-1, 0)
			own[n.Region.Args[d]] = [2]int64{min(lo[d], last), max(lo[d], last)}
		}
	}
	for r := n.Region; r != nil; r = r.Next {
		inner := indices{}
		for a, v := range own {
			inner[a] = v
		}
		in := g.In(id)
		shift := len(r.Args) - len(in) // arguments that are no inputs, less inputs that are no arguments
		for k := first; k < len(in); k++ {
			if v, ok := at.of(g, in[k]); ok {
				inner[r.Args[k+shift]] = v
			}
		}
		for i := range r.Graph.Nodes {
			if mayFail(r.Graph, ID(i), inner) {
				return true
			}
		}
	}
	return false
}
