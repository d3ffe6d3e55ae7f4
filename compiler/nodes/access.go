package nodes

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file describes how operators read their operands, axis by axis. The cuts of a result follow from
// those of its operands (Cutting). The parts of the operands that a block reads follow from the cuts of
// the result.
//
//	map       a[ByRow, ByCol]  column[ByRow, -]  row[-, ByCol]  transposed[ByCol, ByRow]
//	rowsum    a[ByRow, ByCol] of its index space        diag   a[ByRow, ByRow]
//	matmul    a[ByRow, ByTerm]  b[ByTerm, ByCol]

// Axis says what the rows or the columns of an operand follow in an index space: its rows, its columns
// or the terms of its sums. Each block reads an axis that is Apart as a whole.
type Axis int8

const (
	Apart Axis = iota
	ByRow
	ByCol
	ByTerm
)

// Access says what the rows and the columns of an operand follow, in this order.
type Access [2]Axis

// Full reports whether the operand has an element for each point of the index space.
func (a Access) Full() bool { return a[0]+a[1] == ByRow+ByCol && a[0] != Apart && a[1] != Apart }

// Onto returns the cutting c of an index space with the cuts w of an operand that is read as a says. An
// axis that the operand does not follow keeps its cuts.
func (a Access) Onto(c, w Cutting) Cutting {
	for k, cut := range [2][]int{w.RC, w.CC} {
		switch a[k] {
		case ByRow:
			c.RC = cut
		case ByCol:
			c.CC = cut
		}
	}
	return c
}

// ofMode has the access of an operand of a chain, by its mode.
var ofMode = [...]Access{op.Full: {ByRow, ByCol}, op.Trans: {ByCol, ByRow}, op.RowVec: {Apart, ByCol}, op.ColVec: {ByRow, Apart}, op.Single: {}}

// Accesses returns how node id reads each of its operands. t is the type of its result, or of the index
// space of a reduction.
func Accesses(g *ir.Graph, id ir.ID, t types.Type) []Access {
	n := &g.Nodes[id]
	out := make([]Access, len(g.In(id)))
	switch kind := n.Op.Shard.Kind; {
	case kind == op.ShardTranspose:
		out[0] = Access{ByCol, ByRow}
	case kind == op.ShardDiagonal:
		out[0] = Access{ByRow, ByRow}
	case kind == op.ShardContract:
		out[0] = Access{ByRow, ByCol} // what it adds to
		a, b := &out[len(out)-2], &out[len(out)-1]
		if *a = (Access{ByRow, ByTerm}); n.Attrs.Bool("ta") {
			*a = Access{ByTerm, ByRow}
		}
		if *b = (Access{ByTerm, ByCol}); n.Attrs.Bool("tb") {
			*b = Access{ByCol, ByTerm}
		}
	default:
		for k, m := range ModesOf(g, id, t) {
			out[k] = ofMode[m]
		}
	}
	return out
}

// ModesOf returns how node id, a chain or an elementwise operator over a space of type t, reads its
// operands.
func ModesOf(g *ir.Graph, id ir.ID, t types.Type) []op.Mode {
	out := make([]op.Mode, len(g.In(id)))
	for k, x := range g.In(id) {
		if n := &g.Nodes[id]; n.Region != nil {
			out[k] = op.Mode(n.Attrs.Ints("modes")[k])
		} else {
			out[k] = ModeOf(g.Type(x), t)
		}
	}
	return out
}

// ModeOf returns how an elementwise operator with a result of type t reads an operand of type x.
func ModeOf(x, t types.Type) op.Mode {
	switch {
	case !x.IsMatrix() || x.Rows == 1 && x.Cols == 1 && (t.Rows != 1 || t.Cols != 1):
		return op.Single
	case x.Rows == t.Rows && x.Cols == t.Cols:
		return op.Full
	case x.Rows == 1:
		return op.RowVec
	}
	return op.ColVec
}
