package plan

import (
	"flow/ir"
	"flow/ir/op"
)

// This file predicts loops and branches.

// assumedRounds is the assumed number of rounds of a loop whose condition is tested in the run. It
// makes the work of a round outweigh what is done once.
const assumedRounds = 10

// roundCost is the cost of one round of a loop, or one run of a branch.
type roundCost struct {
	Tasks    int
	Total    float64 // seconds of all tasks
	Critical float64 // seconds of the longest path
}

// roundOf predicts a round of an iterate with its condition, or the more expensive branch of a
// select. Inner loops count with all their rounds.
func roundOf(g *ir.Graph, id ir.ID, r Rates, of rounding) (round roundCost) {
	n := &g.Nodes[id]
	rounds, _ := of(g, id)
	for b := n.Region; b != nil; b = b.Next {
		g := b.Graph
		cost := costs(g, r, of)
		var x roundCost
		if rounds > 1 {
			for i := range cost {
				if g.Nodes[i].Attrs.Int("keep") > 0 { // run in one round
					cost[i] /= float64(rounds)
				}
			}
		}
		for i, tail := range Critical(g, cost) {
			x.Critical = max(x.Critical, tail)
			x.Total += total(g, ir.ID(i), cost[i], r, of)
			if d := g.Nodes[i].Op; d.Control != op.Part && d.Role != op.Argument {
				x.Tasks++
			}
		}
		switch {
		case n.Op.Control == op.Iterate:
			round = roundCost{round.Tasks + x.Tasks, round.Total + x.Total, round.Critical + x.Critical}
		case x.Critical >= round.Critical:
			round = x
		}
	}
	return round
}

// rounding returns the number of rounds of a node: 1 if it is no iterate. If known is false, the run
// decides, and the number is an assumption.
type rounding func(g *ir.Graph, id ir.ID) (rounds int64, known bool)

// Rounds returns the number of rounds of a node: 1 if it is no iterate. It follows a counter for about
// a hundred rounds, which takes some 50 us. If known is false, the number is an assumption: a loop that
// counts further has at least the rounds that were followed.
func Rounds(g *ir.Graph, id ir.ID) (rounds int64, known bool) { return counted(g, id, 1<<9) }

// roundsOf is Rounds for figures that users read. It follows a counter 256 times as far.
func roundsOf(g *ir.Graph, id ir.ID) (rounds int64, known bool) { return counted(g, id, 1<<17) }

// counted is a rounding that follows the counters of a loop for the given steps (ir.Graph.Counted).
func counted(g *ir.Graph, id ir.ID, steps int) (rounds int64, known bool) {
	if g.Nodes[id].Op.Control != op.Iterate {
		return 1, true
	}
	least, most := g.Counted(id, steps)
	return min(max(assumedRounds, least), most), least == most
}

// controls reports a node that has regions of tasks.
func controls(n *ir.Node) bool { return n.Op.Control == op.Iterate || n.Op.Control == op.Select }

// total returns the seconds of all tasks of a node.
func total(g *ir.Graph, id ir.ID, cost float64, r Rates, of rounding) float64 {
	if !controls(&g.Nodes[id]) {
		return cost
	}
	rounds, _ := of(g, id)
	return float64(rounds) * roundOf(g, id, r, of).Total
}
