package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Group that ends groups with reductions of all elements:
//
//	%5 = rbind(..);  %6 = pipe(%5, %0) {fold="max"} {..}   ->   %5, %6 = nest(%0, ..) { both }
//
// A reduction of what a group makes is computed in the loop that makes it. If the elements have other
// readers, they are stored in the same loop. Only what comes in any order is reduced so.

// ends puts reductions into the groups that make what they reduce.
func (f *nesting) ends() {
	e := ending{nesting: f, rows: f.reducesRows()}
	for id, n := range f.g.All() {
		if n.Op.Control == op.Part || f.head[id] != id || f.of(id) != foldMember {
			continue
		}
		if e.readers == nil {
			e.readers, e.list = readersOf(f.g), f.members(func(id ir.ID) bool { return f.of(id) != noMember })
		}
		e.end(id)
	}
}

// ending is the work of ends.
type ending struct {
	*nesting
	readers [][]ir.ID
	list    map[ir.ID][]ir.ID // the members of the groups
	rows    bool              // something reduces rows
}

// end puts reduction id into groups.
func (e *ending) end(id ir.ID) {
	g := e.g
	e.results[id] = []ir.ID{id}
	if g.Type(id).Kind == types.Tuple {
		e.results[id] = e.readers[id]
		for _, part := range e.readers[id] {
			e.head[part] = id
		}
		e.list[id] = append(e.list[id], e.readers[id]...)
	}
	atPlace := map[ir.ID]bool{id: true} // chains of the group that the reduction reads at its own place
	for _, y := range slices.Backward(e.list[id]) {
		for k, x := range g.In(y) {
			switch h, r := e.head[x], e.head[id]; {
			case !atPlace[y] || !e.aligned(y, k):
			case h == r:
				atPlace[x] = e.of(x) == chainMember && e.reads[x] == 1
			case e.stores(x, id) && e.steps[r]+e.steps[h] <= againSteps:
				e.merge(h, r)
			}
		}
	}
}

// stores reports whether x is a result that its group stores, and that reduction r can read in the
// same loop. A chain alone is left to groups of rows, unless they know no such reduction.
func (e *ending) stores(x, r ir.ID) bool {
	h := e.head[x]
	if x != h && !slices.Contains(e.results[h], x) || slices.ContainsFunc(e.list[h], e.picks) {
		return false
	}
	moves := func(x ir.ID) bool {
		return e.of(x) == pointMember || e.of(x) == moveMember && e.g.Nodes[x].Op.Look == nil
	}
	return slices.ContainsFunc(e.list[h], moves) || e.of(x) == chainMember && e.g.Nodes[r].Op.Places && !e.rows && !e.turned(x)
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

// merge makes one group of group h and group r, which is later and reads a result of it. It is at the
// place of r or, if something reads a result before that, at the place of h. There is none if a member
// reads something that is not there yet. A result that only its own group reads is not stored.
func (e *ending) merge(h, r ir.ID) {
	g := e.g
	results := append([]ir.ID{h}, e.results[r]...)
	if several := e.results[h]; several != nil {
		results = slices.Concat(several, e.results[r])
	}
	members := slices.Concat(e.list[h], e.list[r])
	slices.Sort(members)
	own, place := setOf(members), r
	other := func(y ir.ID) bool { return !own[y] }
	for _, x := range results {
		if slices.ContainsFunc(e.readers[x], func(y ir.ID) bool { return other(y) && e.head[y] <= r }) {
			place = h
		}
	}
	for _, x := range members {
		if slices.ContainsFunc(g.In(x), func(y ir.ID) bool { return other(y) && e.head[y] >= place }) {
			return
		}
	}
	matrices, numbers := split(results, func(x ir.ID) bool { return g.Type(x).IsDense() })
	matrices = slices.DeleteFunc(matrices, func(x ir.ID) bool { return !slices.ContainsFunc(e.readers[x], other) })
	steps := e.steps[h] + e.steps[r]
	for _, old := range []ir.ID{h, r} {
		delete(e.results, old)
		delete(e.list, old)
	}
	e.results[place], e.list[place], e.steps[place] = append(matrices, numbers...), members, steps
	for _, x := range members {
		e.head[x] = place
	}
}

// folds reports a map-reduce of all elements, which may store them, too, a reduction of them without a
// chain, or the place of an extreme.
func (f *nesting) folds(id ir.ID) bool {
	g := f.g
	n, in := &g.Nodes[id], g.In(id)
	if f.apart || len(in) == 0 {
		return false
	}
	t := f.spaceOf(id)
	if !t.IsDense() || !t.Known() || t.Count() < 2 {
		return false
	}
	switch {
	case n.Op.Role == op.Reduces:
		return !n.Draws() && !f.turned(id) &&
			!slices.ContainsFunc(pipeFolds(f.table, n), func(d *op.Def) bool { return d != nil && !wholeOf(d, t.Elem) })
	case n.Region == nil && len(in) == 1:
		return wholeOf(n.Op, t.Elem)
	}
	return false
}

// wholeOf reports whether a loop of two indices reduces elements of e as d does, in any order.
func wholeOf(d *op.Def, e types.Elem) bool {
	switch {
	case d.Places:
		return e.IsFloat() || e == types.I64
	case d.Fold != op.FoldAll || d.Class == loop.NoClass:
		return false
	case e.IsFloat():
		return true
	}
	return slices.Contains([]loop.Class{loop.Sum, loop.Least, loop.Greatest, loop.Count, loop.Any, loop.All}, d.Class)
}

// spaceOf returns the type of what node id makes or, if it is a reduction, of what it reduces.
func (f *nesting) spaceOf(id ir.ID) types.Type {
	switch n, t := &f.g.Nodes[id], f.g.Type(id); {
	case n.Op.Role == op.Reduces:
		return pipeSpace(n)
	case n.Op.Control == op.Part:
		return f.spaceOf(f.g.In(id)[0])
	case !t.IsDense() && len(f.g.In(id)) > 0:
		return f.g.Type(f.g.In(id)[0])
	default:
		return t
	}
}

// space returns the attributes of a group without a matrix among its results: what it goes over.
func (f *nesting) space(results []ir.ID) *op.Attrs {
	if slices.ContainsFunc(results, func(id ir.ID) bool { return f.g.Type(id).IsDense() }) {
		return nil
	}
	t := f.spaceOf(results[0])
	if t.Cols == 1 { // it is reduced like a row
		t.Rows, t.Cols = 1, t.Rows
	}
	return op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(t.Rows)}, op.Attr{Name: "cols", Val: op.Int(t.Cols)})
}
