package schedule

import "slices"

// This file defines the machine and the costs of simulations and bounds.

// Machine is the machine of a simulation. All times are in the unit of the costs.
type Machine struct {
	P        int
	Speeds   []float64 // work in a unit of time of each worker; default 1
	Arrivals []float64 // when each worker comes free; default 0
	H        float64   // time of claiming a chunk
	Chunk    float64   // work of a chunk beyond its iterations; not in the ideal

	// Serial is the time, beside H, to fetch a cache line that another worker wrote last. A
	// writer delays all others that want to write the line: each claim from a counter writes
	// it, and a worker's block is written by its owner and by thieves, who first read the
	// blocks of others.
	Serial float64
}

func (m Machine) speed(worker int) float64 {
	if m.Speeds == nil {
		return 1
	}
	return m.Speeds[worker]
}

func (m Machine) arrival(worker int) float64 {
	if m.Arrivals == nil {
		return 0
	}
	return m.Arrivals[worker]
}

// Trace holds the cost of each iteration of a loop at speed 1.
type Trace struct {
	costs []float64
	pre   []float64 // prefix sums
}

// NewTrace keeps costs, which must not change.
func NewTrace(costs []float64) *Trace {
	t := &Trace{costs: costs, pre: make([]float64, len(costs)+1)}
	for i, c := range costs {
		t.pre[i+1] = t.pre[i] + c
	}
	return t
}

// Costs returns the costs of the iterations. Do not change them.
func (t *Trace) Costs() []float64 { return t.costs }

// Total returns the sum of the costs.
func (t *Trace) Total() float64 { return t.pre[len(t.costs)] }

// Of returns the cost of n iterations from start on.
func (t *Trace) Of(start, n int) float64 { return t.pre[start+n] - t.pre[start] }

// Executed is a chunk as a run recorded it.
type Executed struct {
	Start, N int
	Worker   int
	Seconds  float64
}

// queue is a heap of workers by the time at which they become free, then by number.
type queue []slot

type slot struct {
	time   float64
	worker int
}

func (a slot) before(b slot) bool { return a.time < b.time || a.time == b.time && a.worker < b.worker }

// arrivals returns the queue of some workers before the loop.
func (m Machine) arrivals(workers []int) queue {
	q := make(queue, 0, len(workers))
	for _, w := range workers {
		q = append(q, slot{m.arrival(w), w})
	}
	return q.sorted()
}

func (q queue) sorted() queue {
	slices.SortFunc(q, func(a, b slot) int { // a sorted list is a heap
		if a.before(b) {
			return -1
		}
		return 1
	})
	return q
}

// notBefore lets all wait until a time.
func (q queue) notBefore(time float64) queue {
	for i := range q {
		q[i].time = max(q[i].time, time)
	}
	return q.sorted()
}

// late delays one worker.
func (q queue) late(worker int, seconds float64) queue {
	for i := range q {
		if q[i].worker == worker {
			q[i].time += seconds
		}
	}
	return q.sorted()
}

// sink restores the heap after the first slot became later.
func (q queue) sink() {
	for at := 0; ; {
		next := 2*at + 1
		if next >= len(q) {
			return
		}
		if next+1 < len(q) && q[next+1].before(q[next]) {
			next++
		}
		if q[at].before(q[next]) {
			return
		}
		q[at], q[next] = q[next], q[at]
		at = next
	}
}

// drop removes the first slot.
func (q queue) drop() queue {
	q[0] = q[len(q)-1]
	q = q[:len(q)-1]
	q.sink()
	return q
}
