package pass

import (
	"slices"

	"flow/compiler/layout"
	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// Group makes one loop of elementwise chains, loops over points that compute numbers, and the
// operators between them that only move elements:
//
//	%5 = map(%1, %2) {..};  %6 = cbind(%3, %5, %4);  %7 = rbind(%0, %6)   ->   %7 = nest(%0, ..) { the same }
//
// What lies between is not stored: an element of the last result is computed where it is read from, so
// that a stencil is one pass over memory, its borders included. Bits stay, as each element is the same
// operations. An operator joins its readers if all of them are in one group. An element that is read at
// several places, as by two slices, is computed at each if that costs less than to store it. The result
// of a loop over points is stored if its body has a loop, because lanes would end at different times. A
// matrix is stored if a loop over points that reads it has more elements. Groups that read a chain
// element by element become one with it, of several results:
//
//	%3 = map(%1, %2) {..};  %5 = nest(%1, %3) {..};  %6 = nest(%2, %3) {..}   ->   %5 = nest(%1, %2) { all three }
//
// A reduction of all elements of a group is its last member. If the elements are also read
// elsewhere, alone or as a part of a larger matrix, the group has several results (group_ends.go).
// Ranks share the rows of a group, and merge the states of its reductions.
//
// It would be wrong across a send: one `<-` is one task. Operators may fail in a loop that computes all
// of their elements, if no other node between them may fail (RATIONALE.md, "Why may operators of a nest
// fail?"). Matrices that are cut into blocks are left alone.
func Group(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *ir.Graph {
	f := newNesting(g, table, sizes)
	if !f.any() {
		return g
	}
	f.cut(sizes)
	if padded := f.padded(); padded != g {
		g, f = padded, newNesting(padded, table, sizes)
		f.cut(sizes)
	}
	f.find()
	if viewed := f.viewed(); viewed != g {
		g, f = viewed, newNesting(viewed, table, sizes)
		f.cut(sizes)
		f.find()
	}
	f.mergeGroups()
	chosen := f.worthwhile()
	if len(chosen) == 0 {
		return g
	}
	return f.build(chosen, func(c *nodes.Copying, m []ir.ID) {
		h := f.head[m[0]]
		results := f.results[h]
		if results == nil {
			results = []ir.ID{h}
		}
		r, reads := nodes.RegionOf(g, table, m, results)
		c.Made(table, "nest", f.space(results), r, nodes.Through(c.To, reads), g.Origin(h), results...)
	})
}

func newNesting(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *nesting {
	return &nesting{groups: groups{g: g}, table: table, ramps: layout.Ramps(g), apart: sizes.Loops,
		kind: make([]memberKind, g.Len()), flops: make([]float64, g.Len())}
}

// cut finds which matrices are cut into blocks, and what may fail.
func (f *nesting) cut(sizes nodes.Sizes) {
	f.stops = nodes.StopsOf(f.g)
	f.whole = wholes(f.g, sizes.Filled().Block, preferredCuts(f.g), false, sizes.Rows)
	clear(f.kind) // what is cut was not known
}

type memberKind uint8

const (
	unasked memberKind = iota
	noMember
	chainMember // elementwise; it may fail, but not where ranks share the rows
	pointMember // a loop over points, each of which computes a number from elements of its operands
	moveMember  // its elements are those of its operands
	pickMember  // rows of operand 0 at the positions in operand 1; it may fail
	foldMember  // it reduces all elements, and is the last of its group
)

const (
	// againSteps is the most operations of a chain, times how often it is computed, in a group:
	// code that is longer than a cache of instructions.
	againSteps = 400
	// mostReads is the most places at which one element is read.
	mostReads = 16
)

type nesting struct {
	groups
	table *op.Table
	kind  []memberKind
	flops []float64 // of an element, of chains
	whole []bool    // nil: all are
	reads []int     // at how many places a member is read for one element of the result of its group
	steps []float64 // of groups, by the head
	apart bool      // ranks share the rows: no chain that may fail joins a group, and no reduction without a state
	stops nodes.Stops
	// ramps knows which integers are ramps, also among the arguments of the region that g is.
	ramps func(g *ir.Graph, id ir.ID, rows int) bool
	// partly reports, by member, that its readers may leave elements of it unread.
	partly []bool
	// results has those of a group of several, by the head.
	results map[ir.ID][]ir.ID
}

// any reports whether something reads what a chain gives, or a border, by moving or computing its
// elements, or several chains read one. Most graphs have nothing of that, and are large where they are
// tiled.
func (f *nesting) any() bool {
	g, read := f.g, make([]bool, f.g.Len())
	for i := range g.Nodes {
		if id := ir.ID(i); f.moves(id) || f.computes(id) || f.folds(id) || f.picks(id) {
			for k, x := range g.In(id) {
				if read[x] && f.chain(x) && f.of(x) != noMember {
					return true
				}
				read[x] = true
				pipe, elements := nodes.StoredPart(g, x)
				ends := f.folds(id) && (f.points(x) || f.chain(x) && (g.Nodes[id].Op.Places || f.readsAgain(x, id)) || elements && f.readsAgain(pipe, id))
				feeds := f.computes(x) && (f.moves(id) || f.picks(id) || f.points(id) || f.points(x)) || f.across(id, k)
				moves := f.moves(x) && !f.views(x) || f.picks(x)
				if (ends || feeds || moves) && f.of(x) != noMember && f.of(id) != noMember {
					return true
				}
			}
		}
	}
	return false
}

// readsAgain reports whether r reads a matrix that x reads, or another view of it. Single numbers do
// not count.
func (f *nesting) readsAgain(x, r ir.ID) bool {
	read := map[ir.ID]bool{}
	for _, y := range f.g.In(x) {
		read[f.seen(y)] = true
	}
	return slices.ContainsFunc(f.g.In(r), func(y ir.ID) bool { return read[f.seen(y)] && f.g.Type(y).Count() > 1 })
}

// seen returns the matrix behind the views that x is made of, or x if it is no view.
func (f *nesting) seen(x ir.ID) ir.ID {
	for f.of(x) == moveMember && f.g.Nodes[x].Op.Look != nil {
		x = f.g.In(x)[0]
	}
	return x
}

// chain reports a map or an elementwise operator.
func (f *nesting) chain(id ir.ID) bool {
	n := &f.g.Nodes[id]
	return n.Region != nil && n.IsChain() && f.g.Type(id).IsDense() && n.Op.Laws.Has(op.Pure) && n.Op.Fold == op.NoFold && n.Attrs.Str("fold") == "" && !n.Draws() ||
		n.Region == nil && n.Attrs == nil && n.Op.Elt != nil && n.Op.Laws.Has(op.Elementwise)
}

// computes reports an operator that may compute its elements.
func (f *nesting) computes(id ir.ID) bool { return f.chain(id) || f.points(id) }

// picks reports an operator that takes rows at positions that the run computes, and may join a group.
// Where ranks share the rows, only a list that is a ramp may: any other one is stored, since it names
// the rows that ranks send.
func (f *nesting) picks(id ir.ID) bool {
	d := f.g.Nodes[id].Op
	if d.Numbers != 1 || d.Elements == nil || !d.Laws.Has(op.Pure) {
		return false
	}
	return !f.apart || f.g.Type(id).Known() && f.ramps(f.g, f.g.In(id)[1], f.g.Type(id).Rows)
}

// of is what a node is in a group.
func (f *nesting) of(id ir.ID) memberKind {
	if f.kind[id] == unasked {
		f.kind[id] = f.look(id)
	}
	return f.kind[id]
}

func (f *nesting) look(id ir.ID) memberKind {
	g, t := f.g, f.g.Type(id)
	n := &g.Nodes[id]
	if n.Op.Control == op.Part && f.of(g.In(id)[0]) == foldMember && !nodes.Sent(g, id) {
		return foldMember
	}
	folds := f.folds(id)
	if nodes.Sent(g, id) || !folds && (!t.IsDense() || !t.Known() || t.Count() == 0 || t.Elem.Size() == 0) || g.Asks(id) || ir.MayFail(g, id) && !f.picks(id) && (f.apart || !f.chain(id)) {
		return noMember
	}
	if f.whole != nil && !folds && !f.whole[id] {
		return noMember
	}
	var in []types.Type
	for _, x := range g.In(id) {
		t := g.Type(x)
		if !t.IsScalar() && !(t.IsDense() && t.Known()) || t.Elem.Size() == 0 || folds && f.whole != nil && t.IsDense() && !f.whole[x] {
			return noMember
		}
		in = append(in, t)
	}
	switch {
	case folds:
		f.flops[id] = max(1, plan.ChainFlops(g, id))
		return foldMember
	case f.chain(id):
		f.flops[id] = plan.ChainFlops(g, id)
		return chainMember
	case f.points(id):
		f.flops[id], _, _ = plan.BodyFlops(n.Region)
		return pointMember
	case f.picks(id):
		return pickMember
	case f.moves(id):
		if _, ok := n.Op.Pieces(n.Attrs, in, t); ok {
			return moveMember
		}
	}
	return noMember
}

// find puts every member into the group of its readers, if it is cheap enough to compute it wherever it
// is read.
func (f *nesting) find() {
	f.reads = make([]int, f.g.Len())
	moved, aligned := make([]int, f.g.Len()), make([]int, f.g.Len())
	f.steps, f.partly = make([]float64, f.g.Len()), make([]bool, f.g.Len())
	fails := make([]int, f.g.Len()) // by the head of a group: how many members may fail
	f.join(func(h, x ir.ID) bool {
		reads := moved[x] + aligned[x]
		if h == x {
			reads, f.partly[x] = 1, false
		} else if ir.MayFail(f.g, x) && (f.partly[x] || f.stops.Among(x, h)-1 > fails[h]) {
			return false
		} else if reads > mostReads || f.of(x) == noMember || f.of(x) == foldMember || float64(reads-1)*f.flops[x] > nodes.AgainFlops || f.steps[h]+float64(reads)*f.flops[x] > againSteps {
			return false
		}
		if ir.MayFail(f.g, x) {
			fails[h]++
		}
		f.reads[x] = reads
		f.steps[h] += float64(reads) * f.flops[x]
		return true
	}, func(r ir.ID, k int) bool {
		x := f.g.In(r)[k]
		if !f.g.Type(x).IsDense() {
			return false
		}
		places := f.of(r) == pickMember && k == 1 // the loop checks all positions
		f.partly[x] = f.partly[x] || f.partly[r] || !places && (f.of(r) != chainMember && f.of(r) != foldMember || !f.aligned(r, k))
		switch f.of(r) {
		case noMember:
			return false
		case chainMember, foldMember:
			aligned[x] = max(aligned[x], f.reads[r])
			return (f.aligned(r, k) || f.across(r, k)) && !(f.of(r) == foldMember && f.of(x) == chainMember && (f.turned(x) || !f.g.Nodes[r].Op.Places)) // see Fuse
		case pointMember:
			n := f.g.Nodes[r].Region
			moved[x] += f.reads[r] * readPlaces(n, n.Args[len(n.Args)-len(f.g.In(r))+k])
			return !f.computes(x) || f.g.Type(x).Count() >= f.g.Type(r).Count() // each element would be made again and again
		case pickMember:
			moved[x] += f.reads[r] * f.g.Type(r).Cols
			return k == 1
		default:
			moved[x] += f.reads[r]
		}
		return true
	})
}

// viewed returns the graph in which a matrix that is stored twice, alone and as a part of a larger
// one, is read from the larger one:
//
//	%3 = map(..);  %5 = rbind(%1, %3, %2);  %6 = map(%3, %0)
//	->  %3 = map(..);  %5 = rbind(%1, %3, %2);  %7 = slice(%5);  %6 = map(%7, %0)
//
// So only the larger matrix is stored, and nothing is copied into it. It would be wrong for readers
// that come before the larger matrix. It would be slow where ranks share rows: they would exchange
// some, because a rank has other rows of the part than of the whole.
func (f *nesting) viewed() *ir.Graph {
	g, m := f.g, merger{nesting: f}
	if f.apart {
		return g
	}
	in := map[ir.ID][]ir.ID{} // by the larger matrix: what is read from it
	at := map[ir.ID]*spot{}
	for x := range g.All() {
		if f.head[x] != x || f.of(x) == foldMember || f.of(x) == noMember || f.views(x) {
			continue
		}
		if m.readers == nil {
			m.readers = readersOf(g)
		}
		by, others := split(m.readers[x], func(r ir.ID) bool { return f.of(r) == moveMember && !f.views(r) })
		if len(by) != 1 || len(others) == 0 || nodes.Sent(g, f.head[by[0]]) || !g.Type(f.head[by[0]]).IsDense() {
			continue
		}
		h := f.head[by[0]]
		small := 2*g.Type(x).Count() < g.Type(h).Count() // it would keep the memory of all
		if small || slices.Min(others) < h || ir.MayFail(g, x) || g.Type(h).Elem != g.Type(x).Elem || f.of(h) != moveMember || m.displaced(x) {
			continue
		}
		if at[x] = m.spotIn(x, by[0], map[ir.ID]*spot{}); at[x] != nil {
			in[h] = append(in[h], x)
		}
	}
	if len(in) == 0 {
		return g
	}
	c := nodes.CopyOf(g)
	for id := range g.All() {
		c.Node(id)
		for _, x := range in[id] {
			t, s := g.Type(x), at[x]
			place := op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(s.row, s.col, t.Rows, t.Cols)})
			c.To[x] = c.G.Add(f.table.Must("slice"), place, t, g.Origin(x), c.To[id])
		}
	}
	return c.G
}

// aligned reports that a chain reads operand k element by element.
func (f *nesting) aligned(id ir.ID, k int) bool {
	n := &f.g.Nodes[id]
	if n.Region != nil && op.Mode(n.Attrs.Ints("modes")[k]) != op.Full {
		return false
	}
	return nodes.SameShape(f.g.Type(f.g.In(id)[k]), nodes.SpaceIn(f.g, id))
}

// across reports that chain id, which has few columns, reads operand k, a chain with one column. A loop
// over the rows then computes each element of the column once. Ranks that share the rows store the
// column instead.
func (f *nesting) across(id ir.ID, k int) bool {
	t, x := f.g.Type(id), f.g.In(id)[k]
	c := f.g.Type(x)
	return !f.apart && f.of(id) == chainMember && f.of(x) == chainMember && t.Cols > 1 && t.Cols <= loop.MostAcross && c.Cols == 1 && c.Rows == t.Rows && c.Rows > 1
}

// readPlaces returns how many elements of argument a a point of a loop with body r reads at most.
func readPlaces(r *ir.Region, a ir.ID) (n int) {
	for i := range r.Graph.Nodes {
		in := &r.Graph.Nodes[i]
		for k, x := range r.Graph.In(ir.ID(i)) {
			switch {
			case x != a:
			case in.Region == nil:
				n++
			default:
				for b := in.Region; b != nil; b = b.Next {
					n += readPlaces(b, b.Args[k-in.FirstArg()])
				}
			}
		}
	}
	return n
}

// worthwhile lists the members of the groups in which something is no longer stored.
func (f *nesting) worthwhile() map[ir.ID][]ir.ID {
	chosen := f.members(func(id ir.ID) bool { return f.of(id) != noMember })
	for h, m := range chosen {
		stored, folds := 0, 0
		for _, x := range m {
			switch {
			case f.of(x) == foldMember && f.g.Nodes[x].Op.Control != op.Part:
				folds++
			case f.of(x) == foldMember: // a part of a tuple, which is counted already
			case !f.views(x):
				stored++
			}
		}
		if stored+folds < 2 {
			delete(chosen, h)
		}
	}
	return chosen
}
