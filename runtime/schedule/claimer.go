package schedule

import "sync/atomic"

// This file defines Claimer, which hands the chunks of one loop to the workers of one process.

// Claimer gives each iteration of a loop to exactly one call of Claim, whatever the workers do. A chunk of a Stepped
// technique costs one atomic add.
//
// Claim and Report may be called by all workers at once, by each worker (0 <= worker < P) for itself only; Reset by
// nobody beside them.
type Claimer struct {
	calc     Calculator
	n        int
	prefix   *prefix // these: the kind of calc, one of them set
	stepped  Stepped
	adaptive Adaptive
	stealing Stealing
	cost     *cost
	own      ownClaims
	learning Learning // beside adaptive, cost or own
	blocks   *blocks  // of stealing
	unit     int      // and its iterations a unit
	stepless bool     // adaptive, and sizes do not depend on the step
	packed   bool     // step and next of an adaptive technique are both in next, so that a claim is one atomic operation

	_    [128]byte // the counters are written by all workers, what stands above is read by all
	step atomic.Int64
	_    [120]byte
	next atomic.Uint64 // first iteration, or unit, not handed out: adaptive techniques; if packed the lower half, above it the step
	_    [120]byte
}

// packedUnits is how many iterations or units a packed counter can count. Where it lies in the upper half, steps are.
const packedUnits = 1<<32 - 1

// ownClaims is an Adaptive technique that counts iterations along with what else a request changes, in one atomic
// operation or under one lock.
type ownClaims interface {
	claim(worker int) (start, size int, ok bool)
}

// NewClaimer makes a claimer for a calculator. An Adaptive calculator belongs to the claimer from then on; a Stepped
// one may be shared.
func NewClaimer(calc Calculator) *Claimer {
	c := &Claimer{calc: calc, n: calc.Loop().N}
	c.learning, _ = calc.(Learning)
	switch calc := calc.(type) {
	case *prefix:
		c.prefix = calc
	case Stepped:
		c.stepped = calc
	case *cost:
		c.cost = calc
	case Stealing:
		c.stealing, c.unit = calc, calc.Unit()
		c.blocks = &blocks{loot: calc.Loot, choices: 1, own: make([]ownBlock, calc.Loop().P)}
		c.deal()
	case ownClaims:
		c.own = calc
	case Adaptive:
		c.adaptive = calc
		s, ok := calc.(interface{ stepless() bool })
		c.stepless = ok && s.stepless()
		c.packed = !c.stepless && c.n <= packedUnits
	}
	return c
}

// deal gives every worker the block that it owns at the start.
func (c *Claimer) deal() {
	c.blocks.empty()
	for i := range c.blocks.own {
		c.blocks.own[i].word.Store(uint64(makeBlock(c.stealing.Initial(i))))
	}
}

// Claim hands the next chunk to a worker. It never blocks on other workers' chunks; ok is false when nothing is left
// for this worker to begin, though others may still be at work. A worker that has claimed goes on until then: what COST
// has put into its hand for the next claim nobody else can take.
func (c *Claimer) Claim(worker int) (start, size int, ok bool) {
	switch {
	case c.prefix != nil:
		return c.prefix.Chunk(int(c.step.Add(1) - 1))
	case c.stepped != nil:
		return c.stepped.Chunk(int(c.step.Add(1) - 1))
	case c.cost != nil:
		if c.cost.away != 0 {
			c.cost.study(worker)
		}
		return c.cost.claim(worker)
	case c.stealing != nil:
		return c.claimBlock(worker)
	case c.own != nil:
		return c.own.claim(worker)
	}
	if c.packed {
		return c.claimPacked(worker)
	}
	left := c.n - int(c.next.Load())
	if left <= 0 {
		return c.n, 0, false
	}
	step := 0
	if !c.stepless {
		step = int(c.step.Add(1) - 1)
	}
	size = c.adaptive.Next(worker, step, left)
	// left may be out of date by now: the add decides where the chunk lies, and the end of the loop cuts it.
	start = int(c.next.Add(uint64(size))) - size
	if start >= c.n {
		return c.n, 0, false
	}
	return start, min(size, c.n-start), true
}

// claimPacked claims from an adaptive technique with one compare-and-swap of step and next iteration, so left is exact.
// Whoever is overtaken computes again.
func (c *Claimer) claimPacked(worker int) (start, size int, ok bool) {
	for {
		word := c.next.Load()
		start = int(word & packedUnits)
		if start >= c.n {
			return c.n, 0, false
		}
		size = c.adaptive.Next(worker, int(word>>32), c.n-start)
		if c.next.CompareAndSwap(word, word+1<<32+uint64(size)) {
			return start, size, true
		}
	}
}

// claimBlock takes a piece of the worker's block, which it first fills, if it must, from another's.
func (c *Claimer) claimBlock(worker int) (start, size int, ok bool) {
	word := &c.blocks.own[worker].word
	for {
		old := Block(word.Load())
		lo, hi := old.Bounds()
		if lo >= hi {
			if !c.blocks.steal(worker) {
				return c.n, 0, false
			}
			continue
		}
		end := lo + c.stealing.Piece(worker, lo, hi)
		if word.CompareAndSwap(uint64(old), uint64(makeBlock(end, hi))) {
			start = lo * c.unit
			return start, min(end*c.unit, c.n) - start, true
		}
	}
}

// touches is what the claims of a worker had to do with lines of memory that others write, since it was asked last; own
// says that the worker has a line of its own beside.
func (c *Claimer) touches(worker int) (t touched, own bool) {
	b := c.owned()
	if b == nil {
		return touched{shared: 1}, false
	}
	t, b.own[worker].touched = b.own[worker].touched, touched{}
	return t, true
}

// pace makes claims that look for something to steal come back now and then; see touched.again.
func (c *Claimer) pace() {
	if b := c.owned(); b != nil {
		b.paced = true
	}
}

// owned is the workers' blocks, nil if they have none.
func (c *Claimer) owned() *blocks {
	if c.cost != nil {
		return c.cost.own
	}
	return c.blocks
}

// learned is how long nobody could work at the last Reset, in seconds, for what was learned. Techniques whose learning
// is a few operations on numbers are not charged.
func (c *Claimer) learned() float64 {
	if c.cost != nil {
		return c.cost.learning()
	}
	return 0
}

// ordered says that chunks are claimed in the order of the iterations; else some are stolen.
func (c *Claimer) ordered() bool { return c.stealing == nil && c.cost == nil }

// Report passes on how long a chunk took, in seconds: executing it, and claiming it. Techniques that learn nothing
// ignore it.
func (c *Claimer) Report(worker, start, n int, seconds, overhead float64) {
	if c.learning != nil {
		c.learning.Report(worker, start, n, seconds, overhead)
	}
}

// Learns says whether Report does anything: if not, chunks need not be timed for the technique's sake.
func (c *Claimer) Learns() bool {
	_, fixedWeights := c.calc.(*wf2)
	return c.learning != nil && !fixedWeights
}

// Reset begins the next execution of the same loop. Adaptive techniques keep what they learned.
func (c *Claimer) Reset() {
	c.step.Store(0)
	c.next.Store(0)
	if c.learning != nil {
		c.learning.Restart()
	}
	if c.stealing != nil {
		c.deal()
	}
}

// Err is why a loop ended before all iterations were handed out: the step at which an expression failed. A runtime asks
// after the loop.
func (c *Claimer) Err() error {
	if s, ok := c.calc.(Stepped); ok {
		return s.Err()
	}
	return nil
}
