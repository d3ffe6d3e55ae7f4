package schedule

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"
)

// This file defines Selector, the technique AUTO, which finds the technique for each operator by
// trying. Choosing is a noisy, stateless best-arm problem:
//
//  1. The first execution runs in small chunks of one size, which no order of costs can hurt much,
//     and is recorded.
//  2. The portfolio is replayed on the recorded costs in virtual time; the best few are kept.
//  3. These are tried in turn. After each round the slower half by median time is dropped
//     (successive halving: Karnin, Koren, Somekh, ICML 2013). The replay decides between
//     indistinguishable times.
//  4. The winner stays until the loop has been slower than it was for long enough (a one-sided
//     CUSUM, Page 1954, of the log time of a unit). Then the choice starts anew.
//
// It is wrong if executions of one key differ at random by more than techniques do, and the
// recorded one was untypical.

// Auto stands for a Selector's choice. Lookup knows it, Techniques does not list it, and New fails.
var Auto = &Technique{Name: "AUTO", Class: "choice", Doc: "a technique for each loop, found by trying", Source: "this project",
	build: func(Params) (Calculator, error) {
		return nil, errors.New("AUTO has no chunks of its own: it chooses a technique for each loop as it runs")
	}}

// Key says which executions are alike: the operator and what is fused into it, the size as a power
// of two, the workers.
type Key struct {
	Op     string `json:"op"`
	Bucket int    `json:"bucket"`
	P      int    `json:"p"`
}

// KeyOf returns the key of a loop with this many units.
func KeyOf(op string, units, workers int) Key {
	return Key{op, int(math.Round(math.Log2(float64(max(units, 1))))), workers}
}

const (
	survivors = 4    // of the pruning
	tries     = 3    // of each technique in a round
	maxCosts  = 2048 // units that a replay on few workers distinguishes
	perWorker = 64   // and of each of many workers
	worthTime = 5e-4 // seconds of an execution from which replaying pays at once
	// seconds of all executions from which it pays: about its own cost (see wait)
	worthSum = 2e-2
	// slowdown that CUSUM forgives, as a logarithm, where executions differ by less
	slack = 0.05
	alarm = 1.0 // CUSUM's threshold: 20 executions at 10 %, five however slow they are
)

// Selector chooses techniques. It is safe for concurrent use.
type Selector struct {
	mu   sync.Mutex
	arms map[Key]*trial
}

// trial is the state of one key.
type trial struct {
	candidates []*Technique // as the replay ranks them
	times      [][]float64  // of a unit, by candidate, in this round
	// executions of each candidate that do not count in the first round, or nil
	untaught []int
	next     int
	// seconds of short executions before the first candidate
	spent  float64
	seen   map[*Technique][]float64 // times of all rounds
	spread float64                  // relative deviation of the times of one technique
	// seconds of a unit under the chosen technique; 0: not chosen
	reference float64
	cusum     float64
	dropped   bool // an earlier choice was dropped; files must record that
}

// NewSelector returns an empty Selector.
func NewSelector() *Selector { return &Selector{arms: map[Key]*trial{}} }

// recorder is the technique of recorded executions.
var recorder = sync.OnceValue(func() *Technique { return mustLookup("AUTO_CHUNK") })

// Choose returns the technique for the next execution of a loop. record asks for its chunks (see
// Done).
func (s *Selector) Choose(k Key) (t *Technique, record bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.arms[k]
	switch {
	case a == nil || len(a.candidates) == 0:
		return recorder(), true
	case a.reference > 0:
		return a.candidates[0], false
	}
	return a.candidates[a.turn()], false
}

// turn returns the candidate that has not been tried often enough in this round.
func (a *trial) turn() int {
	n := len(a.candidates)
	for k := range n {
		if i := (a.next + k) % n; len(a.times[i]) < tries {
			return i
		}
	}
	return a.next % n
}

// Done reports that a loop of units took seconds under t. chunks are those of a recorded execution,
// else nil; overhead is the mean time of claiming one.
func (s *Selector) Done(k Key, t *Technique, units int, seconds float64, chunks []Executed, overhead float64) {
	if units <= 0 || !(seconds > 0) {
		return
	}
	per := seconds / float64(units)
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.arms[k]
	switch {
	case chunks != nil && seconds < worthTime && s.wait(k, seconds): // recorded again
	case chunks != nil && (a == nil || len(a.candidates) == 0):
		list := prune(chunks, units, k.P, overhead)
		a := &trial{candidates: list, times: make([][]float64, len(list))}
		for _, t := range list {
			a.untaught = append(a.untaught, lessons(t))
		}
		s.arms[k] = a
	case a == nil || len(a.candidates) == 0:
	case a.reference > 0:
		a.watch(s, k, per)
	default:
		a.tried(t, per)
	}
}

// wait adds up the time of short executions, and reports whether it is still less than a replay
// costs (ski rental: at most twice the optimal cost).
func (s *Selector) wait(k Key, seconds float64) bool {
	a := s.arms[k]
	if a == nil {
		a = &trial{}
		s.arms[k] = a
	}
	a.spent += seconds
	return a.spent < worthSum
}

// tried records a time, and ends the round when all candidates have theirs.
func (a *trial) tried(t *Technique, per float64) {
	i := slices.IndexFunc(a.candidates, func(c *Technique) bool { return c.Name == t.Name })
	if i < 0 {
		return // chosen before the round ended
	}
	a.next = i + 1
	if a.untaught != nil && a.untaught[i] > 0 { // executions before it has learned do not count
		a.untaught[i]--
		return
	}
	a.times[i] = append(a.times[i], per)
	for _, x := range a.times {
		if len(x) < tries {
			return
		}
	}
	if a.seen == nil {
		a.seen = map[*Technique][]float64{}
	}
	for i, t := range a.candidates {
		a.seen[t] = append(a.seen[t], a.times[i]...)
	}
	list := a.faster()
	a.candidates, a.times, a.untaught, a.next = list, make([][]float64, len(list)), nil, 0
	if len(list) == 1 {
		a.reference, a.seen = median(a.seen[list[0]]), nil
	}
}

// faster returns the faster half of the candidates in rank order. Those behind the best by less
// than chance explains keep their rank: medians of three differ by about as much as single times.
func (a *trial) faster() (list []*Technique) {
	var medians, ranges []float64
	for _, x := range a.times {
		m := median(x)
		medians, ranges = append(medians, m), append(ranges, (slices.Max(x)-slices.Min(x))/m)
	}
	a.spread = max(a.spread, median(ranges)/rangeOfThree)
	level := slices.Min(medians) * (1 + a.spread)
	order := make([]int, len(medians))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(max(medians[x], level), max(medians[y], level)) })
	order = order[:(len(order)+1)/2]
	slices.Sort(order)
	for _, i := range order {
		list = append(list, a.candidates[i])
	}
	return list
}

// rangeOfThree is the mean range of three normal variables of deviation 1.
const rangeOfThree = 1.69

// watch detects a loop that has become slower.
func (a *trial) watch(s *Selector, k Key, per float64) {
	x := math.Log(per / a.reference)
	chance := max(slack, a.spread)
	// it was measured in a slow moment: the reference follows down
	if x < -2*chance || a.spread < slack && x < -slack {
		a.reference *= math.Exp(x / 8)
	}
	if a.cusum = max(0, a.cusum+min(x, alarm/4)-chance); a.cusum > alarm {
		s.arms[k] = &trial{dropped: true}
	}
}

// lessons returns after how many executions a technique has learned. COST believes what two
// executions have in common, and each may be learned beside others.
func lessons(t *Technique) int {
	switch t.Class {
	case "adaptive":
		return 1
	case "cost":
		return 6
	}
	return 0
}

// prune replays the portfolio on recorded chunks and returns the best, best first, and COST.
// Techniques that learn do so first.
func prune(chunks []Executed, units, workers int, overhead float64) []*Technique {
	tr := NewTrace(coarse(chunks, units, min(units, max(maxCosts, perWorker*workers))))
	m := recordedOn(tr, workers, overhead)
	type result struct {
		t *Technique
		T float64
	}
	var results []result
	all := techniques()
	for i := range all {
		if t := &all[i]; t.Class != "random" && t.Name != "BOLD" {
			sim, err := NewSimulation(tr, t, Params{}, m)
			if err != nil {
				continue
			}
			out, err := sim.Run()
			for range lessons(t) {
				out, err = sim.Run()
			}
			if err == nil {
				results = append(results, result{t, out.Makespan})
			}
		}
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(a.T, b.T) })
	var list []*Technique
	for i, r := range results {
		// COST always stays: chunks hide the costs inside them, which only COST will learn.
		if i < survivors || r.t.Class == "cost" {
			list = append(list, r.t)
		}
	}
	return list
}

// lineTime is the time to fetch a cache line that another worker wrote last: two workers on one
// socket, measured. Where it is longer, techniques with one counter look better than they are.
const lineTime = 20e-9

// recordedOn returns the machine of a recorded execution. A replay separates the time of claims
// from waiting for others.
func recordedOn(tr *Trace, workers int, overhead float64) Machine {
	m := Machine{P: workers, H: overhead, Serial: min(lineTime, overhead/2)}
	if workers == 1 {
		return m
	}
	for range 4 {
		sim, err := NewSimulation(tr, recorder(), Params{}, m)
		if err != nil {
			break
		}
		out, err := sim.Run()
		if err != nil || out.Chunks == 0 {
			break
		}
		m.H = max(m.H-(out.Sched/float64(out.Chunks)-overhead), m.Serial)
	}
	return m
}

// coarse spreads the time of chunks of a loop with this many units over n equal bins.
func coarse(chunks []Executed, units, n int) []float64 {
	costs := make([]float64, n)
	scale := float64(n) / float64(units)
	for _, c := range chunks {
		from, to := float64(c.Start)*scale, float64(c.Start+c.N)*scale
		for b := int(from); b < n && float64(b) < to; b++ {
			costs[b] += c.Seconds * (min(to, float64(b+1)) - max(from, float64(b))) / (to - from)
		}
	}
	return costs
}
