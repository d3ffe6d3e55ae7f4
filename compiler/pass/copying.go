package pass

import (
	"flow/ir"
	"flow/ir/op"
)

// copying is a graph that is copied node by node, in order. to has the new node of each old one.
type copying struct {
	old, g *ir.Graph
	to     []ir.ID
}

// copyOf begins a copy of g, without nodes so far.
func copyOf(g *ir.Graph) *copying {
	c := &copying{old: g, g: ir.New(), to: make([]ir.ID, g.Len())}
	c.g.CopyTables(g)
	return c
}

// in returns the new inputs of an old node.
func (c *copying) in(id ir.ID) []ir.ID { return through(c.to, c.old.In(id)) }

// node copies an old node.
func (c *copying) node(id ir.ID) {
	c.to[id] = c.g.CopyNode(c.old, id, c.in(id)...)
}

// region is the copy as region r.
func (c *copying) region(r *ir.Region) *ir.Region {
	return &ir.Region{Graph: c.g, Args: through(c.to, r.Args), Yields: through(c.to, r.Yields)}
}

// through is the new places of nodes.
func through(places, ids []ir.ID) []ir.ID {
	out := make([]ir.ID, len(ids))
	for i, x := range ids {
		out[i] = places[x]
	}
	return out
}

// eachRegion returns a list of regions of which f makes each.
func eachRegion(r *ir.Region, f func(r *ir.Region) *ir.Region) *ir.Region {
	var first *ir.Region
	next := &first
	for ; r != nil; r = r.Next {
		x := f(r)
		*next, next = x, &x.Next
	}
	return first
}

// setOf returns a list of nodes as a set.
func setOf(ids []ir.ID) map[ir.ID]bool {
	set := make(map[ir.ID]bool, len(ids))
	for _, x := range ids {
		set[x] = true
	}
	return set
}

// regionOf returns a region of some nodes, in order, on the values that they have, and what they read
// of others: its arguments.
func regionOf(g *ir.Graph, table *op.Table, members, yields []ir.ID) (r *ir.Region, reads []ir.ID) {
	r = &ir.Region{Graph: ir.New()}
	known, inner := setOf(members), map[ir.ID]ir.ID{}
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
