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
	n := g.Len()
	full := make([]bool, n) // a reader uses more than the lower triangle
	for i := n - 1; i >= 0; i-- {
		id := ir.ID(i)
		node := &g.Nodes[i]
		if !full[i] && node.Op.Narrow != "" {
			// x t(x) or t(x) x: the product of a matrix with its own transpose.
			ta, tb := node.Attrs.Bool("ta"), node.Attrs.Bool("tb")
			if in := g.In(id); len(in) == 3 && in[1] == in[2] && ta != tb {
				g.Replace(id, table.Must(node.Op.Narrow), narrowed(node.Attrs.Bool("sub"), ta), in[0], in[1])
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

// narrowed returns the attributes of the narrow row. There are four, shared by all nodes.
func narrowed(sub, ta bool) *op.Attrs {
	switch {
	case sub && ta:
		return narrowSubTa
	case sub:
		return narrowSub
	case ta:
		return narrowTa
	}
	return nil
}

var (
	narrowSub   = op.MakeAttrs(op.Attr{Name: "sub", Val: op.Bool(true)})
	narrowTa    = op.MakeAttrs(op.Attr{Name: "ta", Val: op.Bool(true)})
	narrowSubTa = op.MakeAttrs(op.Attr{Name: "sub", Val: op.Bool(true)}, op.Attr{Name: "ta", Val: op.Bool(true)})
)

func readsLower(d *op.Def, input int) bool { return slices.Contains(d.Lower, input) }
