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

// TakesOver reports whether a result of n may be made in the memory of input j, if n is the last reader
// of j and both have one type. A transposed operand of a square map is read elsewhere than written, so
// its memory is not taken.
func TakesOver(n *ir.Node, j int) bool {
	if a := n.Op.Accum; a > 0 {
		return j == a-1
	}
	if !n.Op.Alias {
		return false
	}
	if n.Region == nil {
		return true
	}
	modes := n.Attrs.Ints("held")
	if modes == nil {
		modes = n.Attrs.Ints("modes")
	}
	return modes == nil || op.Mode(modes[j]) == op.Full
}
