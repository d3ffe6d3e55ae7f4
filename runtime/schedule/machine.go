package schedule

import "slices"

// This file defines the machine and the costs that simulations and bounds are about.

// Machine is what a loop runs on in a simulation. Times are in one unit throughout, the unit of the costs.
type Machine struct {
	P        int
	Speeds   []float64 // work in a unit of time of each worker; default 1
	Arrivals []float64 // when each worker comes free; default 0
	H        float64   // time of claiming a chunk
	Chunk    float64   // work of a chunk beyond its iterations: the ideal knows nothing of it

	// Serial is what it takes, beside H, to have a line of memory that another worker wrote last. Whoever writes one
	// keeps all others waiting who want to write it: a counter is written in each claim from it, a worker's block by
	// its owner and by thieves, who first read those of others.
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

// Trace is what each iteration of a loop costs at speed 1.
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

// Costs are the costs of the iterations, not to be changed.
func (t *Trace) Costs() []float64 { return t.costs }

// Total is the sum of the costs.
func (t *Trace) Total() float64 { return t.pre[len(t.costs)] }

// of is the cost of a range.
func (t *Trace) of(start, n int) float64 { return t.pre[start+n] - t.pre[start] }

// Executed is a chunk as a run recorded it.
type Executed struct {
	Start, N int
	Worker   int
	Seconds  float64
}

// queue is a heap of workers by the time at which they come free; of equal times the lower worker is first.
type queue []slot

type slot struct {
	time   float64
	worker int
}

func (a slot) before(b slot) bool { return a.time < b.time || a.time == b.time && a.worker < b.worker }

// arrivals is the queue of some workers before the loop.
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

// late lets one worker come so much later.
func (q queue) late(worker int, seconds float64) queue {
	for i := range q {
		if q[i].worker == worker {
			q[i].time += seconds
		}
	}
	return q.sorted()
}

// sink puts the first slot, which came to be later, into its place.
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
