package schedule

import (
	"math"
	"sort"
	"sync/atomic"
)

// This file defines the claims of COST: blocks are filled by factoring from one counter, served to
// their owners in pieces, and stolen from. All count in units of equal expected cost (cuts.go), so
// a claim is one compare-and-swap and a few integer operations.

// costPlan holds the constants of an execution from which claims are computed.
type costPlan struct {
	cuts
	least int // iterations of the smallest chunk
	floor int // units of so many on average
	tail  int // units of the smallest pieces and blocks, except the last
	// iterations of the largest piece: a profile that says that thousands cost nothing may be
	// stale
	most   int
	deal   deal // of an execution without a profile
	atOnce int  // workers that run at a time: as many as there are processors
	// 2: a batch is half of what is left, or less (see portion); 1: everything is dealt at the
	// start
	parts int
	// units by (P cv/2)^2, cv of an iteration's unpredicted cost: factoring's b is the root of
	// spread2 over the units left
	spread2 float64
	worker  []costWorker

	// dear holds the iterations that are handed out before all blocks, the most expensive
	// first; dearAt has them in order. They have almost no width in units.
	dear, dearAt []iterations
	away         int // 1: the last worker is expected late, if at all
}

// costClaims is a plan and the state that claims change.
type costClaims struct {
	costPlan
	own  *blocks
	rest []costRest

	_     [128]byte
	dealt atomic.Int64 // how many dear iterations were asked for
	_     [120]byte
	// first unclaimed unit, with the number of claimed blocks above it, as in Claimer.next
	next atomic.Uint64
	_    [120]byte
	// units of a block of weight 1 in the current batch, with the number of blocks after which
	// the next begins above
	batch atomic.Uint64
	_     [120]byte
}

// costWorker is what a worker takes.
type costWorker struct {
	piece  int // units
	weight int // in parts of 1/weightOne
	lo, hi int // its block of the first batch
}

// costRest is the iterations of a worker's last piece behind expensive ones. Nobody can steal them:
// the worker's next claim takes them.
type costRest struct {
	rest, past int
	_          [112]byte
}

const weightOne = 1 << 16

// evenly returns the plan of an execution without a profile. It uses the chunks of AUTO_CHUNK,
// small enough for any order of costs and for learning the profile, dealt in rounds: a worker's
// block is one chunk of every P. So blocks cost about the same wherever the expensive iterations
// are, workers can be compared, and no counter is needed.
func evenly(p Params) costPlan {
	cut := evenCuts(p.N, max(autoChunk(p.N, p.P), p.MinChunk, ceilDiv(p.N, maxUnits)))
	c := costPlan{cuts: cut, floor: 1, least: p.MinChunk, parts: 1, deal: newDeal(cut.units, p.P), atOnce: p.Processors, worker: make([]costWorker, p.P)}
	c.dealBlocks()
	return c
}

// deal assigns units to blocks in rounds: one of each P units to each block. Positions count by
// block and by the order within it.
type deal struct {
	blocks, each, more int // the first more blocks have each + 1 units
}

func newDeal(units, blocks int) deal { return deal{blocks, units / blocks, units % blocks} }

// active reports whether units are dealt.
func (d *deal) active() bool { return d.blocks > 0 }

// first returns the position where a block begins.
func (d *deal) first(block int) int { return block*d.each + min(block, d.more) }

// block returns the block of a position.
func (d *deal) block(pos int) int {
	if longer := d.more * (d.each + 1); pos >= longer {
		return d.more + (pos-longer)/d.each
	}
	return pos / (d.each + 1)
}

// unit returns the unit at a position of a block. It does not divide, because it is most of a
// claim.
func (d *deal) unit(block, pos int) int {
	round := pos - d.first(block)
	// a round may be as long as a row of an image, so each begins with another block
	if round < d.each {
		block += int(uint64(uint32(round)*0x9E3779B9) * uint64(d.blocks) >> 32)
		if block >= d.blocks {
			block -= d.blocks
		}
	}
	return round*d.blocks + block
}

// victimChoices is from how many blocks a thief chooses the largest: looking costs less than an
// iteration is worth, and the largest is where the loop would end late.
const victimChoices = 4

// half returns what a thief takes: half, or all if either half has fewer iterations than a chunk.
func (c *costClaims) half(lo, hi int) int {
	mid := lo + (hi-lo)>>1
	if c.deal.active() {
		return hi - mid
	}
	switch start, at, past := c.at(lo), c.at(mid), c.at(hi); {
	case start == past:
		return 0
	case at-start < c.least || past-at < c.least:
		return hi - lo
	}
	return hi - mid
}

// planBy returns a plan with units t. A worker's share by its weight has m pieces, and no piece has
// more than 2/m of an even share of the iterations. No piece costs less than tail except the last.
func planBy(t cuts, p Params, weights []float64, m float64, parts int, tail float64) costPlan {
	c := costPlan{cuts: t, least: p.MinChunk, parts: parts, atOnce: p.Processors, worker: make([]costWorker, p.P)}
	share := float64(t.units) / c.procs()
	c.floor = max(1, int(float64(t.units)/float64(max(t.n, 1))*float64(c.least)))
	c.tail = max(c.floor, int(min(tail*t.rate, share)))
	c.most = max(ceil(float64(t.n)/(m*c.procs())), c.least)
	for i, w := range weights {
		c.worker[i].piece, c.worker[i].weight = max(c.floor, int(share/m*w)), int(math.Ceil(w*weightOne))
	}
	return c
}

// dealBlocks makes the first batch: each expected worker begins with a block of its own, without a
// claim.
func (c *costPlan) dealBlocks() {
	here := c.worker[:len(c.worker)-c.away]
	if c.away == 1 {
		c.worker[len(here)].lo, c.worker[len(here)].hi = c.units, c.units
	}
	if c.deal.active() {
		c.deal = newDeal(c.units, len(here))
		for i := range here {
			here[i].lo, here[i].hi = c.deal.first(i), c.deal.first(i+1)
		}
		return
	}
	sum := 0
	for i := range here {
		sum += here[i].weight
	}
	scale := float64(c.units) / float64(sum)
	if c.parts > 1 {
		scale /= c.portion(c.units) / float64(len(here))
	}
	before, lo := 0, 0
	for i := range here {
		w := &here[i]
		before += w.weight
		w.lo, w.hi = lo, c.units
		if before < sum || c.parts > 1 {
			w.hi = min(max(c.whole(min(int(float64(before)*scale), c.units)), lo), c.units)
		}
		switch begin := c.at(lo); {
		case c.at(w.hi)-begin < c.least: // the next one has these, too
			w.hi = lo
		case c.n-c.at(w.hi) < c.least:
			w.hi = c.units
		}
		lo = w.hi
	}
}

// begin begins an execution. No claim may overlap with it.
func (c *costClaims) begin() {
	c.next.Store(0)
	c.batch.Store(0)
	c.dealt.Store(0)
	c.own.empty()
	clear(c.rest)
	// a worker busy with an expensive iteration, or without a processor, must not hold a block
	// that others would find last
	if c.parts > 1 && (len(c.dear) > 0 || c.atOnce+c.away < len(c.worker)) {
		return
	}
	here := c.worker[:len(c.worker)-c.away]
	for i := range here {
		c.own.give(i, makeBlock(here[i].lo, here[i].hi))
	}
	c.next.Store(uint64(len(here))<<32 | uint64(here[len(here)-1].hi)) // dealt: nothing is left
}

// touch is Claimer.Touch.
func (c *costClaims) touch(worker int) float64 {
	return float64(c.worker[worker].piece) + float64(c.next.Load())
}

// claim is Claimer.Claim.
func (c *costClaims) claim(worker int) (start, size int, ok bool) {
	if len(c.dear) == 0 {
		start, past, ok := c.claimRange(worker)
		return start, past - start, ok
	}
	w := &c.rest[worker]
	for {
		for w.rest < w.past {
			start = w.rest
			i := sort.Search(len(c.dearAt), func(i int) bool { return c.dearAt[i].past > start })
			if i == len(c.dearAt) || c.dearAt[i].start >= w.past {
				w.rest = w.past
				return start, w.past - start, true
			}
			if w.rest = c.dearAt[i].past; c.dearAt[i].start > start {
				return start, c.dearAt[i].start - start, true
			}
		}
		if int(c.dealt.Load()) < len(c.dear) {
			c.own.own[worker].shared++
			if i := int(c.dealt.Add(1)) - 1; i < len(c.dear) {
				return c.dear[i].start, c.dear[i].past - c.dear[i].start, true
			}
		}
		if w.rest, w.past, ok = c.claimRange(worker); !ok {
			return c.n, 0, false
		}
	}
}

// some returns how many units of a worker's block a piece has. Pieces shrink with the block if no
// batches follow, or if it was stolen: then the loop is near its end.
func (c *costClaims) some(worker, lo, hi int) int {
	take := c.worker[worker].piece
	switch {
	case c.own.own[worker].stolen:
		return max(min(take, (hi-lo)>>1), c.tail, take>>3)
	case c.parts == 1:
		return max(min(take, (hi-lo)>>2), c.tail)
	}
	return take
}

// claimRange claims a piece. Where an iteration costs more than a piece, empty pieces precede it
// and are skipped.
func (c *costClaims) claimRange(worker int) (start, past int, ok bool) {
	word := &c.own.own[worker].word
	take := c.worker[worker].piece
	for {
		old := Block(word.Load())
		if lo, hi := old.Bounds(); lo < hi {
			if c.deal.active() {
				if word.CompareAndSwap(uint64(old), uint64(makeBlock(lo+1, hi))) {
					block := worker
					// stolen
					if w := &c.worker[worker]; lo < w.lo || lo >= w.hi {
						block = c.deal.block(lo)
					}
					u := c.deal.unit(block, lo)
					return c.at(u), c.at(u + 1), true
				}
				continue
			}
			end, start, past := c.piece(lo, hi, c.some(worker, lo, hi))
			if word.CompareAndSwap(uint64(old), uint64(makeBlock(end, hi))) && past > start {
				return start, past, true
			}
			continue
		}
		lo, hi, start, past, ok := c.block(worker)
		if ok {
			if hi-lo > take || past-start > c.most { // else it is one piece
				end := hi
				if end, start, past = c.piece(lo, hi, take); end < hi {
					c.own.give(worker, makeBlock(end, hi))
				}
			}
			if past > start {
				return start, past, true
			}
			continue
		}
		if !c.own.steal(worker) {
			return c.n, c.n, false
		}
	}
}

// block takes the next block from the counter, and returns its iterations. ok is false if nothing
// is left there.
func (c *costClaims) block(worker int) (lo, hi, start, past int, ok bool) {
	for {
		word := c.next.Load()
		lo = int(word & packedUnits)
		left := c.units - lo
		if left <= 0 {
			return 0, 0, 0, 0, false
		}
		now := c.batch.Load()
		if word>>32 >= now>>32 {
			now = c.nextBatch(now, word>>32, left)
		}
		k := max(c.tail, int(now&packedUnits)*c.worker[worker].weight/weightOne)
		hi, start, past = c.atLeast(lo, c.units, k)
		if w := max(c.whole(hi), lo+1); w != hi {
			hi, past = w, c.at(w)
		}
		if c.next.CompareAndSwap(word, word+1<<32+uint64(hi-lo)) {
			c.own.own[worker].shared++
			return lo, hi, start, past, true
		}
	}
}

// portion returns how many blocks make up what is left: twice the workers, and more if costs are
// partly random, as in factoring (see fac.go).
func (c *costPlan) portion(left int) float64 {
	if c.parts == 1 {
		return c.procs()
	}
	b2 := c.spread2 / float64(left)
	return c.procs() * min(2+b2+math.Sqrt(b2*(b2+4)), mostParts)
}

// mostParts bounds the effect of randomness, which a thread that lost its processor also looks
// like.
const mostParts = 8

// procs is atOnce as a float.
func (c *costPlan) procs() float64 { return float64(c.atOnce) }

// absent deals the blocks without the last worker, present with it.
func (c *costPlan) absent() {
	if c.away == 0 {
		c.away = 1
		c.atOnce -= c.away
		c.dealBlocks()
	}
}

func (c *costPlan) present() {
	if c.away == 1 {
		c.atOnce += c.away
		c.away = 0
		c.dealBlocks()
	}
}

// whole returns the unit nearest to u that does not split the units of an earlier iteration.
func (c *costPlan) whole(u int) int {
	if c.first != nil && c.floor > 1 { // else no iteration has many units
		return c.snapped(u)
	}
	return u
}

// nextBatch begins a batch with what is left, unless another worker has just done so and old is
// stale.
func (c *costClaims) nextBatch(old, step uint64, left int) uint64 {
	p := uint64(c.atOnce)
	now := (step/p+1)*p<<32 | uint64(max(1, int(float64(left)/c.portion(left))))
	if c.batch.CompareAndSwap(old, now) {
		return now
	}
	return c.batch.Load()
}

// piece returns the part of lo..hi up to end that is claimed at once, and its iterations: about k
// units, with an allowed number of iterations.
func (c *costClaims) piece(lo, hi, k int) (end, start, past int) {
	end = min(lo+k, hi)
	start, past = c.at(lo), c.at(end)
	if size := past - start; size >= c.least && size <= c.most {
		if end < hi && c.least > 1 {
			return c.atLeast(lo, hi, k)
		}
		return end, start, past
	}
	for ; k > 1 && c.at(min(lo+k, hi))-start > c.most; k /= 2 {
	}
	return c.atLeast(lo, hi, k)
}

// atLeast returns k units of lo..hi, or more if these have too few iterations. It grows in small
// steps, since the next units may be those of another expensive iteration.
func (c *costClaims) atLeast(lo, hi, k int) (end, start, past int) {
	start = c.at(lo)
	for {
		end = min(lo+k, hi)
		if past = c.at(end); past-start >= c.least || end == hi {
			if c.least > 1 {
				// the rest would be too small
				if all := c.at(hi); all-past < c.least {
					return hi, start, all
				}
			}
			return end, start, past
		}
		k += k/8 + 1
	}
}
