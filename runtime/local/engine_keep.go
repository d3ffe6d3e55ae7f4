package local

// This file runs loop invariants once (attribute keep, pass Keep): a marked task runs when its
// region first begins after the loop was entered, and is skipped in later rounds. Only values that
// unmarked nodes read stay in their slots; the tiles inside a factorisation are freed and reused as
// usual.

import (
	"slices"

	"flow/ir"
)

// keepMarked finds the marked tasks, after all tasks have their numbers.
func (e *Engine) keepMarked() {
	e.repeats = map[ir.ID]*repeat{}
	for _, lp := range e.controls {
		for _, r := range lp.regions {
			e.keepIn(lp, r)
		}
	}
}

func (e *Engine) keepIn(lp *control, r *region) {
	marked := func(id ir.ID) int {
		if t := e.index[id]; t < 0 || e.task[t] != id || e.flags[t]&(several|steers|effect) != 0 {
			return 0
		}
		return e.g.Nodes[id].Attrs.Int("keep")
	}
	stays := map[ir.ID]bool{} // read by a node that runs again, or after the region
	for _, y := range r.yields {
		stays[y] = true
	}
	for id := r.lo; id < r.hi; id++ {
		loops := marked(id)
		for _, x := range e.g.In(id) {
			if x >= r.lo && marked(x) != loops {
				stays[x] = true
			}
		}
	}
	for id := r.lo; id < r.hi; id++ {
		loops := marked(id)
		if loops == 0 {
			continue
		}
		outer := e.outward(lp, loops)
		k := slices.IndexFunc(r.repeats, func(p *repeat) bool { return p.loop == outer })
		if k < 0 {
			k = len(r.repeats)
			r.repeats = append(r.repeats, &repeat{loop: outer})
		}
		e.repeats[id] = r.repeats[k]
		t := e.index[id]
		e.flags[t] |= kept
		if stays[id] {
			e.flags[t] &^= looks // the memory of an input ends before
			// a use that never ends: no reader frees the value or takes its memory
			e.uses[id]++
			outer.retained = append(outer.retained, id)
		}
	}
}

// outward returns the loop that is this many loops out from a region of lp, or the last.
func (e *Engine) outward(lp *control, loops int) *control {
	for {
		if !lp.branch {
			if loops--; loops == 0 {
				return lp
			}
		}
		if int(lp.node) < e.p.Graph.Len() {
			return lp
		}
		lp = e.home[int(lp.node)-e.p.Graph.Len()].loop
	}
}

// beginKept decides whether the marked nodes of r, which begins, run.
func (r *region) beginKept() {
	for _, p := range r.repeats {
		p.again = p.seen == p.loop.entered
		if p.seen = p.loop.entered; !p.again {
			p.runs++
		}
	}
}

// forgetKept frees what was retained for the rounds of lp.
func (e *Engine) forgetKept(lp *control) {
	for _, id := range lp.retained {
		if v := e.slot[id]; v != nil { // nil: no round needed it
			e.slot[id] = nil
			e.discard(v)
		}
	}
}
