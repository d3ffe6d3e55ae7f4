package dist

// This file notices that the ranks of one process can do nothing any more: all wait for messages that
// nobody sends. That is a bug of Flow, which would otherwise look like a run that takes long.

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
	s := &standstill{ranks: make([]*rank, n), ended: make(chan struct{})}
	go s.run()
	return s
}

func (s *standstill) enter(r *rank) { s.set(r, r) }
func (s *standstill) leave(r *rank) { s.set(r, nil) }

func (s *standstill) set(r, to *rank) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.ranks[r.me] = to
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
		case slices.ContainsFunc(now, func(x still) bool { return x.polls-since[x.rank.me].polls < x.needs }):
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

// look returns all ranks if each waits or has nothing left to do, and one waits; otherwise nil.
func (s *standstill) look() (list []still) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := false
	for _, r := range s.ranks {
		if r == nil || r.ending.frozen.Load() {
			return nil
		}
		x := still{rank: r}
		var over bool
		x.moves, x.waiting, over = r.eng.Waits()
		if !x.waiting && !over {
			return nil
		}
		if c, ok := r.comm.(interface{ Delayed() bool }); ok && c.Delayed() {
			return nil
		}
		r.pollMu.Lock()
		x.worked, x.polls = r.lastWork.Load(), r.stats.Polls
		x.needs = stillPolls + 2*int64(len(r.reqs)/testAtOnce+1)
		r.pollMu.Unlock()
		waiting = waiting || x.waiting
		list = append(list, x)
	}
	if !waiting {
		return nil
	}
	return list
}

// report ends the run of all ranks with what they wait for.
func (s *standstill) report(list []still) {
	var open []string
	for _, x := range list {
		if of := x.rank.open(); len(of) > 0 {
			open = append(open, fmt.Sprintf("rank %d: %s", x.rank.me, strings.Join(of, ", ")))
		}
	}
	err := errors.New("BUG: all ranks are idle, and these receives are open: " + strings.Join(open, "; "))
	if len(open) == 0 {
		err = errors.New("BUG: all ranks are idle, and none has an open receive")
	}
	for _, x := range list {
		x.rank.pollMu.Lock()
		x.rank.broken(err)
		x.rank.pollMu.Unlock()
		x.rank.rouse()
	}
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
