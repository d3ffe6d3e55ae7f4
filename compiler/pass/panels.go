package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// Panels writes some products over a long inner size as trees of sums of panels:
//
//	matmul.panels(%0, %1) {ta, panel=32768}
//	->  add(matmul(slice %0, slice %1) {ta}, matmul(slice %0, slice %1) {ta})
//
// The row matmul.panels means the same tree, bit for bit. Its loop shares the panels among the workers;
// the operands stay whole and nothing is copied. A product becomes a tree
//
//   - if its result has more than mostPanelSum elements: a panel is enough work to be cut into tiles;
//   - if an operand is cut, for another reader or because it is large: the row would have to assemble
//     it. A matrix of codes is not built, so its size does not count;
//   - if all is set.
//
// A product whose size only the run knows stays as it is.
func Panels(g *ir.Graph, table *op.Table, sizes Sizes, all bool) *ir.Graph {
	sizes = sizes.filled()
	row := table.Must("matmul.panels")
	var loops []ir.ID
	tree := map[ir.ID]bool{}
	for id, n := range g.All() {
		if n.Op != row || !g.Type(g.In(id)[0]).Known() || !g.Type(g.In(id)[1]).Known() {
			continue
		}
		if tree[id] = all || g.Type(id).Count() > mostPanelSum; !tree[id] {
			loops = append(loops, id)
		}
	}
	for len(tree) > 0 {
		out, to := panelTrees(g, table, tree)
		left := loops[:0:0]
		if len(loops) > 0 {
			whole := wholes(out, sizes.Block, preferredCuts(out), false, sizes.Rows)
			codes := unbuilt(out, table)
			// A new tree may cut the operands of a product that was no tree before it.
			for _, id := range loops {
				in := out.In(to[id])
				if tree[id] = whole != nil && (!whole[in[0]] && !codes[in[0]] || !whole[in[1]] && !codes[in[1]]); !tree[id] {
					left = append(left, id)
				}
			}
		}
		if len(left) == len(loops) {
			return out
		}
		loops = left
	}
	return g
}

// mostPanelSum is the most elements of the result of a product that is a loop. Memory holds a result
// for each panel.
const mostPanelSum = 1 << 16

// panelTrees copies g with some products as trees, and returns the new nodes.
func panelTrees(g *ir.Graph, table *op.Table, tree map[ir.ID]bool) (*ir.Graph, []ir.ID) {
	c := copyOf(g)
	for i := range g.Nodes {
		if id := ir.ID(i); tree[id] {
			c.to[i] = panelTree(c.g, table, g.Nodes[i].Attrs, g.Type(id), g.Origin(id), c.to[g.In(id)[0]], c.to[g.In(id)[1]])
		} else {
			c.node(id)
		}
	}
	return c.g, c.to
}

// panelTree adds the tree of a product of a and b of type t, and returns its root. The tree depends
// on the inner size alone: pairs, pairs of pairs, and so on.
func panelTree(g *ir.Graph, table *op.Table, attrs *op.Attrs, t types.Type, o ir.Origin, a, b ir.ID) ir.ID {
	at, bt := g.Type(a), g.Type(b)
	ta, tb, panel := attrs.Bool("ta"), attrs.Bool("tb"), attrs.Int("panel")
	k := at.Cols
	if ta {
		k = at.Rows
	}
	window := func(x ir.ID, t types.Type, rows bool, lo, hi int) ir.ID {
		w := box{sr: 0, sc: lo, rows: t.Rows, cols: hi - lo}
		if rows {
			w = box{sr: lo, sc: 0, rows: hi - lo, cols: t.Cols}
		}
		return g.Add(table.Must("slice"), w.attrs(), types.DenseOf(t.Elem, w.rows, w.cols), o, x)
	}
	flags := newFlagSets()
	mm := flags.flip(attrs, 0)
	var sums []ir.ID
	for lo := 0; lo < k; lo += panel {
		hi := min(lo+panel, k)
		x := window(a, at, ta, lo, hi)
		y := x
		if a != b || ta == tb {
			y = window(b, bt, !tb, lo, hi)
		}
		sums = append(sums, g.Add(table.Infix("@"), mm, t, o, x, y))
	}
	for len(sums) > 1 {
		next := sums[:0:0]
		for i := 0; i+1 < len(sums); i += 2 {
			next = append(next, g.Add(table.Infix("+"), nil, t, o, sums[i], sums[i+1]))
		}
		if len(sums)%2 == 1 {
			next = append(next, sums[len(sums)-1])
		}
		sums = next
	}
	return sums[0]
}
