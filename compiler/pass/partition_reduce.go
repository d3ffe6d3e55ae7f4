package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Partition that cuts reductions.

// reduce cuts a reduction of a whole matrix: partials of blocks, combined over each row of blocks,
// then over all, then finished.
func (p *partitioner) reduce(id ir.ID, n *ir.Node) {
	in := p.old.In(id)
	x := p.get(in[0])
	alike := true // with inputs of two shapes (identical: false) blocks do not correspond
	for _, other := range in[1:] {
		alike = alike && sameShape(p.old.Type(other), p.old.Type(in[0]))
		if y := p.get(other); len(y.ids) > len(x.ids) {
			x = y
		}
	}
	if x.single() || !alike {
		p.uncut(id)
		return
	}
	args := make([]*parts, len(in))
	for k, y := range in {
		args[k] = p.recut(y, x.rc, x.cc)
	}
	partial := p.table.Must(n.Op.Shard.Partial)
	p.partials(id, n.Op, p.old.Type(in[0]), cutting{x.rc, x.cc}, func(i, j int, b Block) ir.ID {
		ins := make([]ir.ID, len(args))
		for k := range args {
			ins[k] = args[k].at(i, j)
		}
		return p.typed(partial, n.Attrs, b, ins...)
	})
}

// partials returns the result of a reduction d of a value of type t with cuts c from the partial
// results of its blocks: combined over each row of blocks, then over all, then finished.
func (p *partitioner) partials(id ir.ID, d *op.Def, t types.Type, c cutting, f func(i, j int, b Block) ir.ID) {
	rows, cols := len(c.rc)-1, len(c.cc)-1
	p.one[id] = p.finished(d, op.Int(t.Count()), t.Elem, Block{}, rows, func(i int) ir.ID {
		return p.combined(d, Block{int32(i), 0, int32(rows), int32(cols)}, cols, func(j int) ir.ID {
			return f(i, j, Block{int32(i), int32(j), int32(rows), int32(cols)})
		})
	})
}

// finished returns the result of the reduction d of n elements of type elem from count partial results, of
// which f makes number i. b is the block of the result.
func (p *partitioner) finished(d *op.Def, n op.Val, elem types.Elem, b Block, count int, f func(i int) ir.ID) ir.ID {
	sum := p.combined(d, b, count, f)
	if d.Shard.Finish == "" {
		return sum
	}
	// The accumulator does not hold the divisor of a mean: it is an attribute.
	attrs := op.MakeAttrs(op.Attr{Name: "n", Val: n}, op.Attr{Name: "elem", Val: op.Str(elem.String())})
	return p.typed(p.table.Must(d.Shard.Finish), attrs, b, sum)
}

// combined joins count partial results into one. f makes partial result i. A single one needs no join.
func (p *partitioner) combined(d *op.Def, b Block, count int, f func(i int) ir.ID) ir.ID {
	parts := make([]ir.ID, count)
	for i := range parts {
		parts[i] = f(i)
	}
	if count == 1 {
		return parts[0]
	}
	return p.typed(p.table.Must(d.Shard.Combine), nil, b, parts...)
}

// columns makes node id, the reduction d of each column of a value of type of with cuts c, from the states of
// its blocks: f makes that of block (i, j). The result has type t and the column cuts of c.
func (p *partitioner) columns(id ir.ID, d *op.Def, of, t types.Type, c cutting, f func(i, j int, b Block) ir.ID) {
	rows := len(c.rc) - 1
	p.blocks(id, cutting{[]int{0, t.Rows}, c.cc}, func(_, j int, b Block) ir.ID {
		return p.finished(d, op.Int(of.Rows), of.Elem, b, rows, func(i int) ir.ID {
			return f(i, j, Block{int32(i), int32(j), int32(rows), b.Cols})
		})
	})
}

// along cuts a reduction of each row (or column). Its blocks hold whole rows (columns), unless ranks
// combine the states of columns (see scalarStates).
func (p *partitioner) along(id ir.ID, n *ir.Node, c cutting) {
	in := p.old.In(id)
	xt := p.old.Type(in[0])
	rc, cc := c.rc, []int{0, xt.Cols}
	if n.Op.Shard.Kind == op.ShardCols {
		rc, cc = []int{0, xt.Rows}, c.cc
		if x := p.get(in[0]); len(x.rc) > 2 && p.cuts.sizes.Loops && scalarStates(p.table, []*op.Def{n.Op}, xt) {
			x = p.recut(in[0], x.rc, cc)
			p.columns(id, n.Op, xt, p.old.Type(id), cutting{x.rc, cc}, func(i, j int, b Block) ir.ID {
				return p.typed(p.table.Must(n.Op.Shard.Partial), n.Attrs, b, x.at(i, j))
			})
			return
		}
	}
	args := make([]*parts, len(in))
	for k, y := range in {
		args[k] = p.recut(y, rc, cc)
	}
	p.blocks(id, c, func(i, j int, b Block) ir.ID {
		ins := make([]ir.ID, len(args))
		for k := range args {
			ins[k] = args[k].ids[i+j]
		}
		return p.typed(n.Op, n.Attrs, b, ins...)
	})
}
