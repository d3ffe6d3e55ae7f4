package schedule

import (
	"fmt"
	"math"
)

// This file defines Simulation: a loop with known costs, executed in virtual time by the claimers
// of real loops.

// Outcome is a simulated execution. P * Makespan = Busy + Sched + Idle.
type Outcome struct {
	Makespan          float64
	Busy, Sched, Idle float64 // sums over workers: iterating, claiming or waiting to, neither
	Chunks            int
	Finish            []float64 // when each worker ended its last chunk, or its arrival
}

// Simulation executes a loop repeatedly with a technique that may learn.
type Simulation struct {
	claimer *Claimer
	trace   *Trace
	machine Machine
	now     float64
	ran     bool
	lesson  func()  // what a worker is learning beside the others, or nil
	away    float64 // for how long it still will
}

// NewSimulation returns a loop with the costs of tr, of which nothing is known yet. N and P of p
// are those of trace and machine; mu, sigma and h are measured from them unless p has any. Time
// starts with the first arrival.
func NewSimulation(tr *Trace, t *Technique, p Params, m Machine) (*Simulation, error) {
	if len(m.Speeds) > 0 && len(m.Speeds) != m.P || len(m.Arrivals) > 0 && len(m.Arrivals) != m.P {
		return nil, fmt.Errorf("%d speeds and %d arrival times for %d workers", len(m.Speeds), len(m.Arrivals), m.P)
	}
	s := &Simulation{trace: tr, machine: m}
	p.N, p.P = len(tr.costs), m.P
	if p.Mu == 0 && p.Sigma == 0 && p.H == 0 && p.N > 0 {
		p.Mu, p.Sigma = Moments(tr.costs)
		p.H = m.H
	}
	if p.Now == nil {
		p.Now = func() float64 { return s.now }
	}
	p.Aside = func(seconds float64, learn func()) { s.away, s.lesson = seconds, learn }
	calc, err := t.New(p)
	if err != nil {
		return nil, err
	}
	s.claimer = NewClaimer(calc)
	s.claimer.pace()
	return s, nil
}

// Learns reports whether an execution changes the next one.
func (s *Simulation) Learns() bool { return s.claimer.Learns() }

// SetTrace changes the costs of later executions; the number of iterations stays.
func (s *Simulation) SetTrace(tr *Trace) { s.trace = tr }

// Run executes the loop once more. Workers claim chunks in the order in which they become free:
// each waits for its predecessors at the counter or block, takes H, and is busy for cost/speed.
func (s *Simulation) Run() (Outcome, error) {
	m := s.machine
	s.now = 0
	if s.ran {
		s.claimer.Reset()
	}
	s.ran = true
	all := make([]int, m.P)
	for i := range all {
		all[i] = i
	}
	out := Outcome{Finish: make([]float64, m.P)}
	type running struct {
		start, n      int
		seconds, over float64
	}
	last := make([]running, m.P)
	lines := newLines(m.P, m.Serial)
	asked := make([]float64, m.P) // how long it has been asking
	q := m.arrivals(all)
	// the first worker learns, and nobody can claim before
	if learned := s.claimer.learned(); learned > 0 {
		q = q.notBefore(q[0].time + learned)
		out.Sched += learned * float64(m.P)
	}
	learner := -1
	if s.lesson != nil { // the last worker learns, and comes late if at all
		learner = m.P - 1
		q = q.late(learner, s.away)
	}
	for len(q) > 0 {
		w, t := q[0].worker, q[0].time
		s.now = t
		if r := &last[w]; r.n > 0 {
			s.claimer.Report(w, r.start, r.n, r.seconds, r.over)
			r.n = 0
		}
		start, n, ok := s.claimer.Claim(w)
		touched, own := s.claimer.touches(w)
		if touched.again {
			q[0].time = lines.pass(w, t, touched, false)
			asked[w] += q[0].time - t
			q.sink()
			continue
		}
		if !ok {
			out.Finish[w] = t - asked[w]
			if w == learner {
				out.Finish[w] = m.arrival(w)
			}
			out.Makespan = max(out.Makespan, out.Finish[w])
			q = q.drop()
			continue
		}
		if w == learner { // it has come before the end
			learner = -1
		}
		claimed := lines.pass(w, t, touched, own) + m.H
		seconds := (s.trace.Of(start, n) + m.Chunk) / m.speed(w)
		took := claimed - t + asked[w]
		asked[w] = 0
		last[w] = running{start, n, seconds, took}
		out.Busy += seconds
		out.Sched += took
		out.Chunks++
		q[0].time = claimed + seconds
		q.sink()
	}
	out.Sched += s.learn(out.Makespan)
	out.Idle = max(0, float64(m.P)*out.Makespan-out.Busy-out.Sched)
	return out, s.claimer.Err()
}

// learn continues a lesson that a worker learns beside an execution, and returns how much of the
// makespan it took.
func (s *Simulation) learn(makespan float64) float64 {
	if s.lesson == nil {
		return 0
	}
	at := min(s.away, makespan)
	if s.away -= at; s.away <= 0 {
		s.lesson()
		s.lesson = nil
	}
	return at
}

// lines are the cache lines that workers claim from: when each is free, and its last writer.
type lines struct {
	serial float64
	shared float64 // when the counters are free
	free   []float64
	writer []int // of each worker's block
}

func newLines(workers int, serial float64) *lines {
	l := &lines{serial: serial, shared: math.Inf(-1), free: make([]float64, workers), writer: make([]int, workers)}
	for w := range l.writer {
		l.writer[w] = w
	}
	return l
}

// pass returns when a worker that claims at time t has had all its lines. Reading a shared line
// does not delay others.
func (l *lines) pass(worker int, t float64, did touched, own bool) float64 {
	for range did.shared {
		l.shared = max(l.shared, t) + l.serial
		t = l.shared
	}
	t += float64(did.looked) * l.serial
	write := func(block int) {
		if l.writer[block] != worker {
			t = max(l.free[block], t) + l.serial
			l.free[block], l.writer[block] = t, worker
		}
	}
	if did.robbed > 0 {
		write(did.robbed - 1)
	}
	if own {
		write(worker)
	}
	return t
}

// Moments returns mean and standard deviation of the population.
func Moments(x []float64) (mean, deviation float64) {
	if len(x) == 0 {
		return 0, 0
	}
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	sum := 0.0
	for _, v := range x {
		sum += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(sum / float64(len(x)))
}

// Imbalance returns the percent imbalance of finish times, (1 - mean/max) P/(P-1) 100 (DeRose,
// Homer, Johnson 2007): 0 if all end together, 100 if one worker did everything. One worker is
// always balanced.
func Imbalance(finish []float64) float64 {
	latest, sum := 0.0, 0.0
	for _, f := range finish {
		latest = max(latest, f)
		sum += f
	}
	p := float64(len(finish))
	if len(finish) < 2 || latest <= 0 {
		return 0
	}
	return (1 - sum/p/latest) * p / (p - 1) * 100
}

// COV returns the coefficient of variation of finish times, with the deviation of the population.
func COV(finish []float64) float64 {
	mean, deviation := Moments(finish)
	if mean == 0 {
		return 0
	}
	return deviation / mean
}
