package pass

// This file is the part of Partition that cuts pipes: chains of elementwise operators that
// end with a reduction. Their index space is cut as that of a map would be; what a block
// makes is a partial result.

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// pipeSpace is the type of what a pipe reduces.
func pipeSpace(n *ir.Node) types.Type {
	y := n.Region.Graph.Type(n.Region.Yields[0])
	return types.DenseOf(y.Elem, n.Attrs.Int("rows"), n.Attrs.Int("cols"))
}

// pipe is where the index space of a pipe is cut: as an operand that lies like it, else by
// its shape; blocks of a reduction along an axis hold whole lines.
func (c *cuts) pipe(id ir.ID, table *op.Table) cutting {
	n := &c.g.Nodes[id]
	t := pipeSpace(n)
	if t.Rows == 0 || t.Cols == 0 {
		return cutting{[]int{0, t.Rows}, []int{0, t.Cols}}
	}
	out, found := cutting{}, false
	for k, x := range c.g.In(id) {
		w, ok := c.by[x]
		switch op.Mode(n.Attrs.Ints("modes")[k]) {
		case op.Full:
		case op.Trans:
			w = cutting{w.cc, w.rc}
		default:
			continue
		}
		if ok && !found {
			out, found = w, true
		}
	}
	fold := table.Must(n.Attrs.Str("fold")).Fold
	if !found && c.sizes.Whole { // its loop shares it out
		return cutting{[]int{0, t.Rows}, []int{0, t.Cols}}
	}
	if !found {
		c.at = id
		out = c.byShape(t, table)
		// Whole lines: as many as make a block, however long they are.
		switch {
		case out.single():
		case fold == op.FoldRows:
			out.rc = every(t.Rows, max(1, c.sizes.Block/t.Cols))
		case fold == op.FoldCols:
			out.cc = every(t.Cols, max(1, c.sizes.Block/t.Rows))
		}
	}
	switch fold {
	case op.FoldRows:
		out.cc = []int{0, t.Cols}
	case op.FoldCols:
		out.rc = []int{0, t.Rows}
	}
	return out
}

// pipe cuts a pipe.
func (p *partitioner) pipe(id ir.ID, n *ir.Node, t types.Type) error {
	c := p.cuts.pipe(id, p.table)
	if c.single() {
		ins := make([]ir.ID, 0, 8)
		for _, x := range p.old.In(id) {
			ins = append(ins, p.whole(x))
		}
		p.one[id] = p.g.CopyNode(p.old, id, ins...)
		p.block = append(p.block, Block{})
		return nil
	}
	space := pipeSpace(n)
	at := p.operands(id, n, space, c)
	fold := p.table.Must(n.Attrs.Str("fold"))
	name := fold.Name
	if fold.Fold == op.FoldAll {
		name = fold.Shard.Partial
	}
	part := p.table.Must(name)
	block := func(i, j int, b Block) (ir.ID, error) {
		s := types.DenseOf(space.Elem, c.rc[i+1]-c.rc[i], c.cc[j+1]-c.cc[j])
		out, err := part.Type(&op.Sig{Def: part, In: []types.Type{s}})
		if err != nil {
			return 0, err
		}
		attrs := n.Attrs.With("fold", op.Str(name)).With("rows", op.Int(s.Rows)).With("cols", op.Int(s.Cols))
		x := p.add(n.Op, attrs, out, b, at(i, j)...)
		p.g.Nodes[x].Region = n.Region
		return x, nil
	}
	if fold.Fold == op.FoldAll {
		return p.partials(id, fold, space, c, block)
	}
	rc, cc := []int{0, t.Rows}, []int{0, t.Cols}
	if fold.Fold == op.FoldRows {
		rc = c.rc
	} else {
		cc = c.cc
	}
	return p.blocks(id, t, cutting{rc, cc}, block)
}
