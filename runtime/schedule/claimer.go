package schedule

import "sync/atomic"

// This file defines Claimer, which hands the chunks of one loop to the workers of one process.

// Claimer gives each iteration of a loop to exactly one call of Claim. A chunk of a Stepped
// technique costs one atomic add.
//
// All workers may call Claim and Report at once, each worker (0 <= worker < P) only for itself.
// Reset must not overlap with them.
type Claimer struct {
	calc     Calculator
	n        int
	prefix   *prefix // the kind of calc: one of these is set
	stepped  Stepped
	adaptive Adaptive
	stealing Stealing
	cost     *cost
	own      ownClaims
	learning Learning // beside adaptive, cost or own
	touching toucher  // nil: it has no state of its own
	blocks   *blocks  // of stealing
	unit     int      // and its iterations a unit
	stepless bool     // adaptive, and sizes do not depend on the step
	// step and next of an adaptive technique are both in next, so a claim is one atomic
	// operation
	packed bool

	_    [128]byte // all workers write the counters and read what is above
	step atomic.Int64
	_    [120]byte
	// first unclaimed iteration, or unit, of adaptive techniques; if packed the lower half,
	// with the step above
	next atomic.Uint64
	_    [120]byte
}

// ownClaims is a Learning technique that counts iterations together with its other state, in one
// atomic operation or under one lock.
type ownClaims interface {
	claim(worker int) (start, size int, ok bool)
}

// NewClaimer makes a claimer for a calculator. It takes over an Adaptive calculator; a Stepped one
// may be shared.
func NewClaimer(calc Calculator) *Claimer {
	c := &Claimer{calc: calc, n: calc.Loop().N}
	c.learning, _ = calc.(Learning)
	c.touching, _ = calc.(toucher)
	switch calc := calc.(type) {
	case *prefix:
		c.prefix = calc
	case Stepped:
		c.stepped = calc
	case *cost:
		c.cost = calc
	case Stealing:
		c.stealing, c.unit = calc, calc.Unit()
		c.blocks = &blocks{amount: calc.Steal, choices: 1, own: make([]ownBlock, calc.Loop().P)}
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

// deal gives every worker its initial block.
func (c *Claimer) deal() {
	c.blocks.empty()
	for i := range c.blocks.own {
		c.blocks.give(i, makeBlock(c.stealing.Initial(i)))
	}
}

// toucher is a technique with state for each loop or worker.
type toucher interface {
	// touch reads what the next Report and Claim of a worker use.
	touch(worker int) float64
}

// Touch reads the memory that the next Report and Claim of a worker use. A simulation of many claimers
// calls it for several at once, so that they wait for memory together. The result, a sum of what was
// read, has no meaning.
func (c *Claimer) Touch(worker int) float64 {
	sum := float64(c.step.Load()) + float64(c.next.Load())
	if c.touching != nil {
		sum += c.touching.touch(worker)
	}
	if b := c.owned(); b != nil {
		sum += float64(b.own[worker].word.Load())
	}
	return sum
}

// Claim hands the next chunk to a worker. It never blocks. ok is false when nothing is left for
// this worker to begin, though others may still work. A worker that has claimed must go on until
// then: under COST nobody else can take the rest of its last piece.
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
	// left may be stale: the add decides the chunk, and the end of the loop cuts it.
	start = int(c.next.Add(uint64(size))) - size
	if start >= c.n {
		return c.n, 0, false
	}
	return start, min(size, c.n-start), true
}

// claimPacked claims from an adaptive technique with one compare-and-swap of step and next
// iteration, so left is exact. An overtaken worker computes again.
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

// claimBlock takes a piece of the worker's block, after stealing if the block is empty.
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

// touches returns how a worker's claims since the last call used cache lines that others write.
// own: the worker also has a line of its own.
func (c *Claimer) touches(worker int) (t touched, own bool) {
	b := c.owned()
	if b == nil {
		return touched{shared: 1}, false
	}
	t, b.own[worker].touched = b.own[worker].touched, touched{}
	return t, true
}

// pace makes claims that search for work to steal return now and then; see touched.again.
func (c *Claimer) pace() {
	b := c.owned()
	if b == nil {
		return
	}
	b.filled = newBitset(len(b.own))
	for i := range b.own {
		if b.own[i].word.Load() != 0 {
			b.filled.add(i)
		}
	}
}

// owned returns the workers' blocks, or nil.
func (c *Claimer) owned() *blocks {
	if c.cost != nil {
		return c.cost.own
	}
	return c.blocks
}

// learned returns how long, in seconds, all workers waited for learning at the last Reset.
// Techniques that learn by a few operations are not charged.
func (c *Claimer) learned() float64 {
	if c.cost != nil {
		return c.cost.learning()
	}
	return 0
}

// ordered reports whether chunks are claimed in the order of the iterations, that is without
// stealing.
func (c *Claimer) ordered() bool { return c.stealing == nil && c.cost == nil }

// Report passes on how long a chunk took, in seconds: executing and claiming it. Techniques that do
// not learn ignore it.
func (c *Claimer) Report(worker, start, n int, seconds, overhead float64) {
	if c.learning != nil {
		c.learning.Report(worker, start, n, seconds, overhead)
	}
}

// Learns reports whether Report has an effect. If not, the technique needs no timing of chunks.
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

// Err says why a loop ended before all iterations were claimed: the step at which an expression
// failed. A runtime asks after the loop.
func (c *Claimer) Err() error {
	if s, ok := c.calc.(Stepped); ok {
		return s.Err()
	}
	return nil
}
