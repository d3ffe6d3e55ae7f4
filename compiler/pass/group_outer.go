package pass

import (
	"slices"
	"strings"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// OuterRows makes loops of rows whose wide matrices are made of rows, columns and numbers alone, or are
// products of narrow rows:
//
//	%3 = map(%0, %1) { exp(-(a - b) ^ 2) };  %4 = rowsum(%3);  %5 = map(%3, %4) { a / b };  %6 = matmul(%5, %2)
//	->  %6 = byrows(%0, %1, t(%2)) {lanes} { the same }
//
// The lanes of the loop are rows of the result. An inner loop goes over the columns, makes each element
// once and takes it into all sums and products, so that no matrix is stored. What waits for a reduction
// of its row has an inner loop of its own. Dear elements of a row are kept for that in memory of the
// lanes, unless the row is long. It would be slow for a matrix in memory, whose rows lie far apart. It
// comes before Partition: matrices that no loop stores need no blocks.
func OuterRows(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *ir.Graph {
	if g.Len() > mostByRows {
		return g
	}
	return rowBlocksOf(turnTables(g, table, leastByRows*sizes.Filled().Block), table, sizes, ofOuter)
}

const (
	// leastOuter is the least number of rows: fewer leave lanes and workers idle.
	leastOuter = 64
	// dearSums is from how many operations an element on a sum alone is worth such a loop.
	dearSums = 16
)

// outer is rowwise of a member of such a group: an elementwise chain over a wide space, a reduction of
// its rows, or a product with one column.
func (b *rowBlocks) outer(id ir.ID) (rows, cols int, ok bool) {
	g, in := b.g, b.g.In(id)
	n, t := &g.Nodes[id], g.Type(id)
	reduces := func(d *op.Def) bool {
		return d != nil && d.Fold == op.FoldRows && (d.Class != loop.NoClass || d.Elements != nil)
	}
	switch {
	case n.Op.Role == op.Reduces:
		t = nodes.PipeSpace(n)
		ok = !slices.ContainsFunc(nodes.PipeFolds(b.table, n), func(d *op.Def) bool { return d != nil && !reduces(d) })
	case n.Op.Role == op.Maps, nodes.ElementwiseOperator(n):
		ok = true
	case reduces(n.Op) && n.Region == nil && n.Attrs == nil && len(in) == 1:
		t, ok = g.Type(in[0]), true
	case nodes.NarrowProduct(n, t):
		t, ok = g.Type(in[len(in)-2]), true
	case n.Op.Role == op.Multiplies && n.Region == nil && !n.Attrs.Bool("ta") && t.Elem.IsFloat() && g.Type(in[0]).Cols <= nodes.FewProductCols:
		ok = true
	}
	ok = ok && t.IsDense() && t.Known() && t.Rows >= leastOuter && t.Cols >= manyByRows && t.Cols <= longestOf(t.Rows) &&
		b.readable(id) && b.written(id) && !ir.MayFail(g, id)
	return t.Rows, t.Cols, ok && !slices.ContainsFunc(in, func(x ir.ID) bool { return b.group[x] < 0 && b.stored(x) })
}

// longestOf returns the most columns with which a loop runs row by row: a row of f64 has 256 KiB, and
// one of at least 64 rows 2 MiB, a second-level cache. That many rows keep all workers busy, and the
// sum of a whole row is rounded once. Sums of parts of a row keep all bits, which takes ten times as
// long if the numbers differ much in size.
func longestOf(rows int) int {
	const few, many, manyRows = 1 << 15, 1 << 18, 64
	if rows < manyRows {
		return few
	}
	return many
}

// stored reports a matrix of many rows and columns.
func (b *rowBlocks) stored(x ir.ID) bool {
	t := b.g.Type(x)
	return t.IsMatrix() && t.Rows > nodes.FewProductCols && t.Cols > nodes.FewProductCols
}

// madeIn reports whether a member of group at may read x: the group makes the matrices that it reads,
// and no column.
func (b *rowBlocks) madeIn(x ir.ID, at int32) bool { return !b.stored(x) || b.group[x] == at }

// slowAlong reports reductions of rows that take longer along a row than rows side by side: a place of
// an extreme, a sum of squares, and a sum of elements that take many operations. Where lanes are rows,
// a sum is rounded if bounds of what it lost leave no doubt. Loops along rows need an exact one, which
// takes five times as long for numbers of very different sizes, as exponential functions give. Other
// sums of cheap elements are as fast along rows.
func (b *rowBlocks) slowAlong(x ir.ID) bool {
	n := &b.g.Nodes[x]
	return n.Op.Role == op.Reduces && slices.ContainsFunc(nodes.PipeFolds(b.table, n), func(d *op.Def) bool {
		return d != nil && (d.Elements != nil || d.Class == loop.Norm || d.Class == loop.Var || d.Class == loop.Stddev || (d.Class == loop.Sum || d.Class == loop.Mean) && plan.ChainFlops(b.g, x) >= dearSums)
	})
}

// beginsWith returns what groups that begin with node id, a reduction, share: codes, or a row beside a
// table. It returns ir.None for others.
func (b *rowBlocks) beginsWith(id ir.ID) ir.ID {
	g, n := b.g, &b.g.Nodes[id]
	if n.Op.Keyed != nil {
		return g.In(id)[0]
	}
	if b.kind == ofOuter && n.Op.Role == op.Reduces {
		for k, m := range nodes.ModesOf(g, id, nodes.PipeSpace(n)) {
			if m == op.RowVec {
				return g.In(id)[k]
			}
		}
	}
	return ir.None
}

// spares reports whether the matrices of a group need no memory, and whether it has matrices or sums of
// rows.
func (b *rowBlocks) spares(r *rowGroup) bool {
	if b.readBy == nil {
		b.readBy = readersOf(b.g)
	}
	any := false
	for _, x := range r.members {
		any = any || b.slowAlong(x)
		if b.stored(x) {
			any = true
			if slices.ContainsFunc(b.readBy[x], func(y ir.ID) bool { return b.group[y] != b.group[x] }) {
				return false
			}
		}
	}
	return any
}

// columnsTurned returns the graph in which the products of chosen groups read their columns as rows. A
// column with as many elements as there are rows would be cut otherwise. It returns the old graph if
// no product has such a column.
func (b *rowBlocks) columnsTurned() *ir.Graph {
	g := b.g
	return nodes.Changed(g, func(id ir.ID) bool {
		in, role := g.In(id), g.Nodes[id].Op.Role
		return b.group[id] >= 0 && b.all[b.group[id]].chosen && (role == op.Multiplies || role == op.MultipliesOnto) &&
			g.Type(in[len(in)-1]).Rows > nodes.FewProductCols
	}, func(c *nodes.Copying, id ir.ID) {
		n, in := &g.Nodes[id], c.In(id)
		last := len(in) - 1
		in[last] = c.G.Add(b.table.Must("t"), nil, nodes.Transposed(c.G.Type(in[last])), g.Origin(id), in[last])
		c.To[id] = c.G.Add(n.Op, n.Attrs.With("tb", op.Bool(!n.Attrs.Bool("tb"))), g.Type(id), g.Origin(id), in...)
	})
}

// turnTables returns the graph in which tables of rows and columns are made transposed if only
// reductions of columns and products with their transpose read them:
//
//	%3 = pipe(%0, t(%1)) {fold="colsum"} { exp(-(a - b) ^ 2) }
//	->  %3 = t(pipe(%1, t(%0)) {fold="rowsum"} { the same })
//
// Nothing but vectors is turned, and no order changes: an element of either result is made of the same
// numbers in the same order. Then the loop of OuterRows makes them. least is the least size of a table.
// It would be wrong for elements that depend on their places, or may fail: the first failure is that of
// the first row. Cheap sums of columns stay as they are.
func turnTables(g *ir.Graph, table *op.Table, least int) *ir.Graph {
	s := turning{g: g, table: table, least: least, turns: make([]bool, g.Len())}
	any := false
	for i := range g.Nodes {
		s.turns[i] = s.columnwise(ir.ID(i))
		any = any || s.turns[i]
	}
	if !any {
		return g
	}
	readers := readersOf(g)
	for again := true; again; {
		again = false
		for i := range g.Nodes {
			id := ir.ID(i)
			if s.turns[i] && (!s.columnwise(id) || s.holdsTable(id) && !allOf(readers[i], func(r ir.ID) bool { return s.turns[r] })) {
				s.turns[i], again = false, true
			}
		}
	}
	vectors := map[ir.ID]ir.ID{}
	return nodes.Changed(g, func(id ir.ID) bool { return s.turns[id] }, func(c *nodes.Copying, id ir.ID) { s.write(c, id, vectors) })
}

type turning struct {
	g     *ir.Graph
	table *op.Table
	least int
	turns []bool // what is made of the transpose, or is a table made transposed
}

// holdsTable reports a node that turns and is a table, or has parts that may be tables.
func (s *turning) holdsTable(id ir.ID) bool { return len(s.g.Type(id).Parts()) > 1 || s.isTable(id) }

// isTable reports a node that turns into the transpose of its table. The others keep their values.
func (s *turning) isTable(id ir.ID) bool {
	n := &s.g.Nodes[id]
	if n.Op.Control == op.Part {
		return nodes.PipeFolds(s.table, &s.g.Nodes[s.g.In(id)[0]])[n.Attrs.Int("at")] == nil
	}
	return n.Op.Role == op.Maps || nodes.ElementwiseOperator(n)
}

// columnwise reports a node that turns if the tables that it reads do.
func (s *turning) columnwise(id ir.ID) bool {
	g, n, in := s.g, &s.g.Nodes[id], s.g.In(id)
	t, dear := g.Type(id), true
	switch {
	case nodes.Sent(g, id):
		return false
	case n.Op.Control == op.Part:
		return s.turns[in[0]]
	case n.Op.Role == op.Reduces:
		folds := nodes.PipeFolds(s.table, n)
		if slices.ContainsFunc(folds, func(d *op.Def) bool { return d != nil && d.Turned == "" }) {
			return false
		}
		t, dear = nodes.PipeSpace(n), folds[0] == nil || plan.ChainFlops(g, id) >= dearSums
	case n.Op.Role == op.Maps, nodes.ElementwiseOperator(n):
	case n.Op.Turned != "" && n.Region == nil && n.Attrs == nil:
		return s.turns[in[0]] && s.isTable(in[0])
	case n.Op.Role == op.Multiplies && n.Region == nil && n.Attrs.Bool("ta") && !n.Attrs.Bool("tb") && t.IsDense() && t.Cols <= nodes.FewProductCols:
		return s.turns[in[0]] && s.isTable(in[0]) && !s.turns[in[1]]
	default:
		return false
	}
	if !t.IsDense() || !t.Known() || t.Cols < leastOuter || t.Rows < manyByRows || t.Rows > longestOf(t.Cols) || t.Count() < s.least || n.Draws() || ir.MayFail(g, id) {
		return false
	}
	for k, m := range nodes.ModesOf(g, id, t) {
		if m == op.Trans || m == op.Full && !s.turns[in[k]] {
			return false
		}
		dear = dear || m == op.Full
	}
	return dear
}

// write adds node id, turned. vectors has the turned ones of those that it reads.
func (s *turning) write(c *nodes.Copying, id ir.ID, vectors map[ir.ID]ir.ID) {
	g, n, o := s.g, &s.g.Nodes[id], s.g.Origin(id)
	t, in, attrs, d := g.Type(id), c.In(id), n.Attrs, n.Op
	space, made := t, d.Role == op.Maps || d.Role == op.Reduces || nodes.ElementwiseOperator(n)
	switch {
	case d.Control == op.Part || d.Fold != op.NoFold:
		t = nodes.Transposed(t)
		if d.Control != op.Part {
			d = s.table.Must(d.Turned)
		}
	case d.Role == op.Multiplies:
		c.To[id] = c.G.Add(d, attrs.With("ta", op.Bool(false)), t, o, in...)
		return
	case d.Role == op.Reduces:
		space = nodes.PipeSpace(n)
		var names []string
		for _, f := range nodes.PipeFolds(s.table, n) {
			if f == nil {
				names = append(names, nodes.Stores)
			} else {
				names = append(names, f.Turned)
			}
		}
		attrs = attrs.With("fold", op.Str(strings.Join(names, " "))).With("rows", op.Int(space.Cols)).With("cols", op.Int(space.Rows))
		parts := t.Parts()
		for k := range parts {
			parts[k] = nodes.Transposed(parts[k])
		}
		t = nodes.TupleOf(parts)
	default:
		t = nodes.Transposed(t)
	}
	if made {
		modes := s.vectors(c, id, space, in, vectors)
		if n.Region != nil {
			attrs = attrs.With("modes", op.Ints(modes...))
		}
	}
	c.To[id] = c.G.Add(d, attrs, t, o, in...)
	c.G.Nodes[c.To[id]].Region = n.Region
	if !s.isTable(id) && len(t.Parts()) == 1 {
		c.To[id] = s.turned(c, id, c.To[id])
	}
}

// vectors replaces, in the operands in of node id, rows and columns by their transposes. It returns the
// modes of all operands in the turned space. The map vectors keeps the transposes that were added.
func (s *turning) vectors(c *nodes.Copying, id ir.ID, space types.Type, in []ir.ID, vectors map[ir.ID]ir.ID) (modes []int) {
	swapped := map[op.Mode]op.Mode{op.RowVec: op.ColVec, op.ColVec: op.RowVec}
	for k, m := range nodes.ModesOf(s.g, id, space) {
		to, vector := swapped[m]
		if !vector {
			modes = append(modes, int(m))
			continue
		}
		x := s.g.In(id)[k]
		y, is := vectors[x]
		switch {
		case is:
		case s.g.Nodes[x].Op.Shard.Kind == op.ShardTranspose:
			y = c.To[s.g.In(x)[0]]
		default:
			y = s.turned(c, id, in[k])
		}
		vectors[x], in[k], modes = y, y, append(modes, int(to))
	}
	return modes
}

// turned adds the transpose of the new node x, with the origin of node id.
func (s *turning) turned(c *nodes.Copying, id, x ir.ID) ir.ID {
	return c.G.Add(s.table.Must("t"), nil, nodes.Transposed(c.G.Type(x)), s.g.Origin(id), x)
}

// written reports a node that a loop over rows computes.
func (b *rowBlocks) written(id ir.ID) bool {
	n := &b.g.Nodes[id]
	if n.Region == nil {
		return n.Op.Body != nil || n.Op.Class != loop.NoClass || n.Op.Elements != nil
	}
	body := n.Region.Graph
	for i := range body.Nodes {
		if len(body.In(ir.ID(i))) > 0 && body.Nodes[i].Op.Body == nil {
			return false
		}
	}
	return !slices.ContainsFunc(nodes.PipeFolds(b.table, n), func(d *op.Def) bool { return d != nil && d.Class == loop.NoClass && d.Elements == nil })
}
