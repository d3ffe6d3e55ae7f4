package plan

import (
	"flow/ir"
	"flow/ir/op"
)

// This file says which values of a plan share memory. The engine allocates by it, and the prediction
// of memory follows it.

// MayView reports whether the result of node id should be a view of its first input instead of a copy.
// A view keeps the whole memory of its input alive. A small part is therefore copied.
func MayView(g *ir.Graph, id ir.ID) bool {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Look == nil || !t.Sized() || g.Asks(id) || n.Op.RowSpan != nil && n.Attrs.Int(Shared) > 0 { // other rows are sent
		return false
	}
	if len(g.In(id)) == 0 { // a view of memory that is not the engine's and stays
		return true
	}
	x := g.In(id)[0]
	for len(g.In(x)) > 0 && MayView(g, x) {
		x = g.In(x)[0]
	}
	from := g.Type(x)
	return from.Sized() && t.Bytes() > 0 && 4*t.Bytes() >= from.Bytes()
}

// TakesOver reports whether a result of node id may be made in the memory of input j, if the node is the last
// reader of j and both have one type. A transposed operand of a square map is read elsewhere than written, so
// its memory is not taken. Neither are operands that tell which element has no value.
func TakesOver(g *ir.Graph, id ir.ID, j int) bool {
	n := &g.Nodes[id]
	if a := n.Op.Accum; a > 0 {
		return j == a-1
	}
	if !n.Op.Alias {
		return false
	}
	if n.Region == nil {
		return !fails(g, id)
	}
	for k := range n.Region.Graph.Nodes {
		if fails(n.Region.Graph, ir.ID(k)) {
			return false
		}
	}
	modes := n.Attrs.Ints("held")
	if modes == nil {
		modes = n.Attrs.Ints("modes")
	}
	return modes == nil || op.Mode(modes[j]) == op.Full
}

// TakesColumn reports whether input k of a map or an elementwise node id may be a view of a column of x while
// the result takes the memory of x. The kernel copies the rows of such a column before it writes them.
func TakesColumn(g *ir.Graph, id ir.ID, k int, x ir.ID) bool {
	n, y := &g.Nodes[id], g.In(id)[k]
	from, t := g.Type(x), g.Type(y)
	return n.Op.Alias && (n.Op.Role == op.Maps || n.Op.Laws.Has(op.Elementwise)) && len(g.In(y)) > 0 &&
		g.Nodes[y].Op.Look != nil && g.Nodes[y].Op.Laws.Has(op.View) && !g.Asks(y) &&
		from.IsDense() && t.IsDense() && from.Known() && t.Cols == 1 && from.Cols > 1 && t.Rows == from.Rows
}

// fails reports an elementwise operator that has no value for some operands.
func fails(g *ir.Graph, id ir.ID) bool {
	in := g.In(id)
	return len(in) > 0 && g.Nodes[id].Op.Fails(g.Type(in[0]).Elem, g.Type(id).Elem)
}
