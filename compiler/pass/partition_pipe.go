package pass

// This file is the part of Partition that cuts reductions and pipes (map-reduces). The index space of
// a pipe is cut like that of a map. Each block gives a partial result.

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// axisOf returns the range of the folds: an axis if one of them has one.
func axisOf(folds []*op.Def) op.Fold {
	for _, d := range folds {
		if d != nil && d.Fold != op.FoldAll {
			return d.Fold
		}
	}
	return op.FoldAll
}

// resultCut returns where a result of type t of a pipe with index-space cuts w is cut: a result
// along an axis as its blocks, a scalar nowhere. d is nil for the elements.
func resultCut(w nodes.Cutting, d *op.Def, t types.Type) (nodes.Cutting, bool) {
	if d == nil {
		return w, !w.Single()
	}
	switch d.Fold {
	case op.FoldRows:
		return nodes.Cutting{RC: w.RC, CC: []int{0, t.Cols}}, len(w.RC) > 2
	case op.FoldCols:
		return nodes.Cutting{RC: []int{0, t.Rows}, CC: w.CC}, len(w.CC) > 2
	}
	return nodes.Cutting{}, false
}

// pipe returns the cuts of a pipe's index space: as readers of its elements prefer, as an aligned
// operand, else by its shape. Blocks of a reduction along an axis hold whole lines, unless ranks
// combine the states of columns (see scalarStates).
func (c *cuts) pipe(id ir.ID, table *op.Table) nodes.Cutting {
	n := &c.g.Nodes[id]
	t := nodes.PipeSpace(n)
	// A block does not know the places of its elements in the whole matrix.
	places := slices.ContainsFunc(nodes.PipeFolds(table, n), func(d *op.Def) bool { return d != nil && d.Places })
	if t.Rows == 0 || t.Cols == 0 || places {
		return nodes.Cutting{RC: []int{0, t.Rows}, CC: []int{0, t.Cols}}
	}
	axis := axisOf(nodes.PipeFolds(table, n))
	out, found := c.preferred[id]
	if found && axis == op.FoldCols && c.g.Type(id).IsDense() { // the cuts of its result, which is one row
		out.RC = []int{0, t.Rows}
	}
	if !found {
		out, found = c.follows(id, t)
	}
	if !found && (c.sizes.Whole || c.readsWhole(id)) && !c.tiled[id] { // its loop shares it out
		return nodes.Cutting{RC: []int{0, t.Rows}, CC: []int{0, t.Cols}}
	}
	if !found {
		c.at = id
		out = c.byShape(t, table)
		// Whole lines: as many as make a block, however long they are.
		switch {
		case out.Single():
		case axis == op.FoldRows:
			out.RC = every(t.Rows, max(1, c.sizes.Block/t.Cols))
		case axis == op.FoldCols:
			out.CC = every(t.Cols, max(1, c.sizes.Block/t.Rows))
		}
	}
	switch {
	case axis == op.FoldRows:
		out.CC = []int{0, t.Cols}
	case axis == op.FoldCols && !(found && c.sizes.Loops && scalarStates(table, nodes.PipeFolds(table, n), t)):
		out.RC = []int{0, t.Rows}
	}
	return out
}

// scalarStates reports whether all folds reduce columns of a value of type t to states of one number
// each, as extremes and counts do. Ranks then reduce the blocks that they have, and none gets all of
// the value. The state of a sum has 69 words: it is larger than a short column, and takes twice the
// time of the sum to make.
func scalarStates(table *op.Table, folds []*op.Def, t types.Type) bool {
	return !slices.ContainsFunc(folds, func(d *op.Def) bool {
		return d == nil || d.Fold != op.FoldCols || d.Shard.Partial == "" || nodes.TypeOf(table.Must(d.Shard.Partial), nil, t).Cols != 1
	})
}

// readsWhole reports whether a pipe reads a matrix of its shape that is not cut.
func (c *cuts) readsWhole(id ir.ID) bool {
	for k, mode := range c.g.Nodes[id].Attrs.Ints("modes") {
		if op.Mode(mode) == op.Full && c.whole != nil && c.whole[c.g.In(id)[k]] && c.sizes.Loops {
			return true
		}
	}
	return false
}

// pipe cuts a pipe.
func (p *partitioner) pipe(id ir.ID, n *ir.Node, t types.Type) {
	c := p.cuts.pipe(id, p.table)
	if c.Single() {
		p.uncut(id)
		return
	}
	folds := nodes.PipeFolds(p.table, n)
	made := p.pipeBlocks(id, n, folds, c)
	if t.Kind == types.Tuple {
		p.several[id] = made
		return
	}
	p.result(id, folds[0], nodes.PipeSpace(n), t, c, func(i, j int, b nodes.Block) ir.ID { return made.at(i, j) })
}

// pipeBlocks makes the pipes of the blocks of an index space with cuts c. Reductions of all
// elements give partial results.
func (p *partitioner) pipeBlocks(id ir.ID, n *ir.Node, folds []*op.Def, c nodes.Cutting) *parts {
	space := nodes.PipeSpace(n)
	at, draws := p.operands(id, space, c, nil), n.Draws()
	return p.each(c, func(i, j int, b nodes.Block) ir.ID {
		s := types.DenseOf(space.Elem, c.RC[i+1]-c.RC[i], c.CC[j+1]-c.CC[j])
		names, t := nodes.FoldedParts(p.table, folds, s, func(d *op.Def) bool { return d.Fold == op.FoldAll || d.Fold == op.FoldCols && len(c.RC) > 2 })
		a := n.Attrs.With("fold", op.Str(names)).With("rows", op.Int(s.Rows)).With("cols", op.Int(s.Cols))
		if draws {
			a = a.With("origin", op.Ints(c.RC[i], c.CC[j]))
		}
		x := p.add(n.Op, a, t, b, at(i, j, 0)...)
		p.g.Nodes[x].Region = n.Region
		return x
	})
}

// result assembles a result of type t of a pipe or of a reduction: that of the reduction d, or its
// elements, of type space, if d is nil. f returns a block's contribution.
func (p *partitioner) result(id ir.ID, d *op.Def, space, t types.Type, c nodes.Cutting, f func(i, j int, b nodes.Block) ir.ID) {
	switch {
	case d == nil:
		p.blocks(id, c, f)
	case d.Shard.Kind == op.ShardRows:
		p.blocks(id, nodes.Cutting{RC: c.RC, CC: []int{0, t.Cols}}, f)
	case d.Shard.Kind != op.ShardCols:
		p.partials(id, d, space, c, f)
	case len(c.RC) > 2:
		p.columns(id, d, space, t, c, f)
	default:
		p.blocks(id, nodes.Cutting{RC: []int{0, t.Rows}, CC: c.CC}, f)
	}
}

// part makes a result of a pipe with several.
func (p *partitioner) part(id ir.ID, n *ir.Node, t types.Type) {
	from := p.old.In(id)[0]
	made := p.several[from]
	pipe := &p.old.Nodes[from]
	d := nodes.PipeFolds(p.table, pipe)[n.Attrs.Int("at")]
	p.result(id, d, nodes.PipeSpace(pipe), t, nodes.Cutting{RC: made.rc, CC: made.cc}, func(i, j int, b nodes.Block) ir.ID {
		return p.typed(n.Op, n.Attrs, b, made.at(i, j))
	})
}

// reduce cuts a reduction. Its blocks hold whole rows or columns if its result has an element for
// each of these, unless ranks combine the states of columns (see scalarStates). c is where the
// result is cut. It returns false if the node stays whole.
func (p *partitioner) reduce(id ir.ID, n *ir.Node, t types.Type, c nodes.Cutting) bool {
	in, of := p.old.In(id), n.Op
	space := p.old.Type(in[0])
	switch x := p.get(in[0]); n.Op.Shard.Kind {
	case op.ShardRows:
		c.CC = []int{0, space.Cols}
	case op.ShardCols:
		if c.RC = []int{0, space.Rows}; len(x.rc) > 2 && p.cuts.sizes.Loops && scalarStates(p.table, []*op.Def{n.Op}, space) {
			c.RC, of = x.rc, p.table.Must(n.Op.Shard.Partial)
		}
	default:
		for _, other := range in[1:] {
			if !nodes.SameShape(p.old.Type(other), space) { // blocks of inputs of two shapes (identical: false) do not correspond
				return false
			}
			if y := p.get(other); len(y.ids) > len(x.ids) {
				x = y
			}
		}
		if c, of = (nodes.Cutting{RC: x.rc, CC: x.cc}), p.table.Must(n.Op.Shard.Partial); x.single() {
			return false
		}
	}
	at := p.operands(id, space, c, nil)
	p.result(id, n.Op, space, t, c, func(i, j int, b nodes.Block) ir.ID { return p.typed(of, n.Attrs, b, at(i, j, 0)...) })
	return true
}

// partials returns the result of a reduction d of a value of type t with cuts c from the partial
// results of its blocks: combined over each row of blocks, then over all, then finished.
func (p *partitioner) partials(id ir.ID, d *op.Def, t types.Type, c nodes.Cutting, f func(i, j int, b nodes.Block) ir.ID) {
	rows, cols := len(c.RC)-1, len(c.CC)-1
	p.one[id] = p.finished(d, op.Int(t.Count()), t.Elem, nodes.Block{}, rows, func(i int) ir.ID {
		return p.combined(d, nodes.Block{Row: int32(i), Col: 0, Rows: int32(rows), Cols: int32(cols)}, cols, func(j int) ir.ID {
			return f(i, j, nodes.Block{Row: int32(i), Col: int32(j), Rows: int32(rows), Cols: int32(cols)})
		})
	})
}

// finished returns the result of the reduction d of n elements of type elem from count partial
// results. f makes partial result i. b is the block of the result.
func (p *partitioner) finished(d *op.Def, n op.Val, elem types.Elem, b nodes.Block, count int, f func(i int) ir.ID) ir.ID {
	sum := p.combined(d, b, count, f)
	if d.Shard.Finish == "" {
		return sum
	}
	// The accumulator does not hold the divisor of a mean: it is an attribute.
	attrs := op.MakeAttrs(op.Attr{Name: "n", Val: n}, op.Attr{Name: "elem", Val: op.Str(elem.String())})
	return p.typed(p.table.Must(d.Shard.Finish), attrs, b, sum)
}

// combined joins count partial results into one. f makes partial result i. A single one needs no join.
func (p *partitioner) combined(d *op.Def, b nodes.Block, count int, f func(i int) ir.ID) ir.ID {
	parts := make([]ir.ID, count)
	for i := range parts {
		parts[i] = f(i)
	}
	if count == 1 {
		return parts[0]
	}
	return p.typed(p.table.Must(d.Shard.Combine), nil, b, parts...)
}

// columns makes node id, the reduction d of each column of a value of type of with cuts c, from the
// states of its blocks: f makes that of block (i, j). The result has type t and the column cuts of c.
func (p *partitioner) columns(id ir.ID, d *op.Def, of, t types.Type, c nodes.Cutting, f func(i, j int, b nodes.Block) ir.ID) {
	rows := len(c.RC) - 1
	p.blocks(id, nodes.Cutting{RC: []int{0, t.Rows}, CC: c.CC}, func(_, j int, b nodes.Block) ir.ID {
		return p.finished(d, op.Int(of.Rows), of.Elem, b, rows, func(i int) ir.ID {
			return f(i, j, nodes.Block{Row: int32(i), Col: int32(j), Rows: int32(rows), Cols: b.Cols})
		})
	})
}

// contract cuts a product into one chain of block products a block of the result. The summed
// dimension is cut where the factor with the most cuts is. It returns false if the node stays
// whole.
func (p *partitioner) contract(id ir.ID, n *ir.Node, t types.Type, c nodes.Cutting) bool {
	var terms []int
	of := nodes.Accesses(p.old, id, t)
	for k, x := range p.old.In(id) {
		w := p.get(x)
		for d, cut := range [2][]int{w.rc, w.cc} {
			if of[k][d] == nodes.ByTerm && len(cut) > len(terms) {
				terms = cut
			}
		}
	}
	if c.Single() && len(terms) == 2 {
		return false
	}
	at := p.operands(id, t, c, terms)
	p.blocks(id, c, func(i, j int, b nodes.Block) ir.ID {
		out := types.DenseOf(t.Elem, c.RC[i+1]-c.RC[i], c.CC[j+1]-c.CC[j])
		args := at(i, j, 0)
		sum := p.add(n.Op, n.Attrs, out, b, args...)
		for k := 1; k < len(terms)-1; k++ {
			args = at(i, j, k)
			sum = p.add(p.table.Must(n.Op.Shard.Accum), n.Attrs, out, b, append([]ir.ID{sum}, args[len(args)-2:]...)...)
		}
		return sum
	})
	return true
}

// operands cuts the operands of node id over an index space of type t with cuts c. The terms of its
// sums are cut at terms. It returns the operands of a block.
func (p *partitioner) operands(id ir.ID, t types.Type, c nodes.Cutting, terms []int) func(i, j, term int) []ir.ID {
	in, of := p.old.In(id), nodes.Accesses(p.old, id, t)
	args := make([]*parts, len(in))
	for k, x := range in {
		xt := p.old.Type(x)
		cuts := [2][]int{{0, xt.Rows}, {0, xt.Cols}}
		for d, by := range of[k] {
			if by != nodes.Apart {
				cuts[d] = [...][]int{nodes.ByRow: c.RC, nodes.ByCol: c.CC, nodes.ByTerm: terms}[by]
			}
		}
		args[k] = p.recut(x, cuts[0], cuts[1])
	}
	return func(i, j, term int) []ir.ID {
		at := [...]int{nodes.ByRow: i, nodes.ByCol: j, nodes.ByTerm: term}
		ins := make([]ir.ID, len(in))
		for k, x := range args {
			ins[k] = x.at(at[of[k][0]], at[of[k][1]])
		}
		return ins
	}
}
