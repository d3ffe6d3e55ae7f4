package layout

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/sparsity"
	"flow/ir/types"
)

// This file weighs what ranks share in a round of a loop against the messages of the round, both in
// operations. Sizes.Spread is done in the time of a message, so a loop that tests cut pays little.

const (
	// GatherSpreads is what a gather costs, in Sizes.Spread: some 16 us. Measured with two ranks of
	// one machine: 3 us from the task that makes the last row on one rank to the one that reads it on
	// another, and 12 us for beginning a loop on each rank that would be part of a larger one on one
	// rank. Ranks that wait for more than 0.3 ms sleep, and notice a message up to 0.1 ms later.
	GatherSpreads = 2
	// BytesSpread is how many bytes are moved in the time of Sizes.Spread. Measured: 0.1 ms for 512 KiB,
	// with the reading of what other ranks have made.
	BytesSpread = 40_000
	// tableMoves is how many times as long as its message it takes to make, merge and round a table of
	// states in new memory. Measured: 1.3 ms for 512 KiB, with 4e6 rows in 90,000 groups on two ranks.
	tableMoves = 8
	// unknownSteps is about how many operations a point takes whose body has work that only the run
	// tells.
	unknownSteps = 300
	// lanes is how many operations of an elementwise operator are done at a time.
	lanes = 4
	// moveSteps is about what it takes to load and store an element, in operations.
	moveSteps = 3
	// roundSpreads is what each other rank costs in a round in which all ranks wait for all. Measured with
	// three ranks on two processors, which sorted 60 000 rows in 28 ms together and one of them in 11 ms.
	roundSpreads = 4
	// mergeSteps is about what it takes to merge two runs, a row, in operations: as their sort takes.
	mergeSteps = 4
	// productSteps is how many operations of a product take the time of one of lanes.
	productSteps = 4
	// apartSteps is how many operations of lanes one outside of them takes.
	apartSteps = 3
	// storedSteps is the same for an operator that makes a sparse matrix. It finds the place of each entry,
	// in new memory. Measured with entries of web-NotreDame: a transpose takes 8 ns an entry, the union of
	// two matrices 6, a triangle 3 and a product 9 to 14 ns a multiplication.
	storedSteps = 20
)

// productRate is the rate class of operators that are as fast as products.
const productRate = "gemm"

// spared is the part of some work that other ranks do.
func (s *spreader) spared(work float64) float64 { return work * float64(s.ranks-1) / float64(s.ranks) }

// estimates returns the estimator of a graph.
func (s *spreader) estimates(g *ir.Graph) *ir.Estimator {
	e := s.estimators[g]
	if e == nil {
		e = ir.NewEstimator(g)
		s.estimators[g] = e
	}
	return e
}

// estimatesIn returns the estimator of a region of node id of g. It assumes that a sparse matrix
// that a loop carries keeps its number of entries. This is good enough for costs, and no result
// depends on it.
func (s *spreader) estimatesIn(g *ir.Graph, id ir.ID, r *ir.Region) *ir.Estimator {
	e := s.estimators[r.Graph]
	if e == nil {
		n := &g.Nodes[id]
		e = s.estimates(g).Region(id, r)
		for k, a := range r.Args {
			if n.Op.Control == op.Iterate && k < n.Carried() && r.Graph.Type(a).IsSparse() {
				first := s.estimates(g).Of(g.In(id)[k])
				first.Basis = max(first.Basis, sparsity.Bounded)
				e.Assume(a, first)
			}
		}
		s.estimators[r.Graph] = e
	}
	return e
}

// flopsOf returns the operations of a node by its row, with the estimated entries of sparse operands.
func (s *spreader) flopsOf(g *ir.Graph, id ir.ID) float64 {
	sig := nodes.SigOf(g, id)
	if slices.ContainsFunc(sig.In, types.Type.IsSparse) {
		sig.Stored = s.estimates(g).Inputs(id)
	}
	return sig.Def.Cost(sig, g.Type(id)).Flops
}

// workOf is about how many operations a node takes, on one rank.
func (s *spreader) workOf(g *ir.Graph, id ir.ID) float64 {
	n, t := &g.Nodes[id], g.Type(id)
	steps := func(g *ir.Graph, id ir.ID) float64 { return moveSteps + plan.ChainFlops(g, id)/lanes }
	switch {
	case n.Op.Role == op.Reduces:
		return float64(nodes.PipeSpace(n).Count()) * steps(g, id)
	case nodes.Elementwise(n):
		return float64(t.Count()) * steps(g, id)
	case n.Op.Role == op.Grouped:
		b := n.Region.Graph
		work := float64(nodes.SpaceIn(b, n.Region.Yields[0]).Count()) * moveSteps
		for i := range b.Nodes {
			if x := ir.ID(i); nodes.Elementwise(&b.Nodes[i]) || b.Nodes[i].Op.Role == op.Points {
				work += s.workOf(b, x) - float64(nodes.SpaceIn(b, x).Count())*moveSteps
			}
		}
		return work
	case n.Op.Role == op.Slices || n.Op.Role == op.Lays || n.Op.Role == op.Beside || n.Op.Role == op.Below:
		return float64(t.Count()) * moveSteps
	}
	if n.Op.Rate == productRate {
		return s.flopsOf(g, id) / productSteps
	}
	each := float64(apartSteps)
	if t.IsSparse() {
		each = storedSteps
	}
	work := s.flopsOf(g, id) * each
	if n.Op.Role == op.Points {
		points := float64(t.Rows)
		if lo := n.Attrs.Ints("lo"); len(lo) > 1 {
			points = float64(t.Count())
		}
		inLanes, apart, known := plan.BodyFlops(n.Region)
		body := inLanes/lanes + apart
		if body += moveSteps; !known {
			body = max(body, unknownSteps)
		}
		work = points * body
	}
	return work
}

// mostRepeated is the work, in Sizes.Spread, up to which all ranks make what cannot be shared, so that
// none waits for another one.
const mostRepeated = 20

// little reports a node that each rank may make.
func (s *spreader) little(g *ir.Graph, id ir.ID) bool {
	n := &g.Nodes[id]
	return !nodes.MadeAnywhere(g, id) && n.Op.Role != op.Exchange && s.nodeWork(g, id) <= mostRepeated*float64(s.from)
}

// rounds returns plan.Rounds of a node, and keeps the result.
func (s *spreader) rounds(g *ir.Graph, id ir.ID) float64 {
	of := edge{g, id}
	rounds, ok := s.rounded[of]
	if !ok {
		n, _ := plan.Rounds(g, id)
		rounds = float64(n)
		if s.rounded == nil {
			s.rounded = map[edge]float64{}
		}
		s.rounded[of] = rounds
	}
	return rounds
}

// nodeWork is workOf of any node, with the rounds of loops.
func (s *spreader) nodeWork(g *ir.Graph, id ir.ID) (work float64) {
	n := &g.Nodes[id]
	switch {
	case nodes.IsControl(n):
		rounds := s.rounds(g, id)
		for r := n.Region; r != nil; r = r.Next {
			for i := range r.Graph.Nodes {
				work += rounds * s.nodeWork(r.Graph, ir.ID(i))
			}
		}
		return work
	case n.Op.Cost == nil || n.Op.Role == op.Argument || n.Op.Role == op.Constant:
		return 0
	}
	return max(0, s.workOf(g, id))
}

// speedup returns how many times as fast as one rank ranks are with a graph, if they share what is
// marked, and the node that costs the most beyond a rank's share of the work: one that ranks do not
// share, or whose rows they send. Messages outside of loops are counted.
func (s *spreader) speedup(g *ir.Graph) (times float64, slowest ir.Node) {
	var all, busiest, most float64
	note := func(n *ir.Node, cost float64) {
		if cost > most {
			most, slowest = cost, *n
		}
	}
	var within func(g *ir.Graph, times float64)
	within = func(g *ir.Graph, times float64) {
		received := plan.Received(g, s.estimates(g), s.ranks)
		loads := make([]float64, s.ranks) // of nodes that one rank runs
		defer func() { busiest += slices.Max(loads) }()
		for id, n := range g.All() {
			if nodes.IsControl(n) {
				rounds := s.rounds(g, id)
				for r := n.Region; r != nil; r = r.Next {
					s.estimatesIn(g, id, r)
					within(r.Graph, times*rounds)
				}
				continue
			}
			if n.Op.Role == op.Slices && g.Type(id).IsDense() {
				continue // it is a view and takes no time
			}
			work, share := times*s.nodeWork(g, id), 1.0
			if n.Attrs.Int(plan.Shared) > 1 && n.Attrs.Int(plan.Turn) == 0 {
				share = float64(s.ranks)
			}
			if plan.IsGather(n) {
				cost := times * float64(s.from) * (GatherSpreads + received(id)/BytesSpread)
				busiest += cost
				note(&g.Nodes[g.In(id)[0]], cost)
				continue
			}
			all += work
			if own := n.Attrs.Int(plan.Owner); own > 0 {
				loads[own-1] += work
				continue
			}
			busiest += work / share
			note(n, work/share-work/float64(s.ranks))
		}
	}
	within(g, 1)
	if all == busiest {
		return 0, slowest
	}
	return all / max(busiest, 1), slowest
}

// gathers is what the gathers of a new graph cost a rank, those of its regions apart.
func (x *spreadGraph) gathers() (cost float64) {
	received := plan.Received(x.g, x.estimates(x.g), x.ranks)
	for i := range x.g.Nodes {
		if n := &x.g.Nodes[i]; plan.IsGather(n) {
			cost += float64(x.from) * (GatherSpreads + received(ir.ID(i))/BytesSpread)
		}
	}
	return cost
}

// tally counts what ranks share in a graph and its regions.
type tally struct {
	shares int     // nodes whose rows are shared
	saved  float64 // operations of a rank that others do instead
	paid   float64 // what gathers in regions cost, in operations
	asked  int     // nodes whose rows the program asks ranks to share
}

// inUnits adds the attribute plan.Unit to a, unless units are single rows.
func inUnits(a *op.Attrs, unit op.Val) *op.Attrs {
	if unit.I > 1 || len(unit.L) > 0 {
		return a.With(plan.Unit, unit)
	}
	return a
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
