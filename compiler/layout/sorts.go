package layout

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
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

// selectPlaces returns the places that a row with a Select needs of each list, the length of a list,
// and the number of lists.
func selectPlaces(g *ir.Graph, id ir.ID) (places []int, n, lists int) {
	d, from := g.Nodes[id].Op, g.Type(g.In(id)[0])
	n, lists = from.Count(), 1
	if d.Select.Columns {
		n, lists = from.Rows, from.Cols
	}
	return d.Select.Places(g.Nodes[id].Attrs, n), n, lists
}

// selectBits is the widths of the digits by which keys of 64 bits are told apart, the highest digit
// first.
var selectBits = []int{11, 11, 9, 9, 8, 8, 8}

// selectBytes is the size of the counts of all digits for one place. selectExchanges is how often ranks
// exchange something: a sample, counts by intervals, and counts of each digit.
const selectBytes, selectExchanges = 8 * (2<<11 + 2<<9 + 3<<8), 2 + 7

// selectReads returns the reads of an operator that selects elements by their order (op.Selection).
func (s *spreader) selectReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	if g.Nodes[id].Op.Select == nil {
		return nil, elsewise
	}
	from := g.Type(g.In(id)[0])
	if !nodes.Dividable(from) || from.Rows < s.ranks {
		return s.inMessages(g, id, nil, false)
	}
	reads = []rowReads{s.ownRows(from.Rows)}
	return s.inMessages(g, id, reads, s.countsLess(g, id) && (partial[0] || from.Count() >= selectExchanges*GatherSpreads*s.from))
}

// countsLess reports whether the counts by which ranks select elements of a matrix have fewer bytes
// than its rows.
func (s *spreader) countsLess(g *ir.Graph, id ir.ID) bool {
	places, _, lists := selectPlaces(g, id)
	return s.from == 1 || selectBytes*len(places)*lists*s.ranks <= g.Type(g.In(id)[0]).Bytes()
}

// selected makes the new nodes of a row that selects elements by their order.
func (x *spreadGraph) selected(id ir.ID, reads []rowReads) {
	n, from := &x.old.Nodes[id], x.old.Type(x.old.In(id)[0])
	places, count, lists := selectPlaces(x.old, id)
	unit := x.unit[from.Rows]
	share := func(a *op.Attrs) *op.Attrs { return x.sharing(a, from.Rows, unit) }
	if unit.Kind == op.NoVal {
		unit = op.Int(1)
	}
	found := x.keysAt(id, x.reach(x.old.In(id)[0], reads[0]), places, lists, op.Attr{Name: "step", Val: unit}, share)
	x.to[id] = x.typed(id, x.table.Must(n.Op.Select.Of), n.Attrs.With("n", op.Int(count)).With("elem", op.Str(from.Elem.String())), found)
	x.saved += x.spared(x.workOf(x.old, id))
}

// keysAt returns the new node with the keys at places of the lists of old node id, in the rows that
// each rank has of the new node in. share adds which rows these are, and draws tells of how many
// elements a sample is. at has the places if only the run tells them (op.Selection.At).
func (x *spreadGraph) keysAt(id, in ir.ID, places []int, lists int, draws op.Attr, share func(a *op.Attrs) *op.Attrs, at ...ir.ID) ir.ID {
	columns, where := op.Attr{Name: "columns", Val: op.Bool(x.old.Nodes[id].Op.Select.Columns)}, op.Attr{Name: "places", Val: op.Ints(places...)}
	made := func(name string, attrs *op.Attrs, in ...ir.ID) ir.ID {
		return x.typed(id, x.table.Must(name), attrs, append(in, at...)...)
	}
	sample := made("select.sample", x.sharing(op.MakeAttrs(columns, draws), x.ranks, op.Val{}), in)
	near := made("select.near", share(op.MakeAttrs(columns, where)), in, x.gatherOf(id, nil, sample))
	tally := op.MakeAttrs(where, op.Attr{Name: "lists", Val: op.Int(lists)}, op.Attr{Name: plan.Shared, Val: op.Int(x.ranks)}) // its rows are places
	within := x.narrowed(id, places, x.typed(id, x.table.Must("select.tally"), tally, near), at...)
	return x.digits(id, places, []ir.ID{within}, func(shift, bits int, found []ir.ID) ir.ID {
		return made("select.count", share(op.MakeAttrs(columns, where).With("shift", op.Int(shift)).With("bits", op.Int(bits))), in, near, found[0])
	}, at...)
}

// narrowed returns the new node that finds a digit of the keys at places from what each rank has
// counted of it. found is the digits before, if there are some, and then at (see keysAt).
func (x *spreadGraph) narrowed(id ir.ID, places []int, counts ir.ID, found ...ir.ID) ir.ID {
	all := x.typed(id, x.table.Must("counts.join"), op.MakeAttrs(op.Attr{Name: plan.Stacked, Val: op.Int(x.ranks)}), counts)
	return x.typed(id, x.table.Must("select.narrow"), op.MakeAttrs(op.Attr{Name: "places", Val: op.Ints(places...)}), append([]ir.ID{all}, found...)...)
}

// digits makes the nodes that find keys at places, digit by digit, from the counts that each rank has
// of a digit of those that have the digits found. at is as for keysAt.
func (x *spreadGraph) digits(id ir.ID, places []int, found []ir.ID, counts func(shift, bits int, found []ir.ID) ir.ID, at ...ir.ID) ir.ID {
	shift := 64
	for _, bits := range selectBits {
		shift -= bits
		found = []ir.ID{x.narrowed(id, places, counts(shift, bits, found), append(found, at...)...)}
	}
	return found[0]
}
