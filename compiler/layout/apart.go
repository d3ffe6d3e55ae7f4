package layout

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file gives whole nodes of a region to ranks, each to one: tiles of channel arrays, and operators
// that make no row alone.

// owning is the state of a region in which ranks make whole nodes: operators that make no row alone,
// and what reads their results. Each is made by the rank with its tile (tileOwner), or by the one that
// would end first, as in list scheduling:
//
//	%1 = potrf(%0)         ->   %1 = potrf(%0) {owner=1};  %9 = gather(%1) {reach}
//	%2 = trsm(%1, %3)           %2 = trsm(%9, %3) {owner=2}
//	%4 = trsm(%1, %5)           %5 = trsm(%1, %5) {owner=1}
//
// It would be wrong for a view, which has the memory of its operand, and where a rank reads what it has
// not made without a gather.
type owning struct {
	ready []float64                // by rank: when it has made its nodes, in operations
	done  []float64                // by old node: when it is made
	owner map[ir.ID]int            // of old nodes
	got   map[[2]int]bool          // old nodes and the ranks that they have been sent to
	sent  map[ir.ID]ir.ID          // the gathers of old nodes
	rows  map[ir.ID][][]plan.Range // by such a gather: the rows that each rank reads, if no node reads all rows
	loads []float64                // by rank: the work on its nodes
}

// newApart returns the state for a region with several nodes that are worth a message and whose rows
// ranks cannot share, or nil.
func (s *spreader) newApart(g *ir.Graph) *owning {
	some := 0
	for i := range g.Nodes {
		if s.worthApart(g, ir.ID(i)) {
			some++
		}
	}
	if some < 2 {
		return nil
	}
	return &owning{ready: make([]float64, s.ranks), loads: make([]float64, s.ranks), done: make([]float64, g.Len()), owner: map[ir.ID]int{}, got: map[[2]int]bool{}, sent: map[ir.ID]ir.ID{}, rows: map[ir.ID][][]plan.Range{}}
}

// ownable reports a node whose result one rank may make for others.
func ownable(g *ir.Graph, id ir.ID) bool {
	n, t := &g.Nodes[id], g.Type(id)
	switch n.Op.Role {
	case op.Argument, op.Constant, op.Points, op.Gathers, op.Exchange:
		return false
	}
	return t.IsMatrix() && nodes.Dividable(t) && !plan.MayView(g, id) && !nodes.IsControl(n) && n.Op.Cost != nil && n.Op.Laws.Has(op.Pure) && (n.Region == nil || nodes.Elementwise(n)) && n.Op.Reads == nil && !n.Op.Root &&
		!g.Asks(id) && n.Attrs.Int("keep") == 0 && (g.Placement(id) == ir.AnyPlace || nodes.Sent(g, id) && g.Placement(id) != ir.Replicated)
}

// worthApart reports a node whose rows ranks cannot share and that is worth a message.
func (s *spreader) worthApart(g *ir.Graph, id ir.ID) bool {
	if !ownable(g, id) || s.little(g, id) || s.spared(s.workOf(g, id)) < s.message(g.Type(id)) {
		return false
	}
	_, _, why := s.shared(g, id, make([]bool, len(g.In(id))))
	return why == whyTogether || why == whyWhole
}

// message is about how many operations a message takes with a value of type t.
func (s *spreader) message(t types.Type) float64 {
	return float64(s.from) * (GatherSpreads + float64(t.Bytes())/BytesSpread)
}

// begins returns when the operands of old node id are made.
func (x *spreadGraph) begins(id ir.ID) (at float64) {
	for _, from := range x.old.In(id) {
		at = max(at, x.apart.done[from])
	}
	return at
}

// receives returns how long rank r, or with r < 0 each rank, takes to receive the operands of old node
// id that it has not got.
func (x *spreadGraph) receives(id ir.ID, r int) (work float64) {
	for _, from := range x.old.In(id) {
		if own, ok := x.apart.owner[from]; ok && own != r && !x.apart.got[[2]int{int(from), r}] {
			work += x.message(x.old.Type(from))
		}
	}
	return work
}

// tick notes the time that all ranks take for an old node. shares: they share its rows.
func (x *spreadGraph) tick(id ir.ID, shares bool) {
	a := x.apart
	if a == nil {
		return
	}
	if _, ok := a.owner[id]; ok {
		return
	}
	a.done[id] = x.begins(id) + x.receives(id, -1)
	if plan.MayView(x.old, id) {
		return
	}
	work := x.nodeWork(x.old, id)
	if shares {
		work /= float64(x.ranks)
	}
	for r := range a.ready {
		a.ready[r] += work
	}
	a.done[id] += work
}

// lightApart reports elementwise work that each rank does in less time than ranks bring its rows
// together.
func (x *spreadGraph) lightApart(id ir.ID) bool {
	t := x.old.Type(id)
	return nodes.Elementwise(&x.old.Nodes[id]) && nodes.Dividable(t) && x.old.Placement(id) == ir.AnyPlace &&
		x.spared(x.workOf(x.old, id)) < float64(x.from)*(GatherSpreads+x.spared(float64(t.Bytes()))/BytesSpread)
}

// ownsApart makes the new node of an old one that one rank makes.
func (x *spreadGraph) ownsApart(id ir.ID) bool {
	a := x.apart
	if a == nil || !ownable(x.old, id) {
		return false
	}
	reads := func(from ir.ID) bool { _, ok := a.owner[from]; return ok }
	if !slices.ContainsFunc(x.old.In(id), reads) && !x.worthApart(x.old, id) || x.laysApart(id) {
		return false
	}
	work, best, end := x.workOf(x.old, id), 0, 0.0
	tile := x.tileOwner(id)
	for r, at := range a.ready {
		if at = max(at, x.begins(id)) + x.receives(id, r) + work; r == tile || tile < 0 && (r == 0 || at < end) {
			best, end = r, at
		}
	}
	in := make([]ir.ID, len(x.old.In(id)))
	for k, from := range x.old.In(id) {
		if own, ok := a.owner[from]; ok && own == best {
			in[k] = x.to[from]
		} else {
			in[k] = x.full(from)
			a.got[[2]int{int(from), best}] = true
		}
	}
	x.to[id] = x.g.CopyNode(x.old, id, in...)
	x.own1(x.to[id], best)
	a.ready[best], a.done[id], a.owner[id] = end, end, best
	a.loads[best] += work
	return true
}

// laysApart reports an old node that only moves elements of what several ranks have made, if ranks
// share its rows and no rank makes a reader alone. Each rank then gets the pieces of its own rows:
//
//	%5 = lay(%1, %2, %3, %4) {owner=1};  %6 = gather(%5);  sum(%6)
//	->  %5 = lay(%1, %2, %3, %4) {ranks=2};  sum(%5)
//
// It would gain nothing for what one rank reads, which would be sent the rows of the others.
func (x *spreadGraph) laysApart(id ir.ID) bool {
	first, several := -1, false
	for _, from := range x.old.In(id) {
		if own, ok := x.apart.owner[from]; ok {
			several = several || first >= 0 && own != first
			first = own
		}
	}
	if !several || x.flopsOf(x.old, id) > 0 || x.tileOwner(id) >= 0 {
		return false
	}
	for r := id + 1; int(r) < x.old.Len(); r++ {
		if slices.Contains(x.old.In(r), id) && (x.tileOwner(r) >= 0 || x.worthApart(x.old, r)) {
			return false
		}
	}
	_, _, why := x.shared(x.old, id, make([]bool, len(x.old.In(id))))
	return why == ""
}

// sentApart returns the new node of an old one on all ranks.
func (x *spreadGraph) sentApart(id ir.ID) ir.ID {
	if x.apart == nil {
		return x.to[id]
	}
	own, ok := x.apart.owner[id]
	if !ok {
		return x.to[id]
	}
	g, ok := x.apart.sent[id]
	if !ok {
		g = x.gatherOf(id, inUnits(nil, x.allOn(own, x.old.Type(id).Rows)).With(plan.Owner, op.Int(1+own)), x.to[id])
		x.apart.sent[id] = g
	}
	delete(x.apart.rows, g)
	return g
}

// ownedApart reports whether one rank makes an old node for the others.
func (x *spreadGraph) ownedApart(id ir.ID) bool {
	if x.apart == nil {
		return false
	}
	_, ok := x.apart.owner[id]
	return ok
}

// rowsApart returns the gather of an old node that one rank makes, which sends these rows to each rank.
func (x *spreadGraph) rowsApart(id ir.ID, rows [][]plan.Range) ir.ID {
	g, ok := x.apart.sent[id]
	some := x.apart.rows[g]
	if ok && some == nil {
		return g // with all rows
	}
	g = x.sentApart(id)
	x.apart.rows[g] = together(some, rows)
	return g
}

// settleApart gives what only one rank reads to that rank, and sends results to the ranks that read
// them alone. It returns false if a rank would read what it has not made.
func (x *spreadGraph) settleApart(yields []ir.ID) bool {
	readers := make([][]bool, x.g.Len()) // by rank
	add := func(id ir.ID, by []bool) {
		if readers[id] == nil {
			readers[id] = make([]bool, x.ranks)
		}
		for r, reads := range by {
			readers[id][r] = readers[id][r] || reads
		}
	}
	all := slices.Repeat([]bool{true}, x.ranks)
	for _, y := range yields {
		add(y, all)
	}
	for i := x.g.Len() - 1; i >= 0; i-- {
		id, n := ir.ID(i), &x.g.Nodes[i]
		own, by := n.Attrs.Int(plan.Owner), all
		switch only := slices.Index(readers[id], true); {
		case own > 0 && x.apart.rows[id] != nil:
			n.Attrs, by = n.Attrs.With(plan.Reach, plan.ReachOf(x.apart.rows[id])), nil
		case own > 0 && plan.IsGather(n):
			if needs := make([][]plan.Range, x.ranks); slices.Contains(readers[id], false) {
				for r, reads := range readers[id] {
					if reads {
						needs[r] = []plan.Range{{To: x.g.Type(id).Rows}}
					}
				}
				n.Attrs = n.Attrs.With(plan.Reach, plan.ReachOf(needs))
			}
			by = nil
		case own > 0:
			by = make([]bool, x.ranks)
			by[own-1] = true
			if readers[id] != nil {
				others := slices.Clone(readers[id])
				if others[own-1] = false; slices.Contains(others, true) {
					return false
				}
			}
		case only >= 0 && !slices.Contains(readers[id][only+1:], true) && n.Attrs.Int(plan.Shared) == 0 && !plan.IsGather(n) && ownable(x.g, id):
			x.own1(id, only)
			x.saved += x.spared(x.nodeWork(x.g, id))
			by = readers[id]
		}
		for _, from := range x.g.In(id) {
			add(from, by)
		}
	}
	for _, load := range x.apart.loads {
		x.saved += load
	}
	x.saved -= slices.Max(x.apart.loads)
	x.shares += len(x.apart.owner)
	return true
}
