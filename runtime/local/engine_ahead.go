package local

// This file handles failures of ranks that are in other rounds than this one. All ranks run the
// rounds of a loop that they share, each at its own pace if little or nothing is gathered.
//
// A failure of another rank makes tasks of this rank dead by the round that this rank is in:
//
//	before the failed round   none in the loop, until this rank gets to the failed round
//	the failed round          those after the failed node; what others need of the failed rank
//	                          before that node, it has sent
//	after the failed round    all in the loop: rows that the failed rank would have made never come

import "cmp"

// reaches notes that lp begins a round, whose number is round - 1, or has ended if round is 0.
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
	if e.failedAt.Load() == maxNode { // a failure that is stored after this load sees the round in Fail
		return
	}
	e.failMu.Lock()
	e.passes()
	e.failMu.Unlock()
	e.giveUp(e.failedAt.Load())
}

// passes makes more tasks dead when this rank has got to the round of the failure, or beyond. failMu is
// held.
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

// placeOf returns 1 + the place after which a failure makes tasks of this rank dead.
func (e *Engine) placeOf(f *TaskFailure) int64 {
	if f.place > 0 {
		return f.place
	}
	return e.deadFrom(f)
}

// deadFrom is placeOf of a failure of another rank, by the rounds that this rank is in.
func (e *Engine) deadFrom(f *TaskFailure) int64 {
	if f.Rank == e.o.Rank { // this rank's own, told by another rank
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

// precedes reports that failure a comes before b in the program: rounds and branches are parts of it.
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
	// Ranks share the rows of one node in their order: the first rank has the first rows.
	return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.Act, b.Act), cmp.Compare(a.Rank, b.Rank)) < 0
}
