package local

// This file keeps what the compiler has marked as the same in all rounds of a loop (attribute keep,
// pass Keep): a marked task is run when its region is first begun since the loop was entered, and
// passed over in later rounds. Only what some unmarked node reads stays in its slot until then; the
// tiles that a factorisation goes through are freed and taken over as ever.

import (
	"slices"

	"flow/ir"
)

// repeat says whether the marked nodes of a region that are the same in all rounds of one loop have
// been run since that was entered.
type repeat struct {
	loop  *control
	seen  int64 // control.entered when the region was last begun
	again bool
	runs  int64 // how often they have been run
}

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
	stays := map[ir.ID]bool{} // read by a node that is run again, or by what comes after the region
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
			e.uses[id]++         // which nobody ends: no reader frees the value or takes its memory over
			outer.retained = append(outer.retained, id)
		}
	}
}

// outward is the loop that is that many loops out from a region of lp, or the last.
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

// beginKept says of the marked nodes of r, which begins, whether they are run.
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
