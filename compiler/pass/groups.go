package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// FoldGroups computes products with a matrix of codes, and its column sums, from the codes:
//
//	%2 = onehot(%0) {k=10};  %3 = matmul.panels(%2, %1) {ta, panel=32768};  %4 = colsum(%2)
//	->  %3 = onehot.sums(%0, %1) {k=10, panel=32768};  %4 = onehot.counts(%0) {k=10}
//
// The rows mean the two operators in sequence, bit for bit: each row is added to one sum instead of
// multiplied mostly by 0. A product with a sparse matrix of codes has no panels: each sum is one
// chain over the stored elements. Other readers of the matrix keep it. A code may fail, so the new
// nodes take the place of `onehot` in the text. Nothing else that may fail, and no effect, comes
// between `onehot` and the first of them, which checks the codes for all. It would be wrong for a
// product that is sent (one `<-` is one task), and pointless if the operands are cut, so panel bounds
// the rows of a product without panels. If only
// the run knows how many rows there are, only column sums are computed so.
func FoldGroups(g *ir.Graph, table *op.Table, sizes Sizes) *ir.Graph {
	return foldGroups(g, table, sizes.filled(), 0)
}

// FoldGroupsOfPoints is FoldGroups in the body of a parfor. A small matrix of codes stays in the loop of
// the body: to compare and add takes less time than a call.
func FoldGroupsOfPoints(g *ir.Graph, table *op.Table, sizes Sizes) *ir.Graph {
	sizes = sizes.filled()
	return foldGroups(g, table, sizes, sizes.Block/leastCodes)
}

// leastCodes is how many of the smallest matrices of codes that a body folds make a block. They have 8192
// elements.
const leastCodes = 8

func foldGroups(g *ir.Graph, table *op.Table, sizes Sizes, least int) *ir.Graph {
	g = codesFirst(g, table)
	if least == 0 {
		g = codesCounted(g, table)
	}
	var out *ir.Graph
	var stops stops             // made for the first matrix of codes
	checked := map[ir.ID]bool{} // a reader that is folded checks the codes where the matrix stood
	sum, product, panels := table.Must("colsum"), table.Must("matmul"), table.Must("matmul.panels")
	sums, counts, stored := table.Must("onehot.sums"), table.Must("onehot.counts"), table.Must("sp.tmatmul")
	turned, times, code := table.Must("sp.t"), table.Must("sp.matmul"), table.Must("onehot.code")
	for i := range g.Nodes {
		id := ir.ID(i)
		n, in := &g.Nodes[i], g.In(id)
		if len(in) == 0 {
			continue
		}
		h, word := in[0], n.Op.Name
		switch {
		case n.Op == times && g.Nodes[h].Op == turned: // sp.tmatmul in a plan by rows
			h, word = g.In(h)[0], stored.Name
		case n.Op.For != "":
			word = n.Op.For
		}
		t := g.Type(h)
		if !ofCodes(g, h) || t.Known() && t.Count() < least || !sameSend(g, h, id) || t.Cols == types.Unknown || !t.Known() && word != sum.Name {
			continue
		}
		if stops == nil {
			stops = stopsOf(g)
		}
		if ir.MayFail(g, h) && !checked[h] && !codesChecked(g, h, code) && stops[id-1] > stops[h] {
			continue
		}
		row, attrs, x := counts, op.MakeAttrs(op.Attr{Name: "k", Val: op.Int(g.Nodes[h].Attrs.Int("k"))}), []ir.ID{g.In(h)[0]}
		switch word {
		case stored.Name:
			if t := g.Type(in[1]); in[1] == h || !t.IsDense() || t.Elem != types.F64 || !t.Known() {
				continue
			}
			row, attrs, x = sums, attrs.With("panel", op.Int(0)), append(x, in[1])
		case sum.Name:
		case product.Name, panels.Name:
			t, panel := g.Type(in[1]), sizes.Panel
			if !g.Type(h).IsDense() {
				continue
			}
			if n.Op == panels {
				panel = n.Attrs.Int("panel")
			} else if t.Rows > panel || t.Count() > sizes.Block {
				continue
			}
			if !n.Attrs.Bool("ta") || n.Attrs.Bool("tb") || in[1] == h || !t.IsDense() || t.Elem != types.F64 || !t.Known() {
				continue
			}
			row, attrs, x = sums, attrs.With("panel", op.Int(panel)), append(x, in[1])
		default:
			continue
		}
		if out == nil {
			out = g.Clone() // the program's definition must not change
		}
		out.Replace(id, row, attrs, x...)
		checked[h] = true
		at, own := g.Origin(h), g.Origin(id)
		// another call of the function may have made the same matrix before
		if g.Calls[at.Call].Name == g.Calls[own.Call].Name {
			at.Call = own.Call
		}
		out.SetOrigin(id, at)
	}
	if out == nil {
		return g
	}
	return DropDead(out)
}

// codesChecked reports that the node before matrix h is code, which codesCounted has made to check its
// codes.
func codesChecked(g *ir.Graph, h ir.ID, code *op.Def) bool {
	return h > 0 && g.Nodes[h-1].Op == code && g.In(h - 1)[0] == g.In(h)[0] && g.Nodes[h-1].Attrs.Int("k") == g.Nodes[h].Attrs.Int("k")
}

// ofCodes reports a matrix of codes.
func ofCodes(g *ir.Graph, id ir.ID) bool { return g.Nodes[id].Op.Role == op.Codes }

// codesCounted makes a product of two matrices of codes, whose terms are 0 and 1, a table of pairs:
//
//	%4 = matmul(%2, %3) {ta}  or  sp.matmul(%5, %3), %5 = sp.t(%2)
//	->  %2 = onehot.code(%0) {k=10};  %3 = onehot.code(%1) {k=20};  %4 = f64(ctable(%2, %3) {n=10, m=20})
//
// It takes a step a row instead of one for each pair of columns. A code fails where its matrix did. It
// would be wrong for a product that is sent, and slow for a table that is large beside the rows.
func codesCounted(g *ir.Graph, table *op.Table) *ir.Graph {
	product, panels, stored := table.Must("matmul"), table.Must("matmul.panels"), table.Must("sp.tmatmul")
	turned, times := table.Must("sp.t"), table.Must("sp.matmul")
	pairs, read := map[ir.ID][2]ir.ID{}, map[ir.ID]bool{}
	for i := range g.Nodes {
		id := ir.ID(i)
		n, in := &g.Nodes[i], g.In(id)
		var a ir.ID
		switch {
		case sent(g, id):
			continue
		case n.Op == times && g.Nodes[in[0]].Op == turned:
			a = g.In(in[0])[0]
		case n.Op == stored, (n.Op == product || n.Op == panels) && n.Attrs.Bool("ta") && !n.Attrs.Bool("tb"):
			a = in[0]
		default:
			continue
		}
		b, t := in[1], g.Type(a)
		if ofCodes(g, a) && ofCodes(g, b) && sameSend(g, a, id) && sameSend(g, b, id) && t.Known() && g.Type(id).Count() <= min(t.Rows/2, mostKeyed) {
			pairs[id], read[a], read[b] = [2]ir.ID{a, b}, true, true
		}
	}
	if len(pairs) == 0 {
		return g
	}
	c, of := copyOf(g), map[ir.ID]ir.ID{}
	for i := range g.Nodes {
		id := ir.ID(i)
		t := g.Type(id)
		if read[id] {
			k := op.MakeAttrs(op.Attr{Name: "k", Val: op.Int(t.Cols)})
			of[id] = c.g.Add(table.Must("onehot.code"), k, types.DenseOf(types.I64, t.Rows, 1), g.Origin(id), c.in(id)...)
		}
		p, is := pairs[id]
		if !is {
			c.node(id)
			continue
		}
		size := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(t.Rows)}, op.Attr{Name: "m", Val: op.Int(t.Cols)})
		counts := types.DenseOf(types.I64, t.Rows, t.Cols)
		c.to[i] = c.g.Add(table.Must("ctable"), size, counts, g.Origin(id), of[p[0]], of[p[1]])
		c.to[i] = c.g.Add(table.Must("f64"), nil, counts.With(types.F64), g.Origin(id), c.to[i])
		if !t.IsDense() {
			c.to[i] = c.g.Add(table.Must("sparse"), nil, t, g.Origin(id), c.to[i])
		}
	}
	return DropDead(c.g)
}

// codesFirst makes a matrix of codes the left factor. The sums of the transposed product have the same
// terms in the same order:
//
//	%3 = matmul(%1, %2) {ta}   ->   %3 = matmul(%2, %1) {ta};  %4 = t(%3)
func codesFirst(g *ir.Graph, table *op.Table) *ir.Graph {
	product, panels, turn := table.Must("matmul"), table.Must("matmul.panels"), table.Must("t")
	var c *copying
	for i := range g.Nodes {
		id := ir.ID(i)
		n, in := &g.Nodes[i], g.In(id)
		by := (n.Op == product || n.Op == panels) && n.Attrs.Bool("ta") && !n.Attrs.Bool("tb") && g.Type(in[0]).IsDense() && g.Type(in[1]).IsDense() &&
			ofCodes(g, in[1]) && !ofCodes(g, in[0]) && !sent(g, id)
		if by && c == nil {
			c = copyOf(g)
			for k := range i {
				c.node(ir.ID(k))
			}
		}
		if t := g.Type(id); by {
			t.Rows, t.Cols = t.Cols, t.Rows
			p := c.g.Add(n.Op, n.Attrs, t, g.Origin(id), c.to[in[1]], c.to[in[0]])
			c.to[i] = c.g.Add(turn, nil, g.Type(id), g.Origin(id), p)
		} else if c != nil {
			c.node(id)
		}
	}
	if c == nil {
		return g
	}
	return c.g
}
