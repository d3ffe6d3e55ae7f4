package schedule

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// This file defines COST: factoring in cost space. Where the published techniques take half of the remaining iterations in a batch, it takes half of the
// remaining time, as the previous execution of the same loop measured it, in shares by the speeds that were measured with it. Blocks are
// executed in pieces, and what is predicted wrong is stolen.

// cost is a calculator that fills blocks by factoring (Adaptive) and serves and robs them in pieces (Stealing).
//
// It is wrong where an execution says nothing about the next one: costs that move at random. Then it is weighted factoring with stealing.
type cost struct {
	loop
	unit    int
	first   int      // size of the chunks of an execution without a profile
	least   int      // units of the smallest piece
	most    int      // iterations of the largest piece
	claim   float64  // seconds that claiming took, as measured; 0: unknown
	parts   int      // a batch is 1/parts of what is left: 2, or 1 where claims are too dear for more than one batch
	profile *profile // nil before the first execution
	weights []float64
	share   []float64 // cost of each worker's pieces
	did     []costLog

	turn  sync.Mutex                // taken to begin a batch
	batch atomic.Pointer[costBatch] // read without a lock; nil before the first batch
}

// costBatch does not change.
type costBatch struct {
	batch int
	end   int     // step at which the next begins
	base  float64 // cost of a chunk of this batch for weight 1
}

// costLog is what one worker did in this execution; only it writes here.
type costLog struct {
	chunks   []costRecord
	claiming float64 // seconds
	_        [96]byte
}

type costRecord struct {
	start, n int
	t        float64
}

// piecesPerShare is how many pieces a worker's share of the loop has where claims cost next to nothing: what is claimed cannot be stolen, so a wrong
// prediction costs at most about one part in so many.
const piecesPerShare = 16

// maxMove is how far a weight moves in one execution, as a logarithm: a factor of 4.
const maxMove = 1.3863

// How finely a profile is kept. To learn one takes some nanoseconds a bin between two executions, during which nobody works, so there are no more than
// what a worker's share needs to be cut well.
const (
	leastBins    = 1 << 11
	binsPerShare = 1 << 8
	maxBins      = 1 << 14
)

func newCost(p Params) (Calculator, error) {
	c := &cost{loop: loop{p}, unit: max(1, ceilDiv(p.N, maxUnits)), first: autoChunk(p.N, p.P), weights: slices.Clone(p.Weights), did: make([]costLog, p.P)}
	c.least = max(ceilDiv(p.MinChunk, c.unit), 1)
	c.share = make([]float64, p.P)
	if len(p.Profile) > 0 {
		c.expect(newProfile(p.N, p.Profile))
	}
	return c, nil
}

// expect makes p the profile of the execution to come, and settles how finely it is cut. With m pieces a share, claims take m times the time of a claim, and
// what cannot be stolen is one part in m: the sum is least at a square root. No piece has more than 2/m of an even share of the iterations: where the
// profile says that thousands cost nothing, it may be out of date.
func (c *cost) expect(p *profile) {
	c.profile = p
	even := p.total() / float64(c.P)
	m := float64(piecesPerShare)
	c.parts = 2
	if c.claim > 0 {
		m = min(max(math.Sqrt(even/c.claim)/8, 1), m)
		if even < dear*c.claim {
			c.parts = 1
		}
	}
	c.most = ceil(2 * float64(c.N) / (m * float64(c.P)))
	for i := range c.share {
		c.share[i] = even / m * c.weights[i]
	}
}

// dear is how many claims make up a worker's share where halving it again and again does not pay: each has its part at once, and the rest is stealing.
const dear = 16

// Next is the weighted share of half the cost that was left when the batch began. Without a profile chunks are those of AUTO_CHUNK: small enough for
// any order of costs, and to learn the profile from.
func (c *cost) Next(worker, step, remaining int) int {
	block, _ := c.fill(worker, step, remaining)
	return block
}

// fill is Next and the first piece of the block, as Piece would have it: late blocks are no larger than a piece, which spares a search.
func (c *cost) fill(worker, step, remaining int) (block, piece int) {
	if c.profile == nil {
		block = c.clip(c.first, remaining)
		return block, block
	}
	start := c.N - remaining
	before := c.profile.until(start)
	left := c.profile.total() - before
	if !(left > 0) {
		block = c.clip(ceilDiv(remaining, c.P), remaining)
		return block, min(block, c.most)
	}
	now := c.batch.Load()
	if now == nil || step >= now.end {
		now = c.begin(step/c.P, left)
	}
	share := now.base * c.weights[worker]
	block = c.clip(c.profile.find(before+share)-start, remaining)
	if piece = block; share > c.share[worker] {
		piece = c.profile.find(before+c.share[worker]) - start
	}
	return block, min(max(min(piece, c.most), c.MinChunk), block)
}

// begin begins a batch with what is left, unless another worker has just done so.
func (c *cost) begin(batch int, left float64) *costBatch {
	c.turn.Lock()
	defer c.turn.Unlock()
	now := c.batch.Load()
	if now == nil || batch > now.batch {
		now = &costBatch{batch, (batch + 1) * c.P, left / float64(c.parts*c.P)}
		c.batch.Store(now)
	}
	return now
}

// Unit is 1 for all loops of less than 2^31 iterations.
func (c *cost) Unit() int { return c.unit }

// Initial is empty: blocks come from Next.
func (c *cost) Initial(int) (lo, hi int) { return 0, 0 }

// Piece is a part of the worker's share of the loop, see expect. A block that was cut without a profile is one piece.
func (c *cost) Piece(worker, lo, hi int) int {
	if c.profile == nil {
		return hi - lo
	}
	from := min(lo*c.unit, c.N)
	end := min(c.profile.find(c.profile.until(from)+c.share[worker]), lo*c.unit+c.most)
	if c.unit > 1 {
		end = ceilDiv(end, c.unit)
	}
	return min(max(end-lo, c.least), hi-lo)
}

// Loot is half.
func (c *cost) Loot(lo, hi int) int { return max(1, (hi-lo)>>1) }

// Report remembers a piece.
func (c *cost) Report(worker, start, n int, seconds, overhead float64) {
	if n > 0 && seconds >= 0 {
		if overhead > 0 {
			c.did[worker].claiming += min(overhead, longestClaim)
		}
		c.did[worker].chunks = append(c.did[worker].chunks, costRecord{start, n, seconds})
	}
}

// Restart learns from what was reported: first the speeds, then the costs at speed 1.
func (c *cost) Restart() {
	c.batch.Store(nil)
	if !c.learnSpeeds() {
		return
	}
	c.learnClaims()
	n := min(c.N, min(max(leastBins, binsPerShare*c.P), maxBins))
	next, covered := make([]float64, n), make([]float64, n)
	for i := range c.did {
		for _, r := range c.did[i].chunks {
			c.spread(r, r.t*c.weights[i], next, covered)
		}
		c.did[i].chunks = c.did[i].chunks[:0]
	}
	mean, seen := 0.0, 0.0
	for b := range next {
		mean += next[b]
		seen += covered[b]
	}
	for b := range next { // bins that nobody reported are taken for average
		if missing := 1 - covered[b]; missing > 1e-9 {
			next[b] += missing * mean / seen
		}
	}
	c.expect(newProfile(c.N, next))
}

// learnClaims is the mean time of a claim.
func (c *cost) learnClaims() {
	sum, claims := 0.0, 0
	for i := range c.did {
		sum += c.did[i].claiming
		claims += len(c.did[i].chunks)
		c.did[i].claiming = 0
	}
	if claims > 0 {
		c.claim = sum / float64(claims)
	}
}

// misfit is the variance of a worker's ratio from which on a profile does not fit.
const misfit = 0.1

// longestClaim is more than a claim takes: what is longer was something else, such as a thread that had lost its processor.
const longestClaim = 1e-4

// learnSpeeds moves each weight towards predicted over measured time; it reports false if there is nothing to learn from. Without a profile the iterations are
// the prediction, which is fair since chunks were small and the workers' interleaved.
//
// A worker is slow, or its iterations cost more than before: both look alike. They differ in that a slow worker is slow everywhere. So a weight moves the less
// the more the ratio varies between the places that the worker has been at: by d^2/(d^2 + 4e^2) of the way d (in logarithms), where e is the standard error of the
// ratio over places, the worker's own or the mean of all, and consecutive pieces are one place. Without that, costs that move leave weights that are wrong by factors.
// Where the ratios of all workers are that uncertain the profile does not fit: then the costs are learned, and the speeds from the next execution.
func (c *cost) learnSpeeds() bool {
	ratio, unsure := make([]float64, c.P), make([]float64, c.P)
	known, sum, pooled, workers := 0.0, 0.0, 0.0, 0.0
	for i := range c.did {
		if ratio[i], unsure[i] = c.speed(c.did[i].chunks); ratio[i] > 0 {
			sum += ratio[i]
			known += c.weights[i]
			pooled += unsure[i]
			workers++
		}
	}
	if known == 0 {
		return false
	}
	if c.profile != nil && pooled/workers > misfit {
		return true
	}
	total := 0.0
	for i, r := range ratio {
		if r > 0 { // the others keep theirs
			d := math.Log(r / sum * known / c.weights[i])
			if d != 0 {
				move := d * d * d / (d*d + 4*max(unsure[i], pooled/workers))
				c.weights[i] *= math.Exp(min(max(move, -maxMove), maxMove))
			}
		}
		total += c.weights[i]
	}
	for i := range c.weights {
		c.weights[i] *= float64(c.P) / total
	}
	return true
}

// speed is predicted over measured time of a worker's pieces, and the square of its relative standard error. The ratio is 0 if there is none.
func (c *cost) speed(chunks []costRecord) (ratio, variance float64) {
	predicted, measured := 0.0, 0.0
	for _, r := range chunks {
		predicted += c.predicted(r)
		measured += r.t
	}
	if !(predicted > 0 && measured > 0) {
		return 0, 0
	}
	ratio = predicted / measured
	places, off, squares, end := 0.0, 0.0, 0.0, -1
	for _, r := range chunks {
		if r.start != end {
			squares += float64(off * off)
			places, off = places+1, 0
		}
		off += c.predicted(r) - float64(ratio*r.t)
		end = r.start + r.n
	}
	squares += float64(off * off)
	if places < 2 {
		return ratio, 1
	}
	return ratio, squares / (predicted * predicted) * places / (places - 1)
}

// predicted is what a piece was expected to cost; without a profile its iterations.
func (c *cost) predicted(r costRecord) float64 {
	if c.profile == nil {
		return float64(r.n)
	}
	return c.profile.until(r.start+r.n) - c.profile.until(r.start)
}

// spread adds the cost of a piece to the bins it lies in. Within it costs keep the proportions of the old profile, so
// that what was learned from small pieces is not lost by measuring larger ones.
func (c *cost) spread(r costRecord, t float64, bins, covered []float64) {
	whole := c.predicted(r)
	m, n := float64(len(bins)), float64(c.N)
	from, to := float64(r.start)*m/n, float64(r.start+r.n)*m/n
	known := whole > 0 && c.profile != nil
	aligned := known && len(c.profile.bins) == len(bins)+1 // as always but for a profile that was given
	for b := int(from); b < len(bins) && float64(b) < to; b++ {
		lo, hi := max(from, float64(b)), min(to, float64(b+1))
		covered[b] += hi - lo
		switch {
		case aligned:
			bins[b] += t / whole * c.profile.bins[b].cost * (hi - lo)
		case known:
			bins[b] += t / whole * (c.profile.at(hi*n/m) - c.profile.at(lo*n/m))
		default:
			bins[b] += t * (hi - lo) / (to - from)
		}
	}
}

// Expected is the measured speeds.
func (c *cost) Expected() []float64 { return slices.Clone(c.weights) }

// Profile is what COST has learned: the expected time of each of equally many iterations, in order, at speed 1. It is nil before
// the first Restart. Another loop of the same operator can begin with it (Params.Profile).
func (c *cost) Profile() []float64 {
	if c.profile == nil {
		return nil
	}
	return c.profile.costs()
}
