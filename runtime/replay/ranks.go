package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"flow/runtime/schedule"
)

// This file runs loops again in virtual time on ranks. The protocol is that of Note [Simulated
// ranks].

// Cluster is a simulated group of ranks. Every message takes Delay.
type Cluster struct {
	Ranks, Threads int     // threads of each rank
	H              float64 // seconds to claim a chunk inside of a rank
	Delay          float64 // seconds
	Counter        bool    // all threads claim from one counter; else ranks have blocks, and steal
	Op             float64 // seconds for which a claim occupies the counter
	Speeds         []float64
}

// Spread is a loop, or several one after the other, executed by a Cluster. P * Time = Busy + Sched +
// Idle for P threads.
type Spread struct {
	Technique         string
	Time, Ideal       float64
	Busy, Sched, Idle float64 // sums over threads
	Chunks, Messages  int
}

// Percent returns the percent of ideal.
func (s *Spread) Percent() float64 {
	if s.Time <= 0 {
		return 100
	}
	return 100 * s.Ideal / s.Time
}

// plus returns two executions in sequence.
func (s Spread) plus(t Spread) Spread {
	return Spread{s.Technique, s.Time + t.Time, s.Ideal + t.Ideal, s.Busy + t.Busy, s.Sched + t.Sched, s.Idle + t.Idle,
		s.Chunks + t.Chunks, s.Messages + t.Messages}
}

// Last returns the last execution of s, in which t has all but that.
func (s Spread) Last(t Spread) Spread {
	return Spread{s.Technique, s.Time - t.Time, s.Ideal - t.Ideal, s.Busy - t.Busy, s.Sched - t.Sched, s.Idle - t.Idle,
		s.Chunks - t.Chunks, s.Messages - t.Messages}
}

// ideal returns the least time of a loop on a cluster: of all work on all threads, of its longest
// unit on the fastest thread, and of one message if there are several ranks.
func (m *Cluster) ideal(tr *schedule.Trace) float64 {
	speed, fastest := float64(m.Ranks), 1.0
	if m.Speeds != nil {
		speed, fastest = 0, slices.Max(m.Speeds)
		for _, v := range m.Speeds {
			speed += v
		}
	}
	least := tr.Total() / (speed * float64(m.Threads))
	if costs := tr.Costs(); len(costs) > 0 {
		least = max(least, slices.Max(costs)/fastest)
	}
	if m.Ranks > 1 {
		least = max(least, m.Delay)
	}
	return least
}

// SimulateRanks is SimulateAll on a cluster.
func SimulateRanks(operators []Operator, t *schedule.Technique, m Cluster, minChunk int) (Spread, error) {
	sum := Spread{Technique: t.Name}
	for i := range operators {
		o := &operators[i]
		var s *rankLoop
		for k := range o.Loops {
			l := &o.Loops[k]
			if s == nil || s.n != len(l.Costs.Costs()) {
				least := minChunk
				if least == 0 {
					least = l.MinChunk
				}
				var err error
				if s, err = newRankLoop(l.Costs, t, m, least); err != nil {
					return sum, err
				}
			}
			out, err := s.run(l.Costs)
			if err != nil {
				return sum, err
			}
			sum = sum.plus(out)
		}
	}
	return sum, nil
}

// The protocol's numbers. The first two bound the size of chunks: a technique cuts a rank's block for
// the threads of up to helpers ranks, because others may take chunks, too, but for no more threads
// than get some iterations each.
const (
	helpers = 32
	each    = 8
	// COST cuts as for this many times the threads, so that shorter iterations count as expensive and
	// run first: of power-law rows on 128 ranks 99.1 % of the ideal, with 1 it is 97.6 %
	finer = 4
	// round trips before the estimated end of a rank's work its next request goes out
	leads = 5
	// requests that a rank without work has under way
	probes = 3
	// a rank that asked in vain often enough waits for these parts of the loop's time so far, and
	// of the time since it had work
	patience    = 1. / 2048
	patienceDry = 1. / 4
	// bins of the expected costs of a rank's block
	mostBins = 1 << 12
	// a thread takes at once at most this part of its rank's rows from what others gave, as in runs
	givenParts = 64
)

// rankLoop is the state of a simulation of a loop.
type rankLoop struct {
	m         Cluster
	technique *schedule.Technique
	params    schedule.Params
	n         int
	helps     bool
	limit     int32             // requests in vain after which a rank waits
	shared    *schedule.Claimer // of the counter
	measured  []float64         // COST: seconds of each iteration in this execution
	expected  *schedule.Trace   // COST: of what was measured in the last execution
	ranks     []simRank
	threads   []simThread                 // of all ranks
	stepped   map[int]schedule.Calculator // shared by ranks with as many iterations
	began     bool

	tr       *schedule.Trace
	now, end float64
	counter  float64 // when the counter is free
	left     int     // iterations that nobody has begun and that are not under way
	events   events
	messages []message
	unused   []int32 // indices of messages
	random   *rand.Rand
	touched  float64 // a sum of what touch has read, so that the reads are not removed
	out      Spread
}

// simRank is one rank. What every message needs is in its first cache line, because a simulation of
// many ranks waits for memory most of its time.
type simRank struct {
	own    *schedule.Claimer
	work   float64 // expected work of block and given
	did    float64 // expected work that was executed here
	took   float64 // seconds that it took
	dry    float64 // when the first of the idle threads became idle
	left   int32   // unclaimed iterations of the block
	idle   int32   // threads without work
	asking int32   // requests under way, and waits for the next one
	vain   int32   // requests in vain since something was found
	block  span    // what it begins with
	given  []span  // chunks that others gave, and that no thread has begun
	hints  schedule.Hints
	home   span    // the rows that it keeps
	moved  []span  // iterations of the block that it gave away at the start
	spare  []span  // parts of claims that have some of these
	coming float64 // expected work of such gifts on their way here
}

// span is iterations lo to hi-1. A file of costs has fewer than 2^31 (maxCosts).
type span struct{ lo, hi int32 }

// size returns the number of iterations.
func (c span) size() int { return int(c.hi - c.lo) }

// from returns n iterations, beginning with number start of c.
func (c span) from(start, n int) span { return span{c.lo + int32(start), c.lo + int32(start+n)} }

// simThread is one thread of a rank.
type simThread struct {
	chunk   span // that it runs
	own     bool // the chunk is of the rank's block
	idle    bool
	seconds float64 // that the chunk takes

	// under a counter
	begun bool
	known bool // the counter was reached: its answer, next, is there at ready
	waits bool // for the counter to be reached
	ready float64
	next  span
}

// newRankLoop prepares a loop with these costs, of which nothing is known yet.
func newRankLoop(tr *schedule.Trace, t *schedule.Technique, m Cluster, least int) (*rankLoop, error) {
	s := &rankLoop{m: m, n: len(tr.Costs()), technique: t, ranks: make([]simRank, m.Ranks), stepped: map[int]schedule.Calculator{}}
	s.params = schedule.Params{MinChunk: least, H: m.H}
	s.params.Mu, s.params.Sigma = schedule.Moments(tr.Costs())
	s.params.Now = func() float64 { return s.now }
	s.params.Aside = func(_ float64, learn func()) { learn() }
	s.helps = !m.Counter && !t.Static() && m.Ranks > 1
	s.limit = 4
	for p := 1; p < m.Ranks; p *= 2 {
		s.limit++
	}
	if m.Counter && !t.Static() {
		p := s.params
		p.N, p.P = s.n, m.Ranks*m.Threads
		calc, err := t.New(p)
		if err != nil {
			return nil, err
		}
		s.shared = schedule.NewClaimer(calc)
	} else if t.Class == "cost" {
		s.measured = make([]float64, s.n)
	}
	s.threads = make([]simThread, m.Ranks*m.Threads)
	for i := range s.ranks {
		r := &s.ranks[i]
		r.home = span{int32(i * s.n / m.Ranks), int32((i + 1) * s.n / m.Ranks)}
		if s.shared == nil {
			if err := s.assign(r, r.home); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// assign gives a rank its block.
func (s *rankLoop) assign(r *simRank, block span) error {
	p := s.params
	p.N, p.P = block.size(), s.m.Threads
	if s.helps {
		p.P = s.m.Threads * max(min(s.m.Ranks, helpers, p.N/(each*s.m.Threads)), 2)
		p.Processors = min(p.P, finer*s.m.Threads)
	}
	if s.expected != nil {
		p.Profile = s.bins(nil, block)
	}
	calc := s.stepped[p.N]
	if calc == nil || len(p.Profile) > 0 {
		var err error
		if calc, err = s.technique.New(p); err != nil {
			return err
		}
		if _, ok := calc.(schedule.Stepped); ok {
			s.stepped[p.N] = calc
		}
	}
	r.block, r.own = block, schedule.NewClaimer(calc)
	return nil
}

// again begins an execution after the first: techniques keep what they have learned.
func (s *rankLoop) again() error {
	if s.shared != nil {
		s.shared.Reset()
		return nil
	}
	if s.measured == nil {
		for i := range s.ranks {
			s.ranks[i].own.Reset()
		}
		return nil
	}
	s.expected = schedule.NewTrace(slices.Clone(s.measured))
	for i := range s.ranks {
		if err := s.assign(&s.ranks[i], s.ranks[i].home); err != nil {
			return err
		}
	}
	return nil
}

// run executes the loop once more.
func (s *rankLoop) run(tr *schedule.Trace) (Spread, error) {
	if s.began {
		if err := s.again(); err != nil {
			return s.out, err
		}
	}
	s.began = true
	s.tr, s.now, s.end, s.counter = tr, 0, 0, 0
	s.out, s.left, s.random = Spread{}, s.n, rand.New(rand.NewPCG(1, 2))
	s.events.begin()
	s.events.comes = s.touch
	for i := range s.ranks {
		r := &s.ranks[i]
		*r = simRank{home: r.home, block: r.block, own: r.own, left: r.block.hi - r.block.lo, work: s.work(r.block)}
		for w := range s.m.Threads {
			*s.thread(int32(i), int32(w)) = simThread{}
			s.at(0, int32(i), int32(w))
		}
	}
	if s.expected != nil && s.helps {
		s.moves()
	}
	for threads := int32(s.m.Threads); ; {
		e, ok := s.events.take()
		if !ok {
			break
		}
		s.now = e.time
		switch {
		case e.what < 0:
			s.receive(e.rank, ^e.what)
		case e.what < threads && s.shared != nil:
			s.stepCounter(e.rank, e.what)
		case e.what < threads:
			s.step(e.rank, e.what)
		case e.what < 2*threads:
			s.claim(e.rank, e.what-threads)
		case e.what > 2*threads:
			s.asked(e.rank, e.what-2*threads-1)
		default: // it has waited
			r := &s.ranks[e.rank]
			r.asking, r.vain = r.asking-1, s.limit-1
			s.ask(e.rank)
		}
	}
	s.out.Time, s.out.Ideal = s.end, s.m.ideal(tr)
	s.out.Idle = max(0, float64(s.m.Ranks*s.m.Threads)*s.end-s.out.Busy-s.out.Sched)
	return s.out, s.err()
}

// touch reads the memory that the next events need. A processor cannot predict the order of their
// ranks, so each event would wait for memory. Here the reads of a bucket overlap.
func (s *rankLoop) touch(list []event) {
	n := 0
	for i := range list {
		e := &list[i]
		r := &s.ranks[e.rank]
		n += int(r.left) + int(r.hints[0].Rank) + int(r.hints[3].Rank)
		if e.what < 0 {
			n += len(s.messages[^e.what].gift) + int(s.messages[^e.what].hints[1].Rank)
		}
	}
	cost := 0.
	for i := range list {
		e := &list[i]
		r := &s.ranks[e.rank]
		worker := s.m.Threads // that claims for other ranks
		if e.what >= 0 && int(e.what) < s.m.Threads {
			n += int(s.thread(e.rank, e.what).chunk.lo)
			worker = int(e.what)
		}
		if r.left > 0 && r.own != nil {
			cost += r.own.Touch(worker) + s.tr.Of(int(r.block.hi-r.left), 0)
		}
	}
	s.touched += float64(n) + cost
}

// thread returns a thread of a rank.
func (s *rankLoop) thread(rank, thread int32) *simThread {
	return &s.threads[int(rank)*s.m.Threads+int(thread)]
}

// err returns why a technique stopped before the end of the loop, or nil.
func (s *rankLoop) err() error {
	if s.shared != nil {
		return s.shared.Err()
	}
	for i := range s.ranks {
		if err := s.ranks[i].own.Err(); err != nil {
			return err
		}
	}
	if s.left > 0 {
		return fmt.Errorf("BUG: %d iterations were not run", s.left)
	}
	return nil
}

// work returns the expected work of iterations: their cost, or their number if it is unknown.
func (s *rankLoop) work(c span) float64 {
	if s.expected == nil {
		return float64(c.size())
	}
	return s.expected.Of(int(c.lo), c.size())
}

// measure notes what the iterations of a chunk cost: in the proportions that were expected.
func (s *rankLoop) measure(c span, seconds float64) {
	work := s.work(c)
	for i := c.lo; i < c.hi; i++ {
		if work > 0 {
			s.measured[i] = seconds * s.work(span{i, i + 1}) / work
		} else {
			s.measured[i] = seconds / float64(c.size())
		}
	}
}

// unit returns the seconds of a unit of expected work, as far as a rank has seen. ok is false if it
// cannot know.
func (s *rankLoop) unit(r *simRank) (seconds float64, ok bool) {
	if r.did == 0 {
		return 1, s.expected != nil
	}
	return r.took / r.did, true
}

// rest returns the estimated seconds until a rank has no work left. ok is false if it cannot know.
func (s *rankLoop) rest(r *simRank) (seconds float64, ok bool) {
	if r.left == 0 && len(r.given) == 0 && r.coming <= 0 {
		return 0, true
	}
	unit, ok := s.unit(r)
	return max(r.work+r.coming, 0) * unit / float64(s.m.Threads), ok
}
