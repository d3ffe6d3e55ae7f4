package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// keepFrom is the least work, in operations and bytes, that is worth keeping: what finds a kept value costs some tens of nanoseconds.
const keepFrom = 64

// Keep marks what is left in a loop and is the same in all of its rounds, for the engines to compute at most once: when it is first
// needed.
//
//	parfor(%u) { %2 = select(%1, %u, %i) {..} { %3 = rowargmax(%u); %4 = element(%3, %i) } }   ->   .. %3 = rowargmax(%u) {keep=1} ..
//
// The attribute keep counts the loops, innermost first, in all of whose rounds the value stays the same. It is the answer to what Hoist
// must leave: work in a branch, which may never be taken, and operators that may fail, where the loop may have no round. A marked node
// stays where it is, so it runs when its branch is first taken and fails there, in the order of the text.
//
// It would be wrong to mark `rowargmax(%c)` where %c is carried, or a node that reads one such through an operator too cheap to be marked:
//
//	iterate(%c) { %1 = c[0,:]; %2 = rowargmax(%1) }
//
// so every node is given a count, and only those that are dear get the mark. The parts of a tuple are not kept, nor are the results of a
// loop or branch as a whole: what lies in it is, if it is the same in the loop around.
func Keep(g *ir.Graph) *ir.Graph {
	k := keeping{}
	out := g.Clone()
	for i := range out.Nodes {
		if n := &out.Nodes[i]; isLoop(n) || n.Op.Control == op.Select {
			k.enter(out, ir.ID(i), make([]int, out.Len()), 0)
		}
	}
	if !k.any {
		return g
	}
	return out
}

// isLoop reports an iterate or a parfor.
func isLoop(n *ir.Node) bool {
	return n.Op.Control == op.Iterate || n.Region != nil && n.Op.Control == op.NoControl && !n.IsChain()
}

type keeping struct{ any bool }

// enter puts marked copies in place of the regions of node id of g. For nodes of g, same says in how many loops, innermost first, they
// are the same; around is how many loops there are.
func (k *keeping) enter(g *ir.Graph, id ir.ID, same []int, around int) {
	n, in := &g.Nodes[id], g.In(id)
	if isLoop(n) {
		around++
	}
	var first *ir.Region
	next := &first
	for r := n.Region; r != nil; r = r.Next {
		args := make([]int, len(r.Args)) // 0: changes from round to round
		switch {
		case n.Op.Control == op.Select:
			for a := range args {
				args[a] = same[in[1+a]]
			}
		case n.Op.Control == op.Iterate:
			for a := n.Carried(); a < len(args); a++ {
				args[a] = 1 + same[in[a]]
			}
		default: // indices come first, and bounds before what is read
			for a, lead := len(n.Attrs.Ints("by")), len(in)-len(args); a < len(args); a++ {
				args[a] = 1 + same[in[lead+a]]
			}
		}
		*next = k.region(r, args, around)
		next = &(*next).Next
	}
	n.Region = first
}

// region is r with its marks, where args says in how many of the loops around it each argument is the same.
func (k *keeping) region(r *ir.Region, args []int, around int) *ir.Region {
	out := &ir.Region{Graph: r.Graph.Clone(), Args: r.Args, Yields: r.Yields}
	g := out.Graph
	same := make([]int, g.Len())
	isArg := make([]bool, g.Len())
	for i, a := range r.Args {
		same[a], isArg[a] = args[i], true
	}
	for i := range g.Nodes {
		id := ir.ID(i)
		if isArg[i] {
			continue
		}
		same[i] = around
		for _, x := range g.In(id) {
			same[i] = min(same[i], same[x])
		}
		n := &g.Nodes[i]
		if isLoop(n) || n.Op.Control == op.Select {
			k.enter(g, id, same, around)
		}
		if same[i] > 0 && worthKeeping(g, id) {
			n.Attrs = n.Attrs.With("keep", op.Int(same[i]))
			k.any = true
		}
	}
	return out
}

// worthKeeping reports a node that gives one value, without an effect, and not for nothing.
func worthKeeping(g *ir.Graph, id ir.ID) bool {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Control != op.NoControl || !n.Op.Laws.Has(op.Pure) || !t.IsScalar() && !t.IsMatrix() {
		return false
	}
	if n.Op.Role == op.Constant || n.Op.Role == op.Argument || n.Attrs.Bool("drawn") {
		return false
	}
	if t.IsMatrix() && !t.Known() || n.Op.Cost == nil {
		return true
	}
	s := sigOf(g, id)
	if slices.ContainsFunc(s.In, func(t types.Type) bool { return t.IsMatrix() && !t.Known() }) {
		return true
	}
	w := n.Op.Cost(s, t)
	return w.Flops+w.Bytes >= keepFrom
}
