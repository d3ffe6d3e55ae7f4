package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// Segments orders the rows of a column of integers once, for a parfor that takes the rows where the
// column equals its index:
//
//	%4 = parfor(%0, %1) { %3 = eq(%1, %0);  %4 = places(%3, n);  .. }
//	->
//	%2 = argsort(%1);  %3 = bin(seq(-1, k), %1[%2])
//	%4 = parfor(%0, %2, %3) { %4 = cut(%2, %3[i], %3[i + 1]);  .. }
//
// The order is stable, so the places of a value ascend, as those of the mask do. The ends of a
// value in the order give their number. A parfor with few indices keeps its masks, because
// comparing a row takes less time than ordering it.
func Segments(g *ir.Graph, table *op.Table) *ir.Graph {
	return changed(g, func(id ir.ID) bool { return segmented(g, id, table).is() }, func(c *copying, id ir.ID) {
		segmented(g, id, table).write(c, id)
	})
}

const (
	// leastSegments is the least number of indices of a parfor for which rows are ordered.
	leastSegments = 32
	// mostExact bounds the indices: bin compares as f64, which counts integers beyond it as equal.
	mostExact = 1 << 53
	// leastReduced is the same where loops reduce the rows under their mask, without storing them.
	leastReduced = 256
)

// segments is what a parfor takes of one column of integers.
type segments struct {
	table       *op.Table
	r           *ir.Region
	index, of   ir.ID // of the body: an index, and the column that is compared with it
	first, many int   // the range of the index
	by          map[ir.ID]bool
	outer       []ir.ID // the nodes that make the column outside, in order
}

func (s segments) is() bool { return len(s.by) > 0 }

// segmented finds the places and the counts in parfor id that an order of the rows gives. All
// belong to one column and one index.
func segmented(g *ir.Graph, id ir.ID, table *op.Table) (s segments) {
	n := &g.Nodes[id]
	lo, many := n.Attrs.Ints("lo"), n.Attrs.Ints("n")
	if n.Op.Role != op.Points || n.Attrs.Bool("pairs") || len(lo) == 0 || len(many) != len(lo) {
		return segments{}
	}
	s = segments{table: table, r: n.Region, index: ir.None, of: ir.None, by: map[ir.ID]bool{}}
	b := s.r.Graph
	readers, most := readersOf(b), 0
	for i := range b.Nodes {
		picked := b.Nodes[i].Op == table.Must("places")
		if !picked && b.Nodes[i].Op != table.Must("count") {
			continue
		}
		same := b.In(ir.ID(i))[0]
		if b.Nodes[same].Op != table.Infix("==") {
			continue
		}
		x, y := b.In(same)[0], b.In(same)[1]
		if b.Type(x).IsScalar() {
			x, y = y, x
		}
		k := slices.Index(s.r.Args[:len(lo)], y)
		t := b.Type(x)
		if column := t.IsDense() && t.Known() && t.Cols == 1 && t.Elem == types.I64; !column || s.of != ir.None && (s.of != x || s.index != y) {
			continue
		}
		if k < 0 || n.Attrs.Ints("by")[k] != 1 || many[k] < leastSegments || many[k] > int64(t.Rows) || lo[k] <= -mostExact || lo[k] > mostExact-many[k] {
			continue
		}
		outer, ok := s.outside(g, id, x)
		if !ok {
			continue
		}
		s.of, s.index, s.outer, s.first, s.many = x, y, outer, int(lo[k]), int(many[k])
		if s.by[ir.ID(i)] = true; picked && s.reduced(readers, ir.ID(i)) {
			most = max(most, s.many/leastReduced)
		} else if picked {
			most = max(most, 1)
		}
	}
	if most == 0 {
		return segments{}
	}
	return s
}

// reduced reports whether the rows at places x are only reduced, as they are or after elementwise
// operators.
func (s segments) reduced(readers [][]ir.ID, x ir.ID) bool {
	return allOf(readers[x], func(r ir.ID) bool {
		n := &s.r.Graph.Nodes[r]
		return n.Op.Class != loop.NoClass || n.Op.Shape != nil || (n.Op == s.table.Must("pick.rows") || isElementwise(n)) && s.reduced(readers, r)
	})
}

// outside lists the nodes of the body that make node x, operands first. ok is false if one of them
// depends on an index or may fail.
func (s segments) outside(g *ir.Graph, id, x ir.ID) (nodes []ir.ID, ok bool) {
	b := s.r.Graph
	first, _ := captures(g, id, s.r)
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
		nodes = append(nodes, x)
		return true
	}
	ok = need(x)
	return nodes, ok
}

// write adds the order of the rows, and parfor id reading it.
func (s segments) write(c *copying, id ir.ID) {
	in, o := c.in(id), c.old.Origin(id).NoDest()
	first, shift := captures(c.old, id, s.r)
	at := map[ir.ID]ir.ID{}
	for k, a := range s.r.Args[first:] {
		at[a] = in[first+k+shift]
	}
	b := s.r.Graph
	for _, x := range s.outer {
		from := make([]ir.ID, len(b.In(x)))
		for k, y := range b.In(x) {
			from[k] = at[y]
		}
		at[x] = c.g.Add(b.Nodes[x].Op, b.Nodes[x].Attrs, b.Type(x), o, from...)
	}
	add := func(word string, t types.Type, attrs []op.Attr, in ...ir.ID) ir.ID {
		return c.g.Add(s.table.Must(word), op.MakeAttrs(attrs...), t, o, in...)
	}
	rows := b.Type(s.of)
	ends := types.DenseOf(types.I64, s.many+1, 1)
	order := add("argsort", rows, []op.Attr{{Name: "by", Val: op.Int(0)}, {Name: "desc", Val: op.Bool(false)}}, at[s.of])
	below := add("seq", ends, []op.Attr{{Name: "a", Val: op.Int(s.first - 1)}, {Name: "b", Val: op.Int(s.first + s.many)}, {Name: "step", Val: op.Int(1)}})
	end := add("bin", ends, []op.Attr{{Name: "closed", Val: op.Str("left")}}, below, add("pick.rows", rows, nil, at[s.of], order))

	body := copyOf(b)
	more := make([]ir.ID, 2)
	for k, t := range []types.Type{rows, ends} {
		more[k] = body.g.Add(s.table.Must("arg"), nil, t, ir.Origin{})
	}
	for i := range b.Nodes {
		if x := ir.ID(i); s.by[x] {
			body.to[x] = s.segment(body, x, more[0], more[1])
		} else {
			body.node(x)
		}
	}
	region := body.region(s.r)
	region.Args = append(region.Args, more...)
	read := setOf(append(slices.Clone(region.Args), region.Yields...)) // masks are read no more
	c.to[id] = c.g.CopyNode(c.old, id, append(in, order, end)...)
	c.g.Nodes[c.to[id]].Region = region.Compact(body.g.Needed(func(x ir.ID) bool { return read[x] || body.g.Required(x) }))
}

// segment adds the nodes that replace node x of the body: places, or their number.
func (s segments) segment(c *copying, x, order, ends ir.ID) ir.ID {
	o, number := c.old.Origin(x), types.ScalarOf(types.I64)
	constant := func(i int) ir.ID {
		return c.g.Add(s.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(i)}), number, o)
	}
	end := func(i int) ir.ID {
		k := c.to[s.index]
		if i != 0 {
			k = c.g.Add(s.table.Infix("+"), nil, number, o, k, constant(i))
		}
		return c.g.Add(s.table.Must("element"), nil, number, o, ends, k, constant(0))
	}
	from, to := end(-s.first), end(1-s.first)
	if c.old.Type(x).IsScalar() {
		return c.g.Add(s.table.Infix("-"), nil, number, o, to, from)
	}
	zero := constant(0)
	whole := op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(-1, 1)}, op.Attr{Name: "through", Val: op.Ints(0, 0)})
	return c.g.Add(s.table.Must("cut"), whole, c.old.Type(x), o, order, from, to, zero, zero)
}
