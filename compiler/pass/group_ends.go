package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Group that makes one group of several, which share what they read, and ends
// groups with reductions of all elements:
//
//	%5 = rbind(..);  %6 = pipe(%5, %0) {fold="max"} {..}   ->   %5, %6 = nest(%0, ..) { both }
//
// A reduction of what a group makes is computed in the loop that makes it. If the elements have other
// readers, they are stored in the same loop. The reduction must allow any order of its contributions,
// because the lanes of the loop may be along either index.

// merger makes one group of several.
type merger struct {
	*nesting
	readers [][]ir.ID
	list    map[ir.ID][]ir.ID // the members of the groups
	rows    bool              // something reduces rows
}

// mergeGroups merges groups that read a chain, and reductions with what makes their elements.
func (f *nesting) mergeGroups() {
	f.results = map[ir.ID][]ir.ID{}
	m := merger{nesting: f, readers: readersOf(f.g), rows: f.reducesRows(),
		list: f.members(func(id ir.ID) bool { return f.of(id) != noMember })}
	for x := ir.ID(f.g.Len() - 1); x >= 0; x-- {
		if f.head[x] == x && f.of(x) == chainMember {
			m.shared(x)
		}
	}
	for id, n := range f.g.All() {
		if f.head[id] == id && f.of(id) == foldMember && n.Op.Control != op.Part {
			m.end(id)
		}
	}
}

// shared makes one group of chain x and of the groups that read it, if all of them read only the
// element at their own place. A chain with a single reading group joins it only if that group has been
// merged from several: otherwise the chain would have been its member. So mergeGroups visits readers
// first.
func (m *merger) shared(x ir.ID) {
	groups := []ir.ID{x}
	several := false
	for _, r := range m.readers[x] {
		h := m.head[r]
		for k, y := range m.g.In(r) {
			if y == x && (m.of(r) != chainMember || !m.aligned(r, k) || m.reads[r] != 1 || !sameShape(m.g.Type(h), m.g.Type(x))) {
				return // not at its own place
			}
		}
		if !slices.Contains(groups, h) {
			groups, several = append(groups, h), several || m.results[h] != nil
		}
	}
	for _, h := range groups[1:] { // a group that another one reads would be computed again
		if slices.ContainsFunc(m.readers[h], func(r ir.ID) bool { return m.head[r] != h && slices.Contains(groups, m.head[r]) }) {
			return
		}
	}
	if len(groups) > 2 && !several || len(groups) == 2 && several {
		m.merge(groups...)
	}
}

// end puts reduction id into the groups that make what it reduces.
func (m *merger) end(id ir.ID) {
	g := m.g
	m.results[id] = []ir.ID{id}
	if g.Type(id).Kind == types.Tuple {
		m.results[id] = m.readers[id]
		for _, part := range m.readers[id] {
			m.head[part] = id
		}
		m.list[id] = append(m.list[id], m.readers[id]...)
	}
	atPlace := map[ir.ID]bool{id: true} // chains of the group that the reduction reads at its own place
	for _, y := range slices.Backward(m.list[id]) {
		for k, x := range g.In(y) {
			switch {
			case !atPlace[y] || !m.aligned(y, k):
			case m.head[x] == m.head[id]:
				atPlace[x] = m.of(x) == chainMember && m.reads[x] == 1
			case m.stores(x, id):
				m.merge(m.head[x], m.head[id])
			}
		}
	}
}

// stores reports whether x is a result that its group stores, and that reduction r can read in the
// same loop. A chain alone is left to groups of rows, unless they know no such reduction.
func (m *merger) stores(x, r ir.ID) bool {
	h := m.head[x]
	if x != h && !slices.Contains(m.results[h], x) {
		return false
	}
	makes := func(x ir.ID) bool {
		return m.of(x) == pointMember || m.of(x) == moveMember && m.g.Nodes[x].Op.Look == nil
	}
	return slices.ContainsFunc(m.list[h], makes) || m.readsAlong(x, r) && !m.rows
}

// readsAlong reports whether one pass that makes x, the elements of a chain, and reduces them as r
// does takes less time than two passes. It does if r reads a matrix that the chain reads, or another
// view of it. Otherwise x may be made in the memory of its operand, and two passes take less time. It
// does not for a chain of functions, which takes longer to compute than to read and needs the
// registers of its loop.
func (m *merger) readsAlong(x, r ir.ID) bool {
	if pipe, is := storedPart(m.g, x); is && m.of(x) == foldMember { // with reductions of the elements
		x = pipe
	} else if m.of(x) != chainMember || m.turned(x) {
		return false
	} else if m.g.Nodes[r].Op.Places {
		return true
	}
	return m.flops[x] <= againFlops/2 && m.readsAgain(x, r)
}

// merge makes one group of several, unless they are too large together for one loop. The group is at
// the place of the last one or, if another node reads a result before that, at the place of the first.
// It would be wrong there if a member read a value that is computed later: then the groups stay apart.
// A result that only its own group reads is not stored.
func (m *merger) merge(groups ...ir.ID) {
	g := m.g
	first, last := slices.Min(groups), slices.Max(groups)
	var members, results []ir.ID
	steps := 0.0
	for _, h := range groups {
		members, steps = append(members, m.list[h]...), steps+m.steps[h]
		if several := m.results[h]; several != nil {
			results = append(results, several...)
		} else {
			results = append(results, h)
		}
	}
	if steps > againSteps || slices.ContainsFunc(members, m.picks) {
		return
	}
	slices.Sort(members)
	own, place := setOf(members), last
	other := func(y ir.ID) bool { return !own[y] }
	for _, x := range results {
		if slices.ContainsFunc(m.readers[x], func(y ir.ID) bool { return other(y) && m.head[y] <= last }) {
			place = first
		}
	}
	for _, x := range members {
		if slices.ContainsFunc(g.In(x), func(y ir.ID) bool { return other(y) && m.head[y] >= place }) {
			return
		}
	}
	matrices, numbers := split(results, func(x ir.ID) bool { return g.Type(x).IsDense() })
	matrices = slices.DeleteFunc(matrices, func(x ir.ID) bool { return len(m.readers[x]) > 0 && !slices.ContainsFunc(m.readers[x], other) })
	for _, h := range groups {
		delete(m.results, h)
		delete(m.list, h)
	}
	m.results[place], m.list[place], m.steps[place] = append(matrices, numbers...), members, steps
	for _, x := range members {
		m.head[x] = place
	}
}

// reducesRows reports a graph with reductions of rows, alone or in pipes.
func (f *nesting) reducesRows() bool {
	return reducesRows(f.g) || slices.ContainsFunc(f.g.Nodes, func(n ir.Node) bool {
		return n.Op.Role == op.Reduces && axisOf(pipeFolds(f.table, &n)) == op.FoldRows
	})
}

// turned reports a chain that reads an operand transposed: as a map it goes over pairs of blocks.
func (f *nesting) turned(id ir.ID) bool {
	return slices.Contains(f.g.Nodes[id].Attrs.Ints("modes"), int64(op.Trans))
}

// folds reports a node that reduces all elements: a map-reduce (which may also store them), a reduction
// without a chain, or the place of an extreme.
func (f *nesting) folds(id ir.ID) bool {
	g := f.g
	n, in := &g.Nodes[id], g.In(id)
	if len(in) == 0 {
		return false
	}
	t := spaceIn(g, id)
	if !t.IsDense() || !t.Known() || t.Count() < 2 {
		return false
	}
	switch {
	case n.Op.Role == op.Reduces:
		return !n.Draws() && !f.turned(id) &&
			!slices.ContainsFunc(pipeFolds(f.table, n), func(d *op.Def) bool { return d != nil && !f.wholeOf(d, t.Elem) })
	case n.Region == nil && len(in) == 1:
		return f.wholeOf(n.Op, t.Elem)
	}
	return false
}

// wholeOf reports whether a loop over two indices can compute reduction d of elements of type e, with
// the contributions in any order.
func (f *nesting) wholeOf(d *op.Def, e types.Elem) bool {
	switch {
	case f.apart && d.Shard.Partial == "":
		return false
	case d.Places:
		return e.IsFloat() || e == types.I64
	case d.Fold != op.FoldAll || d.Class == loop.NoClass:
		return false
	case e.IsFloat():
		return true
	}
	return slices.Contains([]loop.Class{loop.Sum, loop.Least, loop.Greatest, loop.Count, loop.Any, loop.All}, d.Class)
}

// space returns the attributes of a group without a matrix among its results: the rows and columns of
// what it reduces. Other groups have none, since the matrices say what the loop goes over.
func (f *nesting) space(results []ir.ID) *op.Attrs {
	if slices.ContainsFunc(results, func(id ir.ID) bool { return f.g.Type(id).IsDense() }) {
		return nil
	}
	t := spaceIn(f.g, results[0])
	if t.Cols == 1 && !f.apart { // it is reduced like a row
		t.Rows, t.Cols = 1, t.Rows
	}
	return op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(t.Rows)}, op.Attr{Name: "cols", Val: op.Int(t.Cols)})
}
