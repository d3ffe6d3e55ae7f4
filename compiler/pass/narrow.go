package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
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
	return elementwiseOperator(n)
}

// PartSorts makes only those rows of a sorted matrix that are read:
//
//	%2 = argsort(%1);  slice(%2){at=[0, 0, 10, 1]}   ->   %2 = argsort.part(%1){spans=[0, 0, 10, 0]};  slice(%2) ..
//
// The other rows are not what the program says, so it would be wrong if any reader saw them. All
// readers must be rows that say which rows they read (Def.RowsRead). What these are may be a value of
// the run: the sort then waits for the values that all its readers need. A value that follows from a
// reader of the same sort cannot be waited for.
//
// If several ranks share rows, they order all rows together where that takes less time than the part on
// each. If only rows near one end are read, they share the part (spreadGraph.ordersEnd).
func PartSorts(g *ir.Graph, table *op.Table, ranks int, sizes Sizes) *ir.Graph {
	all := func(g *ir.Graph) *ir.Graph {
		return partSorts(g, table, func(*ir.Graph, ir.ID, []ir.ID) bool { return true })
	}
	if ranks == 1 {
		return Everywhere(g, all)
	}
	s := &spreader{table: table, ranks: ranks, from: sizes.filled().Spread, unit: map[int]op.Val{}, estimators: map[*ir.Graph]*ir.Estimator{}}
	s.units(g)
	return Everywhere(Points(g, all), func(g *ir.Graph) *ir.Graph { return partSorts(g, table, s.partGains) })
}

// partSorts is PartSorts of the sorts in g, without its regions, for which gains holds.
func partSorts(g *ir.Graph, table *op.Table, gains func(g *ir.Graph, id ir.ID, readers []ir.ID) bool) *ir.Graph {
	uses := g.Uses()
	readers := map[ir.ID][]ir.ID{} // of sorts whose other readers are none
	for i := range g.Nodes {
		if d := g.Nodes[i].Op; d.RowsRead != nil && !d.RowsRead(g.Nodes[i].Attrs).All {
			if x := g.In(ir.ID(i))[0]; g.Nodes[x].Op.Order != nil && g.Nodes[x].Op.Order.Part != "" {
				readers[x] = append(readers[x], ir.ID(i))
			}
		}
	}
	first := map[ir.ID]ir.ID{} // sorts by their first readers
	part := map[ir.ID]bool{}
	for x, by := range readers {
		if int(uses[x]) == len(by) && !sent(g, x) && readsPart(g, x, by) && gains(g, x, by) {
			first[by[0]], part[x] = x, true
		}
	}
	if len(part) == 0 {
		return g
	}
	c := copyOf(g)
	c.to = slices.Repeat([]ir.ID{ir.None}, g.Len())
	var copied func(id ir.ID) ir.ID
	copied = func(id ir.ID) ir.ID {
		if c.to[id] == ir.None {
			for _, x := range g.In(id) {
				copied(x)
			}
			c.node(id)
		}
		return c.to[id]
	}
	for id := range g.All() {
		if x, is := first[id]; is {
			in, spans := []ir.ID{c.to[g.In(x)[0]]}, []int(nil)
			for _, by := range readers[x] {
				r := g.Nodes[by].Op.RowsRead(g.Nodes[by].Attrs)
				for _, k := range []*int{&r.FromArg, &r.EndArg} {
					if *k > 0 {
						in = append(in, copied(g.In(by)[*k]))
						*k = len(in) - 1
					}
				}
				spans = append(spans, r.Ints()...)
			}
			n := &g.Nodes[x]
			attrs := op.MakeAttrs(append(slices.Clone(n.Attrs.List()), op.Attr{Name: "spans", Val: op.Ints(spans...)})...)
			c.to[x] = c.g.Add(table.Must(n.Op.Order.Part), attrs, g.Type(x), g.Origin(x), in...)
		}
		if !part[id] {
			copied(id)
		}
	}
	return c.g
}

// readsPart reports whether the readers of a sort read less than all of it, and whether the rows that
// they read are known at the first of them.
func readsPart(g *ir.Graph, sort ir.ID, readers []ir.ID) bool {
	rows := 0
	for _, by := range readers {
		r := g.Nodes[by].Op.RowsRead(g.Nodes[by].Attrs)
		if rows += r.Count; r.FromArg > 0 && !knownAt(g, g.In(by)[r.FromArg], readers[0]) ||
			r.EndArg > 0 && !knownAt(g, g.In(by)[r.EndArg], readers[0]) {
			return false
		}
	}
	return g.Type(sort).Rows == types.Unknown || rows < g.Type(sort).Rows
}

// knownAt reports whether node id is above node at, or follows by arithmetic from what is.
func knownAt(g *ir.Graph, id, at ir.ID) bool {
	return id < at || g.Nodes[id].Op.Role == op.Constant ||
		elementwiseOperator(&g.Nodes[id]) && !ir.MayFail(g, id) && !slices.ContainsFunc(g.In(id), func(x ir.ID) bool { return !knownAt(g, x, at) })
}
