package schedule

import (
	"math"
	"slices"
	"sort"
)

// This file defines the ideal: how fast a loop with known costs could have been on a machine, as
// lower bounds and as actual schedules, all without overhead.

// Ideal is what a loop is measured against. The best possible makespan is between Bound and LPT.
type Ideal struct {
	Area    float64 // all workers busy until the end, work divisible at will
	Largest float64 // the largest iterations, which cannot be divided
	LPT     float64 // longest processing time first: a schedule that knows all costs
	// the best schedule with one block of consecutive iterations a worker, in order
	BestBlock float64
}

// The names of the bounds.
const (
	areaBound  = "area"
	largestJob = "largest job"
)

// Bound returns the larger lower bound and its name, "area" or "largest job".
func (i Ideal) Bound() (float64, string) {
	if i.Largest > i.Area*(1+1e-12) { // one worker: the same sum in another order
		return i.Largest, largestJob
	}
	return i.Area, areaBound
}

// Percent returns 100 * bound / makespan, "percent of ideal".
func (i Ideal) Percent(makespan float64) float64 {
	if makespan <= 0 {
		return 100
	}
	bound, _ := i.Bound()
	return 100 * bound / makespan
}

// NewIdeal computes all of it, in O(N log N).
func NewIdeal(tr *Trace, m Machine) Ideal {
	sorted := slices.Clone(tr.costs)
	slices.SortFunc(sorted, func(a, b float64) int { // descending
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	return Ideal{
		Area:      AreaBound(tr.Total(), m),
		Largest:   largestBound(sorted, m),
		LPT:       lpt(sorted, m),
		BestBlock: bestBlock(tr, m),
	}
}

// AreaBound returns the smallest T with sum over workers of speed * max(0, T - arrival) >= work.
func AreaBound(work float64, m Machine) float64 {
	if work <= 0 {
		return 0
	}
	order := make([]int, m.P)
	for i := range order {
		order[i] = i
	}
	// With the first k workers present, their area grows linearly. The answer is the first k
	// whose T precedes the next arrival.
	speed, offset := 0.0, 0.0
	q := m.arrivals(order)
	for k, s := range q {
		speed += m.speed(s.worker)
		offset += float64(m.speed(s.worker) * s.time)
		t := (work + offset) / speed
		if k+1 == len(q) || t <= q[k+1].time {
			return t
		}
	}
	return 0
}

// largestBound has two parts. The largest job runs on the fastest worker, from that worker's or an
// earlier arrival on. Of identical workers, one gets k+1 of the kP+1 largest jobs, for every k.
func largestBound(sorted []float64, m Machine) float64 {
	if len(sorted) == 0 {
		return 0
	}
	best := math.Inf(1)
	same := true
	for w := range m.P {
		best = min(best, m.arrival(w)+sorted[0]/m.speed(w))
		same = same && m.speed(w) == m.speed(0)
	}
	if !same {
		return best
	}
	pre := NewTrace(sorted).pre
	for k := 1; k*m.P+1 <= len(sorted); k++ {
		best = max(best, (pre[k*m.P+1]-pre[k*m.P-k])/m.speed(0))
	}
	return best
}

// lpt gives the jobs, longest first, each to the worker that completes it first. On identical
// workers that is within (4/3 - 1/(3P)) of the optimum (Graham 1969).
func lpt(sorted []float64, m Machine) float64 {
	groups := map[float64][]int{} // by speed, the first to be free
	var speeds []float64
	for w := range m.P {
		v := m.speed(w)
		if groups[v] == nil {
			speeds = append(speeds, v)
		}
		groups[v] = append(groups[v], w)
	}
	queues := make([]queue, len(speeds))
	for g, v := range speeds {
		queues[g] = m.arrivals(groups[v])
	}
	end := 0.0
	for _, c := range sorted {
		at, done := 0, math.Inf(1)
		for g, q := range queues {
			if t := q[0].time + c/speeds[g]; t < done {
				at, done = g, t
			}
		}
		queues[at][0].time = done
		queues[at].sink()
		end = max(end, done)
	}
	return end
}

// InOrder returns the makespan of jobs that are given in their order to the worker that completes
// each first. Without known costs no schedule of identically distributed jobs does better on
// average: larger portions only bind more of them to a worker that may be late.
func InOrder(costs []float64, m Machine) float64 { return lpt(costs, m) }

// bestBlock returns the smallest makespan with one block of consecutive iterations a worker (the
// chains-on-chains problem): what a perfect profile alone could make of STATIC. It bisects over the
// bottleneck and fills greedily.
func bestBlock(tr *Trace, m Machine) float64 {
	if tr.Total() <= 0 {
		return 0
	}
	// fill returns the makespan of the greedy partition under a limit. ok: it covers the loop.
	fill := func(limit float64) (worst float64, ok bool) {
		from := 0
		for w := 0; w < m.P && from < len(tr.costs); w++ {
			room := (limit - m.arrival(w)) * m.speed(w)
			if room <= 0 {
				continue
			}
			target := tr.pre[from] + room
			to := sort.Search(len(tr.costs)-from, func(i int) bool { return tr.pre[from+i+1] > target }) + from
			if to > from {
				worst = max(worst, m.arrival(w)+tr.Of(from, to-from)/m.speed(w))
			}
			from = to
		}
		return worst, from == len(tr.costs)
	}
	lo, hi := AreaBound(tr.Total(), m), math.Inf(1)
	for w := range m.P { // everything to one worker
		hi = min(hi, m.arrival(w)+tr.Total()/m.speed(w))
	}
	hi *= 1 + 1e-12
	if worst, ok := fill(lo); ok {
		return worst
	}
	best, _ := fill(hi)
	for range 100 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if worst, ok := fill(mid); ok {
			best, hi = min(best, worst), min(mid, worst)
		} else {
			lo = mid
		}
	}
	return best
}
