package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/plan"
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
func OuterRows(g *ir.Graph, table *op.Table, sizes Sizes) *ir.Graph {
	if g.Len() > mostByRows {
		return g
	}
	return rowBlocksOf(g, table, sizes, ofOuter)
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
		t = pipeSpace(n)
		ok = !slices.ContainsFunc(pipeFolds(b.table, n), func(d *op.Def) bool { return d != nil && !reduces(d) })
	case n.Op.Role == op.Maps, isElementwise(n):
		ok = true
	case reduces(n.Op) && n.Region == nil && n.Attrs == nil && len(in) == 1:
		t, ok = g.Type(in[0]), true
	case narrowProduct(n, t):
		t, ok = g.Type(in[len(in)-2]), true
	case n.Op.Role == op.Multiplies && n.Region == nil && !n.Attrs.Bool("ta") && t.Elem.IsFloat() && g.Type(in[0]).Cols <= fewProductCols:
		ok = true
	}
	ok = ok && t.IsDense() && t.Known() && t.Rows >= leastOuter && t.Cols >= manyByRows && t.Cols <= longestByRows &&
		b.readable(id) && b.written(id) && !ir.MayFail(g, id)
	return t.Rows, t.Cols, ok && !slices.ContainsFunc(in, func(x ir.ID) bool { return b.group[x] < 0 && b.stored(x) })
}

// stored reports a matrix of many rows and columns.
func (b *rowBlocks) stored(x ir.ID) bool {
	t := b.g.Type(x)
	return t.IsMatrix() && t.Rows > fewProductCols && t.Cols > fewProductCols
}

// madeIn reports whether a member of group at may read x: the group makes the matrices that it reads,
// and no column.
func (b *rowBlocks) madeIn(x ir.ID, at int32) bool { return !b.stored(x) || b.group[x] == at }

// slowAlong reports reductions of rows that take longer along a row than rows side by side: a place of
// an extreme, and a sum of elements that take many operations. Where lanes are rows, a sum is rounded
// if bounds of what it lost leave no doubt. Loops along rows need an exact one, which takes five times
// as long for numbers of very different sizes, as exponential functions give. Cheap elements are as
// fast along rows.
func (b *rowBlocks) slowAlong(x ir.ID) bool {
	n := &b.g.Nodes[x]
	return n.Op.Role == op.Reduces && slices.ContainsFunc(pipeFolds(b.table, n), func(d *op.Def) bool {
		return d != nil && (d.Elements != nil || (d.Class == loop.Sum || d.Class == loop.Mean) && plan.ChainFlops(b.g, x) >= dearSums)
	})
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
	return changed(g, func(id ir.ID) bool {
		in, role := g.In(id), g.Nodes[id].Op.Role
		return b.group[id] >= 0 && b.all[b.group[id]].chosen && (role == op.Multiplies || role == op.MultipliesOnto) &&
			g.Type(in[len(in)-1]).Rows > fewProductCols
	}, func(c *copying, id ir.ID) {
		n, in := &g.Nodes[id], c.in(id)
		last := len(in) - 1
		in[last] = c.g.Add(b.table.Must("t"), nil, transposed(c.g.Type(in[last])), g.Origin(id), in[last])
		c.to[id] = c.g.Add(n.Op, n.Attrs.With("tb", op.Bool(!n.Attrs.Bool("tb"))), g.Type(id), g.Origin(id), in...)
	})
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
	return !slices.ContainsFunc(pipeFolds(b.table, n), func(d *op.Def) bool { return d != nil && d.Class == loop.NoClass && d.Elements == nil })
}
