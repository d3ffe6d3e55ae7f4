package layout

// This file spreads rows that the run chooses (op.Def.Chooses). Each rank keeps the rows that it has
// chosen as a matrix of its own, and computes from them row by row. Such nodes are loose. Their rows in
// the order of ranks are the rows that one rank would have.
//
//	%2 = places(%1)                      %2 = places(%1) {ranks=3, shared=900}  # of this rank's rows
//	%3 = pick.rows(%0, %2)               %3 = pick.rows(%0, %2) {ranks=3}
//	%4 = colsum(%3)                 ->   %4 = colsum.part(%3) {ranks=3};  %5 = sum.join(%4) {stack=3};  %6 = colsum.done(%5, %count)
//	%5 = matmul(%3, %3) {ta}             %7 = matmul(%3, %3) {ta} on 0;  %8 = exchange(%7) {to=[1]};  %9 = gemm(%8, %3, %3) {ta} on 1; ..
//	%6 = sort(%3)                        %14 = rank.rows(%3) {turn=1} on 0; ..;  %17 = rbind(%14, ..) on 0;  %18 = sort(%17) on 0
//
// It would be wrong for rows that depend on other rows, and for two matrices whose rows were chosen
// apart.

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
)

// looseFor names the rows of all ranks of an old node on one rank, or on all (plan.Everywhere).
type looseFor struct {
	of   ir.ID
	rank int32
}

// chosen makes the new nodes of an old node that chooses rows, or that reads only such rows. It returns
// false for other nodes.
func (x *spreadGraph) chosen(id ir.ID) bool {
	n, in, t := &x.old.Nodes[id], x.old.In(id), x.old.Type(id)
	if !x.spreader.whole || nodes.Sent(x.old, id) || len(in) == 0 || x.old.Placement(id) != ir.AnyPlace {
		return false
	}
	if from := x.old.Type(in[0]); n.Op.Chooses && from.Cols == 1 && (x.isLoose(in[0]) || x.partial[in[0]] && from.Rows >= x.ranks) {
		size := x.full(in[1])
		if x.isLoose(in[0]) { // of this rank's rows of those that have been chosen before
			size = x.typed(id, x.table.Must("nrow"), nil, x.to[in[0]])
		}
		made := x.shares1(x.g.CopyNode(x.old, id, x.local(in[0]), size))
		if !x.isLoose(in[0]) {
			x.g.Nodes[made].Attrs = x.sharing(x.g.Nodes[made].Attrs, from.Rows, x.unit[from.Rows])
		}
		x.to[id], x.loose[id] = made, id
		x.spares(id, id)
		return true
	}
	root := ir.None
	if k := n.Op.Numbers; k > 0 && x.choosesHere(in[0], in[k]) {
		x.to[id], x.loose[id] = x.shares1(x.g.CopyNode(x.old, id, x.local(in[0]), x.to[in[k]])), in[k]
		x.spares(id, in[k])
		return true
	}
	for _, from := range in {
		r, ok := x.loose[from]
		if ok && root != ir.None && r != root {
			return false
		}
		if ok {
			root = r
		}
	}
	switch both := len(in) == 2 && x.isLoose(in[0]) && x.isLoose(in[1]); {
	case root == ir.None:
		return false
	case n.Op.Shard.Kind == op.ShardContract && both && !x.inside && n.Attrs.Bool("ta") && !n.Attrs.Bool("tb") && t.Known():
		x.to[id] = x.looseProduct(id)
	case len(in) == 1 && n.Op.Shape != nil && rowCount(n.Op):
		x.to[id] = x.countOf(root)
	case len(in) == 1 && n.Op.Shard.Combine != "" && n.Op.Fold != op.NoFold && n.Op.Fold != op.FoldRows && n.Op.Class != loop.NoClass && x.old.Type(in[0]).Cols != types.Unknown:
		x.to[id] = x.looseFold(id, root)
	case stated(n.Op) && n.Op.Shard.Combine != "" && n.Op.Shard.Finish == "" && x.looseStates(id):
	case makesLists(n.Op, t) && !slices.ContainsFunc(in, func(from ir.ID) bool { return !x.isLoose(from) || !x.estimates(x.old).Most(from).Known() }):
		x.to[id] = x.ofLists(id, n.Attrs, nodes.Through(x.to, in)...)
	case n.Op.Select != nil && len(in) == 1 && x.old.Type(in[0]).Cols > 0 && x.looseSelect(id, root):
	case x.rowByRow(id):
		args := make([]ir.ID, len(in))
		for k, from := range in {
			if args[k] = x.to[from]; !x.isLoose(from) {
				args[k] = x.full(from)
			}
		}
		x.to[id], x.loose[id] = x.shares1(x.g.CopyNode(x.old, id, args...)), root
	default:
		return false
	}
	x.spares(id, root)
	return true
}

// spares counts the work on a loose node that other ranks do. The number of its rows is not known, so
// spares assumes the most: all rows that root chooses from.
func (x *spreadGraph) spares(id, root ir.ID) {
	cols := x.old.Type(id).Cols
	for _, from := range x.old.In(id) {
		cols = max(cols, x.old.Type(from).Cols)
	}
	x.shares++
	x.saved += x.spared(moveSteps * float64(x.mostLoose(root)*max(1, cols)))
}

// mostLoose returns the most rows that root may choose: all that it chooses from.
func (x *spreadGraph) mostLoose(root ir.ID) int {
	for x.isLoose(x.old.In(root)[0]) {
		root = x.loose[x.old.In(root)[0]]
	}
	return x.old.Type(x.old.In(root)[0]).Rows
}

// looseSelect makes the new nodes of a row that selects elements of a loose matrix by their order. The
// run tells how many there are, and so the places. It returns false if messages with counts would have
// more bytes than the rows that root may choose.
func (x *spreadGraph) looseSelect(id, root ir.ID) bool {
	n, from := &x.old.Nodes[id], x.old.In(id)[0]
	t, lists, places := x.old.Type(from), 1, n.Op.Select.Places(n.Attrs, 1)
	t.Rows = x.mostLoose(root)
	most := t.Count()
	if n.Op.Select.Columns {
		most, lists = t.Rows, t.Cols
	}
	if x.from > 1 && (selectBytes*len(places)*lists*x.ranks > t.Bytes() || t.Count() < selectExchanges*GatherSpreads*x.from) {
		return false
	}
	elem := n.Attrs.With("elem", op.Str(t.Elem.String()))
	at := x.typed(id, x.table.Must(n.Op.Select.At), elem.With("cols", op.Int(t.Cols)), x.countOf(root))
	share := func(a *op.Attrs) *op.Attrs { return a.With(plan.Shared, op.Int(x.ranks)) }
	found := x.keysAt(id, x.to[from], places, lists, op.Attr{Name: "most", Val: op.Int(most)}, share, at)
	x.to[id] = x.typed(id, x.table.Must(n.Op.Select.Of), elem, found, at)
	return true
}

// endOf returns how many rows from one end of a sorted matrix hold all that is read of it, and whether
// it is the last end. spans has op.RowsRead.Ints of each reader. It returns 0 if the run tells what is
// read, if the rows of all ranks together are no fewer than a rank has, and if a rank has fewer rows:
// the last one may have the rest of a panel alone.
func (s *spreader) endOf(t types.Type, spans []int64) (k int, last bool) {
	lo := t.Rows
	for r := range slices.Chunk(spans, 4) {
		if r[1] > 0 || r[3] > 0 {
			return 0, false
		}
		lo, k = min(lo, int(r[0])), max(k, int(r[0]+r[2]))
	}
	if last = t.Rows-lo < k; last {
		k = t.Rows - lo
	}
	if !nodes.Dividable(t) || k*s.ranks*s.ranks > t.Rows {
		return 0, false
	}
	for r := range s.ranks {
		if from, to := plan.WindowOf(r, s.ranks, t.Rows, s.unit[t.Rows]); to-from < k {
			return 0, false
		}
	}
	return k, last
}

// endReads returns the reads of a sort whose first or last rows alone are read (op.Ordering.Part), if
// each rank has as many rows.
func (s *spreader) endReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	n, in := &g.Nodes[id], g.In(id)
	if n.Op.Order == nil || n.Op.Order.Own != "" || len(in) > 1 || !partial[0] {
		return nil, elsewise
	}
	of := g.Type(in[0])
	k, _ := s.endOf(of, n.Attrs.Ints("spans"))
	return []rowReads{s.ownRows(of.Rows)}, unless(k > 0, elsewise)
}

// ordersEnd makes the new nodes of a sort for which endReads returns reads. Each rank sends as many of
// its own rows as are read, and all ranks put these in order:
//
//	%1 = sort.part(%0) {spans=[0,0,9,0]}
//	->  %1 = order.ends(%0) {ranks=3, rows=9};  %2 = pick.rows(%0, %1) {ranks=3};  %3 = gather(%2)
//	    %4 = sort.part(%3) {spans=[0,0,9,0]};  %5 = slice(%4) {rows 0..9}
//
// Equal rows keep their order, because those of a rank stand before those of later ranks.
func (x *spreadGraph) ordersEnd(id ir.ID, reads []rowReads) {
	n, from, t := &x.old.Nodes[id], x.old.In(id)[0], x.old.Type(id)
	of := x.old.Type(from)
	k, last := x.endOf(of, n.Attrs.Ints("spans"))
	by, own, slice := n.Attrs.Int("by"), x.reach(from, reads[0]), x.table.Must("slice")
	if by < 0 {
		by += of.Cols
	}
	attrs := op.MakeAttrs(op.Attr{Name: "by", Val: op.Int(by)}, op.Attr{Name: "desc", Val: n.Attrs.Val("desc")})
	share := func(a *op.Attrs) *op.Attrs { return x.sharing(a, x.ranks*k, op.Int(k)) }
	gathered := func(made ir.ID) ir.ID { return x.gatherOf(id, inUnits(nil, op.Int(k)), made) }
	ends := attrs.With("rows", op.Int(k)).With("last", op.Bool(last)).With("step", x.unit[of.Rows])
	places := x.typed(id, x.table.Must("order.ends"), share(ends), own)
	if n.Op.Order.Pairs && of.Cols > 1 { // one column is sent
		own, attrs = x.typed(id, slice, nodes.Box{SR: 0, SC: by, Rows: of.Rows, Cols: 1, DR: 0, DC: 0}.Attrs(), own), attrs.With("by", op.Int(0))
	}
	rows, row := gathered(x.typed(id, x.table.Must("pick.rows"), share(nil), own, places)), 0
	if last {
		row = (x.ranks - 1) * k
	}
	made := x.typed(id, n.Op, attrs.With("spans", op.Ints(row, 0, k, 0)), rows)
	made = x.typed(id, slice, nodes.Box{SR: row, SC: 0, Rows: k, Cols: t.Cols, DR: 0, DC: 0}.Attrs(), made)
	if n.Op.Order.Pairs {
		made = x.typed(id, x.table.Must("pick.rows"), nil, gathered(places), made)
	}
	if last {
		made = x.typed(id, x.table.Must("lay"), nodes.LayAttrs(t, []nodes.Box{{SR: 0, SC: 0, Rows: k, Cols: t.Cols, DR: t.Rows - k, DC: 0}}), made)
	}
	x.to[id] = made
	x.saved += x.spared(x.workOf(x.old, id))
}

func (x *spreadGraph) isLoose(id ir.ID) bool {
	_, ok := x.loose[id]
	return ok
}

// local returns the new node with this rank's rows of an old one.
func (x *spreadGraph) local(id ir.ID) ir.ID {
	if x.isLoose(id) {
		return x.to[id]
	}
	return x.own(id)
}

// choosesHere reports whether the old node by chooses rows of the old node id, so that each rank
// chooses among the rows that it has.
func (x *spreadGraph) choosesHere(id, by ir.ID) bool {
	if root, ok := x.loose[by]; !ok || root != by {
		return false
	}
	mask := x.old.In(by)[0]
	if root, ok := x.loose[mask]; ok {
		of, ok := x.loose[id]
		return ok && of == root
	}
	return !x.isLoose(id) && nodes.Dividable(x.old.Type(id)) && x.old.Type(id).Rows == x.old.Type(mask).Rows
}

// rowCount reports whether operator d gives the number of rows of its operand.
func rowCount(d *op.Def) bool {
	for _, rows := range []int{3, 5} {
		if v, err := d.Shape([]types.Type{types.DenseOf(types.F64, rows, 2)}); err != nil || v != value.I64(int64(rows)) {
			return false
		}
	}
	return true
}

// rowByRow reports whether row i of an old node depends on row i of its loose operands alone, and on
// operands that all ranks have.
func (x *spreadGraph) rowByRow(id ir.ID) bool {
	n, in, t := &x.old.Nodes[id], x.old.In(id), x.old.Type(id)
	if !t.IsDense() || t.Rows != types.Unknown || !n.Op.Laws.Has(op.Pure) || n.Region != nil {
		return false
	}
	through := n.Attrs.Ints("through")
	first := n.Op.Fold == op.FoldRows || len(through) == 2 && through[0] == 2 // whose first input is read row by row
	for k, from := range in {
		t := x.old.Type(from)
		beside := n.Op.Role == op.Beside // whose operands have as many rows, and not one
		by := beside || n.Op.Laws.Has(op.Elementwise) || n.Op.Shard.Kind == op.ShardAligned || k == 0 && first || AlongRow(n, k)
		if x.isLoose(from) != by && (!by || beside || t.IsMatrix() && (!nodes.Dividable(t) || t.Rows != 1)) {
			return false
		}
	}
	return true
}

// allLoose returns the new node with the rows of all ranks of a loose old node, on one rank or on all.
func (x *spreadGraph) allLoose(id ir.ID, rank int32) ir.ID {
	key := looseFor{id, rank}
	made, ok := x.together[key]
	if ok {
		return made
	}
	if x.inside { // all ranks run all nodes, and each chooses from all rows
		in := make([]ir.ID, len(x.old.In(id)))
		for k, from := range x.old.In(id) {
			in[k] = x.full(from)
		}
		made = x.g.CopyNode(x.old, id, in...)
	} else if from := x.old.In(id); x.old.Nodes[id].Op.Chooses && x.isLoose(from[0]) { // numbers among the rows of a rank
		made = x.g.CopyNode(x.old, id, x.allLoose(from[0], rank), x.full(from[1]))
	} else {
		in := make([]ir.ID, x.ranks)
		for r := range int32(x.ranks) {
			if in[r] = x.piece(id, r); r != rank {
				in[r] = x.sentFrom(r, in[r], rank)
			}
		}
		made = x.typed(id, x.table.Must("rbind"), nil, in...)
	}
	x.together[key] = x.alone(made, rank)
	return made
}

// piece returns the rows of rank r of a loose old node, on that rank.
func (x *spreadGraph) piece(id ir.ID, r int32) ir.ID {
	attrs := op.MakeAttrs(op.Attr{Name: plan.Turn, Val: op.Int(int(r) + 1)}, op.Attr{Name: plan.SharedRows, Val: op.Int(x.ranks)})
	return x.alone(x.typed(id, x.table.Must("rank.rows"), attrs, x.to[id]), r)
}

// sentFrom returns an exchange of the new node from, which is on rank r: to another rank, or to all.
func (x *spreadGraph) sentFrom(r int32, from ir.ID, to int32) ir.ID {
	list := []int32{to}
	if to == plan.Everywhere {
		list = others(r, x.ranks)
	}
	return x.sent(from, r, exchangeTo(list))
}

// sent returns an exchange of the new node from, which rank r runs.
func (x *spreadGraph) sent(from ir.ID, r int32, attrs *op.Attrs) ir.ID {
	return x.alone(x.g.Add(x.table.Must("exchange"), attrs, x.g.Type(from), x.g.Origin(from).NoDest(), from), r)
}

// alone notes that one rank runs a new node, and returns the node. All ranks run the nodes without such
// a note.
func (x *spreadGraph) alone(made ir.ID, rank int32) ir.ID {
	for len(x.owners) <= int(made) {
		x.owners = append(x.owners, plan.Everywhere)
	}
	x.owners[made] = rank
	return made
}

// looseProduct makes a product t(a) @ b of loose matrices. The order of its terms counts, so each rank
// adds its terms to the sum of the rank before it.
func (x *spreadGraph) looseProduct(id ir.ID) (made ir.ID) {
	n, in := &x.old.Nodes[id], x.old.In(id)
	for r := range int32(x.ranks) {
		args := []ir.ID{x.piece(in[0], r)}
		if in[1] == in[0] {
			args = append(args, args[0])
		} else {
			args = append(args, x.piece(in[1], r))
		}
		if r == 0 {
			made = x.g.CopyNode(x.old, id, args...)
		} else {
			made = x.g.Add(x.table.Must(n.Op.Shard.Accum), n.Attrs, x.old.Type(id), x.old.Origin(id).NoDest(), append([]ir.ID{made}, args...)...)
		}
		x.g.Note(x.alone(made, r), whyOrdered)
		if to := r + 1; to < int32(x.ranks) {
			made = x.sentFrom(r, made, to)
		}
	}
	return x.sentFrom(int32(x.ranks-1), made, plan.Everywhere)
}

// countOf returns the number of rows that an old node chooses, on all ranks.
func (x *spreadGraph) countOf(root ir.ID) ir.ID {
	made, ok := x.counts[root]
	if !ok {
		mask, d := x.old.In(root)[0], x.table.Must("count")
		state, t := x.table.Must(d.Shard.Partial), x.old.Type(mask)
		if x.isLoose(mask) {
			made = x.shares1(x.typed(root, state, nil, x.to[mask]))
		} else {
			made = x.pipeOf(root, mask, state.Name, nodes.TypeOf(state, nil, t), x.ownRows(t.Rows))
		}
		t.Rows = max(0, t.Rows) // the number of elements has no part in a count
		made = x.merged(root, d, t, made)
		x.counts[root] = made
	}
	return made
}

// looseFold makes a reduction of all elements or of the columns of a loose matrix.
func (x *spreadGraph) looseFold(id, root ir.ID) ir.ID {
	d, from := x.old.Nodes[id].Op, x.old.In(id)[0]
	t := x.old.Type(from)
	state := x.shares1(x.typed(id, x.table.Must(d.Shard.Partial), nil, x.to[from]))
	all := x.typed(id, x.table.Must(d.Shard.Combine), op.MakeAttrs(op.Attr{Name: plan.Stacked, Val: op.Int(x.ranks)}), state)
	attrs := op.MakeAttrs(op.Attr{Name: "elem", Val: op.Str(t.Elem.String())}, op.Attr{Name: "cols", Val: op.Int(t.Cols)})
	return x.typed(id, x.table.Must(d.Shard.Finish), attrs, all, x.countOf(root))
}

// looseStates makes the new nodes of a stated operator on loose matrices whose states know no order, as
// counts of codes do. It returns false for another one.
func (x *spreadGraph) looseStates(id ir.ID) bool {
	n, t := &x.old.Nodes[id], x.old.Type(id)
	if !nodes.Dividable(t) || slices.ContainsFunc(x.old.In(id), func(from ir.ID) bool { return !x.isLoose(from) }) {
		return false
	}
	sig := nodes.SigOf(x.old, id)
	sig.Def = x.table.Must(n.Op.Shard.Partial)
	for k := range sig.In {
		sig.In[k].Rows = x.ranks // any number
	}
	if sig.Def.Loop == nil || sig.Def.Loop.Rows == nil || sig.Def.Loop.Rows(sig, t) == 0 {
		return false
	}
	state := x.shares1(x.typed(id, sig.Def, n.Attrs, nodes.Through(x.to, x.old.In(id))...))
	x.to[id] = x.typed(id, x.table.Must(n.Op.Shard.Combine), op.MakeAttrs(op.Attr{Name: plan.Stacked, Val: op.Int(x.ranks)}), state)
	return true
}

// makesLists reports whether ranks share a reduction to type t by lists (op.Shard.List). It would be
// wrong for sums of floats, whose order would be another one.
func makesLists(d *op.Def, t types.Type) bool {
	return d.Shard.List != "" && (!t.Known() || d.Shard.Count != "") && (d.Shard.Chain == "" || !t.Elem.IsFloat())
}

// listReads returns the reads of a reduction by lists: each rank reads its own rows.
func (s *spreader) listReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	if !makesLists(n.Op, t) {
		return nil, elsewise
	}
	rows := g.Type(in[0]).Rows
	if rows < s.ranks || slices.ContainsFunc(in, func(x ir.ID) bool { return !nodes.Dividable(g.Type(x)) || g.Type(x).Rows != rows }) {
		return nil, elsewise
	}
	return slices.Repeat([]rowReads{s.ownRows(rows)}, len(in)), unless(slices.Contains(partial, true) || s.flopsOf(g, id) >= float64(s.from), whyLittle)
}

// listed makes the new nodes of a reduction for which listReads returns reads. Keys that are counted
// are mostly sorted. So ranks take about as many rows each even if cuts by entries gave them others. By
// entries, one of two ranks has 3/4 of the rows of an RMAT graph of scale 20.
func (x *spreadGraph) listed(id ir.ID, reads []rowReads) {
	n, rows := &x.old.Nodes[id], x.old.Type(x.old.In(id)[0]).Rows
	unit := x.unit[rows]
	if len(unit.L) > 0 && n.Op.Shard.Count != "" {
		unit = op.Val{}
		reads = []rowReads{{rows: x.windowsIn(rows, unit)}}
	}
	x.to[id] = x.ofLists(id, n.Attrs.With("step", unit), x.reachAll(id, reads)...)
	x.saved += x.spared(x.workOf(x.old, id))
}

// ofLists returns the new node of the table of old node id, made from the lists of all ranks. in has a
// rank's own rows of the inputs.
func (x *spreadGraph) ofLists(id ir.ID, attrs *op.Attrs, in ...ir.ID) ir.ID {
	n := &x.old.Nodes[id]
	if count := n.Op.Shard.Count; count != "" {
		lists := x.typed(id, x.table.Must(n.Op.Shard.List), x.sharing(attrs.With("split", op.Int(1)), x.ranks, op.Val{}), in...)
		counts := x.typed(id, x.table.Must(count), x.sharing(nil, x.ranks, op.Val{}), x.collected(id, lists))
		return x.typed(id, x.table.Must(n.Op.Shard.Listed), nil, x.gatherOf(id, nil, counts))
	}
	lists, end, of := x.typed(id, x.table.Must(n.Op.Shard.List), x.sharing(attrs, x.ranks, op.Val{}), in...), x.table.Must(n.Op.Shard.Listed), n.Attrs
	if slices.ContainsFunc(end.Args, func(a op.Arg) bool { return a.Name == "elem" }) {
		of = of.With("elem", op.Str(x.g.Type(in[0]).Elem.String()))
	}
	return x.typed(id, end, of, x.joined(id, lists, false))
}

// exchangeTo returns the attributes of an exchange that sends to these ranks.
func exchangeTo(ranks []int32) *op.Attrs {
	to := make([]int, len(ranks))
	for k, r := range ranks {
		to[k] = int(r)
	}
	return op.MakeAttrs(op.Attr{Name: "to", Val: op.Ints(to...)})
}

// others lists all ranks but one.
func others(but int32, ranks int) (list []int32) {
	for k := range int32(ranks) {
		if k != but {
			list = append(list, k)
		}
	}
	return list
}
