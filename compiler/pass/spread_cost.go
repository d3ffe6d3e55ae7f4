package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// This file weighs what ranks share in a round of a loop against the messages of the round. Both are
// in operations. Sizes.Spread is what is done in the time of a message; so a loop that is cut for
// tests by small sizes pays little.

const (
	// gatherSpreads is what a gather costs, in Sizes.Spread: some 50 us, from the task that makes the
	// last row on one rank to the one that reads it on another, as both ranks have to notice. Measured
	// with two ranks of one machine: 33 us in rounds of 60 us, and more where rounds are longer, as
	// ranks sleep then. A network of machines takes less than what noticing takes.
	gatherSpreads = 6
	// bytesSpread is how many bytes are moved in the time of Sizes.Spread.
	bytesSpread = 100_000
	// moveSteps is about what it takes to load and store an element, in operations.
	moveSteps = 3
	// apartSteps is how many operations of lanes one outside of them takes.
	apartSteps = 3
)

// spared is the part of some work that other ranks do.
func (s *spreader) spared(work float64) float64 { return work * float64(s.ranks-1) / float64(s.ranks) }

// workOf is about how many operations a node takes, on one rank.
func workOf(g *ir.Graph, id ir.ID) float64 {
	n, t := &g.Nodes[id], g.Type(id)
	steps := func(g *ir.Graph, id ir.ID) float64 { return moveSteps + chainFlops(g, id)/4 } // lanes
	switch {
	case n.Op.Role == op.Reduces:
		return float64(pipeSpace(n).Count()) * steps(g, id)
	case elementwise(n):
		return float64(t.Count()) * steps(g, id)
	case n.Op.Role == op.Grouped:
		work := float64(t.Count()) * moveSteps
		for i := range n.Region.Graph.Nodes {
			if x := ir.ID(i); elementwise(&n.Region.Graph.Nodes[i]) {
				work += float64(n.Region.Graph.Type(x).Count()) * chainFlops(n.Region.Graph, x) / 4
			}
		}
		return work
	case n.Op.Role == op.Slices || n.Op.Role == op.Lays || n.Op.Role == op.Beside || n.Op.Role == op.Below:
		return float64(t.Count()) * moveSteps
	}
	work := n.Op.Cost(sigOf(g, id), t).Flops * apartSteps
	if n.Op.Role == op.Points {
		points := float64(t.Rows)
		if lo := n.Attrs.Ints("lo"); len(lo) > 1 {
			points = float64(t.Count())
		}
		work = max(work, points*bodyWork(n.Region))
	}
	return work
}

// bodyWork is about how many operations a body takes at a point, by lanes.
func bodyWork(r *ir.Region) (work float64) {
	for ; r != nil; r = r.Next {
		g := r.Graph
		for i := range g.Nodes {
			n, t := &g.Nodes[i], g.Type(ir.ID(i))
			switch {
			case n.Op.Control == op.Iterate:
				rounds, _ := plan.Rounds(n)
				work += bodyWork(n.Region) * float64(rounds)
			case n.Region != nil:
				work += bodyWork(n.Region)
			case n.Op.Laws.Has(op.Elementwise):
				work += float64(max(1, t.Count())) * chainFlops(g, ir.ID(i)) / 4
			case n.Op.Cost != nil:
				work += max(0, n.Op.Cost(sigOf(g, ir.ID(i)), t).Flops)
			}
		}
	}
	return work
}

// gathers is what the gathers of a new graph cost a rank, those of its regions apart.
func (x *spreadGraph) gathers() (cost float64) {
	for i := range x.g.Nodes {
		if n := &x.g.Nodes[i]; plan.IsGather(n) {
			bytes := plan.Received(n.Attrs, x.g.Type(ir.ID(i)), x.ranks)
			cost += float64(x.from) * (gatherSpreads + bytes/bytesSpread)
		}
	}
	return cost
}
