package pass

import "flow/ir"

// This file tells over which places no node that may fail can be moved: over another such node, and over an effect.

// stops counts, up to each node of a graph, those that may fail or have an effect.
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

// between reports that there is one after node a that does not come after node b.
func (s stops) between(a, b ir.ID) bool { return s[a] < s[b] }
