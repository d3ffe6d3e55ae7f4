package schedule

import (
	"math/bits"
	"sync"
)

// This file defines PSS, probabilistic self-scheduling, ceil(R/(1.5 E)), where E is the mean number of idle workers at a request. Three forms
// differ in E: PSS takes Params.Idle (P by default), PSS_SEEDED draws it, PSS_MEASURED counts.

func newPSS(p Params) (Calculator, error) {
	if p.Idle == float64(p.P) {
		return newPrefix(p, func(a at) int { return ceilDiv(2*a.remaining, 3*p.P) }), nil
	}
	return newPrefix(p, func(a at) int { return ceil(float64(a.remaining) / (1.5 * p.Idle)) }), nil
}

// newPSSSeeded models the idle workers of request i as 1 + Binomial(P-1, 1/2): the one bits among P-1 random ones. The mean over the requests so far
// needs their sum, which the recurrence carries from step to step: steps are computed in order and once.
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

// pssMeasured counts the workers that have no chunk. A worker that asks has finished what it had.
type pssMeasured struct {
	loop
	mu       sync.Mutex
	running  []bool
	busy     int // how many of running are set
	idle     int // sum over requests of the idle workers, the asking one included
	requests int
}

func newPSSMeasured(p Params) (Calculator, error) {
	return &pssMeasured{loop: loop{p}, running: make([]bool, p.P)}, nil
}

func (c *pssMeasured) Next(worker, _, remaining int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[worker] {
		c.busy--
	}
	c.idle += c.P - c.busy
	c.requests++
	c.running[worker] = true
	c.busy++
	return c.clip(ceil(float64(remaining)*float64(c.requests)/(1.5*float64(c.idle))), remaining)
}

// Report makes the worker idle.
func (c *pssMeasured) Report(worker, _, _ int, _, _ float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[worker] {
		c.running[worker] = false
		c.busy--
	}
}

// stepless: sizes do not depend on the step.
func (c *pssMeasured) stepless() bool { return true }

// Restart forgets the mean: at the start all workers are idle, which the rest of an execution would hide from the next one.
func (c *pssMeasured) Restart() {
	clear(c.running)
	c.busy, c.idle, c.requests = 0, 0, 0
}

// Expected is equal speeds: nothing is known of them.
func (c *pssMeasured) Expected() []float64 { return c.Weights }
