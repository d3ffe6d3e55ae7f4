package pass

import (
	"math"
	"slices"

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

// DepthFirst returns priorities by which few matrices are in memory at a time: those of depthFirst, but
// what an effect needs is made after what the effects before it need.
func DepthFirst(g *ir.Graph) []int32 {
	out := make([]int32, g.Len())
	depthFirst(g, out, true)
	return out
}

// depthFirst sets the priorities of tasks to an order in which what a task needs is made just before
// it: the fewest matrices are in memory at a time, and what was made last is still in a cache. Tasks
// that nothing reads are made in the order of the program. effects: of what a task needs, effects come
// first.
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

// place returns the node after which loop id is made, which may be id. ok is false if it would fail in
// another order. known has files that were read before.
func (f *inParts) place(id ir.ID, members []ir.ID, known map[ir.ID]bool) (at ir.ID, ok bool) {
	first, last := id, ir.ID(0)
	for _, m := range members {
		if f.g.Nodes[m].Op.Reads != nil && !known[m] {
			first = min(first, m)
		}
		last = max(last, m)
	}
	stops := func(to ir.ID) bool { // between the first file and node to
		for x := first + 1; x <= to; x++ {
			if !slices.Contains(members, x) && f.stops.between(x-1, x) {
				return true
			}
		}
		return false
	}
	if !stops(id - 1) {
		return id, true
	}
	for _, m := range append(slices.Clone(members), id) {
		for _, x := range f.g.In(m) {
			if !slices.Contains(members, x) {
				last = max(last, x)
			}
		}
	}
	return last, !ir.MayFail(f.g, id) && !stops(last)
}

// build makes the loops.
func (f *inParts) build(owner []int32) (*ir.Graph, []int32) {
	c := copyOf(f.g)
	inside := map[ir.ID]bool{}
	for id, x := range f.of {
		inside[id] = true
		for _, m := range x.members {
			inside[m] = true
		}
	}
	var owners []int32
	owned := func(id ir.ID) {
		for owner != nil && len(owners) < c.g.Len() {
			owners = append(owners, owner[id])
		}
	}
	for id := range f.g.All() {
		if !inside[id] && c.to[id] == ir.None {
			c.node(id)
			owned(id)
		}
		for _, h := range f.at[id] {
			x := f.of[h]
			results := []ir.ID{h}
			if f.g.Type(h).Kind == types.Tuple {
				results = slices.Clone(f.readers[h])
			}
			m := append(slices.Clone(x.members), h)
			if results[0] != h {
				m = append(m, results...)
			}
			r, reads := regionOf(f.g, f.table, m, results)
			c.made(f.table, "inparts", x.attrs, r, through(c.to, reads), f.g.Origin(h), results...)
			owned(h)
		}
	}
	return c.g, owners
}
