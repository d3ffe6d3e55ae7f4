package schedule

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
)

// This file defines PSS, probabilistic self-scheduling, ceil(R/(1.5 E)), where E is the mean number
// of idle workers at a request. Three forms differ in E: PSS takes Params.Idle (P by default),
// PSS_SEEDED draws it, PSS_MEASURED counts.

func newPSS(p Params) (Calculator, error) {
	if p.Idle == float64(p.P) {
		return newPrefix(p, func(a at) int { return ceilDiv(2*a.remaining, 3*p.P) }), nil
	}
	return newPrefix(p, func(a at) int { return ceil(float64(a.remaining) / (1.5 * p.Idle)) }), nil
}

// newPSSSeeded models the idle workers of request i as 1 + Binomial(P-1, 1/2): the one bits among
// P-1 random ones. The mean over the requests so far needs their sum, which the recurrence carries:
// steps are computed in order and once.
func newPSSSeeded(p Params) (Calculator, error) {
	words := ceilDiv(p.P-1, 64)
	sum := 0
	return newPrefix(p, func(a at) int {
		idle := 1
		for w := range words {
			u := word(p.Seed, a.step*words+w)
			if left := p.P - 1 - 64*w; left < 64 {
				u &= 1<<left - 1
			}
			idle += bits.OnesCount64(u)
		}
		sum += idle
		hi, lo := bits.Mul64(uint64(2*a.remaining), uint64(a.step+1))
		lo, carry := bits.Add64(lo, uint64(3*sum-1), 0)
		q, _ := bits.Div64(hi+carry, lo, uint64(3*sum))
		return int(q)
	}), nil
}

// pssMeasured counts the workers without a chunk. A worker that asks has finished its chunk.
//
// All that a claim changes is in one word if it fits, for few iterations or few workers. Else it is
// behind a lock.
type pssMeasured struct {
	loop
	running []pssWorker
	at      pssLayout
	locked  bool // the word is too narrow

	_     [128]byte
	word  atomic.Uint64 // pssState packed
	_     [120]byte
	mu    sync.Mutex // if locked
	state pssState
}

// pssState is the state that a request changes.
type pssState struct {
	next     int // first iteration not handed out
	busy     int // workers that have a chunk
	requests int
	idle     int // sum over requests of the idle workers, including the asking one
}

// pssWorker says whether a worker has a chunk. Only the worker reads it.
type pssWorker struct {
	busy bool
	_    [63]byte
}

// pssLayout gives the places of the numbers in a word: next from bit 0 on, each other one from its
// bit on, idle to the end. Masks have the numbers' widths.
type pssLayout struct {
	busy, requests, idle             uint8
	nextMask, busyMask, requestsMask uint64
}

func newPSSMeasured(p Params) (Calculator, error) {
	c := &pssMeasured{loop: loop{p}, running: make([]pssWorker, p.P)}
	// Each request takes at least one part in 1.5 P of what is left, and below 1.5 P iterations
	// one of them: there are at most 1.5 P (1 + ln(N/1.5 P)) requests.
	share := 1.5 * float64(p.P)
	requests := bits.Len(uint(2 + 1.01*share*(1+math.Log(max(1, float64(p.N)/share)))))
	next, busy := bits.Len(uint(p.N)), bits.Len(uint(p.P))
	c.at = pssLayout{busy: uint8(next), requests: uint8(next + busy), idle: uint8(next + busy + requests),
		nextMask: 1<<next - 1, busyMask: 1<<busy - 1, requestsMask: 1<<requests - 1}
	c.locked = int(c.at.idle)+requests+busy > 64
	return c, nil
}

// size returns the size of a chunk after its request is counted.
func (c *pssMeasured) size(requests, idle, remaining int) int {
	return c.clip(ceil(float64(remaining)*float64(requests)/(1.5*float64(idle))), remaining)
}

// packed returns the word after a request, and the size of the chunk. had: the worker had a chunk.
func (c *pssMeasured) packed(word uint64, had bool, remaining int) (size int, then uint64) {
	busy := word >> (c.at.busy & 63) & c.at.busyMask
	then = word + 1<<(c.at.requests&63)
	if had {
		busy--
	} else {
		then += 1 << (c.at.busy & 63)
	}
	then += (uint64(c.P) - busy) << (c.at.idle & 63)
	return c.size(int(then>>(c.at.requests&63)&c.at.requestsMask), int(then>>(c.at.idle&63)), remaining), then
}

// request is packed for a state that does not fit in a word.
func (c *pssMeasured) request(had bool, remaining int) (size int) {
	s := &c.state
	if had {
		s.busy--
	}
	s.idle += c.P - s.busy
	s.requests++
	s.busy++
	return c.size(s.requests, s.idle, remaining)
}

// claim is Claimer.Claim.
func (c *pssMeasured) claim(worker int) (start, size int, ok bool) {
	if c.locked {
		return c.claimLocked(worker)
	}
	had := &c.running[worker].busy
	for {
		word := c.word.Load()
		if start = int(word & c.at.nextMask); start >= c.N {
			return c.N, 0, false
		}
		size, then := c.packed(word, *had, c.N-start)
		if c.word.CompareAndSwap(word, then+uint64(size)) {
			*had = true
			return start, size, true
		}
	}
}

func (c *pssMeasured) claimLocked(worker int) (start, size int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if start = c.state.next; start >= c.N {
		return c.N, 0, false
	}
	had := &c.running[worker].busy
	size = c.request(*had, c.N-start)
	c.state.next += size
	*had = true
	return start, size, true
}

// Report makes the worker idle.
func (c *pssMeasured) Report(worker, _, _ int, _, _ float64) {
	had := &c.running[worker].busy
	switch {
	case !*had:
		return
	case c.locked:
		c.mu.Lock()
		c.state.busy--
		c.mu.Unlock()
	default:
		c.word.Add(-(uint64(1) << (c.at.busy & 63)))
	}
	*had = false
}

// Restart resets the mean: at the start all workers are idle, which the rest of an execution would
// hide from the next one.
func (c *pssMeasured) Restart() {
	clear(c.running)
	c.word.Store(0)
	c.state = pssState{}
}
