package explain

import (
	"fmt"

	"flow/ir"
	"flow/ir/op"
	"flow/lang/source"
)

// This file finds the bodies that no loop computes: they can often be written otherwise.

// Interpreted is a body that runs an operator at a time, or of which loops and branches do.
type Interpreted struct {
	Where  string `json:"where"`
	Why    string `json:"why"`
	Within bool   `json:"within,omitempty"`
}

// Text is a line for the user.
func (b Interpreted) Text() string {
	if b.Within {
		return fmt.Sprintf("%s: a loop or branch in this body runs an operator at a time: no loop computes %s", b.Where, b.Why)
	}
	return fmt.Sprintf("%s: this body runs an operator at a time: no loop computes %s", b.Where, b.Why)
}

// InterpretedBodies returns those of a plan, in its order.
func InterpretedBodies(g *ir.Graph, files *source.FileSet) (list []Interpreted, err error) {
	points := func(n *ir.Node) bool { return n.Op.Role == op.Points || n.Op.Role == op.Rounds }
	all, err := Loops(g, points)
	for _, l := range all {
		if l.why != "" {
			place, _ := placeAndText(l.at, files)
			list = append(list, Interpreted{place, l.why, len(l.loops) > 0})
		}
	}
	return list, err
}
