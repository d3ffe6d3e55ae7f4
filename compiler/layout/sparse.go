package layout

import (
	"math"
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/sparsity"
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

// rowSteps and entrySteps are the operations that reading a row of a sparse matrix takes, and each
// entry of it. Measured in rounds of two ranks: a row takes 12 to 16 times as long as an entry, in
// products and in greatest elements, on a web graph (6 to 9 ns) and on a graph without locality. Where
// rows end early, at a greatest element that no other exceeds, it is 14 times over all rounds, 6 in the
// first ones, which take the most time, and 90 in the others.
const rowSteps, entrySteps = 70, 6

// unevenFrom is the least work of the busiest rank, in equal shares, from which ranks cut rows by
// entries.
const unevenFrom = 1.03

// rowWork is the work of all nodes with the same number of rows, in operations.
type rowWork struct {
	even float64   // work of each row
	more []float64 // additional work by row, from element 1 on; nil: none
}

// cuts sets unit for rows of sparse matrices whose numbers of entries differ much, in g and its
// regions. Each rank gets about the same work. The cuts follow from estimates, so all ranks find the
// same ones.
func (s *spreader) cuts(g *ir.Graph) {
	work := map[int]*rowWork{}
	s.weigh(g, 1, work)
	for rows, x := range work {
		if x.more == nil || rows < 2*s.ranks {
			continue
		}
		upTo := x.more
		for i, more := range upTo[1:] {
			upTo[i+1] = upTo[i] + x.even + more
		}
		share := upTo[rows] / float64(s.ranks)
		if share < float64(s.from) {
			continue
		}
		cuts := s.evenCuts(upTo)
		if now, cut := s.busiest(upTo, op.Val{}), s.busiest(upTo, cuts); now > unevenFrom*share && cut < now {
			s.unit[rows] = cuts
		}
	}
}

// evenCuts returns a value of the attribute plan.Unit that gives each rank about the same work. upTo[i]
// is the work of the rows before row i.
func (s *spreader) evenCuts(upTo []float64) op.Val {
	rows := len(upTo) - 1
	share := upTo[rows] / float64(s.ranks)
	at := make([]int, s.ranks+1)
	for r := 1; r < s.ranks; r++ {
		k, _ := slices.BinarySearch(upTo, float64(float64(r)*share))
		at[r] = min(max(k, at[r-1]+1), rows-s.ranks+r)
	}
	at[s.ranks] = rows
	return op.Ints(at...)
}

// busiest returns the most work of a rank if ranks share rows by an attribute plan.Unit.
func (s *spreader) busiest(upTo []float64, by op.Val) (most float64) {
	for r := range s.ranks {
		lo, hi := plan.WindowOf(r, s.ranks, len(upTo)-1, by)
		most = max(most, upTo[hi]-upTo[lo])
	}
	return most
}

// weigh adds the work of the nodes of g, which runs the given number of times, to work by number of
// rows.
func (s *spreader) weigh(g *ir.Graph, times float64, work map[int]*rowWork) {
	for id, n := range g.All() {
		if nodes.IsControl(n) {
			rounds := s.rounds(g, id)
			for r := n.Region; r != nil; r = r.Next {
				if n.Op.Control == op.Iterate {
					s.estimatesIn(g, id, r)
				}
				s.weigh(r.Graph, times*rounds, work)
			}
			continue
		}
		rows, reads := s.rows(g, id), []bool(nil)
		switch t := g.Type(id); {
		case n.Op.Role == op.Relocates && t.IsSparse():
			rows, reads = g.Type(g.In(id)[0]).Rows, []bool{true}
		case t.IsSparse():
			rows = t.Rows
			fallthrough
		case rows > 0:
			reads = alongRows(g, id, rows)
		}
		x := work[rows]
		if x == nil {
			x = new(rowWork)
			work[rows] = x
		}
		entries := false
		for k, from := range g.In(id) {
			if k >= len(reads) || !reads[k] || !g.Type(from).IsSparse() {
				continue
			}
			each := times * entrySteps
			if t := g.Type(id); t.IsDense() {
				each *= float64(max(1, t.Cols))
			}
			e := s.estimates(g).Of(from)
			x.even += times * rowSteps
			entries = true
			if by := n.Op.ByColumn; by > 0 && k == by-1 && g.Type(g.In(id)[by]).IsSparse() && !e.Even() {
				b := s.estimates(g).Of(g.In(id)[by])
				rows, all := sparsity.RowsWork(&e, &b)
				x.addRows(len(rows), func(k int) float64 { return rows[k] }, times*storedSteps*(1+min(1, s.estimates(g).Of(id).NNZ/max(all, 1))))
				continue
			}
			x.add(&e, each)
		}
		if !entries && !(n.Op.ByRows && len(g.In(id)) == 0) { // a generator draws all entries on each rank
			x.even += float64(times*s.nodeWork(g, id)) / float64(max(rows, 1))
		}
	}
}

// add adds the work of a node that reads a matrix with estimate e. each is the operations of an entry.
func (x *rowWork) add(e *sparsity.Estimate, each float64) {
	if e.Even() {
		x.even += float64(each*e.NNZ) / float64(max(1, e.Rows))
		return
	}
	x.addRows(e.Rows, e.InRow, each)
}

// addRows adds work of n rows, in units of so many operations.
func (x *rowWork) addRows(n int, row func(i int) float64, each float64) {
	if x.more == nil {
		x.more = make([]float64, n+1)
	}
	for i := range n {
		x.more[i+1] += float64(each * row(i))
	}
}
