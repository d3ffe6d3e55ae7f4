package ir

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// mostFollowed bounds the nodes of all rounds that Counted follows, so that it takes some milliseconds.
const mostFollowed = 1 << 17

// Counted returns after how many rounds of iterate id the condition holds, whatever the values are
// that only the run knows. It follows the numbers that begin as constants and that a round makes of
// constants and such numbers. exact is false if other values may end the loop before. rounds is 0 if
// nothing is known. It is for predictions: no result depends on it.
//
//	iterate v = x, k = 0 until k == 60 or max(v) < 1 { next v = f(v); next k = k + 1 }   # 60, or less
func (g *Graph) Counted(id ID) (rounds int64, exact bool) {
	n := &g.Nodes[id]
	if times, ok := n.Times(); ok {
		return max(times, 0), true
	}
	if n.Op.Control != op.Iterate || n.Region == nil || n.Region.Next == nil {
		return 0, false
	}
	args, known := make([]value.Value, len(g.In(id))), false
	for k, x := range g.In(id) {
		if m := &g.Nodes[x]; m.Op.Role == op.Constant && g.Type(x).IsScalar() {
			args[k] = called(g, x, nil)
			known = known || k < n.Carried()
		}
	}
	nodes := int64(n.Region.Graph.Len() + n.Region.Next.Graph.Len())
	for exact = true; known && rounds*nodes < mostFollowed; rounds++ {
		switch stop := evident(n.Region.Next, args)[0]; {
		case stop == nil:
			exact = false
		case stop.(value.Scalar).True():
			return rounds, exact
		}
		next := evident(n.Region, args)
		copy(args[:n.Carried()], next)
		known = slices.ContainsFunc(args[:n.Carried()], func(v value.Value) bool { return v != nil })
	}
	return 0, false
}

// evident returns what a region yields with these arguments. nil stands for a value that only the run
// knows.
func evident(r *Region, args []value.Value) []value.Value {
	g := r.Graph
	of := make([]value.Value, g.Len())
	for k, a := range r.Args {
		of[a] = args[k]
	}
	for id, n := range g.All() {
		if n.Op.Role == op.Argument || n.Region != nil || !g.Type(id).IsScalar() || !n.Op.Laws.Has(op.Pure) && n.Op.Role != op.Constant {
			continue
		}
		in, open := make([]value.Value, len(g.In(id))), -1
		for k, x := range g.In(id) {
			if in[k] = of[x]; in[k] != nil {
				continue
			}
			if open >= 0 || g.Type(x) != types.ScalarOf(types.Bool) {
				in = nil
				break
			}
			open = k
		}
		switch {
		case in == nil:
		case open < 0:
			of[id] = called(g, id, in)
		default: // known if it is the same for true and false
			in[open] = value.Bool(false)
			no := called(g, id, in)
			in[open] = value.Bool(true)
			if yes := called(g, id, in); yes != nil && yes == no {
				of[id] = yes
			}
		}
	}
	out := make([]value.Value, len(r.Yields))
	for k, y := range r.Yields {
		out[k] = of[y]
	}
	return out
}

// called returns the scalar that node id makes of in by its definition, or nil.
func called(g *Graph, id ID, in []value.Value) value.Value {
	n := &g.Nodes[id]
	if n.Op.Ref == nil {
		return nil
	}
	v, err := n.Op.Ref(&op.Call{Def: n.Op, Attrs: n.Attrs, In: in, Type: g.Type(id)})
	if s, ok := v.(value.Scalar); ok && err == nil {
		return s
	}
	return nil
}
