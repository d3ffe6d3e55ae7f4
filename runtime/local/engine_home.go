package local

// This file takes back the rows of a loop that other ranks have run for this one.

import (
	"fmt"
	"math"
	"slices"

	"flow/ir/value"
	"flow/runtime/trace"
)

// Returned copies the rows of iterations that another rank has run in so many seconds. made is nil if
// it has not. The error says what is wrong with the message.
func (e *Engine) Returned(from int, a Ask, chunk Chunk, made []byte, seconds float64) error {
	h := &e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.open[a.Loop]
	if l == nil || l.ask.Execution != a.Execution {
		return nil // this rank has given up the execution
	}
	if err := l.check(Lent{e.o.Rank, chunk}); err != nil {
		return fmt.Errorf("rank %d returns %w", from, err)
	}
	to := l.rowsOf(l.out.(*value.Dense), chunk)
	if made != nil && len(made) != len(to) {
		return fmt.Errorf("rank %d returns %d bytes for iterations %d to %d of loop %d, which have %d", from, len(made), chunk.Lo, chunk.Hi, a.Loop, len(to))
	}
	if l.arrives(chunk, from, seconds, made != nil) {
		copy(to, made)
	}
	return nil // else a rank is gone, and what was away runs here
}

// settle waits for the rows that other ranks make, and runs here what is undone. The last worker calls
// it after each pass of the loop, when no other worker writes the result. Later passes take no help.
func (l *loopRun) settle(w *Worker) {
	if l.ask.Loop == 0 {
		return
	}
	h := &l.e.helping
	l.await(w, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		l.declines()
		l.e.refuses(l.ask.Loop)
		return len(l.away) == 0
	})
	h.mu.Lock()
	l.exhaust()
	l.declines()
	l.tells()
	delete(h.open, l.ask.Loop)
	h.opened.Store(int32(len(h.open)))
	l.ask.Loop = 0
	h.mu.Unlock()
	l.hears(w)
	slices.SortFunc(l.undone, func(a, b Chunk) int { return a.Lo - b.Lo })
	for _, chunk := range l.undone {
		if l.e.over(l.id) || int64(chunk.Lo) > l.failed.Load() {
			return
		}
		began := l.e.Now()
		if err := l.run(w.index, chunk); err != nil {
			l.fail(int64(chunk.Lo), err)
		}
		l.records(w, chunk, w.index, began, l.e.Now())
	}
}

// declines gives up what others gave, when no worker will run it, because an iteration of this rank has
// failed: rows of another rank go back undone, because it waits for them, and this rank's own are
// undone. An answer may come while settle waits. helping.mu is held.
func (l *loopRun) declines() {
	for _, x := range l.given {
		if x.Home == l.e.o.Rank {
			l.arrives(x.Chunk, x.Home, 0, false)
		} else {
			l.e.o.Remote.Return(x.Home, l.ask, x.Chunk, nil, 0)
		}
		l.handed.Add(-int64(x.size()))
	}
	l.given = l.given[:0]
}

// arrives notes that iterations which were away are done, or are not. It returns false if they were
// not away. helping.mu is held.
func (l *loopRun) arrives(c Chunk, from int, seconds float64, done bool) (ok bool) {
	if l.away, ok = without(l.away, c); !ok {
		return false
	}
	if done {
		l.returned = append(l.returned, returned{from, c, seconds, l.e.Now()})
	} else {
		l.undone = append(l.undone, c)
		if partOf(l.moved, c) {
			l.e.helping.late[l.ask.Loop] = l.ask.Execution + tryAgain
		}
	}
	return true
}

// tooLate reports whether rows that are given before the first chunk of an execution would come back
// undone, as those of one of the last executions did. helping.mu is held.
func (h *helping) tooLate(a Ask) bool { return a.Execution <= h.late[a.Loop] }

// partOf reports whether a chunk is part of one of a list.
func partOf(list []Chunk, c Chunk) bool {
	return slices.ContainsFunc(list, func(x Chunk) bool { return x.Lo <= c.Lo && c.Hi <= x.Hi })
}

// without removes a chunk from that of a list that has it. ok is false if none has.
func without(list []Chunk, c Chunk) (rest []Chunk, ok bool) {
	k := slices.IndexFunc(list, func(x Chunk) bool { return x.Lo <= c.Lo && c.Hi <= x.Hi })
	if k < 0 {
		return list, false
	}
	x := list[k]
	list = slices.Delete(list, k, k+1)
	for _, part := range []Chunk{{x.Lo, c.Lo}, {c.Hi, x.Hi}} {
		if part.size() > 0 {
			list = append(list, part)
		}
	}
	return list, true
}

// hears reports to the technique what other ranks have run, and records it. A rank's workers have
// numbers behind those of the ranks before it, counted from this rank on.
func (l *loopRun) hears(w *Worker) {
	for _, x := range l.returned {
		worker := (x.from - l.e.o.Rank + l.e.p.Ranks) % l.e.p.Ranks * len(l.e.scratch)
		lo, hi := (x.chunk.Lo-l.base+l.leaf-1)/l.leaf, (x.chunk.Hi-l.base)/l.leaf
		if x.chunk.Hi == l.base+l.n {
			hi = (l.n + l.leaf - 1) / l.leaf
		}
		if lo < hi && l.log.cut.ranks > 1 && l.log.queues.Learns() {
			l.log.queues.Report(worker, lo, hi-lo, x.seconds*min(1, float64((hi-lo)*l.leaf)/float64(x.chunk.size())), 0)
		}
		l.records(w, x.chunk, trace.Elsewhere, max(x.at-int64(x.seconds*1e9), l.begun), x.at)
	}
}

// records keeps the record of a chunk that worker has run from start to end.
func (l *loopRun) records(w *Worker, chunk Chunk, worker int, start, end int64) {
	if l.keeps {
		did := &l.chunks[w.index]
		did.list = append(did.list, trace.Chunk{Lo: int64(chunk.Lo - l.base), Hi: int64(chunk.Hi - l.base),
			Worker: int32(worker), Asked: start, Start: start, End: end})
	}
}

// unpacks accepts the early gifts for executions that have begun. What is wrong with one is reported
// where its rows are missing: they go back undone. helping.mu is held.
func (e *Engine) unpacks() {
	h := &e.helping
	h.early = slices.DeleteFunc(h.early, func(x earlyGift) bool {
		if x.ask.Execution > h.begun[x.ask.Loop] {
			return false
		}
		if e.accept(x.from, x.ask, x.gift) != nil {
			e.sendsBack(x)
		}
		return true
	})
}

// refuses sends early gifts for other loops back undone while a worker waits for rows of this one:
// their rank may wait for this rank in the same way. helping.mu is held.
func (e *Engine) refuses(loop int32) {
	h := &e.helping
	h.early = slices.DeleteFunc(h.early, func(x earlyGift) bool {
		if x.ask.Loop == loop {
			return false
		}
		e.sendsBack(x)
		return true
	})
}

func (e *Engine) sendsBack(x earlyGift) {
	for _, lent := range x.gift.Lent {
		e.o.Remote.Return(x.from, x.ask, lent.Chunk, nil, 0)
	}
}

// mostTelling is how many executions of a loop an exchange may take.
const mostTelling = 8

// of returns the exchange of an execution.
func (h *helping) of(a Ask) *telling {
	if h.tally == nil {
		h.tally = map[int32]*tally{}
	}
	t := h.tally[a.Loop]
	if t == nil {
		t = &tally{telling: map[int32]*telling{}}
		h.tally[a.Loop] = t
	}
	if t.telling[a.Execution] == nil {
		for k := range t.telling {
			if k < a.Execution-mostTelling { // a rank has not told, or knows no costs
				delete(t.telling, k)
			}
		}
		t.telling[a.Execution] = &telling{early: map[int][]float64{}}
	}
	return t.telling[a.Execution]
}

// tells says how long this rank's rows took, wherever they ran, if the technique learns their costs.
// helping.mu is held.
func (l *loopRun) tells() {
	if len(l.log.queues.Costs()) == 0 {
		return
	}
	seconds := float64(l.spent.Load()) / 1e9
	for _, x := range l.returned {
		seconds += x.seconds
	}
	h := &l.e.helping
	h.of(l.ask).heard = []float64{seconds}
	l.e.spreads(l.ask)
}

// spreads sends what is known of an execution by dissemination: in step k each rank sends 2^k times to
// the rank 2^k behind it (Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", 1988).
// Nothing waits for it. helping.mu is held.
func (e *Engine) spreads(a Ask) {
	h, n := &e.helping, e.p.Ranks
	x := h.of(a)
	for known := len(x.heard); known > 0 && known < n; known = len(x.heard) {
		if x.sent < known {
			x.sent = known
			e.o.Remote.Tell((e.o.Rank+known)%n, Ask{e.o.Rank, a.Loop, a.Execution}, x.heard[:min(known, n-known)])
		}
		more, ok := x.early[known]
		if !ok {
			return
		}
		x.heard = append(x.heard, more...)
	}
	t := h.tally[a.Loop]
	if len(x.heard) < n || a.Execution <= t.execution {
		return
	}
	t.execution, t.totals = a.Execution, make([]float64, n)
	for k, seconds := range x.heard {
		t.totals[(e.o.Rank-k+n)%n] = seconds
	}
	for k := range t.telling {
		if k <= a.Execution {
			delete(t.telling, k)
		}
	}
}

// Told handles the times of another rank's rows and of those before it. The error says what is wrong
// with the message.
func (e *Engine) Told(from int, a Ask, totals []float64) error {
	h, n := &e.helping, e.p.Ranks
	h.mu.Lock()
	defer h.mu.Unlock()
	back := (e.o.Rank - from + n) % n
	if a.Rank != from || back == 0 || back&(back-1) != 0 || len(totals) != min(back, n-back) {
		return fmt.Errorf("rank %d tells %d times, %d ranks behind", from, len(totals), back)
	}
	for _, x := range totals {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("rank %d tells a time of %g s", from, x)
		}
	}
	if t := h.tally[a.Loop]; t == nil || a.Execution > t.execution {
		h.of(a).early[back] = totals
		e.spreads(a)
	}
	return nil
}
