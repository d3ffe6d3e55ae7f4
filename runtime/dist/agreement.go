package dist

// This file compares what the ranks of one process gather: round by round all must have the same bytes.

import (
	"fmt"
	"hash/maphash"

	"flow/ir/value"
)

func newAgreement(ranks int) *agreement {
	return &agreement{ranks: ranks, seed: maphash.MakeSeed(), open: map[gatherRound]*agreed{}}
}

// ended compares what a rank has gathered, d, with what others have. All ranks have all rows of d.
func (a *agreement) ended(r *rank, key int, round int32, d *value.Dense) {
	h := maphash.Bytes(a.seed, d.Bytes())
	a.mu.Lock()
	defer a.mu.Unlock()
	at := gatherRound{key, round}
	x := a.open[at]
	if x == nil {
		x = &agreed{rank: r.me, hash: h}
		a.open[at] = x
	}
	if x.hash != h && a.wrong == nil {
		a.wrong = fmt.Errorf("BUG: ranks %d and %d have gathered different bytes of %s, time %d", x.rank, r.me, r.gatherAt(&r.gathers[key]), round)
	}
	if x.ended++; x.ended == a.ranks {
		delete(a.open, at)
	}
}

// verdict returns the first difference after a run that has succeeded.
func (a *agreement) verdict() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for at, x := range a.open {
		if a.wrong == nil {
			a.wrong = fmt.Errorf("BUG: %d of %d ranks have run gather %d at least %d times", x.ended, a.ranks, at.key, at.round)
		}
	}
	return a.wrong
}
