package layout

import (
	"math"
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// This file spreads sparse matrices over ranks by rows. In a partial matrix the rows of other ranks are
// empty; otherwise it is like any other. So an operator whose row i depends on row i of its operands
// (op.Def.Along) makes a partial matrix of partial ones without knowing of ranks.
//
//	%0 = read_graph() {..} on 0                %0 = read_graph() {..} on 0
//	%1 = sp.t(%0)                              %1 = exchange(%0) {shared=9, to=[1,2]}  # to each its rows
//	%2 = sp.or(%0, %1)                         %2 = sp.own(%1) {ranks=3, shared=9}
//	%3 = sp.matmul(%2, %x)              ->     %3 = sp.t(%2) {ranks=3}                 # of these entries
//	                                           %4 = sp.collect(%3) {shared=9, stack=3}    # all of these rows
//	                                           %5 = sp.or(%2, %4) {ranks=3}
//	                                           %6 = sp.matmul(%5, %x) {ranks=3, shared=9}
//
// The columns of a row of sp.collect ascend, because ranks have contiguous rows and their parts come
// one after the other.
//
// A constructor whose rows can be made alone (op.Def.ByRows) makes those of the rank, and so does the
// conversion of a dense matrix that ranks share.
//
// Rows of a graph may differ in length by orders of magnitude. If the estimates tell the lengths, each
// rank gets rows with about the same work (cuts). The attribute plan.Unit of all nodes with as many
// rows then lists the row at which each rank begins.
//
// It would be wrong for an operator that makes entries where its sparse operands have none: then the
// rows of other ranks would not be empty.

// alongRows reports by operand of node id, whose result has so many rows, whether row i of the result
// depends on no row of the operand but row i.
func alongRows(g *ir.Graph, id ir.ID, rows int) []bool {
	aligned := make([]bool, len(g.In(id)))
	for k, x := range g.In(id) {
		t := g.Type(x)
		aligned[k] = AlongRow(&g.Nodes[id], k) && t.IsMatrix() && t.Rows == rows && rows > 1
	}
	return aligned
}

// AlongRow reports whether row i of node n depends on no row of input k but row i (op.Def.Along).
func AlongRow(n *ir.Node, k int) bool {
	if n.Op.Along == nil {
		return false
	}
	along := n.Op.Along(n.Attrs)
	return slices.Contains(along, k) || slices.Contains(along, op.AllInputs)
}

// relocates reports whether node id moves the entries of sparse matrices whose rows ranks can share.
func (s *spreader) relocates(g *ir.Graph, id ir.ID) bool {
	t := g.Type(id)
	few := func(from ir.ID) bool { return g.Type(from).IsSparse() && g.Type(from).Rows < s.ranks }
	return g.Nodes[id].Op.Role == op.Relocates && t.Known() && t.Rows >= s.ranks && !slices.ContainsFunc(g.In(id), few)
}

// sparse makes the new node of an old one whose result is a sparse matrix that ranks share by rows,
// because one of its operands is, or because each rank can make its own rows (generates). It returns
// false for other nodes.
func (x *spreadGraph) sparse(id ir.ID) bool {
	n, in := &x.old.Nodes[id], x.old.In(id)
	if x.generates(id) {
		rows := x.old.Type(id).Rows
		own := slices.Repeat([]rowReads{x.ownRows(rows)}, len(in))
		made := x.shares1(x.g.CopyNode(x.old, id, x.reachAll(id, own)...))
		x.g.Nodes[made].Attrs = x.sharing(x.g.Nodes[made].Attrs, rows, x.unit[rows])
		if x.to[id], x.partial[id] = made, true; strewn(n) {
			x.to[id] = x.joinedAdding(id, made)
		}
		return true
	}
	if stated(n.Op) && x.old.Type(id).IsSparse() {
		x.partial[id] = x.share(id) == ""
		return x.partial[id]
	}
	if x.relocates(x.old, id) {
		shared := func(from ir.ID) bool { return x.partial[from] && x.old.Type(from).IsSparse() }
		if !slices.ContainsFunc(in, shared) || n.Attrs.Int("keep") > 0 { // a kept result would still be gathered in each round
			return false
		}
		if x.partial[id] = true; n.Op == x.table.Must("sp.t") {
			x.to[id] = x.transposed(id)
			return true
		}
		args := make([]ir.ID, len(in))
		for k, from := range in {
			if x.old.Type(from).IsSparse() {
				args[k] = x.ownSparse(from)
			} else { // all places
				args[k] = x.full(from)
			}
		}
		x.saved += x.spared(x.workOf(x.old, id))
		x.to[id] = x.joined(id, x.shares1(x.g.CopyNode(x.old, id, args...)), true)
		return true
	}
	t, by := x.old.Type(id), false
	if !t.IsSparse() || !t.Known() || t.Rows < x.ranks || !n.Op.Laws.Has(op.Pure) {
		return false
	}
	own := alongRows(x.old, id, t.Rows)
	for k, from := range in {
		own[k] = own[k] && x.old.Type(from).IsSparse()
		by = by || own[k] && x.partial[from]
	}
	if !by {
		return false
	}
	args := x.reachAll(id, x.readsOf(x.old, id, t.Rows))
	for k, from := range in {
		if own[k] {
			args[k] = x.ownSparse(from)
		}
	}
	x.saved += x.spared(x.workOf(x.old, id))
	x.to[id], x.partial[id] = x.shares1(x.g.CopyNode(x.old, id, args...)), true
	return true
}

// generates reports whether node id makes a sparse matrix of nothing, or of a dense one that ranks
// share by rows, each rank its own rows. In a loop or branch each rank makes all rows.
func (x *spreadGraph) generates(id ir.ID) bool {
	t := x.old.Type(id)
	n := &x.old.Nodes[id]
	return t.IsSparse() && (n.Op.ByRows || n.Op.Parts != nil && n.Op.Parts(n.Attrs)) && !x.inside && !nodes.Sent(x.old, id) && x.old.Placement(id) == ir.AnyPlace && t.Known() && t.Rows >= x.ranks &&
		!slices.ContainsFunc(x.old.In(id), func(from ir.ID) bool { return !nodes.Dividable(x.old.Type(from)) || !x.partial[from] })
}

// byColumns makes the new nodes of a reduction of the columns of a matrix that ranks share by rows.
// Each rank gets its columns, or their entries, and reduces them as rows (op.Def.Turned).
func (x *spreadGraph) byColumns(id ir.ID, _ []rowReads) {
	n, of := &x.old.Nodes[id], x.old.In(id)[0]
	var turned ir.ID
	if x.old.Type(of).IsSparse() {
		turned = x.transposed(id)
	} else {
		turned = x.turnedRows(of)
	}
	rows := x.g.Type(turned).Rows
	made := x.typed(id, x.table.Must(n.Op.Turned), x.sharing(n.Attrs, rows, x.unit[rows]), turned)
	x.saved += x.spared(x.workOf(x.old, id))
	x.to[id] = x.typed(id, x.table.Must("t"), nil, x.gatherOf(id, x.inUnitsOf(rows), made))
}

// transposed returns this rank's rows of the transpose of the partial sparse matrix that old node id
// reads.
func (x *spreadGraph) transposed(id ir.ID) ir.ID {
	of := x.old.In(id)[0]
	made, ok := x.turnedOf[of]
	if !ok {
		made = x.joined(id, x.shares1(x.typed(id, x.table.Must("sp.t"), nil, x.byEntries(of))), true)
		x.turnedOf[of] = made
		x.saved += x.spared(storedSteps * x.estimates(x.old).Of(of).NNZ)
	}
	return made
}

// byEntries returns the rows of the sparse matrix of that this rank transposes. The cuts of rows
// balance the work on all matrices with as many rows, mostly in a loop, so ranks may have very
// different numbers of entries. If one rank sends the others their rows, it also sends them rows with
// about equal numbers:
//
//	%1 = exchange(%0) {units=[0,6,9]}         %1 = exchange(%0) {also=[0,7,9], units=[0,6,9]}
//	%2 = sp.own(%1) {units=[0,6,9]}           %2 = sp.own(%1) {units=[0,6,9]}
//	%3 = sp.t(%2)                       ->    %3 = sp.own(%1) {units=[0,7,9]};  %4 = sp.t(%3)
//
// Rows that each rank has made stay as they are. The cost counts each moved entry twice: an entry may
// be sent to the rank that transposes it, and back.
func (x *spreadGraph) byEntries(of ir.ID) ir.ID {
	own, t, e := x.to[of], x.old.Type(of), x.estimates(x.old).Of(of)
	if x.g.Nodes[own].Op != x.table.Must("sp.own") || e.Even() {
		return own // each rank has made its rows
	}
	upTo := make([]float64, t.Rows+1)
	for i := range t.Rows {
		upTo[i+1] = upTo[i] + 1 + e.InRow(i)
	}
	was, cuts, moved := x.unit[t.Rows], x.evenCuts(upTo), 0.0
	for r := 1; r < x.ranks; r++ {
		before, _ := plan.WindowOf(r, x.ranks, t.Rows, was)
		moved += math.Abs(upTo[before] - upTo[cuts.L[r]])
	}
	gain := storedSteps * (x.busiest(upTo, was) - x.busiest(upTo, cuts))
	if gain <= 0 || x.from > 1 && gain < 2*moved*float64((entryBytes+t.Elem.Size())*x.from)/BytesSpread {
		return own
	}
	from := x.g.In(own)[0]
	if n := &x.g.Nodes[from]; n.Op.Role == op.Exchange {
		n.Attrs = n.Attrs.With(plan.Also, cuts)
	}
	return x.g.Add(x.table.Must("sp.own"), x.sharing(nil, t.Rows, cuts), t, x.old.Origin(of).NoDest(), from)
}

// shares1 marks a new node as one whose work ranks share without a loop over rows.
func (x *spreadGraph) shares1(made ir.ID) ir.ID {
	at := &x.g.Nodes[made]
	at.Attrs = at.Attrs.With(plan.Shared, op.Int(x.ranks))
	x.shares++
	return made
}

// strewn reports whether each rank that reads node n gets entries in rows of other ranks.
func strewn(n *ir.Node) bool { return n.Op.Strewn != nil && n.Op.Strewn(n.Attrs) }

// joinedAdding gives each rank its own rows of the sparse matrix of node id, whose entries any rank may
// hold. Entries at one place are added in the order of ranks.
func (x *spreadGraph) joinedAdding(id, made ir.ID) ir.ID {
	all := x.joined(id, made, true)
	x.g.Nodes[all].Attrs = x.g.Nodes[all].Attrs.With("add", op.Int(1))
	return all
}

// joined joins what ranks have of the sparse matrix of node id. Each gets its own rows if own,
// otherwise all.
func (x *spreadGraph) joined(id, made ir.ID, own bool) ir.ID {
	rows := x.g.Type(made).Rows
	attrs := inUnits(op.MakeAttrs(op.Attr{Name: plan.Stacked, Val: op.Int(x.ranks)}), x.unit[rows])
	if own {
		attrs = attrs.With(plan.SharedRows, op.Int(rows))
	}
	return x.g.Add(x.table.Must("sp.collect"), attrs, x.g.Type(made), x.old.Origin(id).NoDest(), made)
}

// ownSparse returns the rows of this rank of the sparse matrix of an old node.
func (x *spreadGraph) ownSparse(id ir.ID) ir.ID {
	if x.partial[id] {
		return x.to[id]
	}
	made, ok := x.owned[id]
	if !ok {
		made = x.ownOf(id, x.to[id])
		x.owned[id] = made
	}
	return made
}

// ownOf returns this rank's rows of the new node from, which has at least these.
func (x *spreadGraph) ownOf(id, from ir.ID) ir.ID {
	t, own := x.old.Type(id), "sp.own"
	if t.IsDense() { // rows of others may arrive in it
		own = "dense"
	}
	return x.g.Add(x.table.Must(own), x.sharing(nil, t.Rows, x.unit[t.Rows]), t, x.old.Origin(id).NoDest(), from)
}

// scatters reports whether node id makes a matrix on one rank that may send each rank its rows: a
// sparse one, or a dense one that is read of a file or has been kept, as a dense one that is computed
// is read whole more often.
func (s *spreader) scatters(g *ir.Graph, id ir.ID) bool {
	n, t := &g.Nodes[id], g.Type(id)
	if t.IsDense() && (!nodes.Dividable(t) || n.Op.Reads == nil && !n.Op.Root || t.Count() < s.from) {
		return false
	}
	return t.IsMatrix() && t.Known() && t.Rows >= s.ranks && n.Op.Control == op.NoControl
}

// wanted reports which sparse matrices ranks share, by old node. A matrix is shared if a loop reads it
// by rows, if it is made of a dense one that ranks share, or if a node that reads it has enough work
// (paysRows). Operands and results of nodes on shared rows are shared too. x is the graph spread as if
// every sparse matrix could be shared.
func (x *spreadGraph) wanted(everywhere []bool) []bool {
	g := x.old
	out := make([]bool, g.Len())
	again := false
	mark := func(id ir.ID) { again, out[id] = again || !out[id], true }
	for id, every := range everywhere {
		converts := x.generates(ir.ID(id)) && len(g.In(ir.ID(id))) > 0 // otherwise a dense matrix is brought together
		if every && !nodes.IsControl(&g.Nodes[id]) && (x.paysRows(ir.ID(id)) || strewn(&g.Nodes[id]) || converts) {
			mark(ir.ID(id))
		}
	}
	for again = true; again; {
		again = false
		for i := g.Len() - 1; i >= 0; i-- {
			id := ir.ID(i)
			loops := g.Nodes[i].Op.Control == op.Iterate || g.Nodes[i].Op.Role == op.Points
			for k, from := range g.In(id) {
				switch {
				case !everywhere[i] || !x.partial[from] || !g.Type(from).IsSparse():
				case out[i] && !loops, x.takes[id] != nil && x.takes[id][k]: // a parfor takes none
					mark(from)
				case out[from] && !loops:
					mark(id)
				}
			}
		}
	}
	return out
}

// paysRows reports whether sharing the rows of a node spares more time than the messages take. Ranks
// send the entries of its sparse operands, and those of a result that they make together.
func (x *spreadGraph) paysRows(id ir.ID) bool {
	bytes, some := 0.0, false
	moves := func(id ir.ID) {
		t := x.old.Type(id)
		if some = some || t.IsSparse(); t.IsSparse() && !x.generates(id) {
			e := x.estimates(x.old).Of(id)
			bytes += e.Bytes(0, t.Elem.Size())
		}
	}
	for k, from := range x.old.In(id) {
		if x.partial[from] && !slices.Contains(x.old.In(id)[:k], from) { // a square sends its factor once
			moves(from)
		}
	}
	if stated(x.old.Nodes[id].Op) { // ranks exchange what it makes
		moves(id)
	}
	return some && x.spared(x.nodeWork(x.old, id)) >= float64(x.from)*(GatherSpreads+bytes/BytesSpread)
}

// What follows spreads products t(a) @ b of a sparse a and a dense b whose rows ranks share. An element
// of the product is a chain over these rows. Ranks either share the rows of t(a), and get the rows of b
// that theirs name, or each adds the terms of its own rows of a and b, one rank after the other:
//
//	%1 = sp.t(%0);  %2 = sp.matmul(%1, %b)
//	->  %1 = sp.t(%0) {ranks=2}                                  # of this rank's rows: its own columns
//	    %2 = sp.matmul.chain(%1, %b) {at=[0, 50], to=100}        # on the first rank
//	    %3 = gather(%2) {reach}                                  # to the second one
//	    %4 = sp.matmul.chain(%1, %b, %3) {at=[0, 50], from=100}  # on the second one
//	    ..
//	    %8 = lay(%4, %7);  %9 = gather(%8)
//
// The product is cut into strips of rows, so that ranks work on different strips at the same time. The
// chain sends results, and the other way sends operands: the chain is for a with many more rows than
// columns. It would be wrong for matrices of which a rank has rows that are not contiguous.

// hasColumns reports whether each rank can have the columns of old node id, a sparse matrix, for which
// it has the rows of a dense factor: id is the transpose of a matrix that ranks share by rows.
func (x *spreadGraph) hasColumns(id ir.ID) bool {
	if k, same := x.unchanged(id); same {
		return x.around.hasColumns(x.around.old.In(x.loop)[k])
	}
	return x.old.Nodes[id].Op == x.table.Must("sp.t") && x.partial[x.old.In(id)[0]]
}

// columnsOf returns the new node with this rank's columns of old node id, for which hasColumns holds.
// In a region it is an argument if id is one.
func (x *spreadGraph) columnsOf(id ir.ID) ir.ID {
	made, ok := x.columns[id]
	if !ok {
		if _, same := x.unchanged(id); same {
			made = x.g.Add(x.table.Must("arg"), nil, x.old.Type(id), x.old.Origin(id).NoDest())
		} else {
			made = x.shares1(x.typed(id, x.old.Nodes[id].Op, nil, x.ownSparse(x.old.In(id)[0])))
		}
		x.columns[id] = made
	}
	return made
}

// takeColumns adds the columns of captured matrices that any region of a loop needs to the arguments of
// all its regions. r is the first region. It returns the inputs of the loop with these matrices.
func takeColumns(r *ir.Region, inside []*spreadGraph) (all []listed) {
	for k := range inside[0].args {
		some := false
		for _, x := range inside {
			_, ok := x.columns[x.args[k]]
			some = some || ok
		}
		if !some {
			continue
		}
		by := listed{input: k, columns: true}
		for i, at := 0, r; at != nil; i, at = i+1, at.Next {
			by.own = by.own || nodes.Reads(at, at.Args[k])
			at.Args = append(at.Args, inside[i].columnsOf(inside[i].args[k]))
		}
		all = append(all, by)
	}
	return all
}

// sumsColumns makes the new nodes of a product whose terms ranks add one after the other. It returns
// false for other nodes, and for products for which sending rows of the dense factor takes less time.
func (x *spreadGraph) sumsColumns(id ir.ID) bool {
	n, in, t := &x.old.Nodes[id], x.old.In(id), x.old.Type(id)
	if n.Op.Shard.Chain == "" || len(in) != 2 || !x.old.Type(in[0]).IsSparse() || !nodes.Dividable(t) || t.Count() == 0 || !x.partial[in[1]] || !nodes.Dividable(x.old.Type(in[1])) ||
		nodes.Sent(x.old, id) || x.old.Placement(id) != ir.AnyPlace || n.Attrs.Int("keep") > 0 || !x.hasColumns(in[0]) {
		return false
	}
	rows := x.old.Type(in[1]).Rows
	steps, whole := x.stepsOf(rows, rows)
	strips, pays := x.chainPays(id, steps, whole)
	if !pays {
		return false
	}
	time, busy := x.chainTime(steps, whole, strips)
	x.saved += x.workOf(x.old, id) * (1 - time/float64(rows))
	row, a, b := x.table.Must(n.Op.Shard.Chain), x.columnsOf(in[0]), x.own(in[1])
	made, boxes := make([]ir.ID, strips), []int(nil)
	for s, step := range steps {
		for k := range strips {
			lo, hi := op.Window(k, strips, t.Rows)
			args := []ir.ID{a, b}
			if s > 0 {
				from := inUnits(nil, x.cutsOf(steps[s-1].owner, hi-lo))
				to := make([][]plan.Range, x.ranks)
				to[step.owner[0]] = []plan.Range{{To: hi - lo}}
				args = append(args, x.gatherOf(id, from.With(plan.Reach, plan.ReachOf(to)), made[k]))
			}
			attrs := op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(lo, hi-lo)}, op.Attr{Name: "from", Val: op.Int(step.from[0])}, op.Attr{Name: "to", Val: op.Int(step.to[0])}, op.Attr{Name: "busy", Val: op.Int(max(1, busy[s][k]))})
			made[k] = x.typed(id, row, x.sharing(attrs, hi-lo, x.cutsOf(step.owner, hi-lo)), args...)
			if s == 0 {
				boxes = append(boxes, 0, 0, hi-lo, t.Cols, lo, 0)
			}
		}
	}
	last := x.cutsOf(whole.owner, t.Rows)
	all := made[0]
	if strips > 1 {
		attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(t.Rows)}, op.Attr{Name: "cols", Val: op.Int(t.Cols)}, op.Attr{Name: "boxes", Val: op.Ints(boxes...)})
		all = x.typed(id, x.table.Must("lay"), x.sharing(attrs, t.Rows, last), made...)
	}
	x.to[id] = x.gatherOf(id, inUnits(nil, last), all)
	x.shares++
	x.unread = true
	return true
}

// chainPays reports whether ranks that add the terms of a product one after the other take less time
// than ranks that share its rows, and into how many strips the product is then cut.
func (x *spreadGraph) chainPays(id ir.ID, steps []step, whole step) (strips int, pays bool) {
	in, t := x.old.In(id), x.old.Type(id)
	b := x.old.Type(in[1])
	if len(steps) < 2 {
		return 0, false
	}
	work, cost := x.flopsOf(x.old, id)*apartSteps/float64(min(t.Cols, lanes)), 0.0
	for n := 1; n <= max(1, t.Rows/leastStrip); n *= 2 {
		time, _ := x.chainTime(steps, whole, n)
		c := time*work/float64(b.Rows) + float64(len(steps))*x.message(t) + float64((n-1)*x.from*GatherSpreads) // ranks send strips at the same time
		if strips == 0 || c < cost {
			strips, cost = n, c
		}
	}
	if x.from == 1 { // tests cut little matrices, whose messages count for nothing
		return strips, b.Rows >= 2*t.Rows
	}
	brought, all := x.touched(in[0]), float64((x.ranks-1)*b.Rows)
	each := float64(x.from) * float64(b.Bytes()) / float64(b.Rows) / BytesSpread
	if brought < all {
		each += packedEntries * entrySteps
	}
	return strips, cost < work/float64(x.ranks)+each*min(brought, all)/float64(x.ranks)+float64(x.from)*GatherSpreads+x.message(t)
}
