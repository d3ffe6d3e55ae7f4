package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
)

// Narrow computes only the lower triangle where nothing else is read:
//
//	%4 = gemm(%3, %1, %1){sub, tb};  potrf(%4)   ->   %4 = syrk(%3, %1){sub};  potrf(%4)
//
// Rows declare the inputs of which they read only the lower triangle (Def.Lower) and the row that
// computes only that (Def.Narrow). A chain of such updates narrows as a whole, because a syrk reads
// only the lower triangle of its accumulator. It would be wrong if any reader, also on another
// rank, saw the whole matrix: the part above the diagonal is then not what the program says.
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
			if !readsLower(node.Op, k) {
				full[in] = true
			}
		}
	}
	return g
}

func readsLower(d *op.Def, input int) bool { return slices.Contains(d.Lower, input) }
