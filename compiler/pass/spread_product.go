package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// This file spreads products with more columns than rows: ranks share the columns, which are the rows
// of the transpose.
//
//	%2 = matmul(%0, %1) {ta} : f64[8,600]   ->   %2 = matmul(%1, %0) {ta, ranks=3, shared=600} : f64[600,8]
//	                                             %3 = gather(%2);  %4 = t(%3) : f64[8,600]
//
// Bits stay, since fma(a, b, c) is fma(b, a, c). The sums are chains over all rows of the operands, so
// a rank needs these whole.

// wide reports a product of floats of which ranks are to share the columns.
func (s *spreader) wide(g *ir.Graph, id ir.ID) bool {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	if n.Op.Role != op.Multiplies || len(in) != 2 || !n.Attrs.Bool("ta") || n.Attrs.Bool("tb") || !dividable(t) || !t.Elem.IsFloat() {
		return false
	}
	return dividable(g.Type(in[0])) && dividable(g.Type(in[1])) && t.Rows < t.Cols && t.Cols >= s.ranks
}

// wideReads is shared of a wide product.
func (s *spreader) wideReads(g *ir.Graph, id ir.ID) (reads []rowReads, ok bool) {
	return []rowReads{{whole: true}, {whole: true}}, g.Nodes[id].Op.Cost(sigOf(g, id), g.Type(id)).Flops/productSteps >= gatherSpreads*float64(s.from)
}

// turned makes the new nodes of a wide product.
func (x *spreadGraph) turned(id ir.ID, reads []rowReads) {
	in := x.old.In(id)
	a, b := x.reach(in[0], reads[0]), x.reach(in[1], reads[1])
	t := x.old.Type(id)
	t.Rows, t.Cols = t.Cols, t.Rows
	attrs := x.sharing(op.MakeAttrs(op.Attr{Name: "ta", Val: op.Bool(true)}), t.Rows, x.unit[t.Rows])
	made := x.g.Add(x.old.Nodes[id].Op, attrs, t, x.old.Origin(id).NoDest(), b, a)
	x.shares++
	x.saved += x.spared(workOf(x.old, id))
	var all *op.Attrs
	if unit := x.unit[t.Rows]; unit > 1 {
		all = op.MakeAttrs(op.Attr{Name: plan.Unit, Val: op.Int(unit)})
	}
	x.to[id] = x.typed(id, x.table.Must("t"), nil, x.g.Add(x.table.Must("gather"), all, t, x.old.Origin(id).NoDest(), made))
}
