package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// FuseLoops moves elementwise operators on the index space of a parfor into its body: those whose
// result each iteration reads only at its own place, and those that read the loop's result:
//
//	%2 = mul(%0, %1)
//	%3 = parfor(%2) {lo=[0], n=[7], by=[1]} (%i, %x) { %4 = element(%x, %i, 0); yield sqrt(%4) }
//	%5 = add(%3, %0)
//	->  %5 = parfor(%0, %1) {..} (%i, %a, %b) {
//	      %6 = element(%a, %i, 0); %2 = mul(%6, %b); %4 = sqrt(%2); yield add(%4, %6)
//	    }
//
// The same operations run on each element, so bits stay, and the values in between are not stored.
// It would be wrong or slow where
//
//   - an iteration reads another place, or the matrix as a whole: then all of it is needed;
//   - the value has another reader: it is stored anyway;
//   - an operator may fail: another failure could come first, at another place;
//   - the loop does not go over all rows (columns) from 0 by 1, or its bounds are unknown: places
//     and indices differ;
//   - the body computes matrices;
//   - the body may fail, and would then fail after something that comes behind the loop.
//
// The last is rare: the loop stays in place, or moves to the first place behind it where the
// operands of the operators behind it exist. These cannot fail, so they may run earlier; the body
// moves only past what cannot fail and has no effect (ir.MayFail). So a run fails as without this
// pass.
func FuseLoops(g *ir.Graph, table *op.Table) *ir.Graph {
	f := &looping{table: table, fusion: fusion{g: g, uses: g.Uses()}, at: map[ir.ID][]*absorber{}, gone: make([]bool, g.Len()), of: slices.Repeat([]ir.ID{ir.None}, g.Len())}
	f.find()
	if len(f.at) == 0 {
		return g
	}
	return f.build()
}

// absorber is a parfor that absorbs operators.
type absorber struct {
	id ir.ID
	at ir.ID // where it is placed: its own place, or behind this node
	// before holds the matrices that it reads only at its own places, with the column of each:
	// ownColumn where the second index gives it.
	before map[ir.ID]int64
	after  []ir.ID // the operators on its result, each of which reads the one before
}

const (
	ownColumn = -1
	noColumn  = -2 // of a matrix that nothing has read so far
)

// looping is one run of FuseLoops.
type looping struct {
	fusion
	table *op.Table
	at    map[ir.ID][]*absorber // by the node where they come
	gone  []bool                // nodes that are now in a loop, or move with one
	of    []ir.ID               // the loop that a node is in
	now   ir.ID                 // the loop whose neighbours are looked at
}

func (f *looping) find() {
	g := f.g
	reader := make([]ir.ID, g.Len()) // of each node, the first reader
	several := make([]bool, g.Len())
	for i := range g.Nodes {
		for _, x := range g.In(ir.ID(i)) {
			if reader[x] == 0 { // it has no reader: it is the first node
				reader[x] = ir.ID(i)
			}
			several[x] = several[x] || reader[x] != ir.ID(i)
		}
	}
	for i := range g.Nodes {
		id := ir.ID(i)
		n := &g.Nodes[i]
		if n.Op.Role != op.Points || !fromZero(n) || f.sent(id) || !onNumbers(n.Region.Graph, n.Region.Args) {
			continue
		}
		l := &absorber{id: id, at: id, before: map[ir.ID]int64{}}
		f.now = id
		for k, x := range g.In(id) {
			if col, ok := f.ownPlace(n, k); ok && f.uses[x] == 1 && f.takes(x) && f.inside(x, n, col) {
				l.before[x] = col
			}
		}
		last := id
		for !several[last] && f.uses[last] > 0 {
			r := reader[last]
			if !f.takes(r) || !sameShape(g.Type(r), g.Type(id)) || !f.moves(l, f.latest(r, last)) {
				break
			}
			l.after, last = append(l.after, r), r
		}
		if len(l.before) == 0 && len(l.after) == 0 {
			continue
		}
		if l.at == id { // before the nodes behind it, which may read it
			f.at[id] = append([]*absorber{l}, f.at[id]...)
		} else {
			f.at[l.at] = append(f.at[l.at], l)
		}
		f.takeIn(l)
	}
}

// latest returns the last node that must exist before operator r, which reads the loop's result x,
// joins the loop.
func (f *looping) latest(r, x ir.ID) ir.ID {
	at := ir.ID(0)
	for _, y := range f.g.In(r) {
		switch {
		case y == x:
		case f.within(y, r):
			at = max(at, f.latest(y, x))
		default:
			at = max(at, y)
		}
	}
	return at
}

// moves moves loop l behind node at if that is later and does not reorder failures or effects.
func (f *looping) moves(l *absorber, at ir.ID) bool {
	if at <= l.at {
		return true
	}
	if ir.MayFail(f.g, l.id) {
		if f.stops == nil {
			f.stops = stopsOf(f.g)
		}
		if f.stops.between(l.id, at) {
			return false
		}
	}
	l.at = at
	return true
}

// takeIn marks what joins the body of l.
func (f *looping) takeIn(l *absorber) {
	for x := range l.before {
		f.swallow(x)
	}
	f.gone[l.id] = true
	for _, r := range l.after {
		f.gone[r], f.of[r] = true, l.id
		for _, y := range f.g.In(r) {
			if y != l.id && !slices.Contains(l.after, y) && f.within(y, r) {
				f.swallow(y)
			}
		}
	}
}

// fromZero reports a parfor whose indices are the places of its results.
func fromZero(n *ir.Node) bool {
	lo, by := n.Attrs.Ints("lo"), n.Attrs.Ints("by")
	for d := range by {
		if by[d] != 1 || lo == nil || lo[d] != 0 {
			return false
		}
	}
	return len(by) > 0
}

// takes reports an operator that the body may compute and no other body does.
func (f *looping) takes(x ir.ID) bool {
	if f.of[x] != ir.None && f.of[x] != f.now {
		return false
	}
	if !f.fusable(x) || len(f.g.In(x)) == 0 || f.sent(x) || !f.readable(x) {
		return false
	}
	return f.g.Nodes[x].Op.TotalOn(f.g.Type(f.g.In(x)[0]).Elem, f.g.Type(x).Elem)
}

// readable reports whether the inputs of an operator are scalars, or matrices whose sizes determine
// how they are stretched.
func (f *looping) readable(x ir.ID) bool {
	return !slices.ContainsFunc(f.g.In(x), func(y ir.ID) bool {
		t := f.g.Type(y)
		return !t.IsScalar() && (!t.IsDense() || !t.Known()) || t.Elem == types.Str
	})
}

// within reports an input y of an operator r that moves with r.
func (f *looping) within(y, r ir.ID) bool {
	return f.uses[y] == 1 && f.takes(y) && sameShape(f.g.Type(y), f.g.Type(r))
}

// swallow marks x and the operators that move with it.
func (f *looping) swallow(x ir.ID) {
	f.gone[x], f.of[x] = true, f.now
	for _, y := range f.g.In(x) {
		if f.within(y, x) {
			f.swallow(y)
		}
	}
}

// inside reports whether all places that the loop n reads of x, in column col or its own, exist.
func (f *looping) inside(x ir.ID, n *ir.Node, col int64) bool {
	t, count := f.g.Type(x), n.Attrs.Ints("n")
	if count[0] > int64(t.Rows) {
		return false
	}
	if col == ownColumn {
		return count[1] <= int64(t.Cols)
	}
	return col >= 0 && col < int64(t.Cols)
}

// ownPlace reports whether the loop n reads of its input k only the elements at its own place, and
// their column.
func (f *looping) ownPlace(n *ir.Node, k int) (col int64, ok bool) {
	dims := len(n.Attrs.Ints("by"))
	p := places{noColumn}
	index := map[ir.ID]int{}
	for d := range dims {
		index[n.Region.Args[d]] = d
	}
	if !p.look(n.Region, n.Region.Args[dims+k], index) || p.col == noColumn {
		return 0, false
	}
	return p.col, true
}

// places describes how a body and its inner bodies read a matrix: at their own row, in this column.
type places struct{ col int64 }

// look checks the readers of argument a. index maps the nodes that are indices of the loop.
func (p *places) look(r *ir.Region, a ir.ID, index map[ir.ID]int) bool {
	if slices.Contains(r.Yields, a) {
		return false
	}
	for i := range r.Graph.Nodes {
		n, in := &r.Graph.Nodes[i], r.Graph.In(ir.ID(i))
		for k, x := range in {
			if x != a {
				continue
			}
			switch {
			case n.Op.Role == op.Picks && k == 0:
				if !p.own(r.Graph, in, index) {
					return false
				}
			case n.Op.Control == op.Iterate && k >= n.Carried() || n.Op.Control == op.Select && k > 0:
				if !p.enter(n, in, k, index) {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}

// own records an element that is read, if it is at the iteration's place.
func (p *places) own(g *ir.Graph, in []ir.ID, index map[ir.ID]int) bool {
	if d, ok := index[in[1]]; !ok || d != 0 {
		return false
	}
	col := int64(ownColumn)
	if d, ok := index[in[2]]; !ok {
		c := &g.Nodes[in[2]]
		v, is := c.Attrs.Get("value")
		if c.Op.Role != op.Constant || !is || v.Kind != op.IntVal || v.I < 0 {
			return false
		}
		col = v.I
	} else if d != 1 {
		return false
	}
	if p.col != noColumn && p.col != col {
		return false
	}
	p.col = col
	return true
}

// enter checks the regions of node n, a loop or a branch whose input k is the matrix.
func (p *places) enter(n *ir.Node, in []ir.ID, k int, index map[ir.ID]int) bool {
	first := n.FirstArg()
	for r := n.Region; r != nil; r = r.Next {
		inner := map[ir.ID]int{}
		for j, x := range in {
			if d, ok := index[x]; ok && j >= first && (n.Op.Control == op.Select || j >= n.Carried()) {
				inner[r.Args[j-first]] = d
			}
		}
		if !p.look(r, r.Args[k-first], inner) {
			return false
		}
	}
	return true
}

// build copies the graph with the loops at their new places.
func (f *looping) build() *ir.Graph {
	g := f.g
	out := ir.New()
	out.CopyTables(g)
	to := slices.Repeat([]ir.ID{ir.None}, g.Len())
	inputs := func(list []ir.ID) (in []ir.ID) {
		for _, x := range list {
			in = append(in, to[x])
		}
		return in
	}
	for i := range g.Nodes {
		id := ir.ID(i)
		if !f.gone[i] {
			to[i] = out.CopyNode(g, id, inputs(g.In(id))...)
		}
		for _, l := range f.at[id] {
			f.now = l.id
			b := newLoopBody(f, l)
			n, last := &g.Nodes[l.id], l.last()
			to[last] = out.Add(n.Op, n.Attrs.With("taken", op.Ints(b.taken...)), g.Type(last), g.Origin(l.id), inputs(b.inputs)...)
			out.Nodes[to[last]].Region = b.region
		}
	}
	return out
}

// last returns the node whose value the loop has.
func (l *absorber) last() ir.ID {
	if len(l.after) == 0 {
		return l.id
	}
	return l.after[len(l.after)-1]
}
