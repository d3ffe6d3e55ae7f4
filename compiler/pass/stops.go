package pass

import "flow/ir"

// This file finds where nodes that may fail cannot move: past another such node, and past an
// effect.

// stops counts, up to each node of a graph, the nodes that may fail or have an effect.
type stops []int32

func stopsOf(g *ir.Graph) stops {
	s := make(stops, g.Len())
	n := int32(0)
	for i := range s {
		if ir.MayFail(g, ir.ID(i)) {
			n++
		}
		s[i] = n
	}
	return s
}

// between reports such a node after node a and not after node b.
func (s stops) between(a, b ir.ID) bool { return s[a] < s[b] }
