package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// FoldGroups computes products with a matrix of codes, and its column sums, from the codes:
//
//	%2 = onehot.of(%1) {k=10};  %3 = matmul.panels(%2, %0) {ta, panel=32768};  %4 = colsum(%2)
//	->  %3 = onehot.sums(%1, %0) {k=10, panel=32768};  %4 = onehot.counts(%1) {k=10}
//
// The rows mean the two operators in sequence, bit for bit: each row is added to one sum instead of
// multiplied mostly by 0. A product with a sparse matrix of codes has no panels: each sum is one
// chain over the stored elements. A matrix of codes on the right gives the transpose, whose sums have
// the same terms in the same order. A product of two such matrices, whose terms are 0 and 1, is a table
// of pairs (ctable), which takes a step a row instead of one for each pair of columns.
//
// A matrix whose codes are not checked becomes its codes if all that read it are made of them. It would
// be wrong for a product that is sent (one `<-` is one task), and pointless if the operands are cut, so
// panel bounds the rows of a product without panels.
func FoldGroups(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *ir.Graph {
	return foldGroups(g, table, sizes.Filled(), 0)
}

// FoldGroupsOfPoints is FoldGroups in the body of a parfor. A small matrix of codes stays in the loop
// of the body: to compare and add takes less time than a call.
func FoldGroupsOfPoints(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *ir.Graph {
	sizes = sizes.Filled()
	return foldGroups(g, table, sizes, sizes.Block/leastCodes)
}

// leastCodes is how many of the smallest matrices of codes that a body folds make a block. They have
// 8192 elements.
const leastCodes = 8

// codeGroups finds what is made of codes.
type codeGroups struct {
	g     *ir.Graph
	table *op.Table
	sizes nodes.Sizes
	codes map[ir.ID]bool // the matrices of codes, and sparse transposes of such, for which their codes suffice
}

// grouped is a node that sums rows by the codes of h.
type grouped struct {
	h, x         ir.ID // x: whose rows; ir.None: they are counted
	panel        int
	turns, pairs bool // the sums are the transpose; x is a matrix of codes, too
}

func foldGroups(g *ir.Graph, table *op.Table, sizes nodes.Sizes, least int) *ir.Graph {
	f := &codeGroups{g, table, sizes, map[ir.ID]bool{}}
	for i := range g.Nodes {
		id := ir.ID(i)
		t := g.Type(id)
		if f.turned(id) && f.codes[g.In(id)[0]] || ofCodes(g, id) && t.Cols != types.Unknown && (!t.Known() || t.Count() >= least) {
			f.codes[id] = true
		}
	}
	if len(f.codes) == 0 {
		return g
	}
	for again := true; again; {
		again = false
		for i := range g.Nodes {
			for _, x := range g.In(ir.ID(i)) {
				if f.codes[x] && !f.checked(x) && !f.suffice(ir.ID(i), x) {
					f.codes[x], again = false, true
				}
			}
		}
	}
	c := nodes.CopyOf(g)
	for i := range g.Nodes {
		id := ir.ID(i)
		t, o := g.Type(id), g.Origin(id)
		s, is := f.sums(id)
		k := op.MakeAttrs(op.Attr{Name: "k", Val: op.Int(g.Type(s.h).Cols)})
		switch {
		case f.codes[id] && f.turned(id):
			c.To[i] = c.In(id)[0]
		case f.codes[id] && !f.checked(id):
			k = k.With("k", op.Int(t.Cols))
			c.To[i] = c.G.Add(table.Must("onehot.code"), k, types.DenseOf(types.I64, t.Rows, 1), o, c.In(id)...)
		case !is:
			c.Node(id)
		case s.pairs:
			size := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(t.Rows)}, op.Attr{Name: "m", Val: op.Int(t.Cols)})
			counts := types.DenseOf(types.I64, t.Rows, t.Cols)
			c.To[i] = c.G.Add(table.Must("ctable"), size, counts, o, f.code(c, s.h), f.code(c, s.x))
			c.To[i] = c.G.Add(table.Must("f64"), nil, counts.With(types.F64), o, c.To[i])
			if !t.IsDense() {
				c.To[i] = c.G.Add(table.Must("sparse"), nil, t, o, c.To[i])
			}
		case s.x == ir.None:
			c.To[i] = c.G.Add(table.Must("onehot.counts"), k, t, o, f.code(c, s.h))
		default:
			made := t
			if s.turns {
				made.Rows, made.Cols = t.Cols, t.Rows
			}
			c.To[i] = c.G.Add(table.Must("onehot.sums"), k.With("panel", op.Int(s.panel)), made, o, f.code(c, s.h), c.To[s.x])
			if s.turns {
				c.To[i] = c.G.Add(table.Must("t"), nil, t, o, c.To[i])
			}
		}
	}
	return joinCodes(DropDead(c.G), table)
}

// longestChain is the panel of sums that are one chain: more rows than memory holds.
const longestChain = 1 << 40

// code returns the codes of h in the copy.
func (f *codeGroups) code(c *nodes.Copying, h ir.ID) ir.ID {
	if f.checked(h) {
		return c.In(h)[0]
	}
	return c.To[h]
}

// checked reports a matrix of checked codes.
func (f *codeGroups) checked(id ir.ID) bool { return f.g.Nodes[id].Op == f.table.Must("onehot.of") }

func (f *codeGroups) turned(id ir.ID) bool { return f.g.Nodes[id].Op == f.table.Must("sp.t") }

// suffice reports that the codes of x suffice for its reader id.
func (f *codeGroups) suffice(id, x ir.ID) bool {
	if f.turned(id) {
		return f.codes[id]
	}
	s, is := f.sums(id)
	if f.turned(x) {
		x = f.g.In(x)[0]
	}
	return is && (s.x != x || s.pairs)
}

// sums returns what node id sums by codes.
func (f *codeGroups) sums(id ir.ID) (grouped, bool) {
	g, n, in := f.g, &f.g.Nodes[id], f.g.In(id)
	if len(in) == 0 {
		return grouped{}, false
	}
	s, panels := grouped{h: in[0], x: ir.None, panel: f.sizes.Panel}, n.Op == f.table.Must("matmul.panels")
	switch {
	case n.Op == f.table.Must("colsum"), n.Op == f.table.Must("sp.colsum"):
	case n.Op == f.table.Must("sp.matmul") && f.turned(s.h) && !f.turned(g.In(s.h)[0]): // sp.tmatmul in a plan by rows
		s = grouped{h: g.In(s.h)[0], x: in[1]}
	case n.Op == f.table.Must("sp.tmatmul") && !f.turned(s.h):
		s = grouped{h: s.h, x: in[1]}
	case (n.Op == f.table.Must("matmul") || panels) && n.Attrs.Bool("ta") && !n.Attrs.Bool("tb"):
		if s.x = in[1]; panels {
			s.panel = n.Attrs.Int("panel")
		}
		if s.turns = !f.codes[s.h]; s.turns {
			s.h, s.x = s.x, s.h
		}
	default:
		return grouped{}, false
	}
	open := !g.Type(s.h).Known() // only the run tells the number of rows: the sums are one chain
	if open && s.panel > 0 {
		s.panel = longestChain
	}
	if t := g.Type(s.h); !f.codes[s.h] || !nodes.SameSend(g, s.h, id) {
		return grouped{}, false
	} else if s.x == ir.None {
		return s, true
	} else if !open && f.codes[s.x] && nodes.SameSend(g, s.x, id) && !nodes.Sent(g, id) && g.Type(id).Count() <= min(t.Rows/2, mostKeyed) {
		s.pairs = true
		return s, true
	}
	t := g.Type(s.x)
	cut := !open && s.panel > 0 && !panels && (t.Rows > s.panel || t.Count() > f.sizes.Block)
	return s, s.x != s.h && t.IsDense() && t.Elem == types.F64 && t.Cols != types.Unknown && t.Known() != open && !cut && !(s.turns && nodes.Sent(g, id)) &&
		(!open || f.rowsOf(s.h) == f.rowsOf(s.x))
}

// rowsOf returns a node that has as many rows as id. If it returns the same node for two matrices, they
// have equally many rows: rows at places have as many as the places.
func (f *codeGroups) rowsOf(id ir.ID) ir.ID {
	g := f.g
	open := func(x ir.ID) bool { return g.Type(x).IsMatrix() && g.Type(x).Rows == types.Unknown }
	n, of := &g.Nodes[id], ir.None
	switch in := g.In(id); {
	case n.Op == f.table.Must("pick.rows") && g.Type(in[1]).Cols == 1:
		return f.rowsOf(in[1])
	case nodes.ElementwiseOperator(n), ofCodes(g, id):
		for _, x := range in {
			switch {
			case !open(x):
			case of == ir.None:
				of = f.rowsOf(x)
			case of != f.rowsOf(x): // one may have a single row
				return id
			}
		}
	}
	if of == ir.None {
		return id
	}
	return of
}

// joinCodes lets sums and counts by code check the codes that nothing else reads, which are not stored
// then:
//
//	%2 = onehot.code(%1) {k=10};  %3 = onehot.sums(%2, %0) {k=10}   ->   %3 = onehot.sums(%1, %0) {k=10}
//
// It would be wrong if something else might fail between the check and the first of them.
func joinCodes(g *ir.Graph, table *op.Table) *ir.Graph {
	code, sums, counts := table.Must("onehot.code"), table.Must("onehot.sums"), table.Must("onehot.counts")
	readers, stops, out := readersOf(g), nodes.StopsOf(g), g.Clone()
	for i := range g.Nodes {
		h := ir.ID(i)
		by := func(r ir.ID) bool { return g.Nodes[r].Op == sums || g.Nodes[r].Op == counts }
		if g.Nodes[i].Op != code || !allOf(readers[h], by) || stops[readers[h][0]-1] != stops[h] {
			continue
		}
		for _, r := range readers[h] {
			at, own := g.Origin(h), g.Origin(r)
			// another call of the function may have made the same matrix before
			if g.Calls[at.Call].Name == g.Calls[own.Call].Name {
				at.Call = own.Call
			}
			out.In(r)[0] = g.In(h)[0]
			out.SetOrigin(r, at)
		}
	}
	return DropDead(out)
}

// ofCodes reports a matrix of codes.
func ofCodes(g *ir.Graph, id ir.ID) bool { return g.Nodes[id].Op.Role == op.Codes }

// Codes makes two steps of a dense matrix of codes:
//
//	%2 = onehot(%0) {k=10}  ->  %1 = onehot.code(%0) {k=10};  %2 = onehot.of(%1) {k=10}
//
// The check stays where the matrix was, and what is left cannot fail. So rules may say what is made of
// the matrix in terms of the codes (take-by-code), and loops may make it (sinkCodes). It would be wrong
// for a matrix that is sent, which is one task.
func Codes(g *ir.Graph, table *op.Table) *ir.Graph {
	g = nodes.Changed(g, func(id ir.ID) bool {
		t := g.Type(id)
		return ofCodes(g, id) && t.IsDense() && t.Known() && !g.Nodes[id].Op.Laws.Has(op.Total) && !nodes.Sent(g, id)
	}, func(c *nodes.Copying, id ir.ID) {
		t, o := c.Old.Type(id), c.Old.Origin(id)
		k := op.MakeAttrs(op.Attr{Name: "k", Val: op.Int(t.Cols)})
		code := c.G.Add(table.Must("onehot.code"), k, types.DenseOf(types.I64, t.Rows, 1), o, c.In(id)...)
		c.To[id] = c.G.Add(table.Must("onehot.of"), k, t, o, code)
	})
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
			n.Region = nodes.EachRegion(n.Region, func(r *ir.Region) *ir.Region {
				c, a := nodes.CopyOf(r.Graph), r.Args[k-offset]
				var column ir.ID
				for j := range r.Graph.Nodes {
					if x := ir.ID(j); x != a {
						c.Node(x)
						continue
					}
					o := ir.Origin{Span: g.Nodes[h].Span}
					column = c.G.Add(arg, nil, g.Type(code), o)
					c.To[a] = c.G.Add(of, g.Nodes[h].Attrs, g.Type(h), o, column)
				}
				out := c.Region(r)
				out.Args[k-offset] = column
				return out
			})
		}
		n.Region = nodes.EachRegion(n.Region, func(r *ir.Region) *ir.Region {
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

// unbuilt returns the matrices of checked codes that are not built.
func unbuilt(g *ir.Graph, table *op.Table) map[ir.ID]bool {
	of, out := table.Must("onehot.of"), map[ir.ID]bool{}
	for i := range g.Nodes {
		out[ir.ID(i)] = g.Nodes[i].Op == of
		for k, x := range g.In(ir.ID(i)) {
			out[x] = out[x] && readsCodes(g, table, ir.ID(i), k)
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
	c, ofCodes := nodes.CopyOf(g), make([]bool, g.Len())
	elementwise := func(d *op.Def) bool { return d.Laws.Has(op.Elementwise | op.Pure) }
	for i := range g.Nodes {
		id := ir.ID(i)
		in, d := c.In(id), g.Nodes[i].Op
		ofCodes[i] = d == of && g.Type(id).Rows > 1 && g.Type(id).Cols > 1 || elementwise(d) && !nodes.Sent(g, id) && !ir.MayFail(g, id)
		any := d == of
		for k, x := range g.In(id) {
			any = any || ofCodes[x]
			ofCodes[i] = ofCodes[i] && (d == of || ofCodes[x] || g.Type(x).IsScalar())
			if ofCodes[x] && (elementwise(d) || d.Fold != op.NoFold) {
				in[k] = compared(c, table, of, x)
			}
		}
		ofCodes[i] = ofCodes[i] && any
		c.To[i] = c.G.CopyNode(g, id, in...)
	}
	return DropDead(c.G)
}

// compared returns a copy of node x, a matrix of checked codes or elementwise operators on one.
func compared(c *nodes.Copying, table *op.Table, of *op.Def, x ir.ID) ir.ID {
	n, t, o := &c.Old.Nodes[x], c.Old.Type(x), c.Old.Origin(x)
	if n.Op == of {
		attrs := op.MakeAttrs(op.Attr{Name: "a", Val: op.Int(0)}, op.Attr{Name: "b", Val: op.Int(t.Cols)}, op.Attr{Name: "step", Val: op.Int(1)})
		keys := c.G.Add(table.Must("seq"), attrs, types.DenseOf(types.I64, t.Cols, 1), o)
		keys = c.G.Add(table.Must("t"), nil, types.DenseOf(types.I64, 1, t.Cols), o, keys)
		same := c.G.Add(table.Infix("=="), nil, t.With(types.Bool), o, c.In(x)[0], keys)
		return c.G.Add(table.Must("f64"), nil, t, o, same)
	}
	in := c.In(x)
	for k, y := range c.Old.In(x) {
		if !c.Old.Type(y).IsScalar() {
			in[k] = compared(c, table, of, y)
		}
	}
	return c.G.Add(n.Op, n.Attrs, t, o, in...)
}
