package local

// This file handles failures of ranks that are in other rounds than this one. All ranks run the
// rounds of a loop that they share, each at its own pace where little or nothing is brought together.
// A failure in a later round than this rank is in leaves all of the loop to be run, until this rank
// gets there. In a later round than the failure's all of the loop is dead: rows that the failed rank
// would have made never come. In the same round it is what comes after the failed node, as always;
// what others need of that rank before, it has sent.

import "cmp"

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
	if e.failedAt.Load() == maxNode { // else a failure that this look misses sees the round
		return
	}
	e.failMu.Lock()
	e.passes()
	e.failMu.Unlock()
	e.giveUp(e.failedAt.Load())
}

// passes makes more tasks dead as this rank gets to the round of a failure, or beyond. failMu is held.
func (e *Engine) passes() {
	f := e.failure
	if f == nil || f.Rank == e.o.Rank || e.expired {
		return
	}
	if p := e.deadFrom(f); p < f.place {
		f.place = p
		e.failedAt.Store(p - 1)
	}
}

// placeOf returns 1 + the place after which a failure makes the tasks of this rank dead.
func (e *Engine) placeOf(f *TaskFailure) int64 {
	if f.place > 0 {
		return f.place
	}
	return e.deadFrom(f)
}

// deadFrom is placeOf for a failure of another rank, as far as this one has come.
func (e *Engine) deadFrom(f *TaskFailure) int64 {
	if f.Rank == e.o.Rank { // told by others
		return 1 + e.place(f.Node)
	}
	id, within := f.Node, f.Within
	for lp := e.controlOf(id); lp != nil && len(within) > 0; lp = e.controlOf(id) {
		s := within[0]
		switch at := lp.at.Load(); {
		case lp.left.Load() || at > s.Round+1:
			return 1 + lp.place
		case at < s.Round+1:
			return 1 + e.place(id)
		}
		r := lp.regions[s.Region]
		for x := r.lo; x < r.hi; x++ {
			if e.home[int(x)-e.p.Graph.Len()].id == s.Node {
				id = x
				break
			}
		}
		within = within[1:]
	}
	return 1 + e.place(id)
}

// precedes reports that failure a comes before b in the program, of which rounds are a part.
func precedes(a, b *TaskFailure) bool {
	if a.Node == b.Node {
		for k := range min(a.Depth, b.Depth) {
			x, y := a.Within[k], b.Within[k]
			if c := cmp.Compare(x.Round, y.Round); c != 0 {
				return c < 0
			}
			if x.Region != y.Region || x.Node != y.Node {
				break
			}
		}
	}
	// Of one node, whose rows ranks share, the first rows are on the first rank.
	return a.place < b.place || a.place == b.place && a.Rank < b.Rank
}
