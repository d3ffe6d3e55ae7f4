package schedule

import (
	"cmp"
	"math"
	"slices"
)

// This file defines COST: factoring in cost space. Where the published techniques take half of the remaining iterations in a batch, it takes half of the
// remaining time, as the previous execution of the same loop measured it, in shares by the speeds that were measured with it. Blocks are
// executed in pieces, and what is predicted wrong is stolen.

// cost is a Learning calculator that hands out its chunks itself (cost_claim.go): blocks are filled by factoring, served in pieces, and robbed.
//
// It is wrong where an execution says nothing about the next one: costs that move at random. Then it is weighted factoring with stealing.
type cost struct {
	loop
	profile *profile // what is expected; nil before the first execution
	last    *profile // what the last execution cost
	chance  float64  // variance of an iteration that is not foreseen, in squares of what is expected
	weights []float64
	claimed float64 // seconds that claiming took, as measured; 0: unknown
	did     []costLog
	costClaims
}

// costLog is what one worker did in this execution; only it writes here.
type costLog struct {
	chunks   []costRecord
	claiming float64 // seconds of the shortest claim; 0: none
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

// How finely a profile is kept. To learn one takes some nanoseconds a bin between two executions, during which nobody works, and claims that look into a large table wait for memory. So
// there are no more than what a worker's share needs to be cut well, or than make neither matter: where iterations differ much, what a bin hides is what cuts are off by.
const (
	leastBins    = 1 << 11
	binsPerShare = 1 << 8
	maxBins      = 1 << 14
	worthBin     = 5e-5 // seconds of an execution
)

// fineness is the number of bins for an execution that took all workers so much time together.
func (c *cost) fineness(busy float64) int {
	worth := min(busy/float64(c.P)/worthBin, maxBins)
	return min(c.N, min(max(leastBins, binsPerShare*c.P, int(worth)), maxBins))
}

func newCost(p Params) (Calculator, error) {
	c := &cost{loop: loop{p}, weights: slices.Clone(p.Weights), did: make([]costLog, p.P)}
	c.evenly(p)
	if len(p.Profile) > 0 {
		c.last = newProfile(p.N, p.Profile)
		c.expect(c.last)
	}
	return c, nil
}

// expect makes p the profile of the execution to come, and settles how finely it is cut. With m pieces a share, claims take m times the time of a claim, and
// what cannot be stolen is one part in m: the sum is least at a square root.
func (c *cost) expect(p *profile) {
	c.profile = p
	even := p.total() / float64(c.P)
	m, parts := float64(piecesPerShare), 2
	if c.claimed > 0 {
		m = min(max(math.Sqrt(even/c.claimed)/8, 1), m)
		if even < max(dear, crowd*float64(c.P))*c.claimed {
			parts = 1
		}
	}
	order, bins := c.dearest(p, even)
	c.dear, c.dearAt = p.ranges(order), p.ranges(bins)
	c.spread2 = c.chance * float64(c.P) * float64(c.P) / 4 * float64((len(p.bins)-1)<<cutBits) / float64(max(c.N, 1))
	c.cutBy(newCuts(p.without(bins)), c.weights, m, parts, worth*c.claimed)
}

// dearest is the bins that cost more than a small part of a worker's even share, the dearest first and in their order. What begins late ends late, whatever is
// stolen from whom, so they come first (Graham's rule of the longest processing time). To hand one out costs a claim, from a counter that all share: none is dear
// that does not cost many of these.
func (c *cost) dearest(p *profile, even float64) (order, bins []int) {
	if c.MinChunk > 1 {
		return nil, nil
	}
	part := even / dearIteration
	if len(p.bins)-1 < c.N {
		part = even / dearBins
	}
	slow := max(slices.Sorted(slices.Values(c.weights))[c.P/8], 1./8)
	least := max(part*slow, 2*dear*c.claimed, float64(c.P)*c.claimed/4)
	for b := range len(p.bins) - 1 {
		if p.bins[b].cost > least {
			bins = append(bins, b)
		}
	}
	if len(bins) == len(p.bins)-1 { // nothing is dear where all are alike
		return nil, nil
	}
	order = slices.Clone(bins)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.bins[b].cost, p.bins[a].cost) })
	return order, bins
}

// The part of an even share, one in so many, by which what begins last may be late on a slow worker: an iteration, or a bin of several, which takes as long only if one of them does.
const (
	dearIteration = 32
	dearBins      = 8
)

// worth is how many claims make up the smallest piece: to divide a smaller one takes as long as it may save.
const worth = 4

// dear is how many claims make up a worker's share where halving it again and again does not pay: each has its part at once, and the rest is stealing.
const dear = 16

// crowd times the workers is how many claims make up a worker's share where the workers would wait for each other at a counter: to pass it once takes them all a part of a claim each.
const crowd = 8

// Report remembers a piece.
func (c *cost) Report(worker, start, n int, seconds, overhead float64) {
	if n > 0 && seconds >= 0 {
		if did := &c.did[worker]; overhead > 0 && (overhead < did.claiming || did.claiming == 0) {
			did.claiming = overhead
		}
		c.did[worker].chunks = append(c.did[worker].chunks, costRecord{start, n, seconds})
	}
}

// Restart learns from what was reported: first the speeds, then the costs at speed 1.
func (c *cost) Restart() {
	c.begin()
	if !c.learnSpeeds() {
		return
	}
	c.learnClaims()
	trust, chance := c.trust()
	n := c.fineness(c.busy())
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
	c.last = newProfile(c.N, next)
	c.chance = chance
	c.expect(c.last.nearer(trust))
}

// trust is how much of the differences between iterations of the last execution but one was there again in the last: the slope of what pieces cost over what they had cost, both less what as many average
// iterations do. It is the best predictor's share of the differences where they are partly chance: 0 where costs are drawn anew, near 1 where they stay. 1 too if nothing is known.
func (c *cost) trust() (part, chance float64) {
	if c.last == nil {
		return 1, 0
	}
	before, now := 0.0, 0.0
	for i := range c.did {
		for _, r := range c.did[i].chunks {
			before += c.last.between(r.start, r.start+r.n)
			now += r.t * c.weights[i]
		}
	}
	if !(before > 0 && now > 0) {
		return 1, 0
	}
	mean, scale := c.last.total()/float64(c.N), before/now
	xx, xy, all := 0.0, 0.0, 0.0
	for i := range c.did {
		for _, r := range c.did[i].chunks {
			even := float64(r.n) * mean
			x, y := c.last.between(r.start, r.start+r.n)-even, r.t*c.weights[i]*scale-even
			xx += x * x
			xy += x * y
			all += even * even
		}
	}
	part = 1
	if xx > alike*alike*all {
		part = min(max(xy/xx, 0), 1)
	}
	squares, sizes := 0.0, 0.0
	for i := range c.did {
		for _, r := range c.did[i].chunks {
			even := float64(r.n) * mean
			expected := even + part*(c.last.between(r.start, r.start+r.n)-even)
			off := r.t*c.weights[i]*scale - expected
			squares += off * off
			sizes += expected * expected / float64(r.n)
		}
	}
	return part, squares / sizes
}

// alike is the relative deviation of pieces below which it does not matter what is trusted.
const alike = 0.01

// busy is what all chunks took together.
func (c *cost) busy() (seconds float64) {
	for i := range c.did {
		for _, r := range c.did[i].chunks {
			seconds += r.t
		}
	}
	return seconds
}

// learnClaims is the time of a claim that had not to wait for others: the median over workers of the shortest.
func (c *cost) learnClaims() {
	var shortest []float64
	for i := range c.did {
		if t := c.did[i].claiming; t > 0 {
			shortest = append(shortest, t)
		}
		c.did[i].claiming = 0
	}
	if len(shortest) > 0 {
		c.claimed = median(shortest)
	}
}

// misfit is the variance of a worker's ratio from which on a profile does not fit.
const misfit = 0.1

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
	return c.profile.between(r.start, r.start+r.n)
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
