package schedule

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"
)

// This file defines Selector, which finds the technique for each operator by trying: AUTO. To choose is a noisy
// best-arm problem without state, so there is no learning from states here:
//
//  1. The first execution runs in small chunks of one size, which no order of costs can hurt much, and is recorded.
//  2. The portfolio is replayed on the recorded costs in virtual time; the best few are kept (pruning by model).
//  3. These are tried in turn; after each round the slower half by median time is dropped (successive halving: Karnin,
//     Koren, Somekh, ICML 2013). Which of two that cannot be told apart by their times is the slower one, the replay has
//     said.
//  4. The winner stays until the loop gets slower than it was, for long enough (a one-sided CUSUM, Page 1954, of the
//     logarithm of the time of a unit). Then it begins anew.
//
// Wrong where executions of one key differ at random by more than techniques do, and the recorded one was not like the
// others.

// Auto is the technique that is none: it asks for a Selector's choice. Lookup knows it, Techniques does not list it,
// and New fails.
var Auto = &Technique{Name: "AUTO", Class: "choice", Doc: "a technique for each loop, found by trying", Source: "this project",
	build: func(Params) (Calculator, error) {
		return nil, errors.New("AUTO has no chunks of its own: it chooses a technique for each loop as it runs")
	}}

// Key says which executions are alike: the operator and what is fused into it, the size as a power of two, the workers.
type Key struct {
	Op     string `json:"op"`
	Bucket int    `json:"bucket"`
	P      int    `json:"p"`
}

// KeyOf is the key of a loop of so many units.
func KeyOf(op string, units, workers int) Key {
	return Key{op, int(math.Round(math.Log2(float64(max(units, 1))))), workers}
}

const (
	survivors = 4    // of the pruning
	tries     = 3    // of each technique in a round
	maxCosts  = 2048 // units that are told apart in a replay on few workers
	perWorker = 64   // and of each of many workers
	worthTime = 5e-4 // seconds of an execution from which on replaying is worth its time at once
	worthSum  = 2e-2 // seconds of all executions from which on it is: about what it takes (see wait)
	slack     = 0.05 // slowdown that CUSUM forgives, as a logarithm, where executions do not differ by more
	alarm     = 1.0  // where it ends: 20 executions at 10 %, five however slow they are
)

// Selector chooses techniques. It is safe for concurrent use.
type Selector struct {
	mu   sync.Mutex
	arms map[Key]*trial
}

// trial is what is known of one key.
type trial struct {
	candidates []*Technique // as the replay ranks them
	times      [][]float64  // of a unit, by candidate, in this round
	untaught   []int        // executions of each candidate that do not count in the first round; nil: none
	next       int
	spent      float64                  // seconds of short executions before the first candidate
	seen       map[*Technique][]float64 // times of all rounds
	spread     float64                  // relative deviation of the times of one technique
	reference  float64                  // seconds of a unit under the chosen technique; 0: not chosen
	cusum      float64
	dropped    bool // there was a choice, which is no good any more; files must hear of it
}

// NewSelector knows nothing yet.
func NewSelector() *Selector { return &Selector{arms: map[Key]*trial{}} }

// recorder is the technique of executions that are recorded.
var recorder = sync.OnceValue(func() *Technique { return mustLookup("AUTO_CHUNK") })

func mustLookup(name string) *Technique {
	t, err := Lookup(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return t
}

// Choose is the technique for the next execution of a loop; record asks for its chunks (see Done).
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

// turn is the candidate whose turn it is: one that has not been tried often enough in this round.
func (a *trial) turn() int {
	n := len(a.candidates)
	for k := range n {
		if i := (a.next + k) % n; len(a.times[i]) < tries {
			return i
		}
	}
	return a.next % n
}

// Done says that a loop of so many units took so many seconds under t. The chunks are those of a recorded execution,
// nil for others; overhead is the mean time of claiming one.
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

// wait adds up the time of short executions, and says whether it is too little to care. (The rule of those who rent
// skis: buy when the rent has come to the price.)
func (s *Selector) wait(k Key, seconds float64) bool {
	a := s.arms[k]
	if a == nil {
		a = &trial{}
		s.arms[k] = a
	}
	a.spent += seconds
	return a.spent < worthSum
}

// tried notes a time, and ends the round when all candidates have theirs.
func (a *trial) tried(t *Technique, per float64) {
	i := slices.IndexFunc(a.candidates, func(c *Technique) bool { return c.Name == t.Name })
	if i < 0 {
		return // chosen before the round ended
	}
	a.next = i + 1
	if a.untaught != nil && a.untaught[i] > 0 { // what it takes before it has learned anything does not count
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

// faster is the faster half of the candidates, as they are ranked. Those that are behind the best by less than chance
// explains are as good as it, and go by their rank: medians of three differ by about as much as one time does from
// another.
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

// watch looks out for a loop that has become slower.
func (a *trial) watch(s *Selector, k Key, per float64) {
	x := math.Log(per / a.reference)
	chance := max(slack, a.spread)
	if x < -2*chance || a.spread < slack && x < -slack { // it was slow when it was measured: the reference follows down
		a.reference *= math.Exp(x / 8)
	}
	if a.cusum = max(0, a.cusum+min(x, alarm/4)-chance); a.cusum > alarm {
		s.arms[k] = &trial{dropped: true}
	}
}

// lessons is after how many executions a technique has learned. COST believes what two executions have in common, and
// each may be learned beside some others.
func lessons(t *Technique) int {
	switch t.Class {
	case "adaptive":
		return 1
	case "cost":
		return 6
	}
	return 0
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

// prune replays the portfolio on recorded chunks and returns the best, best first, and COST. Techniques that learn do
// so first.
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
		// COST stays in any case: chunks hide how costs lie inside of them, which only it will learn.
		if i < survivors || r.t.Class == "cost" {
			list = append(list, r.t)
		}
	}
	return list
}

// lineTime is what it takes to have a line of memory that another worker wrote last: two workers on one socket,
// measured. Where it takes longer, techniques with one counter look better than they are.
const lineTime = 20e-9

// recordedOn is the machine that a recorded execution ran on: what its claims took beside waiting for each other is
// found by replaying it.
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

// coarse spreads the time of chunks of a loop of so many units over n bins of equally many units.
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
