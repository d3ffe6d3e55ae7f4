package local

// This file lets a task that shows something (op.Def.Shows) wait for the earlier tasks that may
// fail. See Note [The first failure].

import (
	"slices"

	"flow/ir"
	"flow/ir/plan"
)

// connectGuards adds the edges from what may fail to what shows something. SuccOff[t+1] holds
// counts of successors. It also records what guards on other ranks have to report, and what this
// rank has to report to others.
func (e *Engine) connectGuards() (extra []extraEdge) {
	enter := map[ir.ID]int32{}
	for _, lp := range e.controls {
		enter[lp.node] = lp.enter
	}
	begins := func(id ir.ID) int32 {
		if t, ok := enter[id]; ok {
			return t
		}
		return e.index[id]
	}
	edge := func(g ir.Guard) {
		from, to := e.index[g.By], begins(g.Shown)
		extra = append(extra, extraEdge{from, to})
		e.dag.SuccOff[from+1]++
		e.dag.Waits[to]++
	}
	var made *clearance
	for _, g := range e.guards() {
		at := e.p.Rank(g.Shown)
		for by := range e.p.Ranks {
			switch {
			case !e.p.Runs(by, g.By):
			case by == at && at == e.o.Rank:
				edge(g)
			case by == at:
			case at == e.o.Rank:
				if e.awaits == nil {
					e.awaits = map[grant]*awaited{}
				}
				if k := (grant{g.Shown, by}); e.awaits[k] == nil {
					t := begins(g.Shown)
					e.awaits[k] = &awaited{task: t}
					e.dag.Waits[t]++
				}
			case by == e.o.Rank:
				made = e.mustClear(g, made)
			}
		}
	}
	for _, lp := range e.controls {
		for _, r := range lp.regions {
			for _, g := range ir.Guards(e.g, r.lo, r.hi) {
				edge(g)
			}
		}
	}
	return extra
}

// guards is what the visible effects of the plan wait for. Of a node that all ranks run the others
// must have succeeded too, and that is not known where the effect reads the node: what a rank makes
// of it need not be all of it.
func (e *Engine) guards() []ir.Guard {
	n := ir.ID(e.p.Graph.Len())
	guards := ir.Guards(e.g, 0, n)
	if !slices.Contains(e.p.Owner, plan.Everywhere) {
		return guards
	}
	var open []ir.ID
	known := map[ir.Guard]bool{}
	for _, g := range guards {
		known[g] = true
	}
	for id := range n {
		if e.p.Rank(id) == plan.Everywhere && ir.MayFail(e.g, id) {
			open = append(open, id)
		}
		if !e.g.Shows(id) {
			continue
		}
		for _, by := range open {
			if g := (ir.Guard{By: by, Shown: id}); !known[g] {
				guards = append(guards, g)
			}
		}
		open = open[:0]
	}
	// those of one effect are consecutive
	slices.SortStableFunc(guards, func(a, b ir.Guard) int { return int(a.Shown - b.Shown) })
	return guards
}

// mustClear records that a task of this rank must succeed before a node of another one shows
// something. made is the last record: guards of one node are consecutive.
func (e *Engine) mustClear(g ir.Guard, made *clearance) *clearance {
	if e.clears == nil {
		e.clears = map[int32]*clearance{}
	}
	c := made
	if c == nil || c.shown != g.Shown {
		c = &clearance{shown: g.Shown}
	}
	c.left.Add(1)
	t := e.index[g.By]
	e.flags[t] |= clears
	e.clears[t] = c
	return c
}

// cleared is called when task t, which has the flag clears, has succeeded.
func (e *Engine) cleared(t int32) {
	if c := e.clears[t]; c.left.Add(-1) == 0 {
		e.o.Remote.Cleared(c.shown, e.p.Rank(c.shown))
	}
}

// Clear records that all tasks of rank from that node shown waits for, and does not read, have
// succeeded.
func (e *Engine) Clear(shown ir.ID, from int) {
	if a := e.awaits[grant{shown, from}]; a != nil && a.given.CompareAndSwap(false, true) {
		e.running().Satisfy(a.task)
	}
}
