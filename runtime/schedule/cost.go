package schedule

import (
	"cmp"
	"math"
	"slices"
)

// This file defines COST: factoring in cost space. Published techniques take half of the remaining
// iterations in a batch; COST takes half of the remaining time, as measured in the last execution
// of the same loop, in shares by measured speeds. Blocks are executed in pieces, and stealing
// corrects wrong predictions.

// cost is a Learning calculator that claims for itself (cost_claim.go): blocks are filled by
// factoring, served in pieces, and stolen from. cost_learn.go defines what it learns from an
// execution, cost_when.go when, cost_fixed.go what a chunk costs beyond its iterations.
//
// It is wrong where an execution predicts nothing about the next one. Then it is weighted factoring
// with stealing.
type cost struct {
	loop
	model // of the learner, while it learns beside running executions
	ledger
	did  []costLog
	deaf bool // reports are dropped: a lesson is already running
	costClaims
}

// model is COST's model of a loop.
type model struct {
	profile *profile // expected costs; nil before the first execution
	was     *profile // what was expected before
	last    *profile // what the last execution cost
	chance  float64  // unpredicted variance of an iteration, in squares of its expected cost
	weights []float64
	trends  []trend // of weights
	claimed float64 // seconds that claiming took, as measured; 0: unknown
	fixed   fixedCost
	heard   []costLog // of the execution that is learned from
	plan    costPlan  // that came of it
	old     []*profile
	spare   []*profile // memory of unused profiles
	table   []int      // and of cuts
}

// costLog records what one worker did in this execution; only that worker writes it.
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

// piecesPerShare is the number of pieces of a worker's share if claims are free: a claimed piece
// cannot be stolen, so a wrong prediction costs about one part in this many. Shares with fewer
// iterations have singles pieces of one iteration each, because there a piece of several is long.
const (
	piecesPerShare = 8
	singles        = 64
)

func newCost(p Params) (Calculator, error) {
	c := &cost{loop: loop{p}, did: make([]costLog, p.P)}
	c.model = model{weights: slices.Clone(p.Weights), trends: make([]trend, p.P), heard: make([]costLog, p.P)}
	c.costPlan, c.rest = evenly(p), make([]costRest, p.P)
	c.own = &blocks{own: make([]ownBlock, p.P), amount: c.half, choices: victimChoices}
	if len(p.Profile) > 0 {
		c.last = newProfile(p.N, p.Profile)
		c.expect(c.last)
		c.costPlan = c.plan
	}
	c.begin()
	return c, nil
}

// expect sets p as the profile of the next execution, and plans how finely it is cut. With m pieces
// a share, chunks cost m times what each costs beyond its iterations, and what cannot be stolen is
// one part in m: the sum is least at a square root.
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

// without returns p with zero cost in some bins.
func (c *cost) without(p *profile, bins []int) *profile {
	cut := c.fresh(len(p.bins) - 1)
	copy(cut.bins, p.bins)
	for _, b := range bins {
		cut.bins[b].cost = 0
	}
	cut.sum()
	return cut
}

// dearest returns the bins that cost more than a small part of a worker's even share, the most
// expensive first, and in their order. They run first (Graham's longest processing time first),
// because what begins late ends late whatever is stolen. Each needs a chunk and a claim from a
// shared counter, so a bin must cost many of these to qualify.
func (c *cost) dearest(p *profile, even, each float64) (order, bins []int) {
	many := len(p.bins)-1 > few*c.Processors
	// not before it is known what chunks cost
	if c.MinChunk > 1 || many && c.fixed.precision == 0 && c.claimed > 0 {
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

// The part of an even share by which the last chunk may be late on a slow worker: an iteration, or
// a bin of several, which takes as long only if one iteration has all its cost.
const (
	dearIteration = 32
	dearBins      = 8
	// least multiple of the mean cost: alike iterations would each be a chunk, and others
	// balance the end
	uncommon = 3
	few      = 16 // except with at most this many bins a worker
)

// worth is the least cost of the smallest piece, in multiples of its fixed cost: dividing a smaller
// one costs as much as it may save.
const worth = 4

// finest is the most pieces of the smallest size in a worker's share: ending late by one of these
// is not worth a chunk.
const finest = 256

// dear is the number of claims that a worker's share must be worth for repeated halving to pay.
// Below it each worker gets its part at once, and the rest is stealing.
const dear = 16

// crowd times the workers is the number of claims in a worker's share below which workers would
// wait for each other at a counter.
const crowd = 8

// Report stores a piece.
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

// Profile returns what COST has learned: the expected time of each of equally many iterations, in
// order, at speed 1. It is nil before the first Restart that learns. Another loop of the same
// operator can begin with it (Params.Profile).
func (c *cost) Profile() []float64 {
	if c.profile == nil {
		return nil
	}
	return c.profile.costs()
}
