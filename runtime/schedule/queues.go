package schedule

import (
	"math/rand/v2"
	"sync/atomic"
)

// This file defines Queues, which hand the chunks of one loop to the workers of one process under a
// queue layout. With one queue it is a Claimer at the same cost.
//
// Chunks are not listed: a queue is a counter and a rule that says which chunks are its own. There
// are two rules.
//
//   - Dealt: the technique cuts the whole loop, and queue q of Q has its chunks q, q+Q, q+2Q, ... A
//     claim is one compare-and-swap, in the own queue or in another's. The technique's chunks must be
//     a function of the step.
//   - Shares: queue q has the q-th of Q equal parts of the loop, and the technique cuts each part
//     for all P workers, so that it is cut finely enough to be stolen from. That is DAPHNE's
//     pre-partitioning; adaptive and stealing techniques always use it.
//
// With one queue, pre-partitioning makes P shares which are emptied one after the other.

// Queues gives each iteration of a loop to exactly one call of Claim. The rules for callers are
// those of Claimer.
type Queues struct {
	one    *Claimer // set: all there is
	n, p   int
	layout *Plan
	queues []chunkQueue
	shares []share
	dealt  Stepped // nil: queues have shares
	steals bool    // shares are cut by a technique that steals
	thiefs []thief
	epoch  uint64 // the number of the execution
}

// chunkQueue is one queue. Without steps, next is the first share that may be nonempty. With steps, the
// lower stepBits of next count the chunks that are claimed, and the others are the number of the
// execution.
//
// A counter of an earlier execution means 0. So Reset writes to no queue, and a worker that finds a
// queue empty has only read it: the queue stays in the cache of its own worker. Moving a line between
// two cores takes 0.1 us (Zen 4) to 0.5 us (Emerald Rapids in a virtual machine).
type chunkQueue struct {
	next     atomic.Uint64
	from, to int     // its shares
	steps    Stepped // nil: it has several shares, or its technique is not Stepped
	base     int     // where the iterations of steps begin
	first    int     // its first step
	by       int     // from step to step
	_        [64]byte
}

// stepBits is the number of bits of a counter that count steps.
const stepBits = 40

// claim claims the next step. Execution numbers repeat after 2^24 executions. An old counter never has
// the number of the current execution, because each execution that does not end early claims all chunks
// and so renews all counters.
func (c *chunkQueue) claim(epoch uint64) (start, size int, ok bool) {
	epoch <<= stepBits
	for {
		was := c.next.Load()
		now := was
		if was>>stepBits<<stepBits != epoch {
			now = epoch
		}
		start, size, ok = c.steps.Chunk(c.first + int(now-epoch)*c.by)
		if !ok {
			return 0, 0, false
		}
		if c.next.CompareAndSwap(was, now+1) {
			return c.base + start, size, true
		}
	}
}

// share is a part of the loop that is cut by itself.
type share struct {
	claimer *Claimer
	base    int
}

// thief is a worker's view of the other queues in one execution.
type thief struct {
	rng     rand.PCG
	victims []int32 // queues not known to be empty; the first pri are of the worker's group
	pri     int
	home    int
	epoch   uint64 // the execution that victims is of
	// of a queue of several shares under a stealing technique: these are empty for this worker
	past int
	_    [56]byte
}

// mostChunks bounds the chunks of a worker under the default technique, unless the plan has a grain.
// AUTO_CHUNK alone makes 4096 of a loop of a million units on two workers. A loop of cheap points then
// spent half of its time between chunks. One chunk of 256 is 0.4 percent of a worker's part.
const mostChunks = 256

// NewQueues makes the queues of a loop of p.N units for p.P workers. Its error is that of
// Technique.New, or of an expression that fails within its first steps.
func NewQueues(plan *Plan, p Params) (*Queues, error) {
	if err := plan.check(); err != nil {
		return nil, err
	}
	t := plan.Technique
	if t == nil {
		t = Default()
		p.MinChunk = max(p.MinChunk, p.N/(mostChunks*max(p.P, 1)))
	}
	if plan.Grain > 0 {
		p.MinChunk = plan.Grain
	}
	count := plan.queues(p.P)
	calc, err := t.New(p)
	if err != nil {
		return nil, err
	}
	q := &Queues{n: p.N, p: p.P, layout: plan}
	stepped, isStepped := calc.(Stepped)
	switch {
	case count == 1 && (!plan.PrePartition || p.P == 1):
		q.one = NewClaimer(calc)
		return q, nil
	case isStepped && !plan.PrePartition:
		q.dealt = stepped
	default:
		parts := count
		if count == 1 {
			parts = p.P
		}
		if err := q.share(t, p, parts); err != nil {
			return nil, err
		}
	}
	q.queues = make([]chunkQueue, count)
	q.thiefs = make([]thief, p.P)
	for w := range q.thiefs {
		q.thiefs[w].home = plan.home(w)
		q.thiefs[w].rng.Seed(plan.Seed, uint64(w))
	}
	for i := range q.queues {
		c := &q.queues[i]
		c.from, c.to = i*len(q.shares)/count, (i+1)*len(q.shares)/count
		if q.dealt != nil {
			c.steps, c.first, c.by = q.dealt, i, count
		} else if steps, ok := q.shares[c.from].claimer.calc.(Stepped); ok && c.to == c.from+1 {
			c.steps, c.base, c.by = steps, q.shares[c.from].base, 1
		}
	}
	q.Reset()
	return q, nil
}

// share cuts the loop into parts, the first ones a unit larger if needed.
func (q *Queues) share(t *Technique, p Params, parts int) error {
	at, profile := 0, p.Profile
	for i := range parts {
		n := q.n / parts
		if i < q.n%parts {
			n++
		}
		p.N = n
		if len(profile) > 0 { // the bins that the part covers
			lo, hi := at*len(profile)/max(q.n, 1), ceilDiv((at+n)*len(profile), max(q.n, 1))
			p.Profile = profile[lo:hi]
		}
		calc, err := t.New(p)
		if err != nil {
			return err
		}
		c := NewClaimer(calc)
		q.steals = !c.ordered()
		q.shares = append(q.shares, share{c, at})
		at += n
	}
	return nil
}

// Claim hands the next chunk to a worker. It never waits. ok is false when nothing is left for this
// worker to begin. stolen: the chunk is from another queue.
func (q *Queues) Claim(worker int) (start, size int, stolen, ok bool) {
	if q.one != nil {
		start, size, ok = q.one.Claim(worker)
		return start, size, false, ok
	}
	t := &q.thiefs[worker]
	if t.epoch != q.epoch {
		if start, size, ok = q.from(t.home, worker); ok {
			return start, size, false, true
		}
		q.prepare(t, worker)
	}
	for len(t.victims) > 0 {
		i := q.pick(t)
		if start, size, ok = q.from(int(t.victims[i]), worker); ok {
			return start, size, true, true
		}
		t.drop(i)
	}
	return q.n, 0, false, false
}

// from claims from one queue.
func (q *Queues) from(queue, worker int) (start, size int, ok bool) {
	c := &q.queues[queue]
	switch {
	case c.steps != nil:
		return c.claim(q.epoch)
	case q.steals:
		return q.fromStolen(c, worker)
	}
	for i := int(c.next.Load()); i < c.to; i++ {
		s := &q.shares[i]
		if start, size, ok = s.claimer.Claim(worker); ok {
			return s.base + start, size, true
		}
		c.next.CompareAndSwap(uint64(i), uint64(i+1))
	}
	return 0, 0, false
}

// fromStolen claims under a stealing technique. An empty share proves nothing about other workers:
// one may have stolen units that it is about to put into its block there. So each worker has its
// own view of which shares are empty.
func (q *Queues) fromStolen(c *chunkQueue, worker int) (start, size int, ok bool) {
	t := &q.thiefs[worker]
	i := c.from
	if len(q.queues) == 1 { // else each has one share
		i = max(i, t.past)
	}
	for ; i < c.to; i++ {
		s := &q.shares[i]
		if start, size, ok = s.claimer.Claim(worker); ok {
			return s.base + start, size, true
		}
		t.past = i + 1
	}
	return 0, 0, false
}

// prepare lists the other queues for a worker whose own is empty.
func (q *Queues) prepare(t *thief, worker int) {
	t.epoch = q.epoch
	t.victims, t.pri = t.victims[:0], 0
	n := len(q.queues)
	first := q.layout.Victim == SeqPri || q.layout.Victim == RandomPri
	for _, near := range []bool{true, false} {
		for i := 1; i < n; i++ {
			v := (t.home + i) % n
			if !first && !near || first && (q.group(v) == q.layout.group(worker)) == near {
				t.victims = append(t.victims, int32(v))
			}
		}
		if near {
			t.pri = len(t.victims)
		}
	}
}

// group returns the group of a queue's workers.
func (q *Queues) group(queue int) int {
	if q.layout.Layout == PerGroup {
		return queue
	}
	return q.layout.group(queue)
}

// pick chooses the next victim.
func (q *Queues) pick(t *thief) int {
	among := t.pri
	if among == 0 {
		among = len(t.victims)
	}
	if v := q.layout.Victim; v == Seq || v == SeqPri || among == 1 {
		return 0
	}
	return int(t.rng.Uint64() % uint64(among)) // the bias is below 2^-40
}

// drop removes an empty queue from the list, keeping the order.
func (t *thief) drop(i int) {
	if i < t.pri {
		t.pri--
	}
	t.victims = append(t.victims[:i], t.victims[i+1:]...)
}

// Report passes on how long a chunk took, as Claimer.Report.
func (q *Queues) Report(worker, start, n int, seconds, overhead float64) {
	if q.one != nil {
		q.one.Report(worker, start, n, seconds, overhead)
		return
	}
	if len(q.shares) == 0 {
		return
	}
	small, large := q.n/len(q.shares), q.n%len(q.shares) // the first shares are one larger
	i := 0
	if start < large*(small+1) {
		i = start / (small + 1)
	} else {
		i = large + (start-large*(small+1))/small
	}
	q.shares[i].claimer.Report(worker, start-q.shares[i].base, n, seconds, overhead)
}

// Costs returns what equal parts of the loop are expected to cost, in order. It returns nil if the
// technique does not know. No execution may be under way.
func (q *Queues) Costs() []float64 {
	if q.one == nil || q.one.cost == nil || q.one.cost.beside { // a lesson that runs now writes it
		return nil
	}
	return q.one.cost.Profile()
}

// Learns reports whether Report has an effect.
func (q *Queues) Learns() bool {
	if q.one != nil {
		return q.one.Learns()
	}
	return len(q.shares) > 0 && q.shares[0].claimer.Learns()
}

// Ordered reports whether chunks are claimed in the order of the iterations.
func (q *Queues) Ordered() bool { return q.one != nil && q.one.ordered() }

// Reset begins the next execution of the same loop. Adaptive techniques keep what they learned.
func (q *Queues) Reset() {
	if q.one != nil {
		q.one.Reset()
		return
	}
	q.epoch++
	if q.queues[0].steps != nil { // then all are alike
		return
	}
	for i := range q.queues {
		q.queues[i].next.Store(uint64(q.queues[i].from))
	}
	for i := range q.shares {
		q.shares[i].claimer.Reset()
	}
	for i := range q.thiefs {
		q.thiefs[i].past = 0
	}
}

// Most returns how many workers have something to do at a time; 0: all. COST cuts for as many as
// there are processors and needs no more.
func (q *Queues) Most() int {
	if q.one != nil && q.one.cost != nil {
		if l := q.one.cost.Params; l.Processors < l.P {
			return l.Processors
		}
	}
	return 0
}

// Err says why a loop ended before all iterations were claimed.
func (q *Queues) Err() error {
	if q.one != nil {
		return q.one.Err()
	}
	if q.dealt != nil {
		return q.dealt.Err()
	}
	for i := range q.shares {
		if err := q.shares[i].claimer.Err(); err != nil {
			return err
		}
	}
	return nil
}
