package main

import (
	"fmt"

	"flow"
	"flow/ir"
	"flow/ir/op"
)

// This file finds the bodies that no loop computes, for `flowrun check` and --stats: whoever wrote
// them can often write them otherwise.

// interpretedBody is a body that runs an operator at a time, or of which loops and branches do.
type interpretedBody struct {
	Where  string `json:"where"`
	Why    string `json:"why"`
	Within bool   `json:"within,omitempty"`
}

func (b interpretedBody) text() string {
	if b.Within {
		return fmt.Sprintf("%s: a loop or branch in this body runs an operator at a time: no loop computes %s", b.Where, b.Why)
	}
	return fmt.Sprintf("%s: this body runs an operator at a time: no loop computes %s", b.Where, b.Why)
}

// interpretedBodies is those of the plan, in its order.
func interpretedBodies(p *flow.Program) (list []interpretedBody, err error) {
	points := func(n *ir.Node) bool { return n.Op.Role == op.Points || n.Op.Role == op.Rounds }
	all, err := planLoops(p.Compiled().Plan.Graph, points)
	for _, l := range all {
		if l.why != "" {
			place, _ := placeAndText(l.at, p.Compiled().Files)
			list = append(list, interpretedBody{place, l.why, len(l.loops) > 0})
		}
	}
	return list, err
}
