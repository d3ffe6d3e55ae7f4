package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// dropCarried drops the carried values of loop id that nothing depends on, over any number of
// rounds: no result that is read, no condition and no effect. uses counts the readers of g's nodes;
// parts lists the parts of the loop.
func dropCarried(g *ir.Graph, id ir.ID, parts []ir.ID, uses []int32) {
	n := &g.Nodes[id]
	k := n.Carried()
	needed := neededCarried(g, id, parts, uses)
	// a loop that only asserts keeps one carried value and its next
	if k > 0 && !slices.Contains(needed, true) {
		needed[0] = true
		nextRounds(n.Region, needed)
	}
	keep := make([]bool, len(g.In(id)))
	left := 0
	for i := range keep {
		if keep[i] = i >= k || needed[i]; keep[i] && i < k {
			left++
		}
	}
	if left == k {
		return
	}
	in := kept(g.In(id), keep)
	var ts []types.Type
	at := make([]int, len(g.Results(id)))
	for i, f := range g.Results(id) {
		if at[i] = len(ts); i >= k || needed[i] {
			ts = append(ts, f.Type)
		}
	}
	g.Replace(id, n.Op, n.Attrs.With("carry", op.Int(left)), in...)
	g.Nodes[id].Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region {
		x := &ir.Region{Graph: r.Graph, Args: r.Args, Yields: r.Yields}
		if r == n.Region {
			x.Yields = kept(r.Yields, needed)
		}
		return without(swept(x), keep)
	})
	g.SetType(id, types.TupleOf(ts...))
	for _, p := range parts {
		if old := g.Nodes[p].Attrs.Int("at"); old < k && !needed[old] {
			continue // unread: the caller drops it
		}
		g.Nodes[p].Attrs = g.Nodes[p].Attrs.With("at", op.Int(at[g.Nodes[p].Attrs.Int("at")]))
	}
}

// neededCarried returns which carried values a loop needs.
func neededCarried(g *ir.Graph, id ir.ID, parts []ir.ID, uses []int32) []bool {
	n := &g.Nodes[id]
	needed := make([]bool, n.Carried())
	for _, p := range parts {
		if at := g.Nodes[p].Attrs.Int("at"); at < len(needed) && uses[p] > 0 {
			needed[at] = true
		}
	}
	body := n.Region
	if body.Next != nil {
		markArgs(body.Next, body.Next.Yields, needed)
	}
	for r := body; r != nil; r = r.Next {
		markArgs(r, effectsOf(r.Graph), needed)
	}
	nextRounds(body, needed)
	return needed
}

// nextRounds adds the values that the next values of needed ones depend on.
func nextRounds(body *ir.Region, needed []bool) {
	for before := -1; ; {
		from := kept(body.Yields, needed)
		if len(from) == before {
			return
		}
		before = len(from)
		markArgs(body, from, needed)
	}
}

// markArgs marks the carried arguments that nodes of r depend on.
func markArgs(r *ir.Region, from []ir.ID, needed []bool) {
	reach := reached(r.Graph, from)
	for i := range needed {
		needed[i] = needed[i] || reach[r.Args[i]]
	}
}

// reached returns the nodes that those of from depend on, and those of from.
func reached(g *ir.Graph, from []ir.ID) []bool {
	set := setOf(from)
	return g.Needed(func(id ir.ID) bool { return set[id] })
}

// dependents returns the nodes of g that depend on those of list, and those of list.
func dependents(g *ir.Graph, list ...ir.ID) []bool {
	out := make([]bool, g.Len())
	for i := range out {
		out[i] = slices.Contains(list, ir.ID(i)) || slices.ContainsFunc(g.In(ir.ID(i)), func(y ir.ID) bool { return out[y] })
	}
	return out
}

// swept returns r without the nodes that neither its yields nor an effect needs. Arguments stay.
func swept(r *ir.Region) *ir.Region {
	return r.Compact(reached(r.Graph, slices.Concat(effectsOf(r.Graph), r.Yields, r.Args)))
}

// effectsOf lists the nodes of a graph that are kept though nothing reads them.
func effectsOf(g *ir.Graph) (list []ir.ID) {
	for i := range g.Nodes {
		if g.Required(ir.ID(i)) {
			list = append(list, ir.ID(i))
		}
	}
	return list
}
