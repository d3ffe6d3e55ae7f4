package pass

import (
	"fmt"
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// copying is a copy of a graph in progress. Nodes are copied in order; to maps old nodes to new ones.
type copying struct {
	old, g *ir.Graph
	to     []ir.ID
}

// copyOf begins a copy of g. The copy has the tables of g and no nodes.
func copyOf(g *ir.Graph) *copying {
	c := &copying{old: g, g: ir.New(), to: slices.Repeat([]ir.ID{ir.None}, g.Len())}
	c.g.CopyTables(g)
	return c
}

// changed returns a copy of g in which write makes the nodes that is selects. It returns g itself if
// is selects none.
func changed(g *ir.Graph, is func(id ir.ID) bool, write func(c *copying, id ir.ID)) *ir.Graph {
	var c *copying
	for id := range g.All() {
		switch own := is(id); {
		case own && c == nil:
			c = copyOf(g)
			for k := range id {
				c.node(k)
			}
			fallthrough
		case own:
			write(c, id)
		case c != nil:
			c.node(id)
		}
	}
	if c == nil {
		return g
	}
	return c.g
}

// in returns the new inputs of an old node.
func (c *copying) in(id ir.ID) []ir.ID { return through(c.to, c.old.In(id)) }

// node copies an old node. What it reads must have been made.
func (c *copying) node(id ir.ID) {
	in := c.in(id)
	if slices.Contains(in, ir.None) {
		panic(fmt.Sprintf("BUG: %%%d is copied before what it reads, in\n%s", id, c.old))
	}
	c.to[id] = c.g.CopyNode(c.old, id, in...)
}

// made adds a node with a region that gives these old nodes: one value, or several as its parts.
func (c *copying) made(table *op.Table, row string, attrs *op.Attrs, r *ir.Region, in []ir.ID, o ir.Origin, results ...ir.ID) {
	id := c.g.Add(table.Must(row), attrs, tupleOf(c.old.Types(nil, results...)), o, in...)
	c.g.Nodes[id].Region = r
	for k, x := range results {
		if c.to[x] = id; len(results) > 1 {
			part := op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)})
			c.to[x] = c.g.Add(table.Must("part"), part, c.old.Type(x), c.old.Origin(x), id)
		}
	}
}

// tupleOf returns the type of a node with results of types ts.
func tupleOf(ts []types.Type) types.Type {
	if len(ts) == 1 {
		return ts[0]
	}
	return types.TupleOf(ts...)
}

// region returns r with the copy as its graph.
func (c *copying) region(r *ir.Region) *ir.Region {
	return &ir.Region{Graph: c.g, Args: through(c.to, r.Args), Yields: through(c.to, r.Yields)}
}

// through returns places[x] for each x of ids.
func through[T any](places []T, ids []ir.ID) []T {
	out := make([]T, len(ids))
	for i, x := range ids {
		out[i] = places[x]
	}
	return out
}

// kept lists those of ids for which keep is true.
func kept(ids []ir.ID, keep []bool) (out []ir.ID) {
	for i, x := range ids {
		if keep[i] {
			out = append(out, x)
		}
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
