package replay

import (
	"math"
	"slices"
)

// This file defines the events of simulated ranks, in order of time.

// event is something that happens at a time: to a thread, what; to the counter, what less the
// number of threads; a message arrives, ^what.
type event struct {
	time       float64
	order      uint32 // among equal times
	rank, what int32
}

// events is a queue of three parts, each later than the one before: a heap with four children a node,
// buckets of equal width, and the rest. When the heap is empty, the next bucket becomes it; when all
// buckets are empty, the rest is divided into new ones. So a heap has some dozens of events, which stay
// in a near cache, where one of all events of 10^5 ranks would not (R. Brown, "Calendar queues", CACM
// 31(10), 1988).
type events struct {
	list    []event // the heap
	order   uint32
	taken   bool      // the first event was taken, and its place is free
	buckets [][]event // from start on; events that belong to those before next are in the heap
	next    int
	start   float64
	rate    float64 // buckets a second
	rest    []event
	comes   func(bucket []event) // called with the events of a bucket that becomes the heap; may be nil
}

// bucketEvents is the number of events of a bucket when it is made.
const bucketEvents = 32

func (a *event) before(b *event) bool {
	return a.time < b.time || a.time == b.time && int32(a.order-b.order) < 0
}

// at adds an event, which is not before the last that was taken.
func (s *rankLoop) at(time float64, rank, what int32) {
	q := &s.events
	e := event{time, q.order, rank, what}
	q.order++
	switch k := q.bucketOf(time); {
	case k < q.next:
	case k < len(q.buckets):
		q.buckets[k] = append(q.buckets[k], e)
		return
	default:
		q.rest = append(q.rest, e)
		return
	}
	if q.taken {
		q.taken = false
		q.sink(0, e)
		return
	}
	q.list = append(q.list, e)
	i := len(q.list) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&q.list[up]) {
			break
		}
		q.list[i] = q.list[up]
		i = up
	}
	q.list[i] = e
}

// bucketOf returns the bucket of a time; len(q.buckets) if it is later than all.
func (q *events) bucketOf(time float64) int {
	if time <= q.start {
		return 0
	}
	return int(min((time-q.start)*q.rate, float64(len(q.buckets))))
}

// divide makes buckets of the rest, up to twice the mean of their times.
func (q *events) divide() {
	first, sum := q.rest[0].time, 0.
	for i := range q.rest {
		first = min(first, q.rest[i].time)
		sum += q.rest[i].time
	}
	n := max(len(q.rest)/bucketEvents, 1)
	q.buckets = slices.Grow(q.buckets[:0], n)[:n]
	q.next, q.start = 0, first
	q.rate = float64(n) / (2 * (sum/float64(len(q.rest)) - first)) // maybe infinite
	if !(q.rate > 0) {
		q.rate = math.Inf(1)
	}
	kept := q.rest[:0]
	for _, e := range q.rest {
		if k := q.bucketOf(e.time); k < n {
			q.buckets[k] = append(q.buckets[k], e)
		} else {
			kept = append(kept, e)
		}
	}
	q.rest = kept
}

// begin prepares an empty queue for times from 0 on.
func (q *events) begin() { q.buckets, q.next, q.start, q.rate = q.buckets[:0], 0, 0, 0 }

// take returns the first event. Its place is kept for the next one that is added, since most events
// are followed by one. ok is false if there is none.
func (q *events) take() (e event, ok bool) {
	if q.taken { // nothing was added
		q.taken = false
		n := len(q.list) - 1
		last := q.list[n]
		if q.list = q.list[:n]; n > 0 {
			q.sink(0, last)
		}
	}
	for len(q.list) == 0 {
		if q.next == len(q.buckets) {
			if len(q.rest) == 0 {
				return e, false
			}
			q.divide()
		}
		q.list, q.buckets[q.next] = q.buckets[q.next], q.list
		q.next++
		if q.comes != nil {
			q.comes(q.list)
		}
		for i := (len(q.list) - 2) / 4; i >= 0 && len(q.list) > 1; i-- {
			q.sink(i, q.list[i])
		}
	}
	q.taken = true
	return q.list[0], true
}

// sink puts an event in the place of the one at i, or below.
func (q *events) sink(i int, e event) {
	for n := len(q.list); ; {
		least := 4*i + 1
		if least >= n {
			q.list[i] = e
			return
		}
		for k := least + 1; k < min(4*i+5, n); k++ {
			if q.list[k].before(&q.list[least]) {
				least = k
			}
		}
		if !q.list[least].before(&e) {
			q.list[i] = e
			return
		}
		q.list[i] = q.list[least]
		i = least
	}
}
