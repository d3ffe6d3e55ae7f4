package pass

import (
	"slices"

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
// Each element is the same operations, so bits stay. Both wordings are one program from here on:
// what joins, cuts and places chains then knows both.
//
// It would be wrong for what may fail, which names the iteration. The user may have said how the
// loop is shared or where its rows lie; then it stays a loop.
func WholeRows(g *ir.Graph, table *op.Table) *ir.Graph {
	out, _ := wholeRowsIn(g, table, nil)
	return out
}

// wholeRowsIn is WholeRows of a graph whose arguments have these ranges, and its nodes in the result;
// nil: the result is g.
func wholeRowsIn(g *ir.Graph, table *op.Table, at ir.Ranges) (out *ir.Graph, to []ir.ID) {
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Region != nil }) {
		return g, nil
	}
	c, changed := copyOf(g), false
	for i := range g.Nodes {
		id := ir.ID(i)
		if n := &g.Nodes[i]; n.Op.Role == op.Points {
			w := &wholeRows{g: g, id: id, out: c.g, table: table, body: n.Region.Graph, rows: g.Type(id).Rows}
			if w.is(at.Within(g, id, n.Region)) {
				c.to[i], changed = w.write(c.in(id)), true
				continue
			}
		}
		if c.node(id); !isControl(&g.Nodes[i]) {
			continue
		}
		c.g.Nodes[c.to[i]].Region = eachRegion(g.Nodes[i].Region, func(r *ir.Region) *ir.Region {
			x := &ir.Region{Args: r.Args, Yields: r.Yields}
			var places []ir.ID
			if x.Graph, places = wholeRowsIn(r.Graph, table, at.Within(g, id, r)); places != nil {
				x.Args, x.Yields, changed = through(places, r.Args), through(places, r.Yields), true
			}
			return x
		})
	}
	if !changed {
		return g, nil
	}
	return c.g, c.to
}

// wholeRows is a parfor that becomes operators on matrices.
type wholeRows struct {
	g     *ir.Graph
	id    ir.ID
	out   *ir.Graph
	table *op.Table
	body  *ir.Graph
	rows  int
	// varies says which nodes of the body differ from iteration to iteration, and of holds the
	// type of each as a whole.
	varies []bool
	of     []types.Type
}

// is reports a parfor that this pass rewrites.
func (w *wholeRows) is(at ir.Ranges) bool {
	n, t := &w.g.Nodes[w.id], w.g.Type(w.id)
	if sent(w.g, w.id) || !fromZero(n) || len(n.Attrs.Ints("by")) != 1 || !t.Known() || t.Rows < 2 || asked(n) {
		return false
	}
	r := n.Region
	y := r.Yields[0]
	if !w.elementwise(y) || w.body.Type(y).Kind == types.Scalar {
		return false
	}
	w.varies, w.of = make([]bool, w.body.Len()), make([]types.Type, w.body.Len())
	w.varies[r.Args[0]] = true
	for i := range w.body.Nodes {
		if id := ir.ID(i); slices.Contains(r.Args, id) {
			w.of[i] = w.body.Type(id)
		} else if at.MayFail(w.body, id) || w.body.Nodes[i].Region != nil || !w.takes(id) {
			return false
		}
	}
	return w.varies[y] && w.of[y] == t
}

// asked reports a parfor over pairs, or with a hint.
func asked(n *ir.Node) bool { return n.Attrs.Bool("pairs") || hinted(n) }

// hinted reports a loop whose schedule, grain or place the program states. It stays a loop of its own.
func hinted(n *ir.Node) bool {
	return n.Attrs.Str("schedule") != "" || n.Attrs.Int("grain") != 0 || n.Attrs.Str(ir.PlaceAttr) != ""
}

func (w *wholeRows) elementwise(x ir.ID) bool { return isElementwise(&w.body.Nodes[x]) }

// takes notes the type of a node as a whole; false where it has none.
func (w *wholeRows) takes(id ir.ID) bool {
	b, in := w.body, w.body.In(id)
	n, t := &b.Nodes[id], b.Type(id)
	index := w.g.Nodes[w.id].Region.Args[0]
	w.of[id] = t
	w.varies[id] = slices.ContainsFunc(in, func(x ir.ID) bool { return w.varies[x] })
	switch {
	case !w.varies[id]:
		return true
	case n.Op.Role == op.Picks || n.Op.Role == op.Windows:
		t = types.DenseOf(t.Elem, w.rows, t.Count())
		w.of[id] = t
		return in[1] == index && !w.varies[in[0]] && !w.varies[in[2]] && w.of[in[0]].Rows == w.rows && b.Type(id).Rows < 2
	case !w.elementwise(id) || slices.Contains(in, index):
		return false
	}
	sig := &op.Sig{Def: n.Op, Attrs: n.Attrs}
	for _, x := range in {
		sig.In = append(sig.In, w.of[x])
	}
	whole, err := n.Op.Type(sig)
	w.of[id] = whole
	return err == nil && whole == types.DenseOf(t.Elem, w.rows, t.Count())
}

// write adds the operators, and returns the result.
func (w *wholeRows) write(in []ir.ID) ir.ID {
	r, to := w.g.Nodes[w.id].Region, make([]ir.ID, w.body.Len())
	for k, a := range r.Args[1:] {
		to[a] = in[k+len(in)-len(r.Args)+1]
	}
	for i := range w.body.Nodes {
		id := ir.ID(i)
		if slices.Contains(r.Args, id) {
			continue
		}
		n := &w.body.Nodes[i]
		o := w.g.Origin(w.id).NoDest()
		o.Span = n.Span
		args := through(to, w.body.In(id))
		switch {
		case w.varies[id] && !w.elementwise(id):
			row := w.out.Add(w.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(0)}), types.ScalarOf(types.I64), o)
			to[i] = w.cut(w.of[i], o, args[0], row, args[2])
		case n.Op.Role == op.Windows:
			to[i] = w.cut(w.of[i], o, args...)
		default:
			to[i] = w.out.Add(n.Op, n.Attrs, w.of[i], o, args...)
		}
	}
	return to[r.Yields[0]]
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
func Columns(g *ir.Graph, table *op.Table, _ Sizes) *ir.Graph {
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Op.Down }) {
		return g
	}
	s := groups{g: g}
	s.join(func(h, x ir.ID) bool {
		return h != x && inColumns(g, x) && columnFold(g, h) && sameShape(g.Type(x), g.Type(g.In(h)[0]))
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
	return s.build(chosen, func(c *copying, m []ir.ID) { c.to[m[len(m)-1]] = columnLoop(g, c.g, table, c.to, m) })
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
	return g.Type(id).IsDense() && ordinary(g, id) && (n.Op.Down || isElementwise(n) && !ir.MayFail(g, id)) &&
		!slices.ContainsFunc(g.In(id), func(y ir.ID) bool { return !g.Type(y).IsScalar() && !g.Type(y).IsDense() || g.Type(y).Elem.Size() == 0 })
}

// ordinary reports a node that is not sent and whose argument shapes need no check in the run.
func ordinary(g *ir.Graph, id ir.ID) bool {
	return !sent(g, id) && !g.Asks(id)
}

// columnLoop adds the loop of a chain to out and returns its result. The last node of list is the reduction.
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
