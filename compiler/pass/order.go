package pass

import (
	"math"

	"flow/ir"
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
	scale := float64(math.MaxInt32-1) / longest
	for i, t := range tail {
		out[i] = int32(t * scale)
	}
	if whole && shared(g, costs) {
		depthFirst(g, out)
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

// shortEffect is how many times the time of an effect the longest path takes at least, if the effect is
// short.
const shortEffect = 100

// shared reports that loops do all work but a part of 1 / shortEffect.
func shared(g *ir.Graph, costs []float64) bool {
	all, alone := 0.0, 0.0
	for id, n := range g.All() {
		l := n.Op.Loop
		if all += costs[id]; l == nil || l.Takes != nil && !l.Takes(sigOf(g, id), g.Type(id)) {
			alone += costs[id]
		}
	}
	return alone*shortEffect <= all
}

// depthFirst sets the priorities of tasks to an order in which what a task needs is made just before
// it: the fewest matrices are in memory at a time, and what was made last is still in a cache. Tasks
// that nothing reads are made in the order of the program.
func depthFirst(g *ir.Graph, out []int32) {
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
