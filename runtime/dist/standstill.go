package dist

// This file notices that the ranks of one process can do nothing any more: all wait for messages
// that no rank sends, perhaps because one has ended alone. That is a bug of Flow, which would
// otherwise look like a run that takes long.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// lookAgain is the time between two looks. It decides only how soon a standstill is noticed.
const lookAgain = 100 * time.Millisecond

// stillPolls is how many fruitless polls of every rank are a standstill, beside those that look at each
// request. One that looks at each would do, since all that is sent has arrived.
const stillPolls = 16

func newStandstill(n int) *standstill {
	s := &standstill{ranks: make([]*rank, n), left: make([]bool, n), ended: make(chan struct{})}
	go s.run()
	return s
}

func (s *standstill) enter(r *rank) { s.set(r, r, false) }
func (s *standstill) leave(r *rank) { s.set(r, nil, true) }

func (s *standstill) set(r, to *rank, left bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.ranks[r.me], s.left[r.me] = to, left
	s.mu.Unlock()
}

func (s *standstill) stop() { s.once.Do(func() { close(s.ended) }) }

// run looks until stop.
func (s *standstill) run() {
	t := time.NewTicker(lookAgain)
	defer t.Stop()
	var since []still
	for {
		select {
		case <-s.ended:
			return
		case <-t.C:
		}
		now := s.look()
		switch {
		case now == nil || !sameStill(since, now):
			since = now
		case !polledEnough(since, now):
		default:
			s.report(now)
			return
		}
	}
}

func sameStill(a, b []still) bool {
	return slices.EqualFunc(a, b, func(a, b still) bool {
		return a.rank == b.rank && a.waiting == b.waiting && a.moves == b.moves && a.worked == b.worked
	})
}

func polledEnough(since, now []still) bool {
	for k, x := range now {
		if x.polls-since[k].polls < x.needs {
			return false
		}
	}
	return true
}

// look returns all ranks that have not left the run, if each waits or has nothing left to do, and
// one waits. Otherwise it returns nil. A rank that waits for one that has left, or whose engine has
// stopped, waits for ever, unless a message that says so is still unread.
func (s *standstill) look() (list []still) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := false
	for k, r := range s.ranks {
		if r == nil && s.left[k] {
			continue
		}
		if r == nil || len(r.comm.Dead()) > 0 {
			return nil
		}
		x, over := still{rank: r}, false
		x.moves, x.waiting, over = r.eng.Waits()
		x.stopped = r.ending.frozen.Load() || !over && closed(r.eng.Done())
		x.waiting = x.waiting && !x.stopped
		if !x.waiting && !over && !x.stopped {
			return nil
		}
		if c, ok := r.comm.(interface{ Delayed() bool }); ok && c.Delayed() {
			return nil
		}
		r.pollMu.Lock()
		x.worked, x.polls = r.lastWork.Load(), r.stats.Polls
		x.needs = stillPolls + 2*int64(len(r.reqs)/testAtOnce+1)
		unread := len(r.inbox) > 0
		r.pollMu.Unlock()
		if unread {
			return nil
		}
		waiting = waiting || x.waiting
		list = append(list, x)
	}
	if !waiting {
		return nil
	}
	return list
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// report ends the run of all ranks with what they wait for.
func (s *standstill) report(list []still) {
	var open []string
	for _, x := range list {
		if of := x.rank.open(); len(of) > 0 {
			open = append(open, fmt.Sprintf("rank %d: %s", x.rank.me, strings.Join(of, ", ")))
		}
	}
	what := "none has an open receive"
	if len(open) > 0 {
		what = "these receives are open: " + strings.Join(open, "; ")
	}
	err := errors.New("BUG: all ranks are idle, " + s.absent(list) + "and " + what)
	for _, x := range list {
		x.rank.pollMu.Lock()
		x.rank.broken(err)
		x.rank.pollMu.Unlock()
		x.rank.rouse()
	}
}

// absent says which ranks have left the run, or have an engine that has stopped after a failure.
func (s *standstill) absent(list []still) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for k, left := range s.left {
		if left {
			names = append(names, fmt.Sprintf("rank %d has left the run, ", k))
		}
	}
	for _, x := range list {
		if x.stopped {
			names = append(names, fmt.Sprintf("the engine of rank %d has stopped, ", x.rank.me))
		}
	}
	return strings.Join(names, "")
}

// mostOpen bounds the receives of a rank that a message lists.
const mostOpen = 8

// open describes the receives that a rank waits for.
func (r *rank) open() (list []string) {
	r.pollMu.Lock()
	defer r.pollMu.Unlock()
	more := 0
	for i := range r.flights {
		f := &r.flights[i]
		var text string
		switch f.kind {
		case receiving:
			text = fmt.Sprintf("%%%d %s from rank %d", f.id, r.p.At(r.p.Graph.Nodes[f.id].Span), f.peer)
		case taking:
			text = fmt.Sprintf("rows of %s from rank %d, time %d", r.gatherAt(f.whole.of), f.peer, f.whole.round)
		default:
			continue
		}
		if len(list) == mostOpen {
			more++
			continue
		}
		list = append(list, text)
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return list
}
