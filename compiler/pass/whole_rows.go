package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// WholeRows makes elementwise operators on whole matrices of a parfor that runs them on rows:
//
//	parfor(%D, %k) {lo=[0], n=[7], by=[1]} (%i, %D, %k) { min(D[i, :], D[i, k] + D[k, :]) }
//	->  min(%D, window(%D, 0, %k) {size=[7,1]} + window(%D, %k, 0) {size=[1,7]})
//
// Each element is the same operations, so bits stay. Passes that join, cut and place chains then know
// both wordings. A loop over points that reads elements of rows and columns is such a loop, too, if
// operators reduce its result row by row. The result is then not stored:
//
//	rowsum(parfor(%x) {lo=[0,0], n=[900,900], by=[1,1]} (%i, %j, %x) { abs(x[i, 0] - x[j, 0]) })
//	->  rowsum(abs(%x - t(%x)))
//
// So is a loop over one index that gives numbers, if reductions alone read them:
//
//	sum(parfor(%x) {lo=[0], n=[900], by=[1]} (%i, %x) { f64(i) * x[i, 0] })
//	->  sum(f64(seq(0, 900)) * %x)
//
// Within another loop over points it stays, since it is compiled with that one. The third kind makes
// the next value of a matrix that a loop carries, from its elements at the same places and from a row
// or a column (see replaces). Its cheap branches become ifelse.
//
// It would be wrong for what may fail, which names the iteration. The user may have said how the
// loop is shared or where its rows lie; then it stays a loop.
func WholeRows(g *ir.Graph, table *op.Table) *ir.Graph {
	out, _ := wholeRowsIn(g, table, nil, false, &ir.Region{})
	return out
}

// wholeRowsIn is WholeRows of a graph whose arguments have these ranges, and its nodes in the result;
// nil: the result is g. inner says that the graph is in the body of a loop over points. round is the
// region of the graph if it is the body of an iterate, and an empty one otherwise.
func wholeRowsIn(g *ir.Graph, table *op.Table, at ir.Ranges, inner bool, round *ir.Region) (out *ir.Graph, to []ir.ID) {
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Region != nil }) {
		return g, nil
	}
	c, changed := nodes.CopyOf(g), false
	all := &wholeLoops{c, table, at, map[ir.ID]bool{}, nil}
	for id, n := range g.All() {
		if n.Op.Role == op.Points {
			w := all.loop(id)
			if slices.Contains(round.Yields, id) {
				w.choose(at)
			}
			if w.is() && (w.cols == 0 && !w.numbers() || !(w.cols == 0 && inner) && all.reduced(id) || w.replaces(round)) {
				c.To[id], changed = w.write(c.In(id)), true
				continue
			}
		}
		if c.Node(id); !nodes.IsControl(n) {
			continue
		}
		c.G.Nodes[c.To[id]].Region = nodes.EachRegion(n.Region, func(r *ir.Region) *ir.Region {
			x, round := &ir.Region{Args: r.Args, Yields: r.Yields}, &ir.Region{}
			if r == n.Region && n.Op.Control == op.Iterate {
				round = r
			}
			var places []ir.ID
			if x.Graph, places = wholeRowsIn(r.Graph, table, at.Within(g, id, r), inner || n.Op.Role == op.Points, round); places != nil {
				x.Args, x.Yields, changed = nodes.Through(places, r.Args), nodes.Through(places, r.Yields), true
			}
			return x
		})
	}
	if !changed {
		return g, nil
	}
	return c.G, c.To
}

// wholeLoops is the loops of a graph.
type wholeLoops struct {
	*nodes.Copying
	table  *op.Table
	at     ir.Ranges
	asked  map[ir.ID]bool // see reduced
	readBy [][]ir.ID
}

// reduced reports a matrix that nothing reads but reductions of its rows, reductions of all its
// elements, products with few columns, and what is made of it element by element for such readers.
func (c *wholeLoops) reduced(x ir.ID) bool {
	if is, known := c.asked[x]; known {
		return is
	}
	g := c.Old
	if c.readBy == nil {
		c.readBy = readersOf(g)
	}
	other := func(r ir.ID) bool {
		n, in := &g.Nodes[r], g.In(r)
		switch t := g.Type(r); {
		case nodes.Sent(g, r):
			return true
		case nodes.ElementwiseOperator(n) && nodes.SameShape(g.Type(x), t), n.Op.Role == op.Points && c.loop(r).is():
			return !c.reduced(r)
		case nodes.NarrowProduct(n, t):
			return in[len(in)-2] != x || in[len(in)-1] == x
		}
		return n.Op.Fold != op.FoldRows && n.Op.Fold != op.FoldAll
	}
	c.asked[x] = len(c.readBy[x]) > 0 && !slices.ContainsFunc(c.readBy[x], other)
	return c.asked[x]
}

// loop is parfor id.
func (c *wholeLoops) loop(id ir.ID) *wholeRows {
	n := &c.Old.Nodes[id]
	w := &wholeRows{g: c.Old, id: id, out: c.G, table: c.table, r: n.Region, body: n.Region.Graph, rows: c.Old.Type(id).Rows, at: c.at.Within(c.Old, id, n.Region)}
	if w.index = n.Region.Args[:len(n.Attrs.Ints("by"))]; len(w.index) == 2 {
		w.cols = c.Old.Type(id).Cols
	}
	return w
}

// wholeRows is a parfor that becomes operators on matrices.
type wholeRows struct {
	g          *ir.Graph
	id         ir.ID
	out        *ir.Graph
	table      *op.Table
	r          *ir.Region // the region of the loop, or what choose makes of it
	body       *ir.Graph
	at         ir.Ranges
	index      []ir.ID
	rows, cols int // cols is 0 if there is one index
	// varies says which indices the nodes of the body depend on, a bit each, and of holds the type of each
	// as a whole.
	varies []byte
	of     []types.Type
}

// is reports a parfor that this pass rewrites.
func (w *wholeRows) is() bool {
	n, t := &w.g.Nodes[w.id], w.g.Type(w.id)
	if nodes.Sent(w.g, w.id) || !fromZero(n) || !t.Known() || t.Rows < 2 || asked(n) || w.cols > 0 && (t.Rows < leastOuter || t.Cols < manyByRows) {
		return false
	}
	r := w.r
	y := r.Yields[0]
	if !w.elementwise(y) || w.cols == 0 && w.numbers() && (t.Rows < manyByRows || w.draws()) {
		return false
	}
	w.varies, w.of = make([]byte, w.body.Len()), make([]types.Type, w.body.Len())
	for d, a := range w.index {
		w.varies[a] = 1 << d
	}
	for i := range w.body.Nodes {
		if id := ir.ID(i); slices.Contains(r.Args, id) {
			w.of[i] = w.body.Type(id)
		} else if w.at.MayFail(w.body, id) || w.body.Nodes[i].Region != nil || !w.takes(id) {
			return false
		}
	}
	return w.varies[y] == 1<<len(w.index)-1 && w.of[y] == t
}

// replaces reports a loop over two indices that makes the next value of a matrix from its elements at
// the same places and from others. Operators then write over the old matrix, since they copy the row
// and the column that they read. A loop that reads elements of the same place alone needs no copy, so
// it stays. One that changes a few places alone stays, too: its rounds go over these places.
func (w *wholeRows) replaces(round *ir.Region) bool {
	k := slices.Index(round.Yields, w.id)
	if k < 0 || w.cols == 0 || (*around)(nil).keptButPlace(w.g, w.id) >= 0 {
		return false
	}
	own, other := false, false
	first, shift := nodes.Captures(w.g, w.id, w.r)
	for i := range w.body.Nodes {
		in := w.body.In(ir.ID(i))
		if w.body.Nodes[i].Op.Role != op.Picks {
			continue
		}
		if a := slices.Index(w.r.Args, in[0]); a >= first && w.g.In(w.id)[a+shift] == round.Args[k] {
			here := slices.Equal(in[1:], w.index)
			own, other = own || here, other || !here
		}
	}
	return own && other
}

// mostChosen is the most operations on both sides of a branch that becomes an ifelse, which computes
// both for all elements.
const mostChosen = 16

// choose replaces cheap branches of the body by ifelse, on a copy. A side that may fail makes the loop
// stay, because the condition no longer bounds indices. at has the ranges around the loop.
func (w *wholeRows) choose(at ir.Ranges) {
	c := nodes.CopyOf(w.body)
	if w.cols == 0 || !w.chosen(c) {
		return
	}
	w.r = c.Region(w.r)
	w.body, w.index, w.at = c.G, w.r.Args[:2], at.Within(w.g, w.id, w.r)
}

// chosen copies a body, or a side of a branch, with ifelse for its branches. It reports false if one of
// them is not cheap.
func (w *wholeRows) chosen(c *nodes.Copying) bool {
	for id, n := range c.Old.All() {
		switch in := c.In(id); {
		case c.To[id] != ir.None: // an argument of a side
		case nodes.Branches(n):
			var sides [2]*nodes.Copying
			ops := 0.0
			for k, r := 0, n.Region; k < 2; k, r = k+1, r.Next {
				side := &nodes.Copying{Old: r.Graph, G: c.G, To: slices.Repeat([]ir.ID{ir.None}, r.Graph.Len())}
				for i, a := range r.Args {
					side.To[a] = in[n.FirstArg()+i]
				}
				for x := range r.Graph.All() {
					ops += nodes.Flops(r.Graph, x)
				}
				if ops > mostChosen || !w.chosen(side) {
					return false
				}
				sides[k] = side
			}
			for x, p := range c.Old.All() {
				if p.Op.Control == op.Part && c.Old.In(x)[0] == id {
					k := p.Attrs.Int("at")
					c.To[x] = c.G.Add(w.table.Must("ifelse"), nil, c.Old.Type(x), c.Old.Origin(x), in[0], sides[0].To[n.Region.Yields[k]], sides[1].To[n.Region.Next.Yields[k]])
				}
			}
		case n.Region != nil || n.Op.Control == op.Part:
			return false
		default:
			c.To[id] = c.G.CopyNode(c.Old, id, in...)
		}
	}
	return true
}

// numbers reports a body that gives a number.
func (w *wholeRows) numbers() bool {
	return w.body.Type(w.r.Yields[0]).Kind == types.Scalar
}

// draws reports a loop that reads a constructor of several columns. A loop makes its rows when it reads
// them, and a chain does so for a matrix of its own shape alone.
func (w *wholeRows) draws() bool {
	return slices.ContainsFunc(w.g.In(w.id), func(x ir.ID) bool { return w.g.Nodes[x].Op.Draw != nil && w.g.Type(x).Cols > 1 })
}

// asked reports a parfor over pairs, or with a hint.
func asked(n *ir.Node) bool { return n.Attrs.Bool("pairs") || nodes.Hinted(n) }

func (w *wholeRows) elementwise(x ir.ID) bool { return nodes.ElementwiseOperator(&w.body.Nodes[x]) }

// takes notes the type of a node as a whole; false where it has none.
func (w *wholeRows) takes(id ir.ID) bool {
	b, in := w.body, w.body.In(id)
	n, t := &b.Nodes[id], b.Type(id)
	w.of[id] = t
	for _, x := range in {
		w.varies[id] |= w.varies[x]
	}
	switch {
	case w.varies[id] == 0:
		return true
	case n.Op.Role == op.Picks && w.cols > 0:
		w.of[id] = w.along(id)
		x := w.of[in[0]]
		own := in[1] == w.index[0] && in[2] == w.index[1]
		return w.varies[in[0]] == 0 && x.IsDense() && x.Known() && x.Elem != types.Str && (own || w.varies[in[1]] == 0 && slices.Contains(w.index, in[2]) || w.varies[in[2]] == 0 && slices.Contains(w.index, in[1]))
	case (n.Op.Role == op.Picks || n.Op.Role == op.Windows) && w.cols == 0:
		t = types.DenseOf(t.Elem, w.rows, t.Count())
		w.of[id] = t
		return in[1] == w.index[0] && w.varies[in[0]]|w.varies[in[2]] == 0 && w.of[in[0]].Rows == w.rows && b.Type(id).Rows < 2
	case !w.elementwise(id) || w.cols == 0 && !w.numbers() && slices.Contains(in, w.index[0]):
		return false
	}
	sig := &op.Sig{Def: n.Op, Attrs: n.Attrs}
	for _, x := range in {
		if t := w.of[x]; slices.Contains(w.index, x) {
			sig.In = append(sig.In, w.along(x))
		} else {
			sig.In = append(sig.In, t)
		}
	}
	whole, err := n.Op.Type(sig)
	w.of[id] = whole
	return err == nil && whole == w.along(id)
}

// along is the type of node id of the body as a whole, which varies.
func (w *wholeRows) along(id ir.ID) types.Type {
	t := w.body.Type(id)
	switch {
	case w.cols == 0:
		return types.DenseOf(t.Elem, w.rows, t.Count())
	case w.varies[id] == 1:
		return types.DenseOf(t.Elem, w.rows, 1)
	case w.varies[id] == 2:
		return types.DenseOf(t.Elem, 1, w.cols)
	}
	return types.DenseOf(t.Elem, w.rows, w.cols)
}

// write adds the operators, and returns the result.
func (w *wholeRows) write(in []ir.ID) ir.ID {
	r, to := w.r, make([]ir.ID, w.body.Len())
	dims := len(w.index)
	for k, a := range r.Args[dims:] {
		to[a] = in[k+len(in)-len(r.Args)+dims]
	}
	for id, n := range w.body.All() {
		o := w.g.Origin(w.id).NoDest()
		o.Span = n.Span
		if slices.Contains(w.index, id) && w.number(id) {
			t := w.along(id)
			attrs := op.MakeAttrs(op.Attr{Name: "a", Val: op.Int(0)}, op.Attr{Name: "b", Val: op.Int(t.Count())}, op.Attr{Name: "step", Val: op.Int(1)})
			to[id] = w.turned(t, w.out.Add(w.table.Must("seq"), attrs, types.DenseOf(types.I64, t.Count(), 1), o), o)
		}
		if slices.Contains(r.Args, id) {
			continue
		}
		args := nodes.Through(to, w.body.In(id))
		switch {
		case w.varies[id] != 0 && !w.elementwise(id):
			to[id] = w.line(id, o, args)
		case n.Op.Role == op.Windows:
			to[id] = w.cut(w.of[id], o, args...)
		default:
			to[id] = w.out.Add(n.Op, n.Attrs, w.of[id], o, args...)
		}
	}
	return to[r.Yields[0]]
}

// number reports an index that an operator reads as a number.
func (w *wholeRows) number(index ir.ID) bool {
	for i := range w.body.Nodes {
		if id := ir.ID(i); w.elementwise(id) && slices.Contains(w.body.In(id), index) {
			return true
		}
	}
	return false
}

// line is what node id picks, as a whole: rows, a column or a row. args is its operands.
func (w *wholeRows) line(id ir.ID, o ir.Origin, args []ir.ID) ir.ID {
	in, t := w.body.In(id), w.of[id]
	for k, x := range in[1:] {
		if w.varies[x] != 0 {
			args[k+1] = w.out.Add(w.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(0)}), types.ScalarOf(types.I64), o)
		}
	}
	if w.cols > 0 && (w.varies[in[1]] == 2 || w.varies[in[2]] == 1) { // a column as a row, or a row as a column
		return w.turned(t, w.cut(types.DenseOf(t.Elem, t.Cols, t.Rows), o, args...), o)
	}
	return w.cut(t, o, args...)
}

// turned is node x of the result, of type t or transposed.
func (w *wholeRows) turned(t types.Type, x ir.ID, o ir.Origin) ir.ID {
	if w.out.Type(x) == t {
		return x
	}
	return w.out.Add(w.table.Must("t"), nil, t, o, x)
}

// cut is a part of a matrix, of type t from a row and column on.
func (w *wholeRows) cut(t types.Type, o ir.Origin, in ...ir.ID) ir.ID {
	var at []int
	for _, x := range in[1:] {
		n := &w.out.Nodes[x]
		if c, known := n.Attrs.Get("value"); known && n.Op.Role == op.Constant {
			at = append(at, int(c.I))
		}
	}
	switch {
	case len(at) == 2 && t == w.out.Type(in[0]):
		return in[0]
	case len(at) == 2:
		return w.out.Add(w.table.Must("slice"), op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(at[0], at[1], t.Rows, t.Cols)}), t, o, in[0])
	}
	return w.out.Add(w.table.Must("window"), op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(t.Rows, t.Cols)}), t, o, in...)
}

// Columns turns a reduction of the columns of running values into one loop over columns:
//
//	%3 = cumsum(%2);  %4 = abs(%3);  %5 = colmax(%4)   ->   %5 = t(parfor(%2) { .. colmax(abs(cumsum(%2[:, j]))) })
//
// The reduction takes each element as soon as it is made, so no intermediate matrix is stored. No bit
// changes, because each column goes through the same operators in the same order.
//
// It would be wrong for operators that may fail. It gains nothing with few columns, because columns are
// the lanes of the loop.
func Columns(g *ir.Graph, table *op.Table, _ nodes.Sizes) *ir.Graph {
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Op.Down }) {
		return g
	}
	s := groups{g: g}
	s.join(func(h, x ir.ID) bool {
		return h != x && inColumns(g, x) && columnFold(g, h) && nodes.SameShape(g.Type(x), g.Type(g.In(h)[0]))
	}, func(r ir.ID, _ int) bool { return s.head[r] != r || columnFold(g, r) })
	chosen := s.members(func(id ir.ID) bool { return columnFold(g, s.head[id]) })
	for h, m := range chosen {
		if !slices.ContainsFunc(m, func(x ir.ID) bool { return g.Nodes[x].Op.Down }) {
			delete(chosen, h)
		}
	}
	if len(chosen) == 0 {
		return g
	}
	return s.build(chosen, func(c *nodes.Copying, m []ir.ID) { c.To[m[len(m)-1]] = columnLoop(g, c.G, table, c.To, m) })
}

// oneWord lists the reductions whose state is one number. Exact sums have a faster loop of their own.
var oneWord = []loop.Class{loop.Least, loop.Greatest, loop.Any, loop.All, loop.Count}

// leastColumns is the least number of columns: enough lanes for several workers.
const leastColumns = 256

// columnFold reports a reduction of the columns of a matrix that may end such a loop.
func columnFold(g *ir.Graph, id ir.ID) bool {
	n := &g.Nodes[id]
	if n.Op.Fold != op.FoldCols || !slices.Contains(oneWord, n.Op.Class) || n.Region != nil || len(g.In(id)) != 1 || g.Type(id).Cols < leastColumns || !ordinary(g, id) {
		return false
	}
	t := g.Type(g.In(id)[0])
	return t.IsDense() && t.Known() && t.Rows > 1 && !ir.MayFail(g, id)
}

// inColumns reports an operator that makes column j of its result from columns j of its operands: it is
// elementwise, or makes running values.
func inColumns(g *ir.Graph, id ir.ID) bool {
	n := &g.Nodes[id]
	return g.Type(id).IsDense() && ordinary(g, id) && (n.Op.Down || nodes.ElementwiseOperator(n) && !ir.MayFail(g, id)) &&
		!slices.ContainsFunc(g.In(id), func(y ir.ID) bool { return !g.Type(y).IsScalar() && !g.Type(y).IsDense() || g.Type(y).Elem.Size() == 0 })
}

// ordinary reports a node that is not sent and whose argument shapes need no check in the run.
func ordinary(g *ir.Graph, id ir.ID) bool {
	return !nodes.Sent(g, id) && !g.Asks(id)
}

// columnLoop adds the loop of a chain to out and returns its result. The last node of list is the
// reduction.
func columnLoop(g, out *ir.Graph, table *op.Table, to, list []ir.ID) ir.ID {
	last := list[len(list)-1]
	of, body := g.Type(last), ir.New()
	o := g.Origin(last)
	r := &ir.Region{Graph: body, Args: []ir.ID{body.Add(table.Must("arg"), nil, types.ScalarOf(types.I64), ir.Origin{})}}
	var in, captured []ir.ID
	inner := map[ir.ID]ir.ID{}
	for _, x := range list { // arguments come first
		for _, y := range g.In(x) {
			if _, known := inner[y]; known || slices.Contains(list, y) {
				continue
			}
			inner[y] = body.Add(table.Must("arg"), nil, g.Type(y), ir.Origin{})
			r.Args, in, captured = append(r.Args, inner[y]), append(in, to[y]), append(captured, y)
		}
	}
	at := ir.Origin{Span: o.Span}
	row := body.Add(table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(0)}), types.ScalarOf(types.I64), at)
	for _, y := range captured {
		if t := g.Type(y); t.IsDense() && t.Cols > 1 {
			size := op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(t.Rows, 1)})
			inner[y] = body.Add(table.Must("window"), size, types.DenseOf(t.Elem, t.Rows, 1), at, inner[y], row, r.Args[0])
		}
	}
	for _, x := range list {
		var args []ir.ID
		for _, y := range g.In(x) {
			args = append(args, inner[y])
		}
		n, t := &g.Nodes[x], g.Type(x)
		inner[x] = body.Add(n.Op, n.Attrs, types.DenseOf(t.Elem, t.Rows, 1), ir.Origin{Span: n.Span}, args...)
	}
	r.Yields = []ir.ID{body.Add(table.Must("item"), op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(0, 0)}), types.ScalarOf(of.Elem), at, inner[last])}
	attrs := op.MakeAttrs(op.Attr{Name: "by", Val: op.Ints(1)}, op.Attr{Name: "lo", Val: op.Ints(0)}, op.Attr{Name: "n", Val: op.Ints(of.Cols)}, op.Attr{Name: "names", Val: op.Str("j")})
	points := out.Add(table.Must("parfor"), attrs, types.DenseOf(of.Elem, of.Cols, 1), o, in...)
	out.Nodes[points].Region = r
	return out.Add(table.Must("t"), nil, of, o, points)
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
