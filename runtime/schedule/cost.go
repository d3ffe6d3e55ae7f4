package schedule

import (
	"cmp"
	"math"
	"slices"
)

// This file defines COST: factoring in cost space. Where the published techniques take half of the remaining
// iterations in a batch, it takes half of the remaining time, as the previous execution of the same loop
// measured it, in shares by the speeds that were measured with it. Blocks are executed in pieces, and what is
// predicted wrong is stolen.

// cost is a Learning calculator that hands out its chunks itself (cost_claim.go): blocks are filled by
// factoring, served in pieces, and robbed. What it learns from an execution is in cost_learn.go, when in
// cost_when.go, what a chunk costs beyond its iterations in cost_fixed.go.
//
// It is wrong where an execution says nothing about the next one: costs that move at random. Then it is
// weighted factoring with stealing.
type cost struct {
	loop
	belief // of who learns, while it is learned from an execution beside others
	ledger
	did  []costLog
	deaf bool // what is reported is not kept: something is being learned already
	costClaims
}

// belief is what COST believes of a loop.
type belief struct {
	profile *profile // what is expected; nil before the first execution
	was     *profile // what was expected before
	last    *profile // what the last execution cost
	chance  float64  // variance of an iteration that is not foreseen, in squares of what is expected
	weights []float64
	trends  []trend // of weights
	claimed float64 // seconds that claiming took, as measured; 0: unknown
	fixed   fixedCost
	heard   []costLog // of the execution that is learned from
	plan    costPlan  // that came of it
	old     []*profile
	spare   []*profile // memory of profiles that no plan has any more
	table   []int      // and of cuts
}

// costLog is what one worker did in this execution; only it writes here.
type costLog struct {
	chunks   []costRecord
	claiming float64 // seconds of the shortest claim; 0: none
	busy     float64 // seconds of all chunks
	asked    float64 // seconds of all claims
	single   float64 // seconds of the longest chunk that could not be smaller
	n        int     // iterations
	_        [64]byte
}

type costRecord struct {
	start, n int
	t        float64
}

// piecesPerShare is how many pieces a worker's share of the loop has where claims cost next to nothing: what is
// claimed cannot be stolen, so a wrong prediction costs at most about one part in so many. Shares of fewer than
// so many iterations are singles pieces, one each: there a piece of several is long.
const (
	piecesPerShare = 8
	singles        = 64
)

func newCost(p Params) (Calculator, error) {
	c := &cost{loop: loop{p}, did: make([]costLog, p.P)}
	c.belief = belief{weights: slices.Clone(p.Weights), trends: make([]trend, p.P), heard: make([]costLog, p.P)}
	c.costPlan, c.hand = evenly(p), make([]costHand, p.P)
	c.own = &blocks{own: make([]ownBlock, p.P), loot: c.half, choices: richest}
	if len(p.Profile) > 0 {
		c.last = newProfile(p.N, p.Profile)
		c.expect(c.last)
		c.costPlan = c.plan
	}
	c.begin()
	return c, nil
}

// expect makes p the profile of the execution to come, and plans how finely it is cut. With m pieces a share,
// chunks take m times what each takes beyond its iterations, and what cannot be stolen is one part in m: the
// sum is least at a square root.
func (c *cost) expect(p *profile) {
	c.was, c.profile = c.profile, p
	procs := float64(c.Processors)
	even := p.total() / procs
	each := c.claimed + c.fixed.seconds
	m, parts := float64(piecesPerShare), 2
	if c.N < singles*c.Processors {
		m = singles
	}
	if each > 0 {
		m = min(max(math.Sqrt(even/each)/8, 1), m)
	}
	if even < max(dear*each, crowd*float64(c.P)*c.claimed) && c.Processors == c.P {
		parts = 1
	}
	order, bins := c.dearest(p, even, each)
	cut := p
	if len(bins) > 0 {
		cut = c.without(p, bins)
	}
	t := newCuts(cut, room(c.table, len(cut.bins)+1))
	c.plan = planBy(t, c.Params, c.weights, m, parts, max(worth*each, even/finest))
	c.plan.dear, c.plan.dearAt = p.ranges(order), p.ranges(bins)
	c.plan.spread2 = c.chance * procs * procs / 4 * float64((len(p.bins)-1)<<cutBits) / float64(max(c.N, 1))
	c.plan.dealBlocks()
}

// without is p where some bins cost nothing.
func (c *cost) without(p *profile, bins []int) *profile {
	cut := c.fresh(len(p.bins) - 1)
	copy(cut.bins, p.bins)
	for _, b := range bins {
		cut.bins[b].cost = 0
	}
	cut.sum()
	return cut
}

// dearest is the bins that cost more than a small part of a worker's even share, the dearest first and in their
// order. What begins late ends late, whatever is stolen from whom, so they come first (Graham's rule of the
// longest processing time). To hand one out costs a chunk, and a claim from a counter that all share: none is
// dear that does not cost many of these.
func (c *cost) dearest(p *profile, even, each float64) (order, bins []int) {
	many := len(p.bins)-1 > few*c.Processors
	if c.MinChunk > 1 || many && c.fixed.precision == 0 && c.claimed > 0 { // not before it is known what chunks cost
		return nil, nil
	}
	part := even / dearIteration
	if len(p.bins)-1 < c.N {
		part = even / dearBins
	}
	slow := max(slices.Sorted(slices.Values(c.weights))[c.P/8], 1./8)
	least := max(part*slow, 2*dear*each*math.Ceil(p.per), float64(c.P)*c.claimed/4)
	if many {
		least = max(least, uncommon*p.total()/float64(len(p.bins)-1))
	}
	for b := range len(p.bins) - 1 {
		if p.bins[b].cost > least && p.apart(b) {
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

// The part of an even share, one in so many, by which what begins last may be late on a slow worker: an
// iteration, or a bin of several, which takes as long only if one of them does.
const (
	dearIteration = 32
	dearBins      = 8
	uncommon      = 3  // nothing is dear that does not cost so many times the mean: where many are alike each would be a chunk, and others balance the end
	few           = 16 // but where a worker has no more than so many bins
)

// worth is how many times what it takes beyond its iterations the smallest piece has: to divide a smaller one
// takes as long as it may save.
const worth = 4

// finest is how many of the smallest pieces a worker's share has at most: what ends late by one of these is not
// worth the chunk.
const finest = 256

// dear is how many times that make up a worker's share where halving it again and again does not pay: each has
// its part at once, and the rest is stealing.
const dear = 16

// crowd times the workers is how many claims make up a worker's share where the workers would wait for each
// other at a counter: to pass it once takes them all a part of a claim each.
const crowd = 8

// Report remembers a piece.
func (c *cost) Report(worker, start, n int, seconds, overhead float64) {
	if n > 0 && seconds >= 0 && !c.deaf {
		did := &c.did[worker]
		if overhead > 0 && (overhead < did.claiming || did.claiming == 0) {
			did.claiming = overhead
		}
		did.busy += seconds
		if n <= c.MinChunk {
			did.single = max(did.single, seconds)
		}
		did.asked += overhead
		did.n += n
		did.chunks = append(did.chunks, costRecord{start, n, seconds})
	}
}

// Expected is the measured speeds. Nobody may be learning.
func (c *cost) Expected() []float64 { return slices.Clone(c.weights) }

// Profile is what COST has learned: the expected time of each of equally many iterations, in order, at speed 1.
// It is nil before the first Restart that learns. Another loop of the same operator can begin with it
// (Params.Profile).
func (c *cost) Profile() []float64 {
	if c.profile == nil {
		return nil
	}
	return c.profile.costs()
}
