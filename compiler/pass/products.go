package pass

import (
	"flow/ir"
	"flow/ir/op"
)

// FuseProducts computes a product inside the map-reduce over rows that reads it, block by block:
//
//	%2 = matmul(%0, %1) {tb};  %4 = pipe(%3, %2) {fold="rowargmin", ..}
//	->  %4 = pipe.product(%3, %0, %1) {fold="rowargmin", .., place=1, tb}
//
// It would be wrong for a product with another reader, and one that is sent. It skips a product
// that is no loop over the rows of its left factor, and one whose left factor is cut, since its
// blocks would have to be assembled.
func FuseProducts(g *ir.Graph, table *op.Table, sizes Sizes) *ir.Graph {
	var out *ir.Graph
	var whole []bool
	uses := g.Uses()
	row := table.Must("pipe.product")
	for i := range g.Nodes {
		id := ir.ID(i)
		if g.Nodes[i].Op.Role != op.Reduces || g.Nodes[i].Draws() {
			continue
		}
		// nil: of several results
		if fold := table.Named(g.Nodes[i].Attrs.Str("fold")); fold == nil || fold.Fold != op.FoldRows {
			continue
		}
		place, ok := productIn(g, id, uses)
		if !ok {
			continue
		}
		if out == nil {
			whole = wholes(g, sizes.filled().Block, preferredCuts(g), false, sizes.Rows)
		}
		p := g.In(id)[place]
		a, b := g.In(p)[0], g.In(p)[1]
		if whole != nil && !whole[a] {
			continue
		}
		if out == nil {
			out = g.Clone() // the program's definition must not change
		}
		in := append(append([]ir.ID(nil), g.In(id)...), b)
		in[place] = a
		attrs := g.Nodes[i].Attrs.With("place", op.Int(place)).With("tb", op.Bool(g.Nodes[p].Attrs.Bool("tb")))
		out.Replace(id, row, attrs, in...)
	}
	if out == nil {
		return g
	}
	return DropDead(out)
}

// productIn returns the operand of a pipe that is a product read only by the pipe, once. A
// transposed operand beside it is read across all rows.
func productIn(g *ir.Graph, id ir.ID, uses []int32) (place int, ok bool) {
	n, in := &g.Nodes[id], g.In(id)
	place = -1
	for k, mode := range n.Attrs.Ints("modes") {
		if op.Mode(mode) == op.Trans {
			return 0, false
		}
		x := in[k]
		p := &g.Nodes[x]
		if op.Mode(mode) != op.Full || p.Op.Role != op.Multiplies || uses[x] != 1 || !sameSend(g, x, id) || !g.Type(x).Elem.IsFloat() {
			continue
		}
		if ins := g.In(x); g.Type(ins[0]).Elem != g.Type(x).Elem || g.Type(ins[1]).Elem != g.Type(x).Elem {
			continue
		}
		if p.Op.Loop.Takes(sigOf(g, x), g.Type(x)) {
			place = k
		}
	}
	return place, place >= 0
}
