package ir

import "flow/ir/op"

// This file tells what an effect waits for beside its inputs, so that a run that fails has shown what the reference evaluator shows
// before the failure, and no more.

// Guard says that node Shown happens only after node By has succeeded.
type Guard struct{ By, Shown ID }

// Guards lists, for the nodes lo..hi-1 of g, what those that show something wait for: every node above them that may fail. A node
// that Shown reads, through any number of nodes, is left out, and so is a node that another guard reads: each has succeeded by then.
// The effects shown are one chain, so a guard holds back the first of them below it alone. Linear in the nodes and their inputs.
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
	waits := make([]bool, shown[len(shown)-1]+1-lo) // of the node, the effect below it waits anyhow
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

// Shows reports a node that shows something before the run has ended, or a loop or branch in which one does.
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
