package layout

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// PartSorts makes only those rows of a sorted matrix that are read:
//
//	%2 = argsort(%1);  slice(%2){at=[0, 0, 10, 1]}
//	->  %2 = argsort.part(%1){spans=[0, 0, 10, 0]};  slice(%2) ..
//
// The other rows are not what the program says, so it would be wrong if any reader saw them. All
// readers must be rows that say which rows they read (Def.RowsRead). What these are may be a value of
// the run: the sort then waits for the values that all its readers need. A value that follows from a
// reader of the same sort cannot be waited for.
//
// If several ranks share rows, they order all rows together where that takes less time than the part on
// each. If only rows near one end are read, they share the part (spreadGraph.ordersEnd).
func PartSorts(g *ir.Graph, table *op.Table, ranks int, sizes nodes.Sizes) *ir.Graph {
	all := func(g *ir.Graph) *ir.Graph {
		return partSorts(g, table, func(*ir.Graph, ir.ID, []ir.ID) bool { return true })
	}
	if ranks == 1 {
		return nodes.Everywhere(g, all)
	}
	s := &spreader{table: table, ranks: ranks, from: sizes.Filled().Spread, unit: map[int]op.Val{}, estimators: map[*ir.Graph]*ir.Estimator{}}
	s.units(g)
	return nodes.Everywhere(nodes.Points(g, all), func(g *ir.Graph) *ir.Graph { return partSorts(g, table, s.partGains) })
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
		if int(uses[x]) == len(by) && !nodes.Sent(g, x) && readsPart(g, x, by) && gains(g, x, by) {
			first[by[0]], part[x] = x, true
		}
	}
	if len(part) == 0 {
		return g
	}
	c := nodes.CopyOf(g)
	c.To = slices.Repeat([]ir.ID{ir.None}, g.Len())
	var copied func(id ir.ID) ir.ID
	copied = func(id ir.ID) ir.ID {
		if c.To[id] == ir.None {
			for _, x := range g.In(id) {
				copied(x)
			}
			c.Node(id)
		}
		return c.To[id]
	}
	for id := range g.All() {
		if x, is := first[id]; is {
			in, spans := []ir.ID{c.To[g.In(x)[0]]}, []int(nil)
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
			c.To[x] = c.G.Add(table.Must(n.Op.Order.Part), attrs, g.Type(x), g.Origin(x), in...)
		}
		if !part[id] {
			copied(id)
		}
	}
	return c.G
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
		nodes.ElementwiseOperator(&g.Nodes[id]) && !ir.MayFail(g, id) && !slices.ContainsFunc(g.In(id), func(x ir.ID) bool { return !knownAt(g, x, at) })
}
