package pass

import (
	"math"
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// Priorities returns each task's longest path to the end of the program in predicted seconds,
// scaled to integers: list scheduling by it keeps the critical path busy (Hu's and CP scheduling;
// Adam, Chandy, Dickson, CACM 17(12), 1974). It affects only the order. A constant factor in the
// rates changes nothing. Short effects come first: somebody waits for what they print, and a failed
// assertion spares the rest.
//
// If the matrices of one rank are whole, and loops that all workers share do nearly all of the work,
// the order does not matter for the time. Then tasks have the priorities of depthFirst.
func Priorities(g *ir.Graph, rates plan.Rates, whole bool) []int32 {
	costs := plan.Costs(g, rates)
	tail := plan.Critical(g, costs)
	longest := 0.0
	for _, t := range tail {
		longest = max(longest, t)
	}
	out := make([]int32, len(tail))
	if longest == 0 {
		return out
	}
	scale := mostUrgent / longest
	for i, t := range tail {
		out[i] = int32(t * scale)
	}
	if whole && shared(g, costs) {
		depthFirst(g, out, false)
	}
	short := func(id ir.ID) bool { return costs[id] < longest/shortEffect }
	for i := range tail {
		id := ir.ID(i)
		if g.Type(id).Kind != types.Effect || !short(id) {
			continue
		}
		out[i] = math.MaxInt32
		for _, x := range g.In(id) {
			if len(g.In(x)) == 0 && short(x) { // a text
				out[x] = math.MaxInt32
			}
		}
	}
	return out
}

// mostUrgent is the priority of the longest path. Tasks of a region get up to a sixteenth more than its
// node. Short effects have the highest priority.
const mostUrgent = 1 << 30

// shortEffect is how many times the time of an effect the longest path takes at least, if the effect is
// short.
const shortEffect = 100

// shared reports that loops do all work but a part of 1 / shortEffect.
func shared(g *ir.Graph, costs []float64) bool {
	all, alone := 0.0, 0.0
	for id, n := range g.All() {
		l := n.Op.Loop
		if all += costs[id]; l == nil || l.Takes != nil && !l.Takes(nodes.SigOf(g, id), g.Type(id)) {
			alone += costs[id]
		}
	}
	return alone*shortEffect <= all
}

// DepthFirst returns a priority for each node, larger first, by which few matrices are in memory at a
// time. It is that of depthFirst, except that effects keep their order with all that they need.
func DepthFirst(g *ir.Graph) []int32 {
	out := make([]int32, g.Len())
	depthFirst(g, out, true)
	return out
}

// depthFirst sets the priorities of tasks to an order in which what a task needs is made just before
// it: the fewest matrices are in memory at a time, and what was made last is still in a cache. Tasks
// that nothing reads are made in the order of the program. With effects, a task comes after the effects
// that it needs, and these come before its other operands.
func depthFirst(g *ir.Graph, out []int32, effects bool) {
	read := make([]bool, g.Len())
	for i := range g.Nodes {
		for _, x := range g.In(ir.ID(i)) {
			read[x] = true
		}
	}
	clear(out)
	next := int32(len(out))
	var visit func(id ir.ID)
	visit = func(id ir.ID) {
		if out[id] != 0 {
			return
		}
		out[id] = -1
		for _, x := range g.In(id) {
			if effects && g.Type(x).Kind == types.Effect {
				visit(x)
			}
		}
		for _, x := range g.In(id) {
			visit(x)
		}
		out[id] = next
		next--
	}
	for i := range g.Nodes {
		if !read[i] {
			visit(ir.ID(i))
		}
	}
}

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
	first, lead := nodes.Captures(g, id, n.Region)
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
	g.Replace(id, n.Op, n.Attrs, nodes.Kept(in, keep)...)
	g.Nodes[id].Region = nodes.EachRegion(region, func(r *ir.Region) *ir.Region { return nodes.WithMade(r, ramps) })
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
	n.Region = nodes.EachRegion(n.Region, func(r *ir.Region) *ir.Region {
		args := make([]int, len(r.Args)) // 0: changes from round to round
		first, shift := nodes.Captures(g, id, r)
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

// keepFrom is the least work, in operations and bytes, that is worth keeping: finding a kept value
// costs some tens of nanoseconds.
const keepFrom = 64

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
	s := nodes.SigOf(g, id)
	if slices.ContainsFunc(s.In, func(t types.Type) bool { return t.IsMatrix() && !t.Known() }) {
		return true
	}
	w := n.Op.Cost(s, t)
	return w.Flops+w.Bytes >= keepFrom
}
