package pass

// This file is the part of Segments that makes one table of the sums and counts of all groups.

import (
	"math"
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

const (
	// leastSums is the least number of groups for which a table takes less time than a mask for each group.
	leastSums = 20
	// mostSums is the most groups of a table.
	mostSums = 1 << 18
	// mostFactors is the most products between a mask and the sum.
	mostFactors = 6
)

// sums describes the nodes of the body of a parfor that are sums, means and counts of a group of rows.
// The rows of a group are those where columns equal indices of the parfor:
//
//	%4 = parfor(%0, %1) { %3 = eq(%1, i);  %4 = ifelse(%3, %0, 0);  %5 = sum(%4);  .. }
//	->
//	%2 = group.sums(%0, %1);  %4 = parfor(%2) { %5 = element(%2, i, 0);  .. }
//
// The sum of a product of a mask and numbers is the same, unless a number outside of the group is nan
// or infinite: 0 times it is nan. So the rows where 0 times the numbers is nan are counted, in all and
// by group, and the sum is nan if the counts differ. It would be wrong for two masks of floats:
// (m1*w)*(m2*x) is nan where m1 is false and w is infinite, though m2 is true.
type sums struct {
	segments
	by   map[ir.ID]groupSum // by node of the body
	at   map[ir.ID]ir.ID    // results of places
	same []ir.ID            // by node: the first node of the body that computes the same; nil: not known yet
}

// groupSum is a sum, mean or count of the rows of a group.
type groupSum struct {
	keys    []groupKey
	filters []ir.ID // masks that are the same for all indices
	of      ir.ID   // the column whose rows are added; ir.None: there are factors, or rows are counted
	picked  ir.ID   // the places of the rows that of has; ir.None: it has all rows
	factors []ir.ID // the operands of a product with the mask, in order
	mean    bool
}

// groupKey is a column that equals an index of the parfor.
type groupKey struct {
	column ir.ID
	index  int
}

// summed finds the nodes of the body of parfor id that a table of sums can replace.
func summed(g *ir.Graph, id ir.ID, table *op.Table) (s sums) {
	n := &g.Nodes[id]
	by := n.Attrs.Ints("by")
	if n.Op.Role != op.Points || n.Attrs.Bool("pairs") || len(by) == 0 || len(n.Attrs.Ints("n")) != len(by) {
		return sums{}
	}
	s = sums{segments: segments{table: table, r: n.Region}, by: map[ir.ID]groupSum{}, at: map[ir.ID]ir.ID{}}
	for i := range s.r.Graph.Nodes {
		if one, ok := s.sum(g, id, ir.ID(i)); ok {
			s.by[ir.ID(i)] = one
		}
	}
	return s
}

// sum describes node x of the body, if it is a sum, mean or count of a group.
func (s *sums) sum(g *ir.Graph, id, x ir.ID) (one groupSum, ok bool) {
	b := s.r.Graph
	n, t := &b.Nodes[x], b.Type(x)
	sum, mean, count := n.Op == s.table.Must("sum"), n.Op == s.table.Must("mean"), n.Op == s.table.Must("count")
	if !sum && !mean && !count || !t.IsScalar() || t.Elem != types.F64 && t.Elem != types.I64 {
		return one, false
	}
	one = groupSum{of: ir.None, picked: ir.None, mean: mean}
	of := b.In(x)[0]
	var conditions []ir.ID
	switch y := b.Type(of); {
	case !y.IsDense() || y.Cols != 1:
		return one, false
	case mean && (y.Known() || y.Elem == types.I64): // sums of integers wrap, means do not
		return one, false
	case y.Elem == types.Bool && y.Known():
		conditions = s.conditions(of, nil)
	case count:
		return one, false
	case !y.Known():
		one.of, one.picked = of, s.places(g, id, of)
		if one.picked == ir.None || !isNumberOf(b, b.In(one.picked)[1], b.Type(b.In(one.picked)[0]).Rows) {
			return one, false
		}
		conditions = s.conditions(b.In(one.picked)[0], nil)
	case s.chosen(x) != ir.None:
		one.of = s.chosen(x)
		conditions = s.conditions(b.In(of)[0], nil)
	default:
		if conditions, one.factors = s.product(of, mostFactors); len(conditions) == 0 {
			return one, false
		}
	}
	if !s.keyed(g, id, &one, conditions) {
		return one, false
	}
	rows := b.Type(one.keys[0].column).Rows
	fixed := func(y ir.ID) bool {
		_, ok := s.outside(g, id, y)
		return ok && (b.Type(y).IsScalar() || b.Type(y).Rows == rows)
	}
	switch {
	case one.of != ir.None:
		ok = one.picked != ir.None || fixed(one.of)
	default:
		isColumn := func(y ir.ID) bool { return !b.Type(y).IsScalar() }
		ok = len(one.factors) == 0 || allOf(one.factors, fixed) && slices.ContainsFunc(one.factors, isColumn)
	}
	return one, ok
}

// keyed sets the keys and filters of a sum over the rows where all conditions hold. It returns false if
// they do not describe groups, or if a table of the groups does not pay. Indices that floats
// may not hold exactly are refused, because a key would equal several of them.
func (s sums) keyed(g *ir.Graph, id ir.ID, one *groupSum, conditions []ir.ID) bool {
	b, a := s.r.Graph, g.Nodes[id].Attrs
	groups, rows := int64(1), b.Type(conditions[0]).Rows
	for _, m := range conditions {
		if b.Type(m) != types.DenseOf(types.Bool, rows, 1) {
			return false
		}
		if _, fixed := s.outside(g, id, m); fixed {
			one.filters = append(one.filters, m)
			continue
		}
		if b.Nodes[m].Op != s.table.Infix("==") {
			return false
		}
		x, key := b.In(m)[0], b.In(m)[1]
		if b.Type(x).IsScalar() {
			x, key = key, x
		}
		k := slices.Index(s.r.Args, key)
		by := a.Ints("by")
		if k < 0 || k >= len(by) || slices.ContainsFunc(one.keys, func(o groupKey) bool { return o.index == k }) {
			return false
		}
		_, fixed := s.outside(g, id, x)
		t, lo, n := b.Type(x), a.Ints("lo")[k], a.Ints("n")[k]
		const half = 1 << 52 // of the integers that floats hold; ^x is -x or one less
		if !fixed || t.Elem != types.I64 && t.Elem != types.F64 || n < 1 || max(lo, ^lo) > half || max(by[k], ^by[k]) > half/n {
			return false
		}
		one.keys = append(one.keys, groupKey{x, k})
		groups *= n
	}
	return len(one.keys) > 0 && groups >= leastSums && groups <= mostSums
}

// places returns the places of the rows from which node x is computed. It returns ir.None if x is not
// elementwise, may fail, or reads rows at different places.
func (s *sums) places(g *ir.Graph, id, x ir.ID) ir.ID {
	if p, known := s.at[x]; known {
		return p
	}
	b, p := s.r.Graph, ir.None
	switch n, in := &b.Nodes[x], b.In(x); {
	case n.Op == s.table.Must("pick.rows"):
		if _, fixed := s.outside(g, id, in[0]); fixed && b.Nodes[in[1]].Op == s.table.Must("places") {
			if s.same == nil {
				s.same = equals(b).to
			}
			p = s.same[in[1]]
		}
	case nodes.ElementwiseOperator(n) && !n.Op.Fails(b.Type(in[0]).Elem, b.Type(x).Elem):
		for _, y := range in {
			if b.Type(y).IsScalar() {
				if _, fixed := s.outside(g, id, y); fixed {
					continue
				}
			}
			if q := s.places(g, id, y); q == ir.None || p != ir.None && p != q {
				p = ir.None
				break
			} else {
				p = q
			}
		}
	}
	s.at[x] = p
	return p
}

// product returns the conditions of the mask that is a factor of column x, and the other factors in the
// order of the products. It returns no conditions if x is another column.
func (s sums) product(x ir.ID, most int) (conditions, factors []ir.ID) {
	b := s.r.Graph
	if conditions = s.mask(x, most); conditions != nil || most == 0 || b.Nodes[x].Op != s.table.Infix("*") {
		return conditions, nil
	}
	for k, y := range b.In(x) {
		other := b.In(x)[1-k]
		if conditions, factors = s.product(y, most-1); conditions == nil || b.Type(other).Elem != b.Type(x).Elem || len(factors) > 0 && b.Type(y).Elem != b.Type(x).Elem {
			continue
		}
		return conditions, append(factors, other)
	}
	return nil, nil
}

// mask returns the conditions of a column that is 1 where all of them hold, and 0 elsewhere. It returns
// nil if x is another column.
func (s sums) mask(x ir.ID, most int) []ir.ID {
	b := s.r.Graph
	n, t := &b.Nodes[x], b.Type(x)
	switch {
	case !t.IsDense() || most == 0:
		return nil
	case t.Elem == types.Bool:
		return s.conditions(x, nil)
	case n.Op == s.table.Must("f64") || n.Op == s.table.Must("i64"):
		return s.mask(b.In(x)[0], most-1)
	case n.Op == s.table.Infix("*"):
		if p, q := s.mask(b.In(x)[0], most-1), s.mask(b.In(x)[1], most-1); p != nil && q != nil {
			return append(p, q...)
		}
	}
	return nil
}

// write adds the tables, and parfor id reading them.
func (s sums) write(c *nodes.Copying, id ir.ID) {
	w := &sumWriter{newSegmentWriter(s.segments, c, id), map[ir.ID]ir.ID{}}
	for i := range s.r.Graph.Nodes {
		if one, ok := s.by[ir.ID(i)]; ok {
			w.body.To[i] = w.sum(ir.ID(i), one)
		} else {
			w.body.Node(ir.ID(i))
		}
	}
	w.finish()
}

// sumWriter writes a parfor that reads tables of sums.
type sumWriter struct {
	*segmentWriter
	all map[ir.ID]ir.ID // results of whole, by node of the body
}

// fixed copies node x of the body, which does not depend on the indices, out of the parfor. It returns
// the copy.
func (w *sumWriter) fixed(x ir.ID) ir.ID {
	nodes, _ := w.segments.outside(w.c.Old, w.id, x)
	return w.outside(x, nodes)
}

// add adds a node outside of the parfor.
func (w *sumWriter) add(d *op.Def, t types.Type, attrs []op.Attr, in ...ir.ID) ir.ID {
	return w.c.G.Add(d, op.MakeAttrs(attrs...), t, w.c.Old.Origin(w.id).NoDest(), in...)
}

// sum adds what replaces node x of the body, and returns it.
func (w *sumWriter) sum(x ir.ID, one groupSum) ir.ID {
	b, o := w.body, w.body.Old.Origin(x)
	add := func(d *op.Def, t types.Type, in ...ir.ID) ir.ID { return b.G.Add(d, nil, t, o, in...) }
	result := b.Old.Type(x)
	rows := b.Old.Type(one.keys[0].column).Rows
	count := func() ir.ID { return w.element(x, one, ir.None, types.Bool) }
	switch {
	case one.picked != ir.None:
		y := w.element(x, one, w.whole(one.of, rows), b.Old.Type(one.of).Elem)
		if one.mean {
			return add(w.table.Infix("/"), result, y, count())
		}
		return y
	case one.of != ir.None:
		return w.element(x, one, w.fixed(one.of), result.Elem)
	case len(one.factors) == 0:
		y := count()
		if result.Elem == types.F64 {
			return add(w.table.Must("f64"), result, y)
		}
		return y
	}
	return w.product(x, one)
}

// product adds the sum of a product with the mask. It is nan if 0 times the factors is nan in a row
// outside of the group.
func (w *sumWriter) product(x ir.ID, one groupSum) ir.ID {
	b, o := w.body, w.body.Old.Origin(x)
	add := func(d *op.Def, t types.Type, in ...ir.ID) ir.ID { return b.G.Add(d, nil, t, o, in...) }
	result := b.Old.Type(x)
	times := func(p, q ir.ID) ir.ID {
		t := w.c.G.Type(p)
		if t.IsScalar() {
			t = w.c.G.Type(q)
		}
		return w.add(w.table.Infix("*"), t, nil, p, q)
	}
	product := ir.None
	for _, f := range one.factors {
		if f = w.fixed(f); product == ir.None {
			product = f
		} else {
			product = times(product, f)
		}
	}
	y := w.element(x, one, product, result.Elem)
	if result.Elem != types.F64 {
		return y
	}
	other := w.add(w.table.Must("const"), types.ScalarOf(types.F64), []op.Attr{{Name: "value", Val: op.Float(0)}})
	for _, f := range one.factors {
		other = times(other, w.fixed(f))
	}
	t := w.c.G.Type(other).With(types.Bool)
	bad := w.add(w.table.Must("isnan"), t, nil, other)
	number := types.ScalarOf(types.I64)
	all := w.input(w.add(w.table.Must("sum"), number, nil, bad), number)
	outside := add(w.table.Infix("<"), number.With(types.Bool), w.element(x, one, bad, types.Bool), all)
	nan := b.G.Add(w.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Float(math.NaN())}), result, o)
	return add(w.table.Must("ifelse"), result, outside, nan, y)
}

// whole adds node x of the body outside of the parfor, computed for all rows instead of rows at places.
func (w *sumWriter) whole(x ir.ID, rows int) ir.ID {
	b := w.body.Old
	if b.Type(x).IsScalar() {
		return w.fixed(x)
	}
	if b.Nodes[x].Op == w.table.Must("pick.rows") {
		return w.fixed(b.In(x)[0])
	}
	if y, made := w.all[x]; made {
		return y
	}
	in := make([]ir.ID, len(b.In(x)))
	for k, y := range b.In(x) {
		in[k] = w.whole(y, rows)
	}
	t := b.Type(x)
	t.Rows = rows
	w.all[x] = w.add(b.Nodes[x].Op, t, nil, in...)
	return w.all[x]
}

// input adds an argument of the body for node x outside of the parfor.
func (w *sumWriter) input(x ir.ID, t types.Type) ir.ID {
	w.in = append(w.in, x)
	arg := w.body.G.Add(w.table.Must("arg"), nil, t, ir.Origin{})
	w.more = append(w.more, arg)
	return arg
}

// filtered adds column y outside of the parfor, with 0 in the rows that the filters leave out. elem is
// the type of y. If y is ir.None, its sum counts rows.
func (w *sumWriter) filtered(one groupSum, y ir.ID, elem types.Elem) ir.ID {
	filter := ir.None
	truth := types.DenseOf(types.Bool, w.body.Old.Type(one.keys[0].column).Rows, 1)
	for _, m := range one.filters {
		if m = w.fixed(m); filter != ir.None {
			m = w.add(w.table.Infix("and"), truth, nil, filter, m)
		}
		filter = m
	}
	switch {
	case y == ir.None && filter != ir.None:
		return filter
	case y == ir.None:
		return w.add(w.table.Must("const"), types.ScalarOf(types.Bool), []op.Attr{{Name: "value", Val: op.Bool(true)}})
	case filter == ir.None:
		return y
	case elem == types.Bool:
		return w.add(w.table.Infix("and"), truth, nil, filter, y)
	}
	zero := op.Int(0)
	if elem == types.F64 {
		zero = op.Float(0)
	}
	zeros := w.add(w.table.Must("const"), types.ScalarOf(elem), []op.Attr{{Name: "value", Val: zero}})
	return w.add(w.table.Must("ifelse"), truth.With(elem), nil, filter, y, zeros)
}

// element adds the table of the sums of column y (see filtered) outside of the parfor, and the load of
// the group of the indices to the body.
func (w *sumWriter) element(x ir.ID, one groupSum, y ir.ID, elem types.Elem) ir.ID {
	a, in := w.c.Old.Nodes[w.id].Attrs, []ir.ID{w.filtered(one, y, elem)}
	var lo, by, n []int
	subscripts, o, number := []ir.ID{}, w.body.Old.Origin(x), types.ScalarOf(types.I64)
	constant := func(v int64) ir.ID { return constantOf(w.body.G, w.table, int(v), o) }
	for _, k := range one.keys {
		in = append(in, w.fixed(k.column))
		first, step := a.Ints("lo")[k.index], a.Ints("by")[k.index]
		lo, by, n = append(lo, int(first)), append(by, int(step)), append(n, int(a.Ints("n")[k.index]))
		at := w.body.To[w.r.Args[k.index]]
		if first != 0 {
			at = w.body.G.Add(w.table.Infix("-"), nil, number, o, at, constant(first))
		}
		if step != 1 {
			at = w.body.G.Add(w.table.Infix("//"), nil, number, o, at, constant(step))
		}
		subscripts = append(subscripts, at)
	}
	t := types.DenseOf(types.I64, n[0], 1)
	if len(n) == 2 {
		t.Cols = n[1]
	} else {
		subscripts = append(subscripts, constant(0))
	}
	if elem == types.F64 {
		t.Elem = elem
	}
	attrs := []op.Attr{{Name: "by", Val: op.Ints(by...)}, {Name: "lo", Val: op.Ints(lo...)}, {Name: "n", Val: op.Ints(n...)}}
	arg := w.input(w.add(w.table.Must("group.sums"), t, attrs, in...), t)
	return w.body.G.Add(w.table.Must("element"), nil, types.ScalarOf(t.Elem), o, append([]ir.ID{arg}, subscripts...)...)
}
