package pass

// This file writes the tables of groups, and the parfors that read them.

import (
	"math"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// write adds the tables, and parfor id reading them.
func (s sums) write(c *nodes.Copying, id ir.ID) {
	w := &sumWriter{newSegmentWriter(s.segments, c, id), &s, map[ir.ID]ir.ID{}, ir.None, map[ir.ID]ir.ID{}}
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
	sums   *sums
	all    map[ir.ID]ir.ID // results of whole, by node of the body
	number ir.ID           // the argument of the body that is one number, or ir.None
	groups map[ir.ID]ir.ID // scalars of each group one below the other, by node of the body
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
	case one.class == loop.Count:
		return count()
	case one.picked != ir.None:
		y := w.element(x, one, w.whole(one.of, rows), b.Old.Type(one.of).Elem)
		switch {
		case one.class == loop.Mean:
			return add(w.table.Infix("/"), result, y, count())
		case one.needsRow():
			return w.some(x, y, count())
		}
		return y
	case one.of != ir.None && one.needsRow():
		y, z := w.element(x, one, w.fixed(one.of), result.Elem), b.To[b.Old.In(b.Old.In(x)[0])[2]]
		all := add(w.table.Infix("=="), result.With(types.Bool), count(), constantOf(b.G, w.table, rows, o))
		return add(w.table.Must("ifelse"), result, all, y, add(w.end(x), result, y, z))
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

// some adds the result y of node x of the body, which fails as x does if count is 0: x is then
// computed of no numbers.
func (w *sumWriter) some(x, y, count ir.ID) ir.ID {
	b, o := w.body, w.body.Old.Origin(x)
	t, number := b.Old.Type(x), types.ScalarOf(types.I64)
	add := func(d *op.Def, t types.Type, attrs []op.Attr, in ...ir.ID) ir.ID {
		return b.G.Add(d, op.MakeAttrs(attrs...), t, o, in...)
	}
	zero, one := constantOf(b.G, w.table, 0, o), constantOf(b.G, w.table, 1, o)
	if w.number == ir.None {
		size := []op.Attr{{Name: "n", Val: op.Int(1)}, {Name: "m", Val: op.Int(1)}}
		w.number = w.input(w.add(w.table.Must("zeros"), types.DenseOf(types.F64, 1, 1), size), types.DenseOf(types.F64, 1, 1))
	}
	rows, none := types.DenseOf(types.F64, types.Unknown, 1), w.number
	window := add(w.table.Must("cut"), rows, []op.Attr{{Name: "size", Val: op.Ints(-1, 1)}, {Name: "through", Val: op.Ints(0, 0)}},
		none, zero, add(w.table.Must("ew.min"), number, nil, count, one), zero, zero)
	if t.Elem != types.F64 {
		window = add(w.table.Must(t.Elem.String()), rows.With(t.Elem), nil, window)
	}
	guard := b.G.Add(b.Old.Nodes[x].Op, b.Old.Nodes[x].Attrs, t, o, window)
	return add(w.table.Must("ifelse"), t, nil, add(w.table.Infix("=="), number.With(types.Bool), nil, count, zero), guard, y)
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
	other := w.constant(op.Float(0), types.F64)
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
		if _, fixed := w.segments.outside(w.c.Old, w.id, x); fixed {
			return w.fixed(x)
		}
		return w.byRow(x)
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

// byRow adds scalar x of the body outside of the parfor, for each row that of its group. Rows of no
// group have that of another.
func (w *sumWriter) byRow(x ir.ID) ir.ID {
	one := w.reduced(x)
	a, k := w.c.Old.Nodes[w.id].Attrs, one.keys[0]
	at, t := w.fixed(k.column), w.body.Old.Type(k.column)
	step := func(d *op.Def, v int64) { at = w.add(d, t, nil, at, w.constant(op.Int(int(v)), types.I64)) }
	if first := a.Ints("lo")[k.index]; first != 0 {
		step(w.table.Infix("-"), first)
	}
	if by := a.Ints("by")[k.index]; by != 1 {
		step(w.table.Infix("//"), by)
	}
	step(w.table.Must("ew.max"), 0)
	step(w.table.Must("ew.min"), a.Ints("n")[k.index]-1)
	return w.add(w.table.Must("pick.rows"), t.With(w.body.Old.Type(x).Elem), nil, w.ofGroups(x, a.Ints("n")[k.index]), at)
}

// reduced returns a reduction of a group from which scalar x of the body is computed.
func (w *sumWriter) reduced(x ir.ID) (one groupSum) {
	one, ok := w.sums.by[x]
	for _, y := range w.body.Old.In(x) {
		if ok {
			break
		}
		if _, fixed := w.segments.outside(w.c.Old, w.id, y); !fixed {
			one, ok = w.reduced(y), true
		}
	}
	return one
}

// ofGroups adds scalar x of the body outside of the parfor, for each of n groups.
func (w *sumWriter) ofGroups(x ir.ID, n int64) ir.ID {
	if y, made := w.groups[x]; made {
		return y
	}
	if _, fixed := w.segments.outside(w.c.Old, w.id, x); fixed {
		return w.fixed(x)
	}
	b := w.body.Old
	t := types.DenseOf(b.Type(x).Elem, int(n), 1)
	one, reduced := w.sums.by[x]
	count := func() ir.ID { y, _ := w.tableOf(one, ir.None, types.Bool); return y }
	switch {
	case !reduced:
		in := make([]ir.ID, len(b.In(x)))
		for k, y := range b.In(x) {
			in[k] = w.ofGroups(y, n)
		}
		w.groups[x] = w.add(b.Nodes[x].Op, t, nil, in...)
	case one.of == ir.None || one.class == loop.Count:
		w.groups[x] = count()
		if t.Elem == types.F64 {
			w.groups[x] = w.add(w.table.Must("f64"), t, nil, w.groups[x])
		}
	case one.picked == ir.None:
		w.groups[x], _ = w.tableOf(one, w.fixed(one.of), t.Elem)
	default:
		w.groups[x], _ = w.tableOf(one, w.whole(one.of, b.Type(one.keys[0].column).Rows), b.Type(one.of).Elem)
		if one.class == loop.Mean {
			w.groups[x] = w.add(w.table.Infix("/"), t, nil, w.groups[x], count())
		}
	}
	return w.groups[x]
}

// input adds an argument of the body for node x outside of the parfor.
func (w *sumWriter) input(x ir.ID, t types.Type) ir.ID {
	w.in = append(w.in, x)
	arg := w.body.G.Add(w.table.Must("arg"), nil, t, ir.Origin{})
	w.more = append(w.more, arg)
	return arg
}

// filter adds the mask of the rows that all filters take outside of the parfor. It returns ir.None if
// there are no filters.
func (w *sumWriter) filter(one groupSum) ir.ID {
	filter := ir.None
	truth := types.DenseOf(types.Bool, w.body.Old.Type(one.keys[0].column).Rows, 1)
	for _, m := range one.filters {
		if m = w.fixed(m); filter != ir.None {
			m = w.add(w.table.Infix("and"), truth, nil, filter, m)
		}
		filter = m
	}
	return filter
}

// constant adds a constant outside of the parfor.
func (w *sumWriter) constant(v op.Val, e types.Elem) ir.ID {
	return w.add(w.table.Must("const"), types.ScalarOf(e), []op.Attr{{Name: "value", Val: v}})
}

// number returns v as a constant of type e.
func number(v int64, e types.Elem) op.Val {
	if e == types.F64 {
		return op.Float(float64(v))
	}
	return op.Int(int(v))
}

// filtered adds column y outside of the parfor, with 0 in the rows that the filter leaves out. elem is
// the type of y. If y is ir.None, its sum counts rows.
func (w *sumWriter) filtered(filter, y ir.ID, elem types.Elem) ir.ID {
	switch {
	case y == ir.None && filter != ir.None:
		return filter
	case y == ir.None:
		return w.constant(op.Bool(true), types.Bool)
	case filter == ir.None:
		return y
	case elem == types.Bool:
		return w.add(w.table.Infix("and"), w.c.G.Type(filter), nil, filter, y)
	}
	return w.add(w.table.Must("ifelse"), w.c.G.Type(filter).With(elem), nil, filter, y, w.constant(number(0, elem), elem))
}

// tableOf adds the table of the reduction of column y outside of the parfor. If y is ir.None, it counts
// rows. In rows that filters leave out, a sum has 0; for other reductions the first key is of no group
// there.
func (w *sumWriter) tableOf(one groupSum, y ir.ID, elem types.Elem) (ir.ID, types.Type) {
	a, filter, row := w.c.Old.Nodes[w.id].Attrs, w.filter(one), loop.Sum
	if one.needsRow() && y != ir.None {
		row = one.class
	} else {
		y, filter = w.filtered(filter, y, elem), ir.None
	}
	in := []ir.ID{y}
	var lo, by, n []int
	for _, k := range one.keys {
		first, step := a.Ints("lo")[k.index], a.Ints("by")[k.index]
		key := w.fixed(k.column)
		if filter != ir.None {
			t := w.body.Old.Type(k.column)
			key, filter = w.add(w.table.Must("ifelse"), t, nil, filter, key, w.constant(number(first-step, t.Elem), t.Elem)), ir.None
		}
		in = append(in, key)
		lo, by, n = append(lo, int(first)), append(by, int(step)), append(n, int(a.Ints("n")[k.index]))
	}
	t := types.DenseOf(types.I64, n[0], 1)
	if len(n) == 2 {
		t.Cols = n[1]
	}
	if elem == types.F64 {
		t.Elem = elem
	}
	attrs := []op.Attr{{Name: "by", Val: op.Ints(by...)}, {Name: "lo", Val: op.Ints(lo...)}, {Name: "n", Val: op.Ints(n...)}}
	return w.add(w.table.Must("group."+row.Info().Name), t, attrs, in...), t
}

// element adds the table of the reduction of column y, see tableOf, and to the body the load of the
// group of the indices.
func (w *sumWriter) element(x ir.ID, one groupSum, y ir.ID, elem types.Elem) ir.ID {
	a, o, index := w.c.Old.Nodes[w.id].Attrs, w.body.Old.Origin(x), types.ScalarOf(types.I64)
	constant := func(v int64) ir.ID { return constantOf(w.body.G, w.table, int(v), o) }
	table, t := w.tableOf(one, y, elem)
	in := []ir.ID{w.input(table, t)}
	for _, k := range one.keys {
		at := w.body.To[w.r.Args[k.index]]
		if first := a.Ints("lo")[k.index]; first != 0 {
			at = w.body.G.Add(w.table.Infix("-"), nil, index, o, at, constant(first))
		}
		if step := a.Ints("by")[k.index]; step != 1 {
			at = w.body.G.Add(w.table.Infix("//"), nil, index, o, at, constant(step))
		}
		in = append(in, at)
	}
	if len(one.keys) == 1 {
		in = append(in, constant(0))
	}
	return w.body.G.Add(w.table.Must("element"), nil, types.ScalarOf(t.Elem), o, in...)
}
