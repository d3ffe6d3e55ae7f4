package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// keepFrom is the least work, in operations and bytes, that is worth keeping: finding a kept value
// costs some tens of nanoseconds.
const keepFrom = 64

// Keep marks the loop invariants that remain in a loop, so that engines compute them at most once,
// when first needed.
//
//	parfor(%u) { %2 = select(%1, %u, %i) {..} { %3 = rowargmax(%u); %4 = element(%3, %i) } }   ->   .. %3 = rowargmax(%u) {keep=1} ..
//
// The attribute keep counts the loops, innermost first, in all of whose rounds the value is
// invariant. Hoist leaves two kinds: work in a branch, which may never be taken, and operators that
// may fail, since the loop may have no round. A marked node stays in place, so it runs when its
// branch is first taken and fails there, in textual order.
//
// It would be wrong to mark `rowargmax(%c)` where %c is carried, or a node that reads it through an
// operator too cheap to be marked:
//
//	iterate(%c) { %1 = c[0,:]; %2 = rowargmax(%1) }
//
// so every node gets a count, and only expensive ones get the mark. Parts of a tuple and whole
// results of loops and branches are not kept; what is inside them is, if it is invariant in the
// outer loop.
func Keep(g *ir.Graph) *ir.Graph {
	k := keeping{}
	out := g // cloned at the first loop or branch
	for i := range g.Nodes {
		if n := &g.Nodes[i]; isLoop(n) || n.Op.Control == op.Select {
			if out == g {
				out = g.Clone()
			}
			k.sink(out, ir.ID(i))
			k.enter(out, ir.ID(i), make([]int, out.Len()), 0)
		}
	}
	if !k.any {
		return g
	}
	return out
}

// sink makes the ramps that node id, a parfor, captures in its body, where they are linear forms of
// indices: to read one takes longer, and hides what depends on it alone.
//
//	%1 = seq(); %2 = parfor(%1) { %3 = arg(); .. }   ->   %2 = parfor() { %3 = seq(); .. }
//
// It would be wrong inside of loops whose rounds are tasks: each would make the ramp.
func (k *keeping) sink(g *ir.Graph, id ir.ID) {
	n, in := &g.Nodes[id], g.In(id)
	if n.Op.Role != op.Points {
		return
	}
	first, lead := captures(g, id, n.Region)
	keep, ramps := slices.Repeat([]bool{true}, len(in)), map[int]*ir.Node{}
	for a := first; a < len(n.Region.Args); a++ {
		x := &g.Nodes[in[lead+a]]
		if x.Op.Ramp == nil || len(g.In(in[lead+a])) > 0 || x.Attrs.Bool("drawn") {
			continue
		}
		if _, _, ok := x.Op.Ramp(x.Attrs); ok {
			keep[lead+a], ramps[a] = false, x
		}
	}
	if len(ramps) == 0 {
		return
	}
	region := n.Region
	g.Replace(id, n.Op, n.Attrs, kept(in, keep)...)
	g.Nodes[id].Region = eachRegion(region, func(r *ir.Region) *ir.Region { return withMade(r, ramps) })
	k.any = true
}

// isLoop reports an iterate or a parfor.
func isLoop(n *ir.Node) bool {
	return n.Op.Control == op.Iterate || n.Op.Role == op.Points || n.Op.Role == op.Rounds
}

type keeping struct{ any bool }

// enter replaces the regions of node id of g by marked copies. same gives for each node of g the
// number of loops, innermost first, in which it is invariant; around is the number of loops.
func (k *keeping) enter(g *ir.Graph, id ir.ID, same []int, around int) {
	n, in, more := &g.Nodes[id], g.In(id), 0
	if isLoop(n) {
		more = 1
	}
	n.Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region {
		args := make([]int, len(r.Args)) // 0: changes from round to round
		first, shift := captures(g, id, r)
		for a := first; a < len(args); a++ {
			args[a] = more + same[in[a+shift]]
		}
		return k.region(r, args, around+more)
	})
}

// region returns r with marks. args gives the number of surrounding loops in which each argument is
// invariant.
func (k *keeping) region(r *ir.Region, args []int, around int) *ir.Region {
	out := &ir.Region{Graph: r.Graph.Clone(), Args: r.Args, Yields: r.Yields}
	g := out.Graph
	same := make([]int, g.Len())
	isArg := make([]bool, g.Len())
	for i, a := range r.Args {
		same[a], isArg[a] = args[i], true
	}
	for id, n := range g.All() {
		if isArg[id] {
			continue
		}
		same[id] = around
		for _, x := range g.In(id) {
			same[id] = min(same[id], same[x])
		}
		if isLoop(n) || n.Op.Control == op.Select {
			k.enter(g, id, same, around)
		}
		if same[id] > 0 && worthKeeping(g, id) {
			n.Attrs = n.Attrs.With("keep", op.Int(same[id]))
			k.any = true
		}
	}
	return out
}

// worthKeeping reports a node with one value, without an effect, that is not cheap.
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
