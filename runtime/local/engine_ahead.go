package local

// This file handles failures of ranks that are ahead of this one. All ranks run the rounds of a
// loop that they share, each at its own pace where nothing is brought together. A failure in a
// later round than this rank is in comes after all that this rank still has to do before: only when
// it gets there does the failure skip tasks.

import (
	"flow/ir/op"
	"flow/ir/plan"
)

// reaches notes that lp begins a round (its number and 1), or has been left (0).
func (e *Engine) reaches(lp *control, round int64) {
	if e.o.Remote == nil {
		return
	}
	if lp.at.Store(round); round == 0 {
		lp.left.Store(true)
	} else {
		for _, x := range lp.inside {
			x.left.Store(false)
		}
	}
	if !e.isAhead.Load() {
		return
	}
	e.failMu.Lock()
	f := e.ahead
	if f == nil || !e.reached(f) {
		e.failMu.Unlock()
		return
	}
	e.ahead = nil
	e.isAhead.Store(false)
	e.failMu.Unlock()
	e.Fail(f)
}

// isLater keeps a failure of another rank in a round that this rank has not reached. failMu is
// held.
func (e *Engine) isLater(f *TaskFailure) bool {
	if f.Rank == e.o.Rank || len(f.Within) == 0 || e.p.Rank(f.Node) != plan.Everywhere || e.expired {
		return false
	}
	e.ahead = f
	e.isAhead.Store(true) // before the look, so that a round that begins now sees it
	if !e.reached(f) {
		return true
	}
	e.ahead = nil
	e.isAhead.Store(false)
	return false
}

// reached reports whether this rank is in the round of every loop in which f happened, or beyond.
func (e *Engine) reached(f *TaskFailure) bool {
	lp := e.controlOf(f.Node)
	if lp == nil {
		return true // in the body of a loop that is one task
	}
	for _, s := range f.Within {
		switch at := lp.at.Load(); {
		case lp.left.Load() || at > s.Round+1:
			return true
		case at < s.Round+1:
			return false
		}
		r := lp.regions[s.Region]
		if c := r.body.Graph.Nodes[s.Node].Op.Control; c != op.Iterate && c != op.Select {
			return true
		}
		for _, x := range lp.inside {
			if h := e.home[int(x.node)-e.p.Graph.Len()]; h.region == s.Region && h.id == s.Node {
				lp = x
				break
			}
		}
	}
	return true
}
