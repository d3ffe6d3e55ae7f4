package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file says how loops are formed. A loop is a group of nodes that are computed together, element
// by element or row by row, so that what is between them is not stored. Every kind of loop is one
// question about members and one about what the loop is:
//
//	file                  members                                                     the loop is
//	group_chain.go        elementwise operators of one shape; what reduces the last,  map, pipe
//	                      group_several.go: in several ways; group_draw.go: what makes
//	                      elements from their places alone, for a parfor, too
//	whole_rows.go         those on running values, and what reduces their columns     parfor over columns
//	group_nest.go         maps, parfors, and what moves elements between them; in     nest
//	                      group_ends.go, what reduces all elements
//	epilogues.go          a product, and the map or pipe that alone reads it          map.product, pipe.product
//	                      a product, and what makes the rows of a factor              panels.along
//	group_rows.go         what makes rows from rows, with reductions of rows and, in  byrows
//	                      group_keys.go, by key; group_outer.go: of matrices that
//	                      rows and columns make
//
// A node joins its readers if all of them are in one group, and if each reads it where the group is at
// that time: the access map of an operand (nodes.ModeOf, op.Def.Elements) tells. Only the last member's
// result is then there for others; groups of rows, and nests around one chain or with reductions, have
// several results. What is read at several places is computed again at each, if that costs less than
// storing it (cheaper).
//
// Bits stay, since the operations of an element do. Three things stay apart always: what belongs to
// another send, because one `<-` is one task; what would fail, or have an effect, before or after
// something else than in the text (stops); and what `materialize` says.

// groups puts nodes into groups, each named by its last node, the head.
type groups struct {
	g    *ir.Graph
	head []ir.ID // of each node; its own if it is in no group
}

// join puts every node into the group of its readers, if all of them are in one: so no value leaves a
// group and comes back through an outside reader. links reports whether operand k of node r may be in
// the group of r. enters reports whether node x may be in the group of h, and notes it: also if x is
// the first in its own. The nodes come in descending order. join reports whether a group has several.
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

// build copies the graph. write adds what computes the last member of a chosen group. A member of
// another group stays where it is, unless it reads what a chosen group makes later: then it is with the
// last of its own group, as merge took for granted.
func (s *groups) build(chosen map[ir.ID][]ir.ID, write func(c *nodes.Copying, members []ir.ID)) *ir.Graph {
	c := nodes.CopyOf(s.g)
	waits, waiting := make([]bool, len(s.head)), map[ir.ID][]ir.ID{}
	for i, h := range s.head {
		id := ir.ID(i)
		if m := chosen[h]; len(m) > 0 {
			if h == id {
				write(c, m)
			}
			continue
		}
		later := func(x ir.ID) bool { return waits[x] || len(chosen[s.head[x]]) > 0 && s.head[x] > id }
		if h > id && slices.ContainsFunc(s.g.In(id), later) {
			waits[i], waiting[h] = true, append(waiting[h], id)
			continue
		}
		for _, x := range waiting[id] {
			c.Node(x)
			waits[x] = false
		}
		c.Node(id)
	}
	return c.G
}

// moves reports an operator that may have pieces.
func (s *groups) moves(id ir.ID) bool {
	d := s.g.Nodes[id].Op
	return d.Elements != nil && d.Laws.Has(op.Pure|op.Total) && d.Shard.Kind != op.ShardContract && d.Class == 0
}

// views reports whether node id is a view: its result shares the memory of its operand. A slice is
// one. A stride of columns is a copy. If a shape is not known, every operator with Look counts as a
// view.
func (s *groups) views(id ir.ID) bool {
	g, n := s.g, &s.g.Nodes[id]
	in := g.Types(nil, g.In(id)...)
	if n.Op.Look == nil || slices.ContainsFunc(append(in, g.Type(id)), func(t types.Type) bool { return !t.Known() }) {
		return n.Op.Look != nil
	}
	list, _ := n.Op.Pieces(n.Attrs, in, g.Type(id))
	return len(list) != 1 || list[0].Over == 1 && list[0].By > 0
}
