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
	profile *profile // nil before the first execution
	weights []float64
	claimed float64 // seconds that claiming took, as measured; 0: unknown
	did     []costLog
	costClaims
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
		c.expect(newProfile(p.N, p.Profile))
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
		if even < dear*c.claimed {
			parts = 1
		}
	}
	c.dear, c.dearAt = c.dearest(p, even)
	c.cutBy(newCuts(p.without(c.dear)), c.weights, m, parts)
}

// dearest is the iterations that cost more than a fourth of a worker's even share, the dearest first and in their order. One of these that begins late ends late, whatever is stolen
// from whom, so they come first (Graham's rule of the longest processing time). Only where each iteration has a bin of its own; elsewhere none
// is that dear but by accident; and only those that take longer than some claims.
func (c *cost) dearest(p *profile, even float64) (first, order []int) {
	if len(p.bins)-1 != c.N || c.MinChunk > 1 {
		return nil, nil
	}
	for i := range c.N {
		if p.bins[i].cost > max(even/4, dear/4*c.claimed) {
			order = append(order, i)
		}
	}
	if len(order) == c.N { // nothing is dear where all are alike
		return nil, nil
	}
	first = slices.Clone(order)
	slices.SortStableFunc(first, func(a, b int) int { return cmp.Compare(p.bins[b].cost, p.bins[a].cost) })
	return first, order
}

// dear is how many claims make up a worker's share where halving it again and again does not pay: each has its part at once, and the rest is stealing.
const dear = 16

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
	c.begin()
	if !c.learnSpeeds() {
		return
	}
	c.learnClaims()
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
	c.expect(newProfile(c.N, next))
}

// busy is what all chunks took together.
func (c *cost) busy() (seconds float64) {
	for i := range c.did {
		for _, r := range c.did[i].chunks {
			seconds += r.t
		}
	}
	return seconds
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
		c.claimed = sum / float64(claims)
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
