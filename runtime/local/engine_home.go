package local

// This file takes back the rows of a loop that other ranks have run for this one.

import (
	"fmt"
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
		return len(l.away) == 0
	})
	h.mu.Lock()
	l.exhaust()
	l.declines()
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
	}
	return true
}

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
