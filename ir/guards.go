package ir

import "flow/ir/op"

// This file determines what an effect waits for beside its inputs, so that a failing run shows
// exactly what the reference evaluator shows before the failure.

// Guard says that node Shown happens only after node By has succeeded.
type Guard struct{ By, Shown ID }

// Guards lists what the visible effects among nodes lo..hi-1 of g wait for: every node above them
// that may fail. It omits nodes that Shown reads, directly or not, and nodes that another guard
// reads, since these have succeeded by then. Visible effects form one chain, so a guard holds back
// only the first below it. It takes linear time in nodes and inputs.
func Guards(g *Graph, lo, hi ID) (guards []Guard) {
	var shown []ID
	for id := lo; id < hi; id++ {
		if g.Shows(id) {
			shown = append(shown, id)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	// the effect below the node waits for it anyway
	waits := make([]bool, shown[len(shown)-1]+1-lo)
	for k := len(shown) - 1; k >= 0; k-- {
		from := lo
		if k > 0 {
			from = shown[k-1]
		}
		waits[shown[k]-lo] = true
		for id := shown[k]; id >= from; id-- {
			if !waits[id-lo] {
				if !MayFail(g, id) {
					continue
				}
				guards = append(guards, Guard{id, shown[k]})
			}
			for _, x := range g.In(id) {
				if x >= from {
					waits[x-lo] = true
				}
			}
		}
	}
	return guards
}

// Shows reports whether a node shows something before the run ends, or is a loop or branch that
// does.
func (g *Graph) Shows(id ID) bool {
	n := &g.Nodes[id]
	if n.Op.Control == op.NoControl {
		return n.Op.Shows != nil && n.Op.Shows(n.Attrs)
	}
	if n.Op.Control == op.Part || !g.Effects(id) {
		return false
	}
	for r := n.Region; r != nil; r = r.Next {
		for i := range r.Graph.Nodes {
			if r.Graph.Shows(ID(i)) {
				return true
			}
		}
	}
	return false
}
