package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
)

// copying is a copy of a graph in progress. Nodes are copied in order; to maps old nodes to new ones.
type copying struct {
	old, g *ir.Graph
	to     []ir.ID
}

// copyOf begins a copy of g. The copy has the tables of g and no nodes.
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

// region returns r with the copy as its graph.
func (c *copying) region(r *ir.Region) *ir.Region {
	return &ir.Region{Graph: c.g, Args: through(c.to, r.Args), Yields: through(c.to, r.Yields)}
}

// through returns places[x] for each x of ids.
func through(places, ids []ir.ID) []ir.ID {
	out := make([]ir.ID, len(ids))
	for i, x := range ids {
		out[i] = places[x]
	}
	return out
}

// eachRegion returns the list of regions that f makes of the regions of list r.
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

// groups puts nodes into groups, each named by its last node, the head.
type groups struct {
	g    *ir.Graph
	head []ir.ID // of each node; its own if it is in no group
}

// join puts every node into the group of its readers, if all of them are in one: so no value leaves a
// group and comes back through an outside reader. links reports whether operand k of node r may be in the
// group of r. enters reports whether node x may be in the group of h, and notes it: also if x is the first in
// its own. The nodes come in descending order. join reports whether a group has several.
func (s *groups) join(enters func(h, x ir.ID) bool, links func(r ir.ID, k int) bool) (several bool) {
	const nobody, apart = ir.None, ir.None - 1
	of := slices.Repeat([]ir.ID{nobody}, s.g.Len()) // the group that all readers so far are in
	s.head = make([]ir.ID, s.g.Len())
	for i := s.g.Len() - 1; i >= 0; i-- {
		id := ir.ID(i)
		if s.head[i] = of[i]; of[i] >= 0 && enters(of[i], id) {
			several = true
		} else {
			s.head[i] = id
			enters(id, id)
		}
		for k, x := range s.g.In(id) {
			if of[x] != nobody && of[x] != s.head[i] || !links(id, k) {
				of[x] = apart
			} else {
				of[x] = s.head[i]
			}
		}
	}
	return several
}

// members lists the nodes of each group that are in one.
func (s *groups) members(in func(ir.ID) bool) map[ir.ID][]ir.ID {
	out := map[ir.ID][]ir.ID{}
	for i, h := range s.head {
		if id := ir.ID(i); in(id) {
			out[h] = append(out[h], id)
		}
	}
	return out
}

// build copies the graph. write adds what computes the members of a chosen group.
func (s *groups) build(chosen map[ir.ID][]ir.ID, write func(c *copying, members []ir.ID) ir.ID) *ir.Graph {
	c := copyOf(s.g)
	for i, h := range s.head {
		switch m := chosen[h]; {
		case len(m) == 0:
			c.node(ir.ID(i))
		case h == ir.ID(i):
			c.to[i] = write(c, m)
		}
	}
	return c.g
}

// regionOf returns a region that computes the nodes members of g, which ascend, and yields those of
// yields. reads lists the nodes outside that members read; the arguments of the region stand for them.
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
