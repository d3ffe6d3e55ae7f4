package pass

import (
	"math"
	"math/bits"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
)

// DropDead drops the nodes that no effect needs, so an unused binding costs nothing.
func DropDead(g *ir.Graph) *ir.Graph {
	for {
		if keep := alive(g); keep != nil {
			g = g.Compact(keep)
		}
		if !g.Controls() {
			return g
		}
		// What a loop or branch no longer reads may have been the only reader of another's result.
		if g = dropUnused(g); alive(g) == nil {
			return g
		}
	}
}

// DropAllDead is DropDead in every region too. eval and the runtime then fail for the same bindings: a
// binding that one of them drops and the other keeps may fail in one alone.
func DropAllDead(g *ir.Graph) *ir.Graph {
	for before := -1; before != allNodes(g); { // a loop that has lost a value may have emptied loops inside of it
		before = allNodes(g)
		g = nodes.Everywhere(g, DropDead)
	}
	return g
}

// allNodes counts the nodes of a graph and of its regions.
func allNodes(g *ir.Graph) (n int) {
	for range nodes.NodesIn(g, func(*ir.Node) bool { return true }) {
		n++
	}
	return n
}

// SweepDead is DropDead in the memory of g, which the caller must own.
func SweepDead(g *ir.Graph) *ir.Graph {
	if g.Controls() {
		return DropDead(g)
	}
	if keep := alive(g); keep != nil {
		nodes.Sweep(g, keep)
	}
	return g
}

// alive returns which nodes some effect needs; nil if all are.
func alive(g *ir.Graph) []bool { return nodes.Alive(g, g.Required) }

// MergeEqual merges pure nodes with equal operator, attributes and inputs (common subexpressions):
//
//	%3 = t(%1);  %5 = t(%1);  f(%3, %5)   ->   %3 = t(%1);  f(%3, %3)
//
// A node that sends to a channel stays: one `<-` is one task, and a program that computes the same
// thing by two task graphs to compare them wants both. Nodes with a region stay too; fusion comes
// later and makes few.
func MergeEqual(g *ir.Graph) *ir.Graph {
	m := equals(g)
	if m.merged == 0 {
		return g
	}
	m.g = g.Clone()
	return m.sweep()
}

// SweepEqual is MergeEqual in the memory of g, which the caller must own.
func SweepEqual(g *ir.Graph) *ir.Graph {
	if m := equals(g); m.merged > 0 {
		return m.sweep()
	}
	return g
}

// sweep drops all nodes but the first ones, in place.
func (m *merging) sweep() *ir.Graph {
	g := m.g
	live := make([]int32, g.Len())
	for i := range g.Nodes {
		if m.to[i] != ir.ID(i) {
			continue
		}
		live[i] = 1
		in := g.In(ir.ID(i))
		for k, x := range in {
			in[k] = m.to[x]
		}
	}
	g.Sweep(0, live, m.to)
	return g
}

// merging maps each node i of a graph to to[i], the first node that computes the same.
type merging struct {
	g      *ir.Graph
	to     []ir.ID
	merged int // nodes that are not the first

	// The first nodes by hash: the last of each chain, and the predecessor of each. Arrays,
	// since there may be a million.
	last []ir.ID
	prev []ir.ID
}

// equals finds the nodes of g that compute the same.
func equals(g *ir.Graph) *merging {
	m := &merging{g: g, to: make([]ir.ID, g.Len())}
	n := 0
	for i := range g.Nodes {
		if m.to[i] = ir.ID(i); m.single(ir.ID(i)) {
			n++
		}
	}
	if n < 2 {
		return m
	}
	m.last, m.prev = make([]ir.ID, 1<<bits.Len(uint(n))), make([]ir.ID, g.Len())
	for i := range m.last {
		m.last[i] = ir.None
	}
	for i := range g.Nodes {
		if id := ir.ID(i); m.single(id) {
			if m.to[i] = m.first(id); m.to[i] != id {
				m.merged++
			}
		}
	}
	return m
}

// single reports a node that may equal another.
func (m *merging) single(id ir.ID) bool {
	n := &m.g.Nodes[id]
	return !nodes.Sent(m.g, id) && n.Region == nil && !n.Op.Laws.Has(op.Effectful) && n.Op.Role != op.Argument
}

// first returns the first node that computes what id does, which may be id.
func (m *merging) first(id ir.ID) ir.ID {
	h := m.hash(id)
	chain := &m.last[(h^h>>32)&uint64(len(m.last)-1)]
	for x := *chain; x != ir.None; x = m.prev[x] {
		if m.same(id, x) {
			return x
		}
	}
	m.prev[id], *chain = *chain, id
	return id
}

func (m *merging) hash(id ir.ID) uint64 {
	h := hashOf(&m.g.Nodes[id])
	for _, in := range m.g.In(id) {
		h = (h ^ uint64(m.to[in])) * hashPrime
	}
	return h
}

const hashPrime = 1099511628211 // FNV-1a

// hashOf returns a hash of a node's operator and attributes.
func hashOf(n *ir.Node) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(n.Op.Name); i++ {
		h = (h ^ uint64(n.Op.Name[i])) * hashPrime
	}
	for _, a := range n.Attrs.List() {
		h = (h ^ uint64(a.Val.I) ^ math.Float64bits(a.Val.F)) * hashPrime
		for i := 0; i < len(a.Val.S); i++ {
			h = (h ^ uint64(a.Val.S[i])) * hashPrime
		}
		for _, x := range a.Val.L {
			h = (h ^ uint64(x)) * hashPrime
		}
	}
	return h
}

func (m *merging) same(a, b ir.ID) bool {
	g := m.g
	x, y := &g.Nodes[a], &g.Nodes[b]
	if x.Op != y.Op || !g.Type(a).Equal(g.Type(b)) {
		return false
	}
	p, q := g.In(a), g.In(b)
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if m.to[p[i]] != m.to[q[i]] {
			return false
		}
	}
	return x.Attrs == y.Attrs || x.Attrs.Equal(y.Attrs)
}

// dropUnused drops the inputs of loops and branches that no region reads, and unneeded carried
// values. What has made them may then be dead.
func dropUnused(g *ir.Graph) *ir.Graph {
	g = g.Clone()
	parts := map[ir.ID][]ir.ID{}
	for i := range g.Nodes {
		if g.Nodes[i].Op.Control == op.Part {
			from := g.In(ir.ID(i))[0]
			parts[from] = append(parts[from], ir.ID(i))
		}
	}
	uses := g.Uses()
	for i := g.Len() - 1; i >= 0; i-- {
		id := ir.ID(i)
		switch g.Nodes[i].Op.Control {
		case op.Iterate:
			dropCarried(g, id, parts[id], uses)
			nodes.DropInputs(g, id)
		case op.Select:
			nodes.DropInputs(g, id)
		}
	}
	return g
}
