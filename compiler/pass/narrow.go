package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
)

// Narrow computes only the lower triangle where nothing else is read:
//
//	%4 = gemm(%3, %1, %1){sub, tb};  potrf(%4)   ->   %4 = syrk(%3, %1){sub};  potrf(%4)
//
// Rows declare the inputs of which they read only the lower triangle (Def.Lower) and the row that
// computes only that (Def.Narrow). A chain of such updates narrows as a whole, because a syrk reads
// only the lower triangle of its accumulator. An elementwise operator reads only that triangle of its
// operands if no more is read of it, as of the sum in cholesky(t(%1) @ %1 + %2). Narrow would be wrong
// if any reader, also on another rank, saw the whole matrix: the part above the diagonal is then not
// what the program says.
func Narrow(g *ir.Graph, table *op.Table) *ir.Graph {
	n, flags := g.Len(), newFlagSets()
	full := make([]bool, n) // a reader uses more than the lower triangle
	for i := n - 1; i >= 0; i-- {
		id := ir.ID(i)
		node := &g.Nodes[i]
		if !full[i] && node.Op.Narrow != "" {
			// x t(x) or t(x) x: the product of a matrix with its own transpose.
			transposed := node.Attrs.Bool("ta")
			if in := g.In(id); len(in) == 3 && in[1] == in[2] && transposed != node.Attrs.Bool("tb") {
				off := 0
				if !transposed { // the narrow row has no such flag
					off = tb
				}
				g.Replace(id, table.Must(node.Op.Narrow), flags.flip(node.Attrs, off), in[0], in[1])
				node = &g.Nodes[i]
			}
		}
		for k, in := range g.In(id) {
			if !slices.Contains(node.Op.Lower, k) && (full[i] || !samePlaces(g, id, k)) {
				full[in] = true
			}
		}
	}
	return g
}

// samePlaces reports whether each element of node id needs only the element of its input k at the same
// place. Where no reader needs an element of id, that of input k may then be anything. It is false for
// a node that may fail, because it would fail on such elements too.
func samePlaces(g *ir.Graph, id ir.ID, k int) bool {
	n, t, x := &g.Nodes[id], g.Type(id), g.Type(g.In(id)[k])
	modes, product := n.Attrs.Ints("modes"), len(n.Attrs.Ints("held")) > 0
	switch {
	case !t.IsDense() || !x.IsDense() || t.Rows != x.Rows || t.Cols != x.Cols || ir.MayFail(g, id):
		return false
	case product && k == n.Attrs.Int("place") && !n.Attrs.Bool("acc"):
		return false // a factor of map.product; others are behind the chain's operands
	case product || n.Op.Role == op.Maps:
		return k < len(modes) && op.Mode(modes[k]) == op.Full
	}
	return nodes.ElementwiseOperator(n)
}
