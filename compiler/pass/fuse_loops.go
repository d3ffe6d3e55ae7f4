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
// It takes one operator at a time, until no neighbour of a loop can be taken. It would be wrong or
// slow where
//
//   - an iteration reads another place, or the matrix as a whole: then all of it is needed;
//   - the value has another reader: it is stored anyway;
//   - an operator may fail: another failure could come first, at another place;
//   - the loop does not go over all rows (columns) from 0 by 1, or its bounds are unknown: places
//     and indices differ;
//   - the body computes matrices;
//   - the body may fail, and would then fail after something that comes behind the loop.
//
// The last case is rare. The loop stays in place unless the operator behind it reads a value that is
// made after the loop. Then the loop moves to that operator, past nodes that cannot fail and have no
// effect (ir.MayFail). Absorbed operators cannot fail, so they may run earlier. So a run fails as it
// would without this pass.
func FuseLoops(g *ir.Graph, table *op.Table) *ir.Graph {
	f := &absorbing{fusion: fusion{g: g}, table: table}
	for i := range g.Nodes {
		l := ir.ID(i)
		n := &f.g.Nodes[i]
		if n.Op.Role != op.Points || !fromZero(n) || f.sent(l) || !onNumbers(n.Region.Graph, n.Region.Args) {
			continue
		}
		if f.readers == nil {
			f.readers = readersOf(g)
		}
		for again := true; again; {
			for f.before(l) {
			}
			l, again = f.after(l)
		}
	}
	return f.g
}

// absorbing is one run of FuseLoops. Its graph is a copy once a loop has absorbed something.
type absorbing struct {
	fusion
	table   *op.Table
	copied  bool
	readers [][]ir.ID // of each node, once for each time that they read it
}

// ownColumn is the column that the second index of a loop gives.
const ownColumn = -1

// before absorbs an operand of loop l, if there is one that it may absorb.
func (f *absorbing) before(l ir.ID) bool {
	for k, x := range f.g.In(l) {
		if len(f.readers[x]) != 1 || !f.takes(x) {
			continue
		}
		if col, ok := ownPlace(&f.g.Nodes[l], k); ok && f.inside(x, l, col) {
			f.absorb(l, x, l, col)
			return true
		}
	}
	return false
}

// after absorbs the reader of loop l if the loop has one reader and may absorb it. It returns the node
// that the loop is then.
func (f *absorbing) after(l ir.ID) (at ir.ID, ok bool) {
	g, readers := f.g, f.readers[l]
	if len(readers) == 0 {
		return l, false
	}
	r := readers[0]
	if slices.ContainsFunc(readers, func(x ir.ID) bool { return x != r }) || !f.takes(r) || !sameShape(g.Type(r), g.Type(l)) {
		return l, false
	}
	if at = l; slices.Max(g.In(r)) > l {
		at = r
	}
	if at == r && ir.MayFail(g, l) {
		// Loops that have moved are counted where they were: what they passed cannot fail.
		if f.stops == nil {
			f.stops = stopsOf(g)
		}
		if f.stops.between(l, r) {
			return l, false
		}
	}
	col := int64(0)
	if len(g.Nodes[l].Attrs.Ints("by")) == 2 {
		col = ownColumn
	}
	f.absorb(l, r, at, col)
	return at, true
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

// takes reports whether a body may compute operator x: it is elementwise, cannot fail, and reads
// scalars and dense matrices of known size.
func (f *absorbing) takes(x ir.ID) bool {
	g, in := f.g, f.g.In(x)
	return f.fusable(x) && len(in) > 0 && !f.sent(x) && g.Nodes[x].Op.TotalOn(g.Type(in[0]).Elem, g.Type(x).Elem) &&
		!slices.ContainsFunc(in, func(y ir.ID) bool {
			t := g.Type(y)
			return !t.IsScalar() && (!t.IsDense() || !t.Known()) || t.Elem == types.Str
		})
}

// inside reports whether all places that loop l reads of x, in column col or its own, exist.
func (f *absorbing) inside(x, l ir.ID, col int64) bool {
	t, count := f.g.Type(x), f.g.Nodes[l].Attrs.Ints("n")
	if count[0] > int64(t.Rows) {
		return false
	}
	if col == ownColumn {
		return count[1] <= int64(t.Cols)
	}
	return col < int64(t.Cols)
}

// ownPlace reports whether the loop n reads of its input k only the elements at its own place, and
// their column.
func ownPlace(n *ir.Node, k int) (col int64, ok bool) {
	const none = -2
	col = none
	dims := len(n.Attrs.Ints("by"))
	index := map[ir.ID]int{}
	for d := range dims {
		index[n.Region.Args[d]] = d
	}
	ok = readAt(n.Region, n.Region.Args[dims+k], index, true, func(g *ir.Graph, in []ir.ID, index map[ir.ID]int) bool {
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

// absorb moves operator x, an operand or the only reader of loop l, into its body. The loop is then
// at node at: its own, or that of x. col is the column of the operands that an iteration reads.
func (f *absorbing) absorb(l, x, at ir.ID, col int64) {
	if !f.copied {
		f.g, f.copied = f.g.Clone(), true // the program's definition must not change
	}
	g := f.g
	n, k := g.Nodes[l], slices.Index(g.In(l), x) // -1: x reads the loop
	in := slices.DeleteFunc(distinct(slices.Clone(g.In(l)), g.In(x)), func(y ir.ID) bool { return y == l || y == x })
	b := &loopBody{f: f, graph: ir.New(), arg: map[ir.ID]ir.ID{}}
	old, dims := n.Region, len(n.Attrs.Ints("by"))
	b.graph.CopyTables(old.Graph)
	to, gone := slices.Repeat([]ir.ID{ir.None}, old.Graph.Len()), map[ir.ID]bool{}
	for _, a := range old.Args[:dims] {
		to[a] = b.argument(types.ScalarOf(types.I64))
	}
	for _, y := range in {
		b.arg[y] = b.argument(g.Type(y))
	}
	for i, y := range g.In(l) {
		to[old.Args[dims+i]] = b.arg[y]
	}
	if k >= 0 {
		a := old.Args[dims+k]
		to[a], gone[a] = b.operator(x, col), true
	}
	copyReading(b.graph, old.Graph, to, gone)
	value := to[old.Yields[0]]
	for _, t := range n.Attrs.Ints("taken") {
		b.taken = append(b.taken, int(to[t]))
	}
	if k < 0 {
		b.arg[l] = value
		value = b.operator(x, col)
	}
	for _, y := range distinct(slices.Clone(g.In(l)), g.In(x)) {
		f.readers[y] = slices.DeleteFunc(f.readers[y], func(r ir.ID) bool { return r == l || r == x })
	}
	for _, y := range in {
		f.readers[y] = append(f.readers[y], at)
	}
	if k < 0 && at == l {
		for _, r := range f.readers[x] {
			for i, y := range g.In(r) {
				if y == x {
					g.In(r)[i] = l
				}
			}
		}
		f.readers[l], f.readers[x] = f.readers[x], nil
		g.SetType(l, g.Type(x))
	}
	g.SetOrigin(at, g.Origin(l))
	g.Replace(at, n.Op, n.Attrs.With("taken", op.Ints(b.taken...)), in...)
	g.Nodes[at].Region = &ir.Region{Graph: b.graph, Args: b.args, Yields: []ir.ID{value}}
}

// loopBody is a body under construction.
type loopBody struct {
	f     *absorbing
	graph *ir.Graph
	args  []ir.ID
	arg   map[ir.ID]ir.ID // what an input, or the loop's own value, is inside
	taken []int           // the operators of the body that were outside
}

func (b *loopBody) argument(t types.Type) ir.ID {
	b.args = append(b.args, b.graph.Add(b.f.table.Must("arg"), nil, t, ir.Origin{}))
	return b.args[len(b.args)-1]
}

// operator adds the operator x on elements.
func (b *loopBody) operator(x ir.ID, col int64) ir.ID {
	g := b.f.g
	var in []ir.ID
	for _, y := range g.In(x) {
		in = append(in, b.element(y, col))
	}
	id := b.graph.Add(g.Nodes[x].Op, nil, types.ScalarOf(g.Type(x).Elem), ir.Origin{Span: g.Nodes[x].Span}, in...)
	b.taken = append(b.taken, int(id))
	return id
}

// element returns the element of y at the iteration's row and a column.
func (b *loopBody) element(y ir.ID, col int64) ir.ID {
	a, g := b.arg[y], b.f.g
	if b.graph.Type(a).IsScalar() {
		return a
	}
	t, row, at := g.Type(y), b.args[0], ir.None
	if t.Rows == 1 {
		row = b.constant(0)
	}
	switch {
	case t.Cols == 1:
		at = b.constant(0)
	case col == ownColumn:
		at = b.args[1]
	default:
		at = b.constant(col)
	}
	return once(b.graph, b.f.table.Must("element"), nil, types.ScalarOf(t.Elem), ir.Origin{Span: g.Nodes[y].Span}, a, row, at)
}

func (b *loopBody) constant(c int64) ir.ID {
	return once(b.graph, b.f.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(int(c))}), types.ScalarOf(types.I64), ir.Origin{})
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
	for i := range g.Nodes {
		id := ir.ID(i)
		n, old := &g.Nodes[i], g.In(id)
		if to[i] != ir.None {
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
			to[i] = in[0]
			continue
		case n.Op.Role == op.Picks || n.Op.Role == op.Constant:
			to[i] = once(out, n.Op, n.Attrs, g.Type(id), g.Origin(id), in...)
			continue
		}
		to[i] = out.CopyNode(g, id, in...)
		if len(inner) == 0 {
			continue
		}
		out.Nodes[to[i]].Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region { return withScalars(r, inner) })
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

// mostDrawnCols is the most columns of a constructor that a parfor computes, since it computes
// whole rows.
const mostDrawnCols = 16

// Draw moves a constructor into the body of a parfor if every iteration reads only its own row:
//
//	%0 = rand {n=1000, m=2}
//	%1 = parfor(%0) {lo=[0], n=[1000], by=[1]} (%i, %x) { %2 = element(%x, %i, 0); .. }
//	->  %1 = parfor() {..} (%i) { %x = rand {n=1000, m=2, drawn=true}; %2 = element(%x, %i, 0); .. }
//
// The body computes the rows of a batch of iterations on demand, and the matrix is not stored. It
// would be wrong or slow where
//
//   - an iteration reads another row, X[i+1, 0]: the rows of the batch would not suffice, and
//     reading might fail;
//   - the matrix has another reader, or is read whole or in an inner loop or branch: then it is
//     stored anyway;
//   - the step is not 1 or the bounds are unknown: only consecutive rows are computed;
//   - the body computes matrices: each iteration would compute the whole constructor.
func Draw(g *ir.Graph) *ir.Graph {
	var out *ir.Graph
	uses := g.Uses()
	for i := range g.Nodes {
		id := ir.ID(i)
		n := &g.Nodes[i]
		if n.Op.Role != op.Points || !oneByOne(n) || !onNumbers(n.Region.Graph, n.Region.Args) {
			continue
		}
		rows := map[ir.ID]int{n.Region.Args[0]: 0}
		for k, x := range g.In(id) {
			a := n.Region.Args[k+1]
			if uses[x] != 1 || !drawnByRows(g, x, n) || !readAt(n.Region, a, rows, false, func(*ir.Graph, []ir.ID, map[ir.ID]int) bool { return true }) {
				continue
			}
			if out == nil {
				out = g.Clone() // the program's definition must not change
			}
			takeIn(out, id, x, a)
		}
	}
	if out == nil {
		return g
	}
	return DropDead(out)
}

// oneByOne reports a parfor over one known range with step 1.
func oneByOne(n *ir.Node) bool {
	by := n.Attrs.Ints("by")
	return len(by) == 1 && by[0] == 1 && n.Attrs.Ints("lo") != nil
}

// onNumbers reports a body in which everything but the arguments is a scalar.
func onNumbers(g *ir.Graph, args []ir.ID) bool {
	for i := range g.Nodes {
		n, id := &g.Nodes[i], ir.ID(i)
		switch {
		case slices.Contains(args, id) || n.Op.Control == op.Part:
		case isControl(n):
			for r := n.Region; r != nil; r = r.Next {
				if !onNumbers(r.Graph, r.Args) {
					return false
				}
			}
		case !g.Type(id).IsScalar() || n.Op.Elt == nil && n.Op.Role != op.Constant && n.Op.Role != op.Picks:
			return false
		}
	}
	return true
}

// drawnByRows reports a constructor with a row for every iteration of the parfor n.
func drawnByRows(g *ir.Graph, x ir.ID, n *ir.Node) bool {
	c, t := &g.Nodes[x], g.Type(x)
	if c.Op.Window == nil || c.Region != nil || len(g.In(x)) > 0 || !drawable(t) || t.Cols > mostDrawnCols || t.Elem == types.Str {
		return false
	}
	if _, cut := c.Attrs.Get("at"); cut {
		return false
	}
	lo, count := n.Attrs.Ints("lo")[0], n.Attrs.Ints("n")[0]
	return lo >= 0 && lo+count <= int64(t.Rows)
}

// takeIn moves input x of the parfor id into its body, where it is argument a.
func takeIn(g *ir.Graph, id, x, a ir.ID) {
	n, c, k := g.Nodes[id], &g.Nodes[x], slices.Index(g.In(id), x)
	r := &ir.Region{Graph: n.Region.Graph.Clone(), Yields: n.Region.Yields}
	r.Args = slices.Delete(slices.Clone(n.Region.Args), k+1, k+2)
	r.Graph.Replace(a, c.Op, c.Attrs.With("drawn", op.Bool(true)))
	r.Graph.Nodes[a].Span = c.Span
	g.Replace(id, n.Op, n.Attrs, slices.Delete(slices.Clone(g.In(id)), k, k+1)...)
	g.Nodes[id].Region = r
}
