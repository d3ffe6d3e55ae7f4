package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Fuse that puts the operators around a parfor into its body: those whose
// result each iteration reads only at its own place, and those that read the loop's result:
//
//	%2 = mul(%0, %1)
//	%3 = parfor(%2) {lo=[0], n=[7], by=[1]} (%i, %x) { %4 = element(%x, %i, 0); yield sqrt(%4) }
//	%5 = add(%3, %0)
//	->  %5 = parfor(%0, %1) {..} (%i, %a, %b) {
//	      %6 = element(%a, %i, 0); %2 = mul(%6, %b); %4 = sqrt(%2); yield add(%4, %6)
//	    }
//
// The loop is a member of the group, so what holds for groups holds for it. A group has one loop at
// most, and does not end in a reduction then. If the loop may fail, and would fail too late at the last
// operator, the group comes where the loop stands, provided that it reads nothing made later. It would
// be wrong or slow where:
//
//   - an iteration reads another place, or the matrix as a whole: then all of it is needed;
//   - a neighbour may fail: another failure could come first, at another place;
//   - the loop does not go over all rows (columns) from 0 by 1, or its bounds are unknown: places
//     and indices differ;
//   - the body computes matrices.
//
// The body computes the rows of a constructor if every iteration reads only its own: those of a
// batch of iterations, on demand.

// ownColumn is the column that the second index of a loop gives.
const ownColumn = -1

// points reports a loop over numbers.
func (f *fusion) points(id ir.ID) bool {
	n := &f.g.Nodes[id]
	return n.Op.Role == op.Points && n.Attrs.Ints("lo") != nil && onNumbers(n.Region)
}

// lead makes loop l that of the group of h, if all members are made of its result and of others at the
// same places.
func (f *fusion) lead(h, l ir.ID) bool {
	n := &f.g.Nodes[l]
	if _, has := f.loop[h]; has || h != l && (!fromZero(n) || sent(f.g, l)) {
		return false
	}
	col, early := int64(0), true
	if len(n.Attrs.Ints("by")) == 2 {
		col = ownColumn
	}
	for x := l + 1; x <= h; x++ {
		if f.head[x] != h {
			continue
		}
		if !f.takes(x) {
			return false
		}
		f.col[x] = col
		for _, y := range f.g.In(x) {
			early = early && (y <= l || f.head[y] == h)
		}
	}
	if h != l && f.late(l, h) {
		if !early {
			return false
		}
		f.early[l] = true
	}
	f.loop[h] = l
	return true
}

// takes reports whether a body may compute operator x: it is elementwise, cannot fail, and reads
// scalars and dense matrices of known size.
func (f *fusion) takes(x ir.ID) bool {
	g, in := f.g, f.g.In(x)
	return f.fusable(x) && len(in) > 0 && !sent(f.g, x) && g.Nodes[x].Op.TotalOn(g.Type(in[0]).Elem, g.Type(x).Elem) &&
		!slices.ContainsFunc(in, func(y ir.ID) bool {
			t := g.Type(y)
			return !t.IsScalar() && (!t.IsDense() || !t.Known()) || t.Elem == types.Str
		})
}

// inBody reports whether the body of loop l may compute operator x, whose readers are all in the
// loop's group: they read one column of it, or each its own.
func (f *fusion) inBody(x, l ir.ID) bool {
	if n := &f.g.Nodes[l]; !fromZero(n) || sent(f.g, l) || !f.takes(x) {
		return false
	}
	const none = -2
	col := int64(none)
	for _, r := range f.readers()[x] {
		c, ok := f.col[r], sameShape(f.g.Type(x), f.g.Type(r))
		if r == l {
			c, ok = f.ownPlace(x, l)
		}
		if !ok || col != none && c != col {
			return false
		}
		col = c
	}
	f.col[x] = col
	return f.inside(x, l, col)
}

// inside reports whether all places that loop l reads of x, in column col or its own, exist.
func (f *fusion) inside(x, l ir.ID, col int64) bool {
	t, count := f.g.Type(x), f.g.Nodes[l].Attrs.Ints("n")
	if count[0] > int64(t.Rows) {
		return false
	}
	if col == ownColumn {
		return count[1] <= int64(t.Cols)
	}
	return col < int64(t.Cols)
}

// readers lists the readers of every node.
func (f *fusion) readers() [][]ir.ID {
	if f.readBy == nil {
		f.readBy = readersOf(f.g)
	}
	return f.readBy
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

// ownPlace reports whether loop l reads of its operand x only the elements at its own place, and
// their column.
func (f *fusion) ownPlace(x, l ir.ID) (col int64, ok bool) {
	const none = -2
	col = none
	ok = f.readsAt(x, l, true, func(g *ir.Graph, in []ir.ID, index map[ir.ID]int) bool {
		at := int64(ownColumn)
		if d, ok := index[in[2]]; !ok {
			c := &g.Nodes[in[2]]
			v, is := c.Attrs.Get("value")
			if c.Op.Role != op.Constant || !is || v.Kind != op.IntVal || v.I < 0 {
				return false
			}
			at = v.I
		} else if d != 1 {
			return false
		}
		if col == none {
			col = at
		}
		return col == at
	})
	return col, ok && col != none
}

// readsAt is readAt of all arguments of loop l that are x.
func (f *fusion) readsAt(x, l ir.ID, deep bool, own func(g *ir.Graph, in []ir.ID, index map[ir.ID]int) bool) bool {
	n := &f.g.Nodes[l]
	dims, index := len(n.Attrs.Ints("by")), map[ir.ID]int{}
	for d, a := range n.Region.Args[:dims] {
		index[a] = d
	}
	for k, y := range f.g.In(l) {
		if y == x && !readAt(n.Region, n.Region.Args[dims+k], index, deep, own) {
			return false
		}
	}
	return true
}

// readAt reports whether region r reads of argument a only elements in the row of the first index, and
// own is true for each of them. index maps the nodes that are indices of the loop. If deep is set, the
// loops and branches in r may read such elements too.
func readAt(r *ir.Region, a ir.ID, index map[ir.ID]int, deep bool, own func(g *ir.Graph, in []ir.ID, index map[ir.ID]int) bool) bool {
	if slices.Contains(r.Yields, a) {
		return false
	}
	for i := range r.Graph.Nodes {
		n, in := &r.Graph.Nodes[i], r.Graph.In(ir.ID(i))
		first := n.FirstArg()
		for k, x := range in {
			if x != a {
				continue
			}
			if n.Op.Role == op.Picks && k == 0 {
				if d, ok := index[in[1]]; !ok || d != 0 || !own(r.Graph, in, index) {
					return false
				}
				continue
			}
			if !deep || !isControl(n) || k < first || k < n.Carried() {
				return false
			}
			for b := n.Region; b != nil; b = b.Next {
				inner := map[ir.ID]int{}
				for j, y := range in {
					if d, ok := index[y]; ok && j >= first && j >= n.Carried() {
						inner[b.Args[j-first]] = d
					}
				}
				if !readAt(b, b.Args[k-first], inner, deep, own) {
					return false
				}
			}
		}
	}
	return true
}

// parfor adds the loop l of a group with members m.
func (f *fusion) parfor(m []ir.ID, l ir.ID) {
	last := m[len(m)-1]
	n := &f.g.Nodes[l]
	b := making{fusion: f, value: last, body: ir.New(), inner: map[ir.ID]ir.ID{}, around: n, whole: map[ir.ID]ir.ID{}, reads: setOf(f.g.In(l))}
	b.body.CopyTables(n.Region.Graph)
	for range n.Attrs.Ints("by") {
		b.arg(types.ScalarOf(types.I64))
	}
	b.arguments(m)
	for _, x := range m {
		if x == l {
			b.region(l)
		} else {
			b.operator(x)
			b.taken = append(b.taken, int(b.inner[x]))
		}
	}
	attrs := n.Attrs
	if len(b.taken) > 0 {
		attrs = attrs.With("taken", op.Ints(b.taken...))
	}
	r := &ir.Region{Graph: b.body, Args: b.args, Yields: []ir.ID{b.inner[last]}}
	f.out.made(f.table, n.Op.Name, attrs, r, b.in, f.g.Origin(l), last)
}

// region copies the body of loop l.
func (b *making) region(l ir.ID) {
	old, dims := b.around.Region, len(b.around.Attrs.Ints("by"))
	to, gone := slices.Repeat([]ir.ID{ir.None}, old.Graph.Len()), map[ir.ID]bool{}
	for k, a := range old.Args {
		if k < dims {
			to[a] = b.args[k]
			continue
		}
		y := b.g.In(l)[k-dims]
		if whole, is := b.whole[y]; is {
			to[a] = whole
		} else {
			to[a], gone[a] = b.inner[y], old.Graph.Type(a).IsMatrix()
		}
	}
	copyReading(b.body, old.Graph, to, gone)
	for _, t := range b.around.Attrs.Ints("taken") {
		b.taken = append(b.taken, int(to[t]))
	}
	b.inner[l] = to[old.Yields[0]]
}

// element returns the element of y that member x reads.
func (b *making) element(y, x ir.ID) ir.ID {
	if v, ok := b.inner[y]; ok {
		return v
	}
	t, row, at := b.g.Type(y), b.args[0], ir.None
	if t.Rows == 1 {
		row = b.integer(0)
	}
	switch col := b.col[x]; {
	case t.Cols == 1:
		at = b.integer(0)
	case col == ownColumn:
		at = b.args[1]
	default:
		at = b.integer(col)
	}
	return once(b.body, b.table.Must("element"), nil, types.ScalarOf(t.Elem), ir.Origin{Span: b.g.Nodes[y].Span}, b.whole[y], row, at)
}

func (b *making) integer(c int64) ir.ID {
	return once(b.body, b.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(int(c))}), types.ScalarOf(types.I64), ir.Origin{})
}

// once returns a node of g that is equal to the given one. It adds the node if there is none.
func once(g *ir.Graph, d *op.Def, attrs *op.Attrs, t types.Type, o ir.Origin, in ...ir.ID) ir.ID {
	for i := range g.Nodes {
		if n, id := &g.Nodes[i], ir.ID(i); n.Op == d && g.Type(id) == t && n.Attrs.Equal(attrs) && slices.Equal(g.In(id), in) {
			return id
		}
	}
	return g.Add(d, attrs, t, o, in...)
}

// copyReading copies the nodes of g that have no place in to. It adds them to out. The nodes of gone
// were matrices and are now elements, so an element of such a node is the node.
func copyReading(out, g *ir.Graph, to []ir.ID, gone map[ir.ID]bool) {
	for id, n := range g.All() {
		old := g.In(id)
		if to[id] != ir.None {
			continue
		}
		in := make([]ir.ID, len(old))
		inner := map[int]bool{} // arguments of the node's regions that were matrices
		for k, x := range old {
			in[k] = to[x]
			if gone[x] {
				inner[k-n.FirstArg()] = true
			}
		}
		switch {
		case n.Op.Role == op.Picks && gone[old[0]]:
			to[id] = in[0]
			continue
		case n.Op.Role == op.Picks || n.Op.Role == op.Constant:
			to[id] = once(out, n.Op, n.Attrs, g.Type(id), g.Origin(id), in...)
			continue
		}
		to[id] = out.CopyNode(g, id, in...)
		if len(inner) == 0 {
			continue
		}
		out.Nodes[to[id]].Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region { return withScalars(r, inner) })
	}
}

// withScalars returns a region some of whose matrix arguments have become elements.
func withScalars(r *ir.Region, scalar map[int]bool) *ir.Region {
	s := &ir.Region{Graph: ir.New()}
	s.Graph.CopyTables(r.Graph)
	to, gone := slices.Repeat([]ir.ID{ir.None}, r.Graph.Len()), map[ir.ID]bool{}
	for k, a := range r.Args {
		t := r.Graph.Type(a)
		if gone[a] = scalar[k]; scalar[k] {
			t = types.ScalarOf(t.Elem)
		}
		to[a] = s.Graph.Add(r.Graph.Nodes[a].Op, r.Graph.Nodes[a].Attrs, t, r.Graph.Origin(a))
	}
	copyReading(s.Graph, r.Graph, to, gone)
	s.Args, s.Yields = through(to, r.Args), through(to, r.Yields)
	return s
}

// oneByOne reports a parfor over one known range with step 1.
func oneByOne(n *ir.Node) bool {
	by := n.Attrs.Ints("by")
	return len(by) == 1 && by[0] == 1 && n.Attrs.Ints("lo") != nil
}

// onNumbers reports a body in which everything but the arguments is a scalar, and which gives scalars.
func onNumbers(b *ir.Region) bool {
	g := b.Graph
	if slices.ContainsFunc(b.Yields, func(y ir.ID) bool { return !g.Type(y).IsScalar() }) {
		return false
	}
	for id, n := range g.All() {
		switch {
		case slices.Contains(b.Args, id) || n.Op.Control == op.Part:
		case isControl(n):
			for r := n.Region; r != nil; r = r.Next {
				if !onNumbers(r) {
					return false
				}
			}
		case !g.Type(id).IsScalar() || n.Op.Elt == nil && n.Op.Role != op.Constant && n.Op.Role != op.Picks:
			return false
		}
	}
	return true
}

// mostDrawnCols is the most columns of a constructor that a parfor computes, since it computes
// whole rows.
const mostDrawnCols = 16

// drawsRows reports whether the body of loop l may compute constructor x, which the loop or a
// member of its group reads: there is a row for every iteration, and no other is read. Only consecutive
// rows are computed.
func (f *fusion) drawsRows(x, id, l ir.ID) bool {
	g, n, t := f.g, &f.g.Nodes[l], f.g.Type(x)
	if c := &g.Nodes[x]; !oneByOne(n) || c.Op.Draw == nil || c.Region != nil || len(g.In(x)) > 0 || sent(f.g, x) || !drawable(t) || t.Cols > mostDrawnCols || t.Elem == types.Str {
		return false
	}
	if _, cut := g.Nodes[x].Attrs.Get("at"); cut {
		return false
	}
	if id != l {
		return sameShape(t, g.Type(id))
	}
	lo, count := n.Attrs.Ints("lo")[0], n.Attrs.Ints("n")[0]
	return lo >= 0 && lo+count <= int64(t.Rows) && f.readsAt(x, l, false, func(*ir.Graph, []ir.ID, map[ir.ID]int) bool { return true })
}
