package local

// This file makes tasks of loops (iterate) and branches (select) from their regions, so that one
// pool runs all levels: stealing goes on, and tasks outside a loop overlap with those inside.
//
// A loop with a condition becomes
//
//	enter --> [condition] --> join --stop--> leave --> readers of the results
//	              ^             |
//	              |             +--go on--> [body] --> join
//	              +--------------------------------------+
//
// The brackets are the nodes of the regions. Each round resets the counters of their tasks
// (Worker.Arm) and enables those without inputs through a list (Worker.Fire). A join waits for all
// tasks of its region and decides what follows: it hands over the carried values and begins another
// region, or fires the exit, a list with only leave. A counted loop has no condition; a branch runs
// one of its two regions. leave is the task of the node itself, and only it is counted.
//
// A loop of all ranks is unfolded by each of them. Each goes through the rounds at its own pace, and
// waits for others only where rows are brought together (engine_gather.go).
//
// A region's values have slots of their own. Arguments are nodes with a slot: a captured value's
// refers to the outer value, of which enter holds one use until leave; a carried value's owns it
// for one round.

import (
	"math"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
)

// skip returns how many inputs of the node precede the first argument: 1 for a branch, whose first
// input is the condition.
func (lp *control) skip() int {
	if lp.branch {
		return 1
	}
	return 0
}

// pinned is the use count of an argument that must not be freed or taken over.
const pinned = math.MaxInt32 / 2

// flatten makes Engine.g: the plan's graph, followed by the regions of this rank's loops and
// branches.
func (e *Engine) flatten() {
	e.g = e.p.Graph
	var mine []ir.ID
	for i := range e.g.Nodes {
		if c := e.g.Nodes[i].Op.Control; (c == op.Iterate || c == op.Select) && e.p.Runs(e.o.Rank, ir.ID(i)) {
			mine = append(mine, ir.ID(i))
		}
	}
	if len(mine) == 0 {
		return
	}
	e.g = e.p.Graph.Clone()
	for _, id := range mine {
		e.unfold(id)
	}
	for k := 0; k < len(e.controls); k++ { // those inside of others come after them
		for _, r := range e.controls[k].regions {
			for id := r.lo; id < r.hi; id++ {
				if c := e.g.Nodes[id].Op.Control; c == op.Iterate || c == op.Select {
					e.unfold(id)
				}
			}
		}
	}
	at := make(map[ir.ID]*control, len(e.controls))
	for _, lp := range e.controls {
		at[lp.node] = lp
	}
	for i := range e.g.Nodes {
		if id := ir.ID(i); e.g.Nodes[i].Op.Control == op.Part {
			if lp := at[e.g.In(id)[0]]; lp != nil {
				at := e.g.Nodes[i].Attrs.Int("at")
				lp.parts[at] = append(lp.parts[at], id)
			}
		}
	}
	e.orderNodes(at)
}

// unfold appends the nodes of a loop's or branch's regions.
func (e *Engine) unfold(id ir.ID) {
	n := e.g.Nodes[id]
	lp := &control{node: id, times: -1, branch: n.Op.Control == op.Select}
	if !lp.branch {
		lp.carry = n.Carried()
		if times, ok := n.Times(); ok {
			lp.times = max(times, 0)
		}
	}
	e.controls = append(e.controls, lp)
	if int(id) >= e.p.Graph.Len() {
		around := e.home[int(id)-e.p.Graph.Len()].loop
		around.inside = append(around.inside, lp)
	}
	first := n.Region
	for i, a := range first.Args {
		x := first.Graph.Nodes[a]
		lp.args = append(lp.args, e.g.Add(x.Op, nil, first.Graph.Type(a), ir.Origin{Span: n.Span, Call: n.Call}))
		e.home = append(e.home, home{lp, 0, first.Args[i]})
	}
	for r := first; r != nil; r = r.Next {
		out := &region{body: r, lo: ir.ID(e.g.Len()), reads: make([]int32, len(lp.args))}
		to := e.g.Splice(r, lp.args, n.Call)
		out.hi = ir.ID(e.g.Len())
		for i, x := range to {
			if x >= out.lo {
				e.home = append(e.home, home{lp, len(lp.regions), ir.ID(i)})
			}
		}
		for _, y := range r.Yields {
			out.yields = append(out.yields, to[y])
		}
		lp.regions = append(lp.regions, out)
	}
	lp.parts = make([][]ir.ID, len(e.g.Results(id)))
	lp.vals = make([]value.Value, len(first.Yields))
	lp.shape = make([]types.Type, lp.carry)
}

// orderNodes assigns nodes their place in program order: those of a region precede their node.
func (e *Engine) orderNodes(at map[ir.ID]*control) {
	e.order = make([]int64, e.g.Len())
	next := int64(0)
	var visit func(lo, hi ir.ID)
	visit = func(lo, hi ir.ID) {
		for id := lo; id < hi; id++ {
			if lp := at[id]; lp != nil {
				lp.place = next
				next++
				// the condition is tested before the body runs
				for k := len(lp.regions) - 1; k >= 0; k-- {
					r := lp.regions[k]
					visit(r.lo, r.hi)
					r.place = next
					next++
				}
			}
			e.order[id] = next
			next++
		}
	}
	visit(0, ir.ID(e.p.Graph.Len()))
}

// controls numbers the tasks of regions, after those of the plan's nodes.
func (b *numbering) controls() error {
	e := b.e
	if len(e.controls) == 0 && len(e.gathers) == 0 {
		return nil
	}
	e.dag.Counted = len(e.task)
	e.steer = map[int32]steer{}
	for _, g := range e.gathers {
		b.starts(g)
	}
	enter := map[ir.ID]*control{}
	for _, lp := range e.controls {
		enter[lp.node] = lp
		if int(lp.node) < e.p.Graph.Len() {
			b.entry(lp)
		}
	}
	for _, lp := range e.controls {
		e.flags[e.index[lp.node]] |= steers
		e.steer[e.index[lp.node]] = steer{role: leaves, loop: lp}
		for k, r := range lp.regions {
			r.from = int32(len(e.task))
			for id := r.lo; id < r.hi; id++ {
				if err := b.add(id); err != nil {
					return err
				}
				if in := enter[id]; in != nil {
					b.entry(in)
				}
				if plan.IsGather(&e.g.Nodes[id]) {
					b.starts(e.gathers[len(e.gathers)-1])
				}
			}
			if k == 0 {
				b.startsEarly(lp)
			}
			b.steers(steer{role: joins, loop: lp, region: k}, lp.node)
			r.to = int32(len(e.task))
		}
	}
	for _, lp := range e.controls {
		lp.exit = b.list()
		for _, r := range lp.regions {
			r.begin = b.list()
		}
	}
	e.keepMarked()
	return nil
}

func (b *numbering) entry(lp *control) { lp.enter = b.steers(steer{role: enters, loop: lp}, lp.node) }

// starts adds the task that starts the transfers of g.
func (b *numbering) starts(g *gather) { b.steers(steer{role: gathers, gather: g}, g.id) }

// steers adds a task without a node of its own.
func (b *numbering) steers(s steer, of ir.ID) int32 {
	e := b.e
	t := int32(len(e.task))
	e.steer[t] = s
	e.task = append(e.task, of)
	e.flags = append(e.flags, steers)
	e.kind = append(e.kind, 0)
	return t
}

// list adds a number that only stands for its successors.
func (b *numbering) list() int32 {
	e := b.e
	t := int32(len(e.task))
	e.task = append(e.task, ir.None)
	e.flags = append(e.flags, steers)
	e.kind = append(e.kind, 0)
	return t
}

// handed reports whether x is an argument, which exists when its region begins.
func (e *Engine) handed(x ir.ID) bool {
	if int(x) < e.p.Graph.Len() {
		return false
	}
	h := e.home[int(x)-e.p.Graph.Len()]
	return x < h.loop.regions[0].lo
}

// extraEdge is an edge that no input makes.
type extraEdge struct{ from, to int32 }

// connectControls adds the edges between a region's tasks and its begin and end. SuccOff[t+1] holds
// counts of successors.
func (e *Engine) connectControls() (extra []extraEdge) {
	d := &e.dag
	edge := func(from, to int32) {
		extra = append(extra, extraEdge{from, to})
		d.SuccOff[from+1]++
		d.Waits[to]++
	}
	for _, lp := range e.controls {
		edge(lp.exit, e.index[lp.node])
	}
	for t, s := range e.steer {
		if s.role == early { // after the transfers of this round, even if the value does not depend on them
			edge(e.index[s.gather.from], t)
			edge(s.gather.task, t)
		}
	}
	for _, lp := range e.controls {
		for _, r := range lp.regions {
			join := r.to - 1
			for t := r.from; t < join; t++ {
				enters := e.flags[t]&steers != 0 && e.steer[t].role == enters
				if d.Waits[t] == 0 {
					edge(r.begin, t)
				}
				if !enters && d.SuccOff[t+1] == 0 {
					edge(t, join)
				}
			}
			if d.Waits[join] == 0 {
				edge(r.begin, join)
			}
			for _, y := range r.yields {
				e.uses[e.at(y)]++
			}
			e.countReads(lp, r)
		}
	}
	return extra
}

// countReads counts how often a region reads each argument.
func (e *Engine) countReads(lp *control, r *region) {
	if len(lp.args) == 0 {
		return
	}
	first := lp.args[0] // they follow each other
	count := func(x ir.ID) {
		if x >= first && int(x-first) < len(r.reads) {
			r.reads[x-first]++
		}
	}
	for id := r.lo; id < r.hi; id++ {
		if e.g.Nodes[id].Op.Control == op.Part {
			continue
		}
		for _, x := range e.g.In(id) {
			count(x)
			if plan.IsGather(&e.g.Nodes[id]) {
				count(x) // by the transfers too
			}
		}
	}
	for _, y := range r.yields {
		count(y)
	}
}

// sendParts records which of several results of a node other ranks wait for.
func (e *Engine) sendParts() {
	if e.o.Remote == nil {
		return
	}
	send := func(parts []ir.ID) {
		for _, id := range parts {
			if id != ir.None && int(id) < e.p.Graph.Len() {
				e.uses[id] += int32(e.o.Remote.Sends(id))
			}
		}
	}
	for _, lp := range e.controls {
		for _, ids := range lp.parts {
			send(ids)
		}
	}
	for _, parts := range e.several {
		send(parts)
	}
}

// keepUses stores the initial use counts of each region.
func (e *Engine) keepUses() {
	for _, lp := range e.controls {
		for _, r := range lp.regions {
			r.uses = append([]int32(nil), e.uses[r.lo:r.hi]...)
		}
	}
}

// briefTask is the predicted time, in seconds, up to which a task of a round stays with the worker that
// enables it. An idle worker takes a task within a microsecond, and moves its operands to its cache.
const briefTask = 2e-6

// prioritiseControls makes the tasks of a region as urgent as its node, those with the longest path
// to the region's end first, or those that come first in the program (Plan.Ordered).
func (e *Engine) prioritiseControls() {
	if len(e.controls) > 0 {
		e.dag.Brief = make([]bool, e.dag.N)
	}
	for _, lp := range e.controls {
		base := e.dag.Prio[e.index[lp.node]]
		e.dag.Prio[lp.enter] = base
		for _, r := range lp.regions {
			cost := plan.Costs(r.body.Graph, nil)
			tail := plan.Urgency(r.body.Graph, cost)
			longest := 0.0
			for _, t := range tail {
				longest = max(longest, t)
			}
			// Ranking distinguishes a sixteenth of the distance to the program's end.
			spread := float64(max(base/16, 1000))
			for t := r.from; t < r.to; t++ {
				p := float64(base)
				if e.p.Ordered {
					p += float64(r.to-t) / float64(r.to-r.from) * (1 << 28)
				} else if h := int(e.task[t]) - e.p.Graph.Len(); longest > 0 && h >= 0 && t < r.to-1 {
					at := e.home[h].id
					p += spread * tail[at] / longest
					e.dag.Brief[t] = e.flags[t]&(steers|asks|gathered) == 0 && cost[at] <= briefTask
				}
				e.dag.Prio[t] = int32(min(p, math.MaxInt32))
			}
		}
	}
}
