package pass

import (
	"slices"

	"flow/compiler/layout"
	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file turns what is shared out by rows: matrices of one row that loops carry, and left factors of
// products that are read by columns. The bits stay, because the elements are the same.

// Stands reports whether rows of g or its regions should be columns. Where ranks share rows, each is
// worth it. In one process only the product of a row and a large matrix is: its loop makes a column.
func Stands(g *ir.Graph, shared bool, sizes nodes.Sizes) bool {
	for g, id := range nodes.NodesIn(g, nodes.IsControl) {
		if lies(g.Type(id)) {
			f, ok := layout.Factors(g, id)
			if shared || ok && nodes.Dividable(g.Type(f[1])) && g.Type(f[1]).Count() >= largeFactor*sizes.Filled().Block {
				return true
			}
		}
	}
	return false
}

// largeFactor is how many blocks a matrix has whose product by a column several workers share.
const largeFactor = 4

func lies(t types.Type) bool { return t.IsDense() && t.Rows == 1 && t.Cols > 1 }

// StandCarried makes columns of the rows that loops carry, where a round makes them as transposes of
// columns:
//
//	%1 = iterate(%0) (%x) { .. yield t(%y) }   ->   %2 = iterate(t(%0)) (%x) { .. t(%x) .. yield %y };  %1 = t(%2)
//
// It returns g if there is no such loop.
func StandCarried(g *ir.Graph, table *op.Table) *ir.Graph {
	r, t := &reforming{Copying: nodes.CopyOf(g), part: table.Must("part"), forms: map[ir.ID][]*form{}, made: map[[2]int]ir.ID{}}, table.Must("t")
	forms := func(n *ir.Node) []*form {
		out, body := make([]*form, n.Carried()), n.Region.Graph
		for k, y := range n.Region.Yields[:len(out)] {
			if of := body.Type(y); lies(of) && body.Nodes[y].Op == t {
				out[k] = &form{types: []types.Type{nodes.Transposed(of)},
					into: func(g *ir.Graph, x ir.ID, o ir.Origin) []ir.ID {
						if g.Nodes[x].Op == t {
							return g.In(x)[:1:1]
						}
						return []ir.ID{turned(g, t, x)}
					},
					from: func(g *ir.Graph, of []ir.ID, o ir.Origin) ir.ID { return turned(g, t, of[0]) }}
			}
		}
		return out
	}
	if !r.loops(forms, func(*nodes.Copying, ir.ID, func(ir.ID) (*form, []ir.ID)) bool { return false }) {
		return g
	}
	return r.G
}

// TurnCaptured transposes left factors that a product with a column reads by columns, if they are the
// same in all rounds of a loop:
//
//	iterate(.., %1) (.., %a) { %3 = matmul(%a, %x) {ta} .. }   ->   { %2 = t(%a);  %3 = matmul(%2, %x) .. }
//
// Hoist moves the transpose in front of the loop. Ranks share the rows of the new product. Of the old
// one they would add the terms one rank after the other. A product in panels is shared as it is. It
// would be wrong for a right factor of several columns, as layers of a network have: all ranks would
// get all of it in each round, and a fast kernel takes less time to multiply than messages take. For
// 8000 rows and 64 columns three ranks would send 1.3 GiB in 80 rounds instead of 25 MiB, in 2.3 times
// the processor time. Nothing is gained if the loop has only a few rounds, since ranks send each other
// the elements of the transpose once. It returns g if there is no such product.
func TurnCaptured(g *ir.Graph, table *op.Table, ranks int, sizes nodes.Sizes) *ir.Graph {
	t, out := table.Must("t"), g
	gains := func(a, b, product types.Type) bool { // others' work over the messages of the right factor
		work := float64(a.Count()) * float64(ranks-1) / float64(ranks)
		return product.Cols == 1 && nodes.Dividable(a) && nodes.Dividable(b) && a.Cols >= ranks && work >= float64(sizes.Filled().Spread)*(layout.GatherSpreads+float64(b.Bytes())/layout.BytesSpread)
	}
	for id, n := range g.All() {
		if n.Op.Control != op.Iterate {
			continue
		}
		body := productsByRows(t, n.Region, n.Region.Args[n.Carried():], gains)
		if body == nil {
			continue
		}
		if out == g {
			out = g.Clone()
		}
		body.Next = n.Region.Next
		out.Nodes[id].Region = body
	}
	return out
}

// productsByRows copies r with products that read rows of transposes of captured arguments, where
// gains says that it pays for factors and a product of these types. It returns nil if there are
// none.
func productsByRows(t *op.Def, r *ir.Region, captured []ir.ID, gains func(a, b, product types.Type) bool) *ir.Region {
	b, flags, made := nodes.CopyOf(r.Graph), newFlagSets(), map[ir.ID]ir.ID{}
	for id, n := range r.Graph.All() {
		f, ok := layout.Factors(r.Graph, id)
		if !ok || !n.Attrs.Bool("ta") || !slices.Contains(captured, f[0]) || slices.Contains(captured, f[1]) ||
			!gains(r.Graph.Type(f[0]), r.Graph.Type(f[1]), r.Graph.Type(id)) {
			b.Node(id)
			continue
		}
		if _, ok := made[f[0]]; !ok {
			made[f[0]] = turned(b.G, t, b.To[f[0]])
		}
		in := b.In(id)
		in[len(in)-2] = made[f[0]]
		b.To[id] = b.G.CopyNode(r.Graph, id, in...)
		b.G.Nodes[b.To[id]].Attrs = flags.flip(n.Attrs, 1)
	}
	if len(made) == 0 {
		return nil
	}
	return b.Region(r)
}

// turned adds the transpose of a node to its graph.
func turned(g *ir.Graph, t *op.Def, id ir.ID) ir.ID {
	return g.Add(t, nil, nodes.Transposed(g.Type(id)), g.Origin(id).NoDest(), id)
}
