package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Partition that cuts reductions.

// reduce cuts a reduction. Its blocks hold whole rows or columns if its result has an element for
// each of these, unless ranks combine the states of columns (see scalarStates). c is where the
// result is cut. It returns false if the node stays whole.
func (p *partitioner) reduce(id ir.ID, n *ir.Node, t types.Type, c cutting) bool {
	in, of := p.old.In(id), n.Op
	space := p.old.Type(in[0])
	switch x := p.get(in[0]); n.Op.Shard.Kind {
	case op.ShardRows:
		c.cc = []int{0, space.Cols}
	case op.ShardCols:
		if c.rc = []int{0, space.Rows}; len(x.rc) > 2 && p.cuts.sizes.Loops && scalarStates(p.table, []*op.Def{n.Op}, space) {
			c.rc, of = x.rc, p.table.Must(n.Op.Shard.Partial)
		}
	default:
		for _, other := range in[1:] {
			if !sameShape(p.old.Type(other), space) { // blocks of inputs of two shapes (identical: false) do not correspond
				return false
			}
			if y := p.get(other); len(y.ids) > len(x.ids) {
				x = y
			}
		}
		if c, of = (cutting{x.rc, x.cc}), p.table.Must(n.Op.Shard.Partial); x.single() {
			return false
		}
	}
	at := p.operands(id, space, c, nil)
	p.result(id, n.Op, space, t, c, func(i, j int, b Block) ir.ID { return p.typed(of, n.Attrs, b, at(i, j, 0)...) })
	return true
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
