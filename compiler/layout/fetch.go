package layout

import (
	"math"
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file spreads what reads rows that only the run knows: those in whose columns the rows of a
// sparse matrix have entries, and those whose numbers the run computes (op.Def.Numbers). A gather with
// the attribute plan.Fetch brings a rank those that its rows touch.
//
//	iterate(%x, %S) (%v, %A) {                %1 = sp.touched(%S) {ranks=3, shared=900}
//	  ..                                      %2 = sp.collect(%1) {apart=1, shared=3, stack=3}
//	  %3 = sp.matmul(%A, %v)          ->      %4 = sp.own(%S, %1) {ranks=3, shared=900}
//	  ..                                      iterate(%x, %4, %1, %2) (%v, %A, %t, %g) {
//	}                                           %q = gather(%v, %t, %g) {fetch=400, packed=1}
//	                                            %3 = sp.matmul(%A, %q) {ranks=3, shared=900}
//
// The lists are values of the graph that makes the matrix, so they are made once for each of its
// values. Ranks exchange them where the matrix does not change from round to round: elsewhere a list
// would take part of what it saves. A row of %A keeps its entries in their order, but their columns are
// numbered by what arrives: the rows that come from a rank lie one after the other (plan.Packed).
//
// It also spreads what puts rows in order (op.Ordering), where a rank gets rows that their keys decide.

// rowLists are the lists of a sparse matrix, on each rank: row r of take has the rows that this rank
// needs of rank r, and row r of give those that rank r needs of this one. near is the matrix with the
// columns of packed rows, or None if no node has needed it.
type rowLists struct{ take, give, near ir.ID }

// unchanged returns which input of the loop an old node is that is an argument with the same value in
// all rounds.
func (x *spreadGraph) unchanged(id ir.ID) (k int, ok bool) {
	k = slices.Index(x.args, id)
	return k, k >= 0 && k >= x.around.old.Nodes[x.loop].Carried()
}

// named returns the new node of old node id with the rows that old node s names (see rowReads.by). It
// has all rows if a rank would get most of them.
func (x *spreadGraph) named(id, s ir.ID, all bool) ir.ID {
	t, st := x.old.Type(id), x.old.Type(s)
	_, same := x.unchanged(s)
	g, brought := x.whole[id]
	switch {
	case !x.partial[id] || !st.Known() || st.IsSparse() && st.Cols != t.Rows || x.views[id] != nil && !x.settled(id):
	case t.IsSparse():
		if rows := x.touched(s); x.partial[s] && (same || !x.inside) && 2*rows <= float64((x.ranks-1)*t.Rows) {
			attrs := x.inUnitsOf(t.Rows).With(plan.Stacked, op.Int(x.ranks)).With(plan.Fetch, op.Int(1+int(rows)))
			return x.g.Add(x.table.Must("sp.collect"), attrs, t, x.old.Origin(id).NoDest(), x.to[id], x.listsOf(s).give)
		}
	case st.IsSparse() && brought:
		if in := x.g.In(g); x.g.Nodes[g].Attrs.Int(plan.Fetch) > 0 && in[1] == x.listsOf(s).take {
			return g
		}
	case st.IsSparse():
		if same && nodes.Dividable(t) && !x.remakes(id) {
			l := x.listsOf(s)
			return x.fetch(id, x.touched(s), l.take, l.give)
		}
	case !brought && nodes.Dividable(t) && nodes.Dividable(st):
		return x.numbered(id, s, all)
	}
	return x.full(id)
}

// fetch adds the gather that brings each rank the rows of old node id that take lists. give lists the
// rows that it sends (see rowLists). rows estimates the number of rows that all ranks get.
func (x *spreadGraph) fetch(id ir.ID, rows float64, take, give ir.ID) ir.ID {
	attrs := x.inUnitsOf(x.old.Type(id).Rows).With(plan.Fetch, op.Int(1+int(rows)))
	x.whole[id] = x.gatherOf(id, attrs, x.to[id], take, give)
	return x.whole[id]
}

// numbered returns the new node of an old one with the rows whose numbers are in the old column s: all
// of them if the reader makes all rows, otherwise those in this rank's rows of the column. Ranks
// exchange the lists where the reader stands, since numbers are seldom the same in two rounds.
func (x *spreadGraph) numbered(id, s ir.ID, all bool) ir.ID {
	t, st := x.old.Type(id), x.old.Type(s)
	others := float64(x.ranks - 1)
	rows := others * float64(st.Rows)
	if !all {
		rows /= float64(x.ranks)
	}
	times := 1.0
	if _, ok := x.unchanged(id); ok { // all of its rows would be brought once
		times = x.rounds(x.around.old, x.loop)
	}
	row := float64(t.Bytes()) / float64(t.Rows)
	messages := times*(numberedSpreads*BytesSpread*others+rows*(row+entryBytes)) - others*(GatherSpreads*BytesSpread+float64(t.Bytes()))
	if x.from > 1 && messages > 0 || 2*times*rows > others*float64(t.Rows) {
		return x.full(id)
	}
	shared, unit, from := t.Rows, x.unit[t.Rows], ir.None
	attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(t.Rows)})
	if all {
		attrs, from = attrs.With("all", op.Int(1)), x.full(s)
	} else {
		shared, unit, from = st.Rows, x.unit[st.Rows], x.own(s)
	}
	if of := x.unit[t.Rows]; of.I > 1 || len(of.L) > 0 {
		attrs = attrs.With("of", of)
	}
	key := numbering{s, t.Rows, all}
	l, ok := x.numbers[key]
	if !ok {
		l.take = x.typed(s, x.table.Must("sp.touched"), x.sharing(attrs, shared, unit), from)
		l.give = x.collected(s, l.take)
		x.numbers[key] = l
	}
	return x.fetch(id, rows, l.take, l.give)
}

// numbering is what lists of numbered rows depend on: the old node with the numbers, the rows of the
// matrix, and whether a rank needs the rows of all numbers.
type numbering struct {
	s    ir.ID
	rows int
	all  bool
}

// first returns the new node with the number of the first row of a.
func (x *spreadGraph) first(a rowsAt) ir.ID {
	out, o := x.to[a.s], x.old.Origin(a.s).NoDest()
	for _, step := range []struct {
		infix   string
		by, not int
	}{{"*", a.times, 1}, {"+", a.plus, 0}} {
		if step.by != step.not {
			t := types.ScalarOf(types.I64)
			by := x.g.Add(x.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(step.by)}), t, o)
			out = x.g.Add(x.table.Infix(step.infix), nil, t, o, out, by)
		}
	}
	return out
}

// byNumbers reports whether a new node is a gather of numbered rows.
func (x *spreadGraph) byNumbers(g ir.ID) bool {
	return x.g.Nodes[g].Attrs.Int(plan.Fetch) > 0 && x.g.Nodes[x.g.In(g)[1]].Attrs.Int("rows") > 0 // of sp.touched
}

// numberedSpreads is GatherSpreads of a gather whose lists are exchanged before, and entryBytes the
// size of an entry of a list.
const numberedSpreads, entryBytes = 2 * GatherSpreads, 4

// listsOf returns the lists of an old sparse matrix: arguments, if it is one that does not change.
func (x *spreadGraph) listsOf(s ir.ID) rowLists {
	if l, ok := x.lists[s]; ok {
		return l
	}
	st, at := x.old.Type(s), x.old.Origin(s).NoDest()
	t := types.SparseOf(types.Bool, x.ranks, st.Cols)
	var l rowLists
	if _, ok := x.unchanged(s); ok {
		arg := x.table.Must("arg")
		l = rowLists{x.g.Add(arg, nil, t, at), x.g.Add(arg, nil, t, at), x.g.Add(arg, nil, st, at)}
	} else {
		l.take = x.g.Add(x.table.Must("sp.touched"), x.across(st), t, at, x.to[s])
		l.give, l.near = x.collected(s, l.take), ir.None
	}
	x.lists[s] = l
	return l
}

// across returns the attributes of a node that shares the rows of a sparse matrix of type t and also
// asks how ranks share a matrix with a row for each of its columns.
func (x *spreadGraph) across(t types.Type) *op.Attrs {
	attrs := x.sharing(nil, t.Rows, x.unit[t.Rows])
	if cuts := x.unit[t.Cols]; len(cuts.L) > 0 {
		attrs = attrs.With("of", cuts)
	}
	return attrs
}

// nearOf returns this rank's rows of the old sparse matrix s with the columns of packed rows.
func (x *spreadGraph) nearOf(s ir.ID) ir.ID {
	l := x.listsOf(s)
	if l.near == ir.None {
		st := x.old.Type(s)
		l.near = x.g.Add(x.table.Must("sp.own"), x.across(st), st, x.old.Origin(s).NoDest(), x.to[s], l.take)
		x.lists[s] = l
	}
	return l.near
}

// packedEntries is the estimated number of entries whose columns are renumbered in the time that it
// takes to copy a row of a message to its place. Both read and write an element at a place that is
// looked up.
const packedEntries = 4

// packs marks gathers by lists as packed: their rows stay where they arrive. All readers of such a
// gather select rows by the columns of the sparse matrix that has the lists. They read its copy with
// the columns of packed rows instead. This would be wrong if another gather brought rows of the same
// matrix meanwhile, in this graph or in a loop that has captured the matrix. A matrix with many more
// entries than rows arrive in all rounds is not copied, nor one for which ranks send all of their rows
// to their places.
func (x *spreadGraph) packs() {
	rounds := x.rounds(x.around.old, x.loop)
	for s, l := range x.lists {
		e, rows := x.estimates(x.old).Of(s), x.touched(s)
		if x.from > 1 && (e.NNZ > packedEntries*rounds*rows || op.SendsAll(int(rows), (x.ranks-1)*x.old.Type(s).Cols)) {
			continue
		}
		for i := range x.g.Nodes {
			n, in := &x.g.Nodes[i], x.g.In(ir.ID(i))
			if n.Op.Role != op.Gathers || len(in) < 3 || in[1] != l.take {
				continue
			}
			readers, ok := x.readersByColumn(ir.ID(i), x.to[s])
			if !ok {
				continue
			}
			n.Attrs = n.Attrs.With(plan.Packed, op.Int(1))
			for _, y := range readers {
				n := &x.g.Nodes[y]
				x.g.Replace(y, n.Op, n.Attrs, append([]ir.ID{l.near}, x.g.In(y)[1:]...)...)
			}
		}
	}
}

// readersByColumn returns the readers of the new gather g. ok is false if one of them does not read it
// by the columns of the new node s, or if another gather may bring rows of the same matrix.
func (x *spreadGraph) readersByColumn(g, s ir.ID) (readers []ir.ID, ok bool) {
	from := x.g.In(g)[0]
	for y, n := range x.g.All() {
		for k, z := range x.g.In(y) {
			switch {
			case z == g && k > 0 && k == n.Op.ByColumn && x.g.In(y)[k-1] == s:
				readers = append(readers, y)
			case z == g, z == from && y != g && (n.Op.Role == op.Gathers || nodes.IsControl(n) && k >= n.Carried()):
				return nil, false
			}
		}
	}
	return readers, len(readers) > 0
}

// collected exchanges lists among ranks: row r of the result is the row that rank r has in lists for
// this rank. id is the node of the old graph that needs them.
func (x *spreadGraph) collected(id, lists ir.ID) ir.ID {
	return x.g.Add(x.table.Must("sp.collect"), op.MakeAttrs(op.Attr{Name: plan.Stacked, Val: op.Int(x.ranks)},
		op.Attr{Name: plan.SharedRows, Val: op.Int(x.ranks)}, op.Attr{Name: "apart", Val: op.Int(1)}), x.g.Type(lists), x.old.Origin(id).NoDest(), lists)
}

// touched estimates how many rows all ranks get that need those that the entries of an old sparse
// matrix touch.
func (x *spreadGraph) touched(s ir.ID) float64 {
	of := edge{x.old, s}
	rows, ok := x.touches[of]
	if !ok {
		e := x.estimates(x.old).Of(s)
		rows = e.Touched(x.ranks)
		x.touches[of] = rows
	}
	return rows
}

// listed is an input of a loop that has lists. near tells whether regions of the loop read the copy
// with the columns of packed rows, and own whether they read the input itself.
type listed struct {
	input     int
	near, own bool
	columns   bool // regions read this rank's columns of it, and no lists
}

// takeLists adds the lists that any region of a loop needs to the arguments of all its regions. r is
// the first region. It returns the inputs of the loop that have lists.
func takeLists(r *ir.Region, inside []*spreadGraph) (all []listed) {
	for _, x := range inside {
		x.packs()
	}
	for k := range inside[0].args {
		if !slices.ContainsFunc(inside, func(x *spreadGraph) bool { _, ok := x.lists[x.args[k]]; return ok }) {
			continue
		}
		by := listed{input: k}
		for i, at := 0, r; at != nil; i, at = i+1, at.Next {
			l := inside[i].listsOf(inside[i].args[k])
			by.near = by.near || nodes.Reads(at, l.near)
			by.own = by.own || nodes.Reads(at, at.Args[k])
			at.Args = append(at.Args, l.take, l.give, l.near)
		}
		all = append(all, by)
	}
	return all
}

// orderReads returns the reads of an operator that sorts rows (op.Ordering).
func (s *spreader) orderReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	if o := g.Nodes[id].Op.Order; o == nil || o.Own == "" {
		return nil, elsewise
	}
	from := g.Type(g.In(id)[0])
	if !nodes.Dividable(from) || from.Elem == types.Str || from.Rows < s.ranks {
		return s.inMessages(g, id, nil, false)
	}
	return s.inMessages(g, id, []rowReads{s.ownRows(from.Rows)}, s.from == 1 || s.orderGains(g, id, partial[0]))
}

// orderGains reports whether ranks put rows in order in less time together than one takes that gets
// them all.
func (s *spreader) orderGains(g *ir.Graph, id ir.ID, partial bool) bool {
	gains := s.spared(s.workOf(g, id))
	if partial {
		gains += s.wholeCost(g.Type(g.In(id)[0]))
	}
	return s.orderCost(g, id) <= gains
}

// wholeCost is what it takes to bring all rows of a matrix to all ranks.
func (s *spreader) wholeCost(t types.Type) float64 {
	return float64(s.from) * (GatherSpreads + s.spared(float64(t.Bytes()))/BytesSpread)
}

// orderCost is what it takes ranks to put rows in order together, besides the sorts of their own rows.
func (s *spreader) orderCost(g *ir.Graph, id ir.ID) float64 {
	from, ranks := g.Type(g.In(id)[0]), float64(s.ranks)
	rows, own, others := float64(from.Rows), float64(from.Bytes()), ranks-1
	switch o := g.Nodes[id].Op.Order; {
	case o.Pairs:
		own = 16 * rows
	}
	messages := float64(len(selectBits)+2)*others*roundSpreads + (selectBytes*others*others+own*others/ranks/ranks)/BytesSpread
	return float64(s.from)*messages + rows/ranks*mergeSteps*(2+math.Ceil(math.Log2(ranks)))
}

// mostGathered is the most bytes that all ranks get for a part of a sort. A larger matrix may fit in no
// rank.
const mostGathered = 64 << 20

// partGains reports whether each rank finds the few rows of a sort that are read (op.Ordering.Part)
// sooner than all ranks put the rows in order. Where they share all that they can, they share the sort.
func (s *spreader) partGains(g *ir.Graph, id ir.ID, readers []ir.ID) bool {
	from, spans := g.Type(g.In(id)[0]), []int64(nil)
	for _, by := range readers {
		for _, x := range g.Nodes[by].Op.RowsRead(g.Nodes[by].Attrs).Ints() {
			spans = append(spans, int64(x))
		}
	}
	if k, _ := s.endOf(from, spans); k > 0 {
		return true
	}
	if s.from == 1 || !from.Known() || from.Bytes() > mostGathered {
		return false
	}
	sig := nodes.SigOf(g, id)
	sig.Def, sig.Attrs = s.table.Must(g.Nodes[id].Op.Order.Part), op.MakeAttrs(op.Attr{Name: "spans", Val: op.Val{Kind: op.IntsVal, L: spans}})
	part := apartSteps * sig.Def.Cost(sig, g.Type(id)).Flops
	return part+s.wholeCost(from) <= s.workOf(g, id)/float64(s.ranks)+s.orderCost(g, id)
}

// ordered makes the new nodes of a row that puts rows in order: each rank sorts its rows, gets its runs
// of those of the others and merges them.
func (x *spreadGraph) ordered(id ir.ID, reads []rowReads) {
	from := x.old.In(id)[0]
	x.partial[id] = true
	x.to[id] = x.window(id, x.reach(from, reads[0]), x.unit[x.old.Type(from).Rows])
}

// gatherOf returns a gather of new nodes, for the old node id.
func (x *spreadGraph) gatherOf(id ir.ID, attrs *op.Attrs, in ...ir.ID) ir.ID {
	return x.g.Add(x.table.Must("gather"), attrs, x.g.Type(in[0]), x.old.Origin(id).NoDest(), in...)
}

// window returns the new node with each rank's window of the sorted rows of the new node from, for old
// node id. unit is the attribute plan.Unit of the windows.
func (x *spreadGraph) window(id, from ir.ID, unit op.Val) ir.ID {
	n, rows := &x.old.Nodes[id], x.g.Type(from).Rows
	share := func(a *op.Attrs) *op.Attrs { return x.sharing(a, rows, unit) }
	own := x.typed(id, x.table.Must(n.Op.Order.Own), share(n.Attrs), from)
	places := make([]int, x.ranks-1) // where the windows of other ranks begin
	for r := range places {
		places[r], _ = plan.WindowOf(r+1, x.ranks, rows, unit)
	}
	by := n.Attrs
	if n.Op.Order.Pairs {
		by = nil
	}
	found := x.digits(id, places, nil, func(shift, bits int, found []ir.ID) ir.ID {
		attrs := by.With("places", op.Ints(places...)).With("shift", op.Int(shift)).With("bits", op.Int(bits))
		return x.typed(id, x.table.Must("order.count"), share(attrs), append([]ir.ID{own}, found...)...)
	})
	x.saved += x.spared(x.workOf(x.old, id))
	step := op.Attr{Name: "step", Val: unit}
	near := x.typed(id, x.table.Must("order.near"), x.sharing(by.With(step.Name, step.Val), x.ranks, op.Val{}), own, found)
	cuts := x.typed(id, x.table.Must("order.cuts"), op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(rows)}, step), x.gatherOf(id, nil, near), found)
	fetch := op.MakeAttrs(op.Attr{Name: plan.Fetch, Val: op.Int(1 + rows*(x.ranks-1)/x.ranks)}, op.Attr{Name: plan.Unit, Val: unit})
	return x.typed(id, x.table.Must(n.Op.Order.Of), share(by), x.gatherOf(id, fetch, own, cuts), cuts)
}
