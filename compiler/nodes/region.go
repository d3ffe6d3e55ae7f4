package nodes

import (
	"iter"
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file runs passes on regions, and makes regions.

// Deep runs a pass on the bodies of g's loops and branches, innermost first, and then on g itself.
// f may change the graphs of regions in place, but not g.
//
// A region's graph is closed while f runs on it: a last node (Closing) reads all arguments and yields,
// so that f keeps them and their new places are known.
func Deep(g *ir.Graph, f func(g *ir.Graph) *ir.Graph) *ir.Graph { return deep(g, IsControl, f) }

// Everywhere is Deep that also runs the pass on the bodies of parfors. Their kernel compiles operators
// and finds invariants itself, so only passes that rewrite operators into operators help there.
func Everywhere(g *ir.Graph, f func(g *ir.Graph) *ir.Graph) *ir.Graph {
	return deep(g, func(n *ir.Node) bool { return n.Region != nil && !n.IsChain() }, f)
}

// Points runs a pass on the bodies of all parfors, and on the regions in them.
func Points(g *ir.Graph, f func(g *ir.Graph) *ir.Graph) *ir.Graph {
	return Deep(g, func(g *ir.Graph) *ir.Graph {
		points := func(n *ir.Node) bool { return n.Op.Role == op.Points }
		return bodies(g, points, func(g *ir.Graph) *ir.Graph { return Everywhere(g, f) })
	})
}

// Bodies is Deep without g itself.
func Bodies(g *ir.Graph, f func(g *ir.Graph) *ir.Graph) *ir.Graph { return bodies(g, IsControl, f) }

// NodesIn yields the nodes of g and, after a node that enters selects, those of its regions, at any
// depth.
func NodesIn(g *ir.Graph, enters func(n *ir.Node) bool) iter.Seq2[*ir.Graph, ir.ID] {
	return func(yield func(*ir.Graph, ir.ID) bool) {
		var within func(g *ir.Graph) bool
		within = func(g *ir.Graph) bool {
			for i := range g.Nodes {
				n := &g.Nodes[i]
				if !yield(g, ir.ID(i)) {
					return false
				}
				for r := n.Region; r != nil && enters(n); r = r.Next {
					if !within(r.Graph) {
						return false
					}
				}
			}
			return true
		}
		within(g)
	}
}

// Captures returns the index of the first argument of region r, of node id, that is the same in all
// rounds. The value of argument k is input k + shift: indices of a parfor are arguments but no inputs,
// and conditions and bounds are inputs but no arguments.
func Captures(g *ir.Graph, id ir.ID, r *ir.Region) (first, shift int) {
	n := &g.Nodes[id]
	return n.Carried() + len(n.Attrs.Ints("by")), len(g.In(id)) - len(r.Args)
}

// SomeIn reports whether f holds for node n or for a node in its regions, at any depth. Of the nodes in
// these, it looks into the regions of those for which enters holds.
func SomeIn(n *ir.Node, enters, f func(n *ir.Node) bool) bool {
	if f(n) {
		return true
	}
	for r := n.Region; r != nil && enters(n); r = r.Next {
		for g, id := range NodesIn(r.Graph, enters) {
			if f(&g.Nodes[id]) {
				return true
			}
		}
	}
	return false
}

// IsControl reports whether n is an iterate or a branch.
func IsControl(n *ir.Node) bool { return n.Op.Control == op.Iterate || n.Op.Control == op.Select }

// deep runs f on the bodies of the nodes that enters selects, and on g.
func deep(g *ir.Graph, enters func(n *ir.Node) bool, f func(g *ir.Graph) *ir.Graph) *ir.Graph {
	return f(bodies(g, enters, f))
}

// bodies runs f on the bodies of the nodes that enters selects. It returns g, or a copy that has the
// new bodies.
func bodies(g *ir.Graph, enters func(n *ir.Node) bool, f func(g *ir.Graph) *ir.Graph) *ir.Graph {
	own := false // a copy
	for i := range g.Nodes {
		if !enters(&g.Nodes[i]) {
			continue
		}
		if !own {
			g, own = g.Clone(), true
		}
		g.Nodes[i].Region = EachRegion(g.Nodes[i].Region, func(r *ir.Region) *ir.Region { return body(r, knownIn(g, ir.ID(i), r), enters, f) })
	}
	return g
}

// Closing is the operator of the node that closes a region's graph while a pass runs (Deep). It is in
// no table, and no graph keeps it.
var Closing = &op.Def{Name: "close", Laws: op.Effectful, Control: op.NoControl}

// knownIn returns the arguments of region r, of node id, that are constant ramps or integers in all
// rounds. Each has three numbers: its place among the arguments, its first value and its step.
func knownIn(g *ir.Graph, id ir.ID, r *ir.Region) (list []int) {
	first, shift := Captures(g, id, r)
	for k := first; k < len(r.Args); k++ {
		x := g.In(id)[k+shift]
		n := &g.Nodes[x]
		switch v, _ := n.Attrs.Get("value"); {
		case n.Op.Role == op.Constant && v.Kind == op.IntVal:
			list = append(list, k, int(v.I), 0)
		case n.Op.Ramp != nil:
			if first, down, ok := n.Op.Ramp(n.Attrs); ok {
				list = append(list, k, int(first), int(down))
			}
		}
	}
	return list
}

// body runs f on the closed graph of region r, innermost bodies first. known is as knownIn returns it.
func body(r *ir.Region, known []int, enters func(n *ir.Node) bool, f func(g *ir.Graph) *ir.Graph) *ir.Region {
	g := r.Graph.Clone()
	held := append(append([]ir.ID(nil), r.Args...), r.Yields...)
	g.Add(Closing, op.MakeAttrs(op.Attr{Name: "known", Val: op.Ints(known...)}), types.EffectType(), ir.Origin{}, held...)
	g = deep(g, enters, f)
	last := ir.ID(g.Len() - 1)
	if g.Nodes[last].Op != Closing {
		panic("BUG: the last node of a region is no longer the last: " + g.Line(last))
	}
	held = append([]ir.ID(nil), g.In(last)...)
	keep := make([]bool, g.Len())
	for i := range keep {
		keep[i] = ir.ID(i) != last
	}
	k := len(r.Args)
	return &ir.Region{Graph: g.Compact(keep), Args: held[:k:k], Yields: held[k:]}
}

// DropInputs drops captured inputs of node id that none of its regions reads, and makes one argument of
// a value that is captured twice. An effect stays, because it orders.
func DropInputs(g *ir.Graph, id ir.ID) {
	n := &g.Nodes[id]
	in := g.In(id)
	fixed := 1 // the condition, or the carried values
	if n.Op.Control == op.Iterate {
		fixed = n.Carried()
	}
	offset := len(in) - len(n.Region.Args) // 1 for a select, whose condition is no argument
	keep := make([]bool, len(in))
	all := true
	for k := range in {
		keep[k] = k < fixed || g.Type(in[k]).Kind == types.Effect
		for r := n.Region; r != nil && !keep[k]; r = r.Next {
			keep[k] = Reads(r, r.Args[k-offset])
		}
		all = all && keep[k]
	}
	same := map[ir.ID]int{} // a value captured twice is one argument
	var twice [][2]int
	for k := fixed; k < len(in); k++ {
		if first, ok := same[in[k]]; ok && keep[k] {
			keep[k], all = false, false
			twice = append(twice, [2]int{first - offset, k - offset})
		} else if keep[k] {
			same[in[k]] = k
		}
	}
	if all {
		return
	}
	g.Replace(id, n.Op, n.Attrs, Kept(in, keep)...)
	g.Nodes[id].Region = EachRegion(n.Region, func(r *ir.Region) *ir.Region { return Without(unified(r, twice), keep[offset:]) })
}

// unified returns r with each pair of arguments replaced by the earlier one.
func unified(r *ir.Region, twice [][2]int) *ir.Region {
	if len(twice) == 0 {
		return r
	}
	out := &ir.Region{Graph: r.Graph.Clone(), Args: append([]ir.ID(nil), r.Args...), Yields: append([]ir.ID(nil), r.Yields...)}
	to := map[ir.ID]ir.ID{}
	for _, t := range twice {
		a, b := out.Args[t[0]], out.Args[t[1]]
		if b < a {
			a, b = b, a
		}
		out.Args[t[0]], out.Args[t[1]] = a, b
		to[b] = a
	}
	final := func(x ir.ID) ir.ID {
		for y, ok := to[x]; ok; y, ok = to[x] {
			x = y
		}
		return x
	}
	for i := range out.Graph.Nodes {
		in := out.Graph.In(ir.ID(i))
		for k, x := range in {
			in[k] = final(x)
		}
	}
	for k, y := range out.Yields {
		out.Yields[k] = final(y)
	}
	return out
}

// Reads reports whether a node of r reads argument a, or r yields it.
func Reads(r *ir.Region, a ir.ID) bool {
	for i := range r.Graph.Nodes {
		if slices.Contains(r.Graph.In(ir.ID(i)), a) {
			return true
		}
	}
	return slices.Contains(r.Yields, a)
}

// WithMade returns r with nodes without operands, such as constants and ramps, in place of some
// arguments. made has the nodes by the indices of the arguments.
func WithMade(r *ir.Region, made map[int]*ir.Node) *ir.Region {
	out := &ir.Region{Graph: r.Graph.Clone(), Yields: r.Yields}
	for k, a := range r.Args {
		if n := made[k]; n != nil {
			out.Graph.Replace(a, n.Op, n.Attrs)
		} else {
			out.Args = append(out.Args, a)
		}
	}
	return out
}

// MostSize returns bounds of the rows and columns of dense value id. ok is false if none are known.
func MostSize(g *ir.Graph, id ir.ID) (size [2]int, ok bool) {
	n, t := &g.Nodes[id], g.Type(id)
	if t.Known() {
		return [2]int{t.Rows, t.Cols}, true
	}
	moves, parts := n.Op.Laws.Has(op.View), 0
	for _, x := range g.In(id) {
		if !g.Type(x).IsDense() {
			continue
		}
		of, known := MostSize(g, x)
		if parts++; !known || !moves && !n.Op.Laws.Has(op.Elementwise) || moves && parts > 1 {
			return size, false
		}
		if moves { // it may be transposed
			of = [2]int{max(of[0], of[1]), max(of[0], of[1])}
		}
		size = [2]int{max(size[0], of[0]), max(size[1], of[1])}
	}
	for axis, k := range [2]int{t.Rows, t.Cols} {
		if k != types.Unknown {
			size[axis] = k
		}
	}
	return size, parts > 0
}

// RegionOf returns a region that computes the nodes members of g, which ascend, and yields the nodes
// yields. reads lists the other nodes that members read, in the order of the region's arguments.
func RegionOf(g *ir.Graph, table *op.Table, members, yields []ir.ID) (r *ir.Region, reads []ir.ID) {
	r = &ir.Region{Graph: ir.New()}
	known, inner := SetOf(members), map[ir.ID]ir.ID{}
	inside := func(ids []ir.ID) []ir.ID {
		out := make([]ir.ID, len(ids))
		for i, x := range ids {
			out[i] = inner[x]
		}
		return out
	}
	for _, x := range members {
		for _, y := range g.In(x) {
			if !known[y] {
				known[y], reads = true, append(reads, y)
				inner[y] = r.Graph.Add(table.Must("arg"), nil, g.Type(y), ir.Origin{})
			}
		}
	}
	r.Args = inside(reads)
	for _, x := range members {
		n := &g.Nodes[x]
		inner[x] = r.Graph.Add(n.Op, n.Attrs, g.Type(x), ir.Origin{Span: n.Span}, inside(g.In(x))...)
		r.Graph.Nodes[inner[x]].Region = n.Region
	}
	r.Yields = inside(yields)
	return r, reads
}

// Stops counts, up to each node of a graph, the nodes that may fail or have an effect.
type Stops []int32

// Between reports whether there is such a node after node a, up to node b.
func (s Stops) Between(a, b ir.ID) bool { return s[a] < s[b] }

// Among returns the number of such nodes from node a to node b, both included.
func (s Stops) Among(a, b ir.ID) int {
	n := int(s[b])
	if a > 0 {
		n -= int(s[a-1])
	}
	return n
}

// StopsOf counts the nodes of g that may fail or have an effect.
func StopsOf(g *ir.Graph) Stops {
	s := make(Stops, g.Len())
	n := int32(0)
	for i := range s {
		if ir.MayFail(g, ir.ID(i)) {
			n++
		}
		s[i] = n
	}
	return s
}
