package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// Segments orders the rows of a column once, for a parfor that takes the rows where the column equals
// a number that depends on its index:
//
//	%4 = parfor(%0, %1) { %3 = eq(%1, key);  %4 = %0[%3];  .. }
//	->
//	%2 = argsort(%1);  %3 = %1[%2];  %4 = %0[%2]
//	%5 = parfor(%3, %4) { %4 = cut(%4, below(key, %3), below(key, %3, equal = true));  .. }
//
// The order is stable, so the rows of a value stand in the order of the mask. If the mask has other
// conditions, they are computed for the rows of the group alone. A parfor with few indices keeps its
// masks, because comparing a row takes less time than ordering it.
//
// sum(ifelse(mask, x, 0)) is the sum of x in the rows of the mask. It would be wrong for sums that
// round, or that keep the sign of zeros: sums are exact, and a sum of zeros is +0.
// max(ifelse(mask, x, y)) is max(max(x in these rows), y), for a number y, which is left out if all
// rows are in the group; min alike. A group without rows reads another row, and is y.
//
// If the key is an index of the parfor, sums, means and counts are read from a table: see sums.
func Segments(g *ir.Graph, table *op.Table) *ir.Graph {
	g = nodes.Changed(g, func(id ir.ID) bool { return len(summed(g, id, table).by) > 0 }, func(c *nodes.Copying, id ir.ID) {
		summed(c.Old, id, table).write(c, id)
	})
	return nodes.Changed(g, func(id ir.ID) bool { return segmented(g, id, table).is() }, func(c *nodes.Copying, id ir.ID) {
		segmented(g, id, table).write(c, id)
	})
}

const (
	// leastSegments is the least number of keys for which rows are ordered by integers.
	leastSegments = 32
	// leastFloats is the same for floats, whose order takes more passes.
	leastFloats = 128
	// leastReduced is the least number of keys where loops would reduce the rows under their mask, without
	// storing them.
	leastReduced = 256
	// leastCompared is how many elements masks compare at least where such rows are ordered from as few
	// keys on as others. Less takes no longer than to make the code of the loops that order rows: 3 ms.
	// Means and variances of 4 columns of 2e6 rows by 128 integers take 0.12 s of 0.54, and five
	// reductions of a column by 64 of them 0.06 of 0.11.
	leastCompared = 6e6
)

// segments describes the nodes of the body of a parfor that take groups of rows, and the columns that
// tell the groups.
type segments struct {
	table   *op.Table
	r       *ir.Region
	columns []ordered
	by      map[ir.ID]segment
}

// ordered is a column of the body that is the same for all indices. nodes make it, operands first.
type ordered struct {
	id    ir.ID
	nodes []ir.ID
}

// segment is the rows that a mask takes. In these rows a column equals key, a scalar of the body, and
// all masks of also hold. If a sum, max or min of a column takes them, chosen is that column; else it
// is ir.None.
type segment struct {
	column      int
	key, chosen ir.ID
	also        []ir.ID
}

func (s segments) is() bool { return len(s.by) > 0 }

// segmented finds the places and the counts in parfor id that an order of rows gives.
func segmented(g *ir.Graph, id ir.ID, table *op.Table) (s segments) {
	n := &g.Nodes[id]
	if n.Op.Role != op.Points || n.Attrs.Bool("pairs") || len(n.Attrs.Ints("by")) == 0 {
		return segments{}
	}
	s = segments{table: table, r: n.Region, by: map[ir.ID]segment{}}
	b := s.r.Graph
	readers, pays := readersOf(b), false
	for i := range b.Nodes {
		picked, chosen := b.Nodes[i].Op == table.Must("places"), s.chosen(ir.ID(i))
		if !picked && chosen == ir.None && b.Nodes[i].Op != table.Must("count") {
			continue
		}
		mask := b.In(ir.ID(i))[0]
		if chosen != ir.None {
			mask = b.In(mask)[0]
		}
		if picked && !isNumberOf(b, b.In(ir.ID(i))[1], b.Type(mask).Rows) {
			continue // the mask of another length would have to fail
		}
		if one, ok := s.taken(g, id, s.conditions(mask, nil)); ok {
			one.chosen = chosen
			s.by[ir.ID(i)] = one
			least, column, keys := int64(leastReduced), b.Type(s.columns[one.column].id), s.keys(g, id, one.key)
			if picked && (float64(keys)*float64(column.Rows) >= leastCompared || !s.reduced(readers, ir.ID(i))) {
				least = leastOf(column.Elem)
			}
			pays = pays || keys >= least
		}
	}
	if !pays {
		return segments{}
	}
	return s
}

// chosen returns column y if node x is sum(ifelse(mask, y, 0)), or max or min of ifelse(mask, y, z)
// with a number z, and else ir.None.
func (s segments) chosen(x ir.ID) ir.ID {
	b := s.r.Graph
	sums, ends := b.Nodes[x].Op == s.table.Must("sum"), s.end(x) != nil
	if !sums && !ends {
		return ir.None
	}
	of := b.In(x)[0]
	t := b.Type(of)
	if b.Nodes[of].Op != s.table.Must("ifelse") {
		return ir.None
	}
	y, z := b.In(of)[1], b.In(of)[2]
	if b.Type(y) != t || sums && !isZero(b, z, nil) || ends && b.Type(z) != types.ScalarOf(t.Elem) {
		return ir.None
	}
	return y
}

// end returns the operator of the greater of two if node x is the max of a matrix that has elements,
// that of the lesser if it is the min, and else nil.
func (s segments) end(x ir.ID) *op.Def {
	n, t := &s.r.Graph.Nodes[x], s.r.Graph.Type(x)
	switch {
	case !t.IsScalar() || n.Op.Fold == op.NoFold || s.r.Graph.Type(s.r.Graph.In(x)[0]).Cols < 1:
		return nil
	case n.Op.Class == loop.Greatest:
		return s.table.Must("ew.max")
	case n.Op.Class == loop.Least:
		return s.table.Must("ew.min")
	}
	return nil
}

// leastOf is the least number of keys for which rows are ordered by a column of type t.
func leastOf(t types.Elem) int64 {
	if t.IsFloat() {
		return leastFloats
	}
	return leastSegments
}

// keys is how many values key has at most: the points of the indices that it depends on. Of bounds that
// the run tells it takes leastReduced.
func (s segments) keys(g *ir.Graph, id, key ir.ID) int64 {
	many, by := g.Nodes[id].Attrs.Ints("n"), g.Nodes[id].Attrs.Ints("by")
	points := int64(1)
	for k := range by {
		switch {
		case !dependents(s.r.Graph, s.r.Args[k])[key]:
		case len(many) == 0:
			points = leastReduced
		default:
			points *= max(1, min(many[k], leastReduced))
		}
	}
	return points
}

// isNumberOf reports whether node x is the constant n.
func isNumberOf(g *ir.Graph, x ir.ID, n int) bool {
	v, known := g.Nodes[x].Attrs.Get("value")
	return g.Nodes[x].Op.Role == op.Constant && known && v.Kind == op.IntVal && v.I == int64(n)
}

// conditions appends the masks that all hold where mask x does.
func (s segments) conditions(x ir.ID, list []ir.ID) []ir.ID {
	if n := &s.r.Graph.Nodes[x]; n.Op == s.table.Infix("and") {
		for _, y := range s.r.Graph.In(x) {
			list = s.conditions(y, list)
		}
		return list
	}
	return append(list, x)
}

// taken finds the rows that all masks of a list take. The group is that of the mask with most keys
// among those that compare a column with a number that depends on the index.
func (s *segments) taken(g *ir.Graph, id ir.ID, masks []ir.ID) (one segment, ok bool) {
	b, column := s.r.Graph, ordered{}
	for k, m := range masks {
		if b.Nodes[m].Op != s.table.Infix("==") {
			continue
		}
		x, key := b.In(m)[0], b.In(m)[1]
		if b.Type(x).IsScalar() {
			x, key = key, x
		}
		t := b.Type(x)
		if !t.IsDense() || !t.Known() || t.Cols != 1 || t.Rows == 1 || t.Elem == types.Bool || !b.Type(key).IsScalar() {
			continue
		}
		nodes, fixed := s.outside(g, id, x)
		if !fixed {
			continue
		}
		also := slices.Delete(slices.Clone(masks), k, k+1)
		if slices.ContainsFunc(also, func(y ir.ID) bool { return b.Type(y) != t.With(types.Bool) }) {
			continue // a mask is stretched to the others
		}
		keys := s.keys(g, id, key)
		if keys < leastSegments || ok && keys <= s.keys(g, id, one.key) {
			continue
		}
		one, column, ok = segment{key: key, also: also}, ordered{x, nodes}, true
	}
	if !ok {
		return segment{}, false
	}
	if one.column = slices.IndexFunc(s.columns, func(o ordered) bool { return o.id == column.id }); one.column < 0 {
		one.column, s.columns = len(s.columns), append(s.columns, column)
	}
	return one, true
}

// reduced reports whether the rows at places x are only reduced, as they are or after elementwise
// operators.
func (s segments) reduced(readers [][]ir.ID, x ir.ID) bool {
	return allOf(readers[x], func(r ir.ID) bool {
		n := &s.r.Graph.Nodes[r]
		return n.Op.Class != loop.NoClass || n.Op.Shape != nil || (n.Op == s.table.Must("pick.rows") || nodes.ElementwiseOperator(n)) && s.reduced(readers, r)
	})
}

// outside lists the nodes of the body that make node x, operands first. ok is false if one of them
// depends on an index or may fail.
func (s segments) outside(g *ir.Graph, id, x ir.ID) (list []ir.ID, ok bool) {
	b := s.r.Graph
	first, _ := nodes.Captures(g, id, s.r)
	seen := map[ir.ID]bool{}
	var need func(x ir.ID) bool
	need = func(x ir.ID) bool {
		if seen[x] {
			return true
		}
		seen[x] = true
		if k := slices.Index(s.r.Args, x); k >= 0 {
			return k >= first
		}
		if !harmless(b, x) {
			return false
		}
		for _, y := range b.In(x) {
			if !need(y) {
				return false
			}
		}
		list = append(list, x)
		return true
	}
	ok = need(x)
	return list, ok
}

// write adds the orders of the rows, and parfor id reading them.
func (s segments) write(c *nodes.Copying, id ir.ID) {
	w := newSegmentWriter(s, c, id)
	b := s.r.Graph
	for _, column := range s.columns {
		x := w.outside(column.id, column.nodes)
		by := op.MakeAttrs(op.Attr{Name: "by", Val: op.Int(0)}, op.Attr{Name: "desc", Val: op.Bool(false)})
		w.orders = append(w.orders, c.G.Add(s.table.Must("argsort"), by, b.Type(column.id).With(types.I64), c.Old.Origin(id).NoDest(), x))
	}
	pick := s.table.Must("pick.rows")
	for i := range b.Nodes {
		x := ir.ID(i)
		if one, ok := s.by[x]; ok {
			w.body.To[i] = w.segment(x, one)
		} else if in := b.In(x); b.Nodes[i].Op == pick && w.groups[in[1]] != nil && b.Type(in[0]).Rows == w.rows(w.groups[in[1]]) {
			w.body.To[i] = w.picked(in[0], w.groups[in[1]])
		} else {
			w.body.Node(x)
		}
	}
	w.finish()
}

// segmentWriter writes a parfor that reads columns in the order of its groups.
type segmentWriter struct {
	segments
	c      *nodes.Copying // of the graph around
	id     ir.ID
	in     []ir.ID // of the new parfor
	body   *nodes.Copying
	more   []ir.ID           // arguments of the new body
	outer  map[ir.ID]ir.ID   // copies of nodes of the body outside
	orders []ir.ID           // of the rows, by column
	args   map[inOrder]ir.ID // arguments of the body
	groups map[ir.ID]*group  // by places in the body
}

// inOrder is node x of the body in the order of a column, or that order if x is ir.None.
type inOrder struct {
	column int
	x      ir.ID
}

// group is the rows from..to in the order of a column. held has the places in the group of rows that
// other masks take, or is ir.None.
type group struct {
	column         int
	from, to, zero ir.ID
	held           ir.ID
}

// newSegmentWriter begins a copy of the body of parfor id.
func newSegmentWriter(s segments, c *nodes.Copying, id ir.ID) *segmentWriter {
	first, shift := nodes.Captures(c.Old, id, s.r)
	w := &segmentWriter{segments: s, c: c, id: id, in: c.In(id), body: nodes.CopyOf(s.r.Graph), outer: map[ir.ID]ir.ID{}, args: map[inOrder]ir.ID{}, groups: map[ir.ID]*group{}}
	for k, a := range s.r.Args[first:] {
		w.outer[a] = w.in[first+k+shift]
	}
	return w
}

// finish adds the parfor with the new body. What that no longer reads is no input: ranks would send it.
func (w *segmentWriter) finish() {
	region := w.body.Region(w.r)
	region.Args = append(region.Args, w.more...)
	first, shift := nodes.Captures(w.c.Old, w.id, w.r)
	kept := nodes.SetOf(append(slices.Clone(region.Args[:first]), region.Yields...))
	read := w.body.G.Needed(func(x ir.ID) bool { return kept[x] || w.body.G.Required(x) })
	for k := len(region.Args) - 1; k >= first; k-- {
		if !read[region.Args[k]] {
			region.Args, w.in = slices.Delete(region.Args, k, k+1), slices.Delete(w.in, k+shift, k+shift+1)
		}
	}
	id := w.c.G.CopyNode(w.c.Old, w.id, w.in...)
	w.c.To[w.id], w.c.G.Nodes[id].Region = id, region.Compact(read)
}

func (w *segmentWriter) rows(g *group) int { return w.r.Graph.Type(w.columns[g.column].id).Rows }

// outside copies nodes of the body, and returns the copy of x.
func (w *segmentWriter) outside(x ir.ID, nodes []ir.ID) ir.ID {
	b := w.r.Graph
	for _, y := range nodes {
		if _, made := w.outer[y]; made {
			continue
		}
		in := slices.Clone(b.In(y))
		for k, z := range in {
			in[k] = w.outer[z]
		}
		w.outer[y] = w.c.G.Add(b.Nodes[y].Op, b.Nodes[y].Attrs, b.Type(y), w.c.Old.Origin(w.id).NoDest(), in...)
	}
	return w.outer[x]
}

// argument returns the argument of the new body for k. ok is false if x depends on an index or may
// fail.
func (w *segmentWriter) argument(k inOrder) (arg ir.ID, ok bool) {
	if arg, ok = w.args[k]; ok {
		return arg, true
	}
	t, x := w.r.Graph.Type(w.columns[k.column].id).With(types.I64), w.orders[k.column]
	if k.x != ir.None {
		nodes, fixed := w.segments.outside(w.c.Old, w.id, k.x)
		if !fixed {
			return ir.None, false
		}
		t = w.r.Graph.Type(k.x)
		x = w.c.G.Add(w.table.Must("pick.rows"), nil, t, w.c.Old.Origin(w.id).NoDest(), w.outside(k.x, nodes), x)
	}
	w.in = append(w.in, x)
	arg = w.body.G.Add(w.table.Must("arg"), nil, t, ir.Origin{})
	w.more, w.args[k] = append(w.more, arg), arg
	return arg, true
}

// window adds the rows of a group of what is in its order.
func (w *segmentWriter) window(arg ir.ID, g *group, o ir.Origin) ir.ID {
	t := w.body.G.Type(arg)
	t.Rows = types.Unknown
	attrs := op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(-1, t.Cols)}, op.Attr{Name: "through", Val: op.Ints(0, 0)})
	return w.body.G.Add(w.table.Must("cut"), attrs, t, o, arg, g.from, g.to, g.zero, g.zero)
}

// segment adds the nodes that replace node x of the body and returns the last one: the places of the
// rows, their number, or the sum of a column there.
func (w *segmentWriter) segment(x ir.ID, one segment) ir.ID {
	c, number := w.body, types.ScalarOf(types.I64)
	n, o := &c.Old.Nodes[x], c.Old.Origin(x)
	add := func(d *op.Def, t types.Type, attrs []op.Attr, in ...ir.ID) ir.ID {
		return c.G.Add(d, op.MakeAttrs(attrs...), t, o, in...)
	}
	keys, _ := w.argument(inOrder{one.column, w.columns[one.column].id})
	end := func(equal bool) ir.ID {
		return add(w.table.Must("order.below"), number, []op.Attr{{Name: "equal", Val: op.Bool(equal)}}, c.To[one.key], keys)
	}
	from, to := end(false), end(true)
	counted := one.chosen == ir.None && c.Old.Type(x).IsScalar()
	if counted && len(one.also) == 0 {
		return add(w.table.Infix("-"), number, nil, to, from)
	}
	constant := func(v int) ir.ID {
		return add(w.table.Must("const"), number, []op.Attr{{Name: "value", Val: op.Int(v)}})
	}
	g := &group{column: one.column, from: from, to: to, zero: constant(0), held: ir.None}
	further := w.end(x)
	if further != nil {
		g.from = add(w.table.Must("ew.min"), number, nil, from, constant(w.rows(g)-1))
		g.to = add(w.table.Must("ew.max"), number, nil, to, add(w.table.Infix("+"), number, nil, g.from, constant(1)))
	}
	reduced := func(y ir.ID) ir.ID {
		t := c.Old.Type(x)
		y = c.G.Add(n.Op, n.Attrs, t, o, y)
		if further == nil {
			return y
		}
		z, truth := c.To[c.Old.In(c.Old.In(x)[0])[2]], number.With(types.Bool)
		some := add(w.table.Must("ifelse"), t, nil, add(w.table.Infix("<"), truth, nil, from, to), y, z)
		all := add(w.table.Infix("=="), truth, nil, add(w.table.Infix("-"), number, nil, to, from), constant(w.rows(g)))
		return add(w.table.Must("ifelse"), t, nil, all, y, add(further, t, nil, some, z))
	}
	if one.chosen != ir.None && len(one.also) == 0 {
		return reduced(w.at(one.chosen, g))
	}
	rows, mask := types.DenseOf(types.I64, types.Unknown, 1), ir.None
	for _, m := range one.also {
		if m = w.at(m, g); mask != ir.None {
			m = add(w.table.Infix("and"), rows.With(types.Bool), nil, mask, m)
		}
		mask = m
	}
	switch {
	case one.chosen != ir.None:
		of := c.Old.In(x)[0]
		t := c.Old.Type(of)
		t.Rows = types.Unknown
		rest := add(c.Old.Nodes[of].Op, t, nil, mask, w.at(one.chosen, g), c.To[c.Old.In(of)[2]])
		return reduced(rest)
	case counted:
		return c.G.Add(n.Op, n.Attrs, number, o, mask)
	}
	places := w.places(g, o)
	w.groups[x] = g
	if mask == ir.None {
		return places
	}
	g.held = c.G.Add(n.Op, n.Attrs, rows, o, mask, add(w.table.Must("nrow"), number, nil, places))
	return add(w.table.Must("pick.rows"), rows, nil, places, g.held)
}

// places adds the places of the rows of a group.
func (w *segmentWriter) places(g *group, o ir.Origin) ir.ID {
	order, _ := w.argument(inOrder{g.column, ir.None})
	return w.window(order, g, o)
}

// picked adds the rows of node x of the body that a group takes.
func (w *segmentWriter) picked(x ir.ID, g *group) ir.ID {
	y := w.at(x, g)
	if g.held == ir.None {
		return y
	}
	return w.body.G.Add(w.table.Must("pick.rows"), nil, w.body.G.Type(y), w.body.Old.Origin(x), y, g.held)
}

// at adds the rows of a group of node x of the body. Rows that are the same for all indices are a
// window of them in the order of the groups. Elementwise operators are computed in the group alone,
// unless one may fail in a row that is left out.
func (w *segmentWriter) at(x ir.ID, g *group) ir.ID {
	b, t, o := w.body.Old, w.body.Old.Type(x), w.body.Old.Origin(x)
	if !t.IsMatrix() || t.Rows != w.rows(g) {
		return w.body.To[x]
	}
	if t.IsDense() && t.Known() { // a window has a known number of columns
		if arg, ok := w.argument(inOrder{g.column, x}); ok {
			return w.window(arg, g, o)
		}
	}
	t.Rows = types.Unknown
	if n := &b.Nodes[x]; nodes.ElementwiseOperator(n) && n.Region == nil && !ir.MayFail(b, x) {
		in := make([]ir.ID, len(b.In(x)))
		for k, y := range b.In(x) {
			in[k] = w.at(y, g)
		}
		return w.body.G.Add(n.Op, n.Attrs, t, o, in...)
	}
	return w.body.G.Add(w.table.Must("pick.rows"), nil, t, o, w.body.To[x], w.places(g, o))
}
