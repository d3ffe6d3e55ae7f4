package pass

import (
	"slices"

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
		if read[id] && g.Nodes[i].Op.Laws.Has(op.Total) {
			of[id] = c.in(id)[0] // its codes are checked
		} else if read[id] {
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
			c = copyBefore(g, i)
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

// Codes makes two steps of a dense matrix of codes that is read in other ways than FoldGroups knows:
//
//	%2 = onehot(%0) {k=10}  ->  %1 = onehot.code(%0) {k=10};  %2 = onehot.of(%1) {k=10}
//
// The check stays where the matrix was, and what is left cannot fail. So rules may say what is made of the
// matrix in terms of the codes (take-by-code), and loops may make it (sinkCodes). It would be wrong for a
// matrix that is sent, which is one task.
func Codes(g *ir.Graph, table *op.Table) *ir.Graph {
	product, panels := table.Must("matmul"), table.Must("matmul.panels")
	folded := unbuilt(g, table, func(n *ir.Node) bool {
		return (n.Op == product || n.Op == panels) && n.Attrs.Bool("ta") && !n.Attrs.Bool("tb")
	})
	var c *copying
	for i := range g.Nodes {
		id := ir.ID(i)
		t := g.Type(id)
		if !ofCodes(g, id) || !t.IsDense() || !t.Known() || g.Nodes[i].Op.Laws.Has(op.Total) || sent(g, id) || folded[id] {
			if c != nil {
				c.node(id)
			}
			continue
		}
		if c == nil {
			c = copyBefore(g, i)
		}
		k := op.MakeAttrs(op.Attr{Name: "k", Val: op.Int(t.Cols)})
		code := c.g.Add(table.Must("onehot.code"), k, types.DenseOf(types.I64, t.Rows, 1), g.Origin(id), c.in(id)...)
		c.to[i] = c.g.Add(table.Must("onehot.of"), k, t, g.Origin(id), code)
	}
	if c != nil {
		g = c.g
	}
	if out := sinkCodes(g, table); out != g {
		return DropDead(out)
	}
	return g
}

// sinkCodes takes matrices of checked codes into the loops and branches that read them, where their
// readers need the codes alone: a loop then has a column as an argument.
func sinkCodes(g *ir.Graph, table *op.Table) *ir.Graph {
	of, arg := table.Must("onehot.of"), table.Must("arg")
	if !g.Controls() || !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Op == of }) {
		return g
	}
	g = g.Clone()
	for i := range g.Nodes {
		id := ir.ID(i)
		n := &g.Nodes[i]
		if n.Op.Control != op.Iterate && n.Op.Control != op.Select {
			continue
		}
		offset, fixed := len(g.In(id))-len(n.Region.Args), n.Carried()
		if n.Op.Control == op.Select {
			fixed = 1
		}
		for k := fixed; k < len(g.In(id)); k++ {
			h := g.In(id)[k]
			if g.Nodes[h].Op != of || !codesSuffice(table, n.Region, k-offset) {
				continue
			}
			code := g.In(h)[0]
			g.In(id)[k] = code
			n.Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region {
				c, a := copyOf(r.Graph), r.Args[k-offset]
				var column ir.ID
				for j := range r.Graph.Nodes {
					if x := ir.ID(j); x != a {
						c.node(x)
						continue
					}
					o := ir.Origin{Span: g.Nodes[h].Span}
					column = c.g.Add(arg, nil, g.Type(code), o)
					c.to[a] = c.g.Add(of, g.Nodes[h].Attrs, g.Type(h), o, column)
				}
				out := c.region(r)
				out.Args[k-offset] = column
				return out
			})
		}
		n.Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region {
			return &ir.Region{Graph: sinkCodes(r.Graph, table), Args: r.Args, Yields: r.Yields}
		})
	}
	return g
}

// codesSuffice reports that what reads argument k in the regions from r on can be made of codes.
func codesSuffice(table *op.Table, r *ir.Region, k int) bool {
	for ; r != nil; r = r.Next {
		a := r.Args[k]
		if slices.Contains(r.Yields, a) {
			return false
		}
		for i := range r.Graph.Nodes {
			for slot, x := range r.Graph.In(ir.ID(i)) {
				if x == a && !readsCodes(r.Graph, table, ir.ID(i), slot) {
					return false
				}
			}
		}
	}
	return true
}

// readsCodes reports that operand k of a node, a matrix of checked codes, is not built for it.
func readsCodes(g *ir.Graph, table *op.Table, id ir.ID, k int) bool {
	n, in := &g.Nodes[id], g.In(id)
	switch n.Op {
	case table.Must("matmul"), table.Must("matmul.panels"):
		return in[0] != in[1]
	case table.Must("gemm"):
		return k > 0 && in[1] != in[2]
	}
	switch n.Op.Control {
	case op.Iterate:
		return k >= n.Carried() && codesSuffice(table, n.Region, k)
	case op.Select:
		return k > 0 && codesSuffice(table, n.Region, k-1)
	}
	return n.Op.Laws.Has(op.Elementwise|op.Pure) || n.Op.Fold != op.NoFold
}

// unbuilt returns the dense matrices of codes that are not built. What reads one is a sum of its
// columns or a product that folds says is made of the codes; of checked codes readsCodes tells.
func unbuilt(g *ir.Graph, table *op.Table, folds func(n *ir.Node) bool) map[ir.ID]bool {
	out := map[ir.ID]bool{}
	for i := range g.Nodes {
		if id := ir.ID(i); ofCodes(g, id) && g.Type(id).IsDense() {
			out[id] = true
		}
	}
	if len(out) == 0 {
		return out
	}
	for i := range g.Nodes {
		n, in := &g.Nodes[i], g.In(ir.ID(i))
		for k, x := range in {
			switch {
			case !out[x]:
			case g.Nodes[x].Op.Laws.Has(op.Total):
				out[x] = readsCodes(g, table, ir.ID(i), k)
			default:
				out[x] = n.Op.Fold == op.FoldCols || folds(n) && in[0] != in[1]
			}
		}
	}
	return out
}

// CompareCodes makes what is left of matrices of checked codes comparisons, which loops take in:
//
//	%2 = onehot.of(%1) {k=10};  %3 = mul(%2, %0)  ->  %2 = f64(%1 == t(seq(0, 10)));  %3 = mul(%2, %0)
//
// Each reader has its own, as a result with two readers is stored, and so for elementwise operators on
// such a matrix and scalars. Those that no loop takes in read the matrix, as before.
func CompareCodes(g *ir.Graph, table *op.Table) *ir.Graph {
	of := table.Must("onehot.of")
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Op == of }) {
		return g
	}
	c, ofCodes := copyOf(g), make([]bool, g.Len())
	elementwise := func(d *op.Def) bool { return d.Laws.Has(op.Elementwise | op.Pure) }
	for i := range g.Nodes {
		id := ir.ID(i)
		in, d := c.in(id), g.Nodes[i].Op
		ofCodes[i] = d == of && g.Type(id).Rows > 1 && g.Type(id).Cols > 1 || elementwise(d) && !sent(g, id) && !ir.MayFail(g, id)
		any := d == of
		for k, x := range g.In(id) {
			any = any || ofCodes[x]
			ofCodes[i] = ofCodes[i] && (d == of || ofCodes[x] || g.Type(x).IsScalar())
			if ofCodes[x] && (elementwise(d) || d.Fold != op.NoFold) {
				in[k] = c.compared(table, of, x)
			}
		}
		ofCodes[i] = ofCodes[i] && any
		c.to[i] = c.g.CopyNode(g, id, in...)
	}
	return DropDead(c.g)
}

// compared returns a copy of node x, a matrix of checked codes or elementwise operators on one.
func (c *copying) compared(table *op.Table, of *op.Def, x ir.ID) ir.ID {
	n, t, o := &c.old.Nodes[x], c.old.Type(x), c.old.Origin(x)
	if n.Op == of {
		attrs := op.MakeAttrs(op.Attr{Name: "a", Val: op.Int(0)}, op.Attr{Name: "b", Val: op.Int(t.Cols)}, op.Attr{Name: "step", Val: op.Int(1)})
		keys := c.g.Add(table.Must("seq"), attrs, types.DenseOf(types.I64, t.Cols, 1), o)
		keys = c.g.Add(table.Must("t"), nil, types.DenseOf(types.I64, 1, t.Cols), o, keys)
		same := c.g.Add(table.Infix("=="), nil, t.With(types.Bool), o, c.in(x)[0], keys)
		return c.g.Add(table.Must("f64"), nil, t, o, same)
	}
	in := c.in(x)
	for k, y := range c.old.In(x) {
		if !c.old.Type(y).IsScalar() {
			in[k] = c.compared(table, of, y)
		}
	}
	return c.g.Add(n.Op, n.Attrs, t, o, in...)
}
