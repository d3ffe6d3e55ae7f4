package schedule

import "sync/atomic"

// This file defines Claimer, which hands the chunks of one loop to the workers of one process.

// Claimer gives each iteration of a loop to exactly one call of Claim, whatever the workers do. A chunk of a Stepped technique costs one atomic add.
//
// Claim and Report may be called by all workers at once, by each worker (0 <= worker < P) for itself only; Reset by nobody beside them.
type Claimer struct {
	calc     Calculator
	n        int
	prefix   *prefix // these four: the kind of calc, one of them set
	stepped  Stepped
	adaptive Adaptive
	blocks   *blocks // beside filler for a technique that is both
	filler   filler
	stepless bool // adaptive, and sizes do not depend on the step
	packed   bool // step and next of an adaptive technique are both in next, so that a claim is one atomic operation

	_    [128]byte // the counters are written by all workers, what stands above is read by all
	step atomic.Int64
	_    [120]byte
	next atomic.Uint64 // first iteration, or unit, not handed out: adaptive techniques; if packed the lower half, above it the step
	_    [120]byte
}

// packedUnits is how many iterations or units a packed counter can count.
const packedUnits = 1<<32 - 1

// filler is a technique that is both Adaptive and Stealing: Next, and how much of the block it begins with.
type filler interface {
	fill(worker, step, remaining int) (block, piece int)
}

// NewClaimer makes a claimer for a calculator. An Adaptive calculator belongs to the claimer from then on; a Stepped one may be shared.
func NewClaimer(calc Calculator) *Claimer {
	c := &Claimer{calc: calc, n: calc.Loop().N}
	c.adaptive, _ = calc.(Adaptive)
	switch calc := calc.(type) {
	case *prefix:
		c.prefix = calc
	case Stepped:
		c.stepped = calc
	case Stealing:
		c.blocks = newBlocks(calc)
		c.filler, _ = calc.(filler)
	}
	if c.adaptive != nil {
		s, ok := calc.(interface{ stepless() bool })
		c.stepless = ok && s.stepless()
		c.packed = c.blocks != nil || !c.stepless && c.n <= packedUnits
	}
	return c
}

// Claim hands the next chunk to a worker. It never blocks on other workers' chunks; ok is false when nothing is left for this worker to begin, though
// others may still be at work.
func (c *Claimer) Claim(worker int) (start, size int, ok bool) {
	switch {
	case c.prefix != nil:
		return c.prefix.Chunk(int(c.step.Add(1) - 1))
	case c.stepped != nil:
		return c.stepped.Chunk(int(c.step.Add(1) - 1))
	case c.blocks != nil:
		return c.claimBlock(worker)
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

// claimPacked claims from an adaptive technique with one compare-and-swap of step and next iteration, so left is exact. Whoever is overtaken computes
// again.
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

// claimBlock takes a piece of the worker's block, which it first fills, if it must, from the counter, and then from another's block.
func (c *Claimer) claimBlock(worker int) (start, size int, ok bool) {
	b := c.blocks
	for {
		taken, ok := b.piece(worker)
		if !ok && c.filler != nil {
			taken, ok = c.refill(worker)
		}
		if ok {
			lo, hi := taken.Bounds()
			start = lo * b.unit
			return start, min(hi*b.unit, c.n) - start, true
		}
		if !b.steal(worker) {
			return c.n, 0, false
		}
	}
}

// refill gives a worker, whose block is empty, the next block of an adaptive technique but for the first piece, which it returns. The size may depend on
// where the block begins, so this is a compare-and-swap.
func (c *Claimer) refill(worker int) (piece Block, ok bool) {
	unit := c.blocks.unit
	for {
		word := c.next.Load()
		at := int(word & packedUnits)
		left := c.n - at*unit
		if left <= 0 {
			return 0, false
		}
		k, first := c.filler.fill(worker, int(word>>32), left)
		if unit > 1 {
			k, first = ceilDiv(k, unit), ceilDiv(first, unit)
		}
		if c.next.CompareAndSwap(word, word+1<<32+uint64(k)) {
			piece, rest := MakeBlock(at, at+k).Front(first)
			if rest != 0 {
				c.blocks.give(worker, rest)
			}
			return piece, true
		}
	}
}

// Report passes on how long a chunk took, in seconds: executing it, and claiming it. Techniques that learn nothing ignore it.
func (c *Claimer) Report(worker, start, n int, seconds, overhead float64) {
	if c.adaptive != nil {
		c.adaptive.Report(worker, start, n, seconds, overhead)
	}
}

// Learns says whether Report does anything: if not, chunks need not be timed for the technique's sake.
func (c *Claimer) Learns() bool {
	_, fixedWeights := c.calc.(*wf2)
	return c.adaptive != nil && !fixedWeights
}

// Reset begins the next execution of the same loop. Adaptive techniques keep what they learned.
func (c *Claimer) Reset() {
	c.step.Store(0)
	c.next.Store(0)
	if c.adaptive != nil {
		c.adaptive.Restart()
	}
	if c.blocks != nil {
		c.blocks.reset()
	}
}

// Err is why a loop ended before all iterations were handed out: the step at which an expression failed. A runtime asks after the loop.
func (c *Claimer) Err() error {
	if s, ok := c.calc.(Stepped); ok {
		return s.Err()
	}
	return nil
}
