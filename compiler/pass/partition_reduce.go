package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Partition that cuts reductions.

// reduce cuts a reduction of a whole matrix: partials of blocks, combined over each row of blocks,
// then over all, then finished.
func (p *partitioner) reduce(id ir.ID, n *ir.Node) error {
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
		return nil
	}
	args := make([]*parts, len(in))
	for k, y := range in {
		args[k] = p.recut(y, x.rc, x.cc)
	}
	partial := p.table.Must(n.Op.Shard.Partial)
	return p.partials(id, n.Op, p.old.Type(in[0]), cutting{x.rc, x.cc}, func(i, j int, b Block) (ir.ID, error) {
		ins := make([]ir.ID, len(args))
		for k := range args {
			ins[k] = args[k].at(i, j)
		}
		return p.typed(partial, n.Attrs, b, ins...)
	})
}

// partials returns the result of a reduction d of a value of type t with cuts c from the partial
// results of its blocks: combined over each row of blocks, then over all, then finished.
func (p *partitioner) partials(id ir.ID, d *op.Def, t types.Type, c cutting, f func(i, j int, b Block) (ir.ID, error)) error {
	combine := p.table.Must(d.Shard.Combine)
	rows, cols := len(c.rc)-1, len(c.cc)-1
	var perRow []ir.ID
	for i := range rows {
		var row []ir.ID
		for j := range cols {
			part, err := f(i, j, Block{int32(i), int32(j), int32(rows), int32(cols)})
			if err != nil {
				return err
			}
			row = append(row, part)
		}
		sum := row[0]
		if len(row) > 1 {
			var err error
			if sum, err = p.typed(combine, nil, Block{int32(i), 0, int32(rows), int32(cols)}, row...); err != nil {
				return err
			}
		}
		perRow = append(perRow, sum)
	}
	sum := perRow[0]
	var err error
	if len(perRow) > 1 {
		if sum, err = p.typed(combine, nil, Block{}, perRow...); err != nil {
			return err
		}
	}
	if d.Shard.Finish != "" {
		// The accumulator does not hold the divisor of a mean: it is an attribute.
		attrs := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(t.Count())}, op.Attr{Name: "elem", Val: op.Str(t.Elem.String())})
		if sum, err = p.typed(p.table.Must(d.Shard.Finish), attrs, Block{}, sum); err != nil {
			return err
		}
	}
	p.one[id] = sum
	return nil
}

// along cuts a reduction of each row (or column): its blocks hold whole rows.
func (p *partitioner) along(id ir.ID, n *ir.Node, c cutting) error {
	in := p.old.In(id)
	xt := p.old.Type(in[0])
	rc, cc := c.rc, []int{0, xt.Cols}
	if n.Op.Shard.Kind == op.ShardCols {
		rc, cc = []int{0, xt.Rows}, c.cc
	}
	args := make([]*parts, len(in))
	for k, y := range in {
		args[k] = p.recut(y, rc, cc)
	}
	return p.blocks(id, p.old.Type(id), c, func(i, j int, b Block) (ir.ID, error) {
		ins := make([]ir.ID, len(args))
		for k := range args {
			ins[k] = args[k].ids[i+j]
		}
		return p.typed(n.Op, n.Attrs, b, ins...)
	})
}
