package rule

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// Simplify rewrites a graph until no rule of the set applies. It returns the graph and the new ID
// of each old node. Unread nodes stay, for the pass that drops them. g is not changed; it is the
// result if no rule applies.
//
// Nodes are visited in order, so the inputs of a node are final when it is tried. Its replacement
// is tried again, node by node. So a rule must make the expression smaller by some measure (the
// tests check Deepest).
func (set *Set) Simplify(g *ir.Graph) (*ir.Graph, []ir.ID) {
	if !set.applies(g) {
		to := make([]ir.ID, g.Len())
		for i := range to {
			to[i] = ir.ID(i)
		}
		return g, to
	}
	b := &builder{set: set, out: ir.New(), old: g.Uses()}
	b.out.CopyTables(g)
	room := g.Len() + g.Len()/64 // replacements are usually few
	b.out.Grow(room)
	b.readers, b.waiting = make([]int32, 0, room), make([]int32, 0, room)
	b.totals = set.newTotals(b.out)
	b.others = make([]int32, 0, room)
	others := otherReaders(g)
	to := make([]ir.ID, g.Len())
	var in []ir.ID
	for id, n := range g.All() {
		in = in[:0]
		for _, x := range g.In(id) {
			in = append(in, to[x])
			b.waiting[to[x]]--
			b.others[to[x]] -= whole(n.Op)
		}
		if n.Region != nil {
			to[id] = b.copy(g, id, in)
		} else {
			to[id] = b.emit(planned{def: n.Op, attrs: n.Attrs, typ: g.Type(id)}, g.Origin(id), in)
		}
		b.waiting[to[id]] += b.old[id]
		b.others[to[id]] += others[id]
	}
	return b.out, to
}

// applies reports whether any rule does. Most graphs cost only this.
func (set *Set) applies(g *ir.Graph) bool {
	var uses []int32
	s := &site{g: g}
	s.uses = func(id ir.ID) int32 {
		if uses == nil {
			uses = g.Uses()
		}
		return uses[id]
	}
	s.single = func(id ir.ID) bool { return s.uses(id) == 1 }
	var wholes []int32
	s.cut = func(id ir.ID) bool {
		if wholes == nil {
			wholes = otherReaders(g)
		}
		return wholes[id] == 0
	}
	s.total = set.newTotals(g).of
	var last *op.Def
	var b *bucket
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op != last {
			last, b = n.Op, set.buckets[n.Op]
		}
		if b == nil && !set.fold || n.Region != nil {
			continue
		}
		id := ir.ID(i)
		s.def, s.attrs, s.in = n.Op, n.Attrs, g.In(id)
		if b == nil && (len(s.in) == 0 || g.Nodes[s.in[0]].Op != set.constant) {
			continue
		}
		s.typ, s.origin = g.Type(id), g.Origin(id)
		if _, ok := set.folded(s); ok || b.find(set, s) != nil {
			return true
		}
	}
	return false
}

// whole returns 0 for an operator that reads a window of its input, and 1 for others.
func whole(d *op.Def) int32 {
	if d.Role == op.Slices || d.Role == op.PicksAt {
		return 0
	}
	return 1
}

// otherReaders counts the readers of each node of g that read no window.
func otherReaders(g *ir.Graph) []int32 {
	n := make([]int32, g.Len())
	for id := range g.Nodes {
		for _, x := range g.In(ir.ID(id)) {
			n[x] += whole(g.Nodes[id].Op)
		}
	}
	return n
}

// builder makes the rewritten graph.
type builder struct {
	set    *Set
	out    *ir.Graph
	old    []int32 // readers of the old nodes
	totals *totals
	depth  int
	sites  []*site // one a depth, reused: there are a million nodes

	// By new node: its readers, and old readers still to come.
	readers, waiting []int32
	// By new node: the readers of both kinds that read more than a window of it.
	others []int32
}

// maxDepth bounds how often a replacement is replaced: a slice sinks at most this deep into an
// expression.
const maxDepth = 1000

// single reports a node whose only reader is the one being emitted.
func (b *builder) single(id ir.ID) bool { return b.readers[id] == 0 && b.waiting[id] == 0 }

func (b *builder) cut(id ir.ID) bool { return b.others[id] == 0 }

func (b *builder) uses(id ir.ID) int32 { return b.readers[id] + b.waiting[id] }

func (b *builder) emit(n planned, o ir.Origin, in []ir.ID) ir.ID {
	if b.depth == len(b.sites) {
		b.sites = append(b.sites, &site{g: b.out, single: b.single, uses: b.uses, cut: b.cut, total: b.totals.of})
	}
	s := b.sites[b.depth]
	s.def, s.attrs, s.in, s.typ, s.origin = n.def, n.attrs, in, n.typ, o
	if v, ok := b.set.folded(s); ok {
		if _, _, _, sends := s.dest(); !sends {
			b.set.Fired[foldConstants]++
			n, in = planned{def: b.set.constant, attrs: constantAttrs(v), typ: types.ScalarOf(v.Elem)}, nil
			return b.add(n, o, in)
		}
	}
	if b.depth == maxDepth {
		return b.add(n, o, in)
	}
	if p := b.set.find(s); p != nil {
		b.depth++
		b.set.Deepest = max(b.set.Deepest, b.depth)
		b.set.Fired[p.m.f.rule.Name]++
		id := b.replace(p)
		b.depth--
		return id
	}
	return b.add(n, o, in)
}

// replace releases the matched nodes and emits the replacement. Nodes that it will read are kept
// until then, as the inputs of old nodes are.
func (b *builder) replace(p *plan) ir.ID {
	hold := func(r ref, by int32) {
		if r >= 0 {
			b.waiting[r] += by
		}
	}
	hold(p.root, 1)
	for _, n := range p.nodes {
		for _, r := range n.in {
			hold(r, 1)
		}
	}
	for _, x := range p.m.inner {
		b.release(x)
	}
	hold(p.root, -1)
	return p.make(func(n planned, o ir.Origin, in []ir.ID) ir.ID {
		for _, r := range n.in {
			hold(r, -1)
		}
		return b.emit(n, o, in)
	})
}

func (b *builder) add(n planned, o ir.Origin, in []ir.ID) ir.ID {
	id := b.out.Add(n.def, n.attrs, n.typ, o, in...)
	b.grew(n.def, in)
	return id
}

func (b *builder) copy(g *ir.Graph, id ir.ID, in []ir.ID) ir.ID {
	out := b.out.CopyNode(g, id, in...)
	b.grew(g.Nodes[id].Op, in)
	return out
}

// grew counts the readers of a node's inputs.
func (b *builder) grew(d *op.Def, in []ir.ID) {
	for _, x := range in {
		b.readers[x]++
		b.others[x] += whole(d)
	}
	b.readers, b.waiting, b.others = append(b.readers, 0), append(b.waiting, 0), append(b.others, 0)
}

// release releases a matched node without readers, so that its inputs do not count it.
func (b *builder) release(id ir.ID) {
	if b.readers[id] != 0 || b.waiting[id] != 0 {
		return
	}
	b.readers[id] = -1 << 30 // once
	for _, x := range b.out.In(id) {
		b.readers[x]--
		b.others[x] -= whole(b.out.Nodes[id].Op)
		b.release(x)
	}
}
