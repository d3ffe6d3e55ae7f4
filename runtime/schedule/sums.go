package schedule

import (
	"math"
	"sync/atomic"
)

// This file defines sums over all workers that a report renews in O(log P), because adding up 10^5
// workers at every report would take longer than the loop.

// groupSize is how many workers, or groups, are added up at each level.
const groupSize = 16

// sums are three sums over the workers, in groups of groups. A reader may see values of different
// reports, and overlapping reports may miss one of them until the next: that changes sizes of
// chunks, never coverage.
type sums struct {
	workers int
	levels  [][]threeNumbers // of the groups; a level of one group is not stored
}

type threeNumbers [3]number

// number is a float64 that is read while it is written.
type number struct{ bits atomic.Uint64 }

func (x *number) get() float64 { return math.Float64frombits(x.bits.Load()) }

func (x *number) set(v float64) { x.bits.Store(math.Float64bits(v)) }

func newSums(workers int) sums {
	s := sums{workers: workers}
	for n := ceilDiv(workers, groupSize); n > 1; n = ceilDiv(n, groupSize) {
		s.levels = append(s.levels, make([]threeNumbers, n))
	}
	return s
}

// renew recomputes the sums of the groups that a worker is in, and returns those over all workers.
// of returns the sums over workers lo to hi-1.
func (s *sums) renew(worker int, of func(lo, hi int) [3]float64) (all [3]float64) {
	group := worker / groupSize
	all = of(group*groupSize, min((group+1)*groupSize, s.workers))
	for _, level := range s.levels {
		for i := range all {
			level[group][i].set(all[i])
		}
		group /= groupSize
		all = [3]float64{}
		for k := group * groupSize; k < min((group+1)*groupSize, len(level)); k++ {
			for i := range all {
				all[i] += level[k][i].get()
			}
		}
	}
	return all
}
