package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file says how operators read their operands, axis by axis, and cuts operands by it. Where a
// result is cut follows from where its operands are (cutting), and what a block reads of them from
// where the result is.
//
//	map       a[byRow, byCol]  column[byRow, -]  row[-, byCol]  transposed[byCol, byRow]
//	rowsum    a[byRow, byCol] of its index space        diag   a[byRow, byRow]
//	matmul    a[byRow, byTerm]  b[byTerm, byCol]

// axis says what an axis of an operand follows: the rows or columns of an index space, or the terms
// of its sums. Each block reads all of an axis that follows none.
type axis int8

const (
	apart axis = iota
	byRow
	byCol
	byTerm
)

// access is what the rows and the columns of an operand follow.
type access [2]axis

// full reports an operand with an element for each point of the index space.
func (a access) full() bool { return a[0]+a[1] == byRow+byCol && a[0] != apart && a[1] != apart }

// ofMode is what an operand of a chain follows.
var ofMode = [...]access{op.Full: {byRow, byCol}, op.Trans: {byCol, byRow}, op.RowVec: {apart, byCol}, op.ColVec: {byRow, apart}, op.Single: {}}

// accesses says how node id reads its operands. t is the type of its result, or that of the index
// space of a reduction.
func accesses(g *ir.Graph, id ir.ID, t types.Type) []access {
	n := &g.Nodes[id]
	out := make([]access, len(g.In(id)))
	switch kind := n.Op.Shard.Kind; {
	case kind == op.ShardTranspose:
		out[0] = access{byCol, byRow}
	case kind == op.ShardDiagonal:
		out[0] = access{byRow, byRow}
	case kind == op.ShardContract:
		out[0] = access{byRow, byCol} // what it adds to
		a, b := &out[len(out)-2], &out[len(out)-1]
		if *a = (access{byRow, byTerm}); n.Attrs.Bool("ta") {
			*a = access{byTerm, byRow}
		}
		if *b = (access{byTerm, byCol}); n.Attrs.Bool("tb") {
			*b = access{byCol, byTerm}
		}
	default:
		for k, m := range modesOf(g, id, t) {
			out[k] = ofMode[m]
		}
	}
	return out
}

// onto returns c, where an index space is cut, with the cuts w of an operand that is read so.
func (a access) onto(c, w cutting) cutting {
	for k, cut := range [2][]int{w.rc, w.cc} {
		switch a[k] {
		case byRow:
			c.rc = cut
		case byCol:
			c.cc = cut
		}
	}
	return c
}

// contract cuts a product into one chain of block products a block of the result. The summed
// dimension is cut where the factor with the most cuts is. It returns false if the node stays
// whole.
func (p *partitioner) contract(id ir.ID, n *ir.Node, t types.Type, c cutting) bool {
	var terms []int
	of := accesses(p.old, id, t)
	for k, x := range p.old.In(id) {
		w := p.get(x)
		for d, cut := range [2][]int{w.rc, w.cc} {
			if of[k][d] == byTerm && len(cut) > len(terms) {
				terms = cut
			}
		}
	}
	if c.single() && len(terms) == 2 {
		return false
	}
	at := p.operands(id, t, c, terms)
	p.blocks(id, c, func(i, j int, b Block) ir.ID {
		out := types.DenseOf(t.Elem, c.rc[i+1]-c.rc[i], c.cc[j+1]-c.cc[j])
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
func (p *partitioner) operands(id ir.ID, t types.Type, c cutting, terms []int) func(i, j, term int) []ir.ID {
	in, of := p.old.In(id), accesses(p.old, id, t)
	args := make([]*parts, len(in))
	for k, x := range in {
		xt := p.old.Type(x)
		cuts := [2][]int{{0, xt.Rows}, {0, xt.Cols}}
		for d, by := range of[k] {
			if by != apart {
				cuts[d] = [...][]int{byRow: c.rc, byCol: c.cc, byTerm: terms}[by]
			}
		}
		args[k] = p.recut(x, cuts[0], cuts[1])
	}
	return func(i, j, term int) []ir.ID {
		at := [...]int{byRow: i, byCol: j, byTerm: term}
		ins := make([]ir.ID, len(in))
		for k, x := range args {
			ins[k] = x.at(at[of[k][0]], at[of[k][1]])
		}
		return ins
	}
}
