package replay

// This file defines the events of simulated ranks, in order of time.

// event is something that happens at a time: to a thread, what; to the counter, what less the
// number of threads; a message arrives, ^what.
type event struct {
	time       float64
	order      uint32 // among equal times
	rank, what int32
}

// events is a heap with four children a node.
type events struct {
	list  []event
	order uint32
	taken bool // the first event was taken, and its place is free
}

func (a *event) before(b *event) bool {
	return a.time < b.time || a.time == b.time && int32(a.order-b.order) < 0
}

// at adds an event.
func (s *rankLoop) at(time float64, rank, what int32) {
	q := &s.events
	e := event{time, q.order, rank, what}
	q.order++
	if q.taken {
		q.taken = false
		q.sink(e)
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

// take returns the first event. Its place is kept for the next one that is added, since most events
// are followed by one. ok is false if there is none.
func (q *events) take() (e event, ok bool) {
	if q.taken { // nothing was added
		q.taken = false
		n := len(q.list) - 1
		last := q.list[n]
		if q.list = q.list[:n]; n > 0 {
			q.sink(last)
		}
	}
	if len(q.list) == 0 {
		return e, false
	}
	q.taken = true
	return q.list[0], true
}

// sink puts an event in the place of the first.
func (q *events) sink(e event) {
	for i, n := 0, len(q.list); ; {
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
