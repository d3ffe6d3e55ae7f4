package plan

import (
	"flow/ir"
	"flow/ir/op"
)

// This file predicts loops and branches.

// assumedRounds is how many rounds a loop is taken to have whose condition is tested in the run: enough for what it does in a
// round to weigh more than what is done once.
const assumedRounds = 10

// roundCost is what one round of a loop, or one run of a branch, costs.
type roundCost struct {
	Tasks    int
	Total    float64 // seconds of all tasks
	Critical float64 // seconds of the longest path
}

// roundOf predicts a round of an iterate, its condition included, or of the dearer branch of a select. Loops inside of it count with
// all their rounds.
func roundOf(n *ir.Node, r Rates) (round roundCost) {
	for b := n.Region; b != nil; b = b.Next {
		g := b.Graph
		cost := Costs(g, r)
		var x roundCost
		if rounds, _ := roundsOf(n); rounds > 1 {
			for i := range cost {
				if g.Nodes[i].Attrs.Int("keep") > 0 { // run in one round
					cost[i] /= float64(rounds)
				}
			}
		}
		for i, tail := range Critical(g, cost) {
			x.Critical = max(x.Critical, tail)
			x.Total += total(&g.Nodes[i], cost[i], r)
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

// roundsOf is how many rounds a node is taken to have; known is false where that is an assumption.
func roundsOf(n *ir.Node) (rounds int64, known bool) {
	if n.Op.Control != op.Iterate {
		return 1, true
	}
	if times, ok := n.Times(); ok {
		return max(times, 0), true
	}
	return assumedRounds, false
}

// controls reports a node that has regions of tasks.
func controls(n *ir.Node) bool { return n.Op.Control == op.Iterate || n.Op.Control == op.Select }

// total is the seconds of all tasks of a node that costs so much.
func total(n *ir.Node, cost float64, r Rates) float64 {
	if !controls(n) {
		return cost
	}
	rounds, _ := roundsOf(n)
	return float64(rounds) * roundOf(n, r).Total
}
