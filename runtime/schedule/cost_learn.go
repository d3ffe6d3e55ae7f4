package schedule

import (
	"math"
	"slices"
)

// This file defines what COST learns from an execution: costs, speeds, and how reliable both are.

// learn makes a plan from the reported execution, with this many bins: first the speeds, then the
// costs at speed 1. It returns false if there is nothing to learn from.
func (c *cost) learn(bins int) bool {
	done := 0
	for i := range c.heard {
		done += c.heard[i].n
	}
	if !c.learnSpeeds() {
		return false
	}
	c.learnClaims()
	c.learnFixed()
	part, chance := c.trust()
	last := c.learnCosts(bins, done >= c.N)
	c.old = append(c.old, c.last)
	if c.profile != c.last {
		c.old = append(c.old, c.profile)
	}
	c.last, c.chance = last, chance
	c.expect(c.nearer(last, part))
	return true
}

// learnCosts returns the costs of the last execution in this many bins. complete: all of it was
// reported.
func (c *cost) learnCosts(bins int, complete bool) *profile {
	next := c.fresh(bins)
	clear(next.bins)
	var covered []float64
	if !complete {
		covered = make([]float64, bins)
	}
	for i := range c.heard {
		for _, r := range c.heard[i].chunks {
			c.spread(r, c.fixed.less(r.t)*c.weights[i], next.bins[:bins], covered)
		}
	}
	if !complete {
		average(next.bins[:bins], covered)
	}
	next.sum()
	return next
}

// average sets unreported bins to the average.
func average(bins []bin, covered []float64) {
	cost, seen := 0.0, 0.0
	for b := range bins {
		cost += bins[b].cost
		seen += covered[b]
	}
	for b := range bins {
		if missing := 1 - covered[b]; missing > 1e-9 {
			bins[b].cost += missing * cost / seen
		}
	}
}

// nearer returns p with the differences between iterations scaled by part.
func (c *cost) nearer(p *profile, part float64) *profile {
	if part == 1 {
		return p
	}
	q := c.fresh(len(p.bins) - 1)
	mean := p.total() / float64(len(p.bins)-1)
	for b := range len(p.bins) - 1 {
		q.bins[b].cost = mean + part*(p.bins[b].cost-mean)
	}
	q.sum()
	return q
}

// fresh returns a profile of the loop with undefined costs, in reused memory if possible.
func (c *cost) fresh(bins int) *profile {
	for i, p := range c.spare {
		if len(p.bins) == bins+1 {
			c.spare = slices.Delete(c.spare, i, i+1)
			return p
		}
	}
	c.spare = nil
	return emptyProfile(c.N, bins)
}

// room returns a slice of that length, in the memory of s if it is large enough.
func room(s []int, n int) []int {
	if cap(s) < n {
		return make([]int, n)
	}
	return s[:n]
}

// trust returns which part of the differences between iterations in the execution before the last
// recurred in the last: the slope of pieces' costs over their earlier costs, both relative to the
// average. It is the best linear predictor under randomness: 0 if costs are redrawn, near 1 if they
// stay. It is 1 if nothing is known.
func (c *cost) trust() (part, chance float64) {
	if c.last == nil {
		return 1, 0
	}
	before, now := 0.0, 0.0
	for i := range c.heard {
		for _, r := range c.heard[i].chunks {
			before += c.last.between(r.start, r.start+r.n)
			now += c.fixed.less(r.t) * c.weights[i]
		}
	}
	if !(before > 0 && now > 0) {
		return 1, 0
	}
	mean, scale := c.last.total()/float64(c.N), before/now
	var xx, xy, all float64
	for i := range c.heard {
		for _, r := range c.heard[i].chunks {
			even := float64(r.n) * mean
			x, y := c.last.between(r.start, r.start+r.n)-even, c.fixed.less(r.t)*c.weights[i]*scale-even
			xx += x * x
			xy += x * y
			all += even * even
		}
	}
	part = 1
	if xx > alike*alike*all {
		part = min(max(xy/xx, 0), 1)
	}
	var off []float64 // unpredicted part of each piece: variances of an iteration
	for i := range c.heard {
		for _, r := range c.heard[i].chunks {
			even := float64(r.n) * mean
			expected := even + part*(c.last.between(r.start, r.start+r.n)-even)
			if d := c.fixed.less(r.t)*c.weights[i]*scale/expected - 1; expected > 0 {
				off = append(off, d*d*float64(r.n))
			}
		}
	}
	// The median over that of chi squared with one degree of freedom, since a piece whose
	// worker lost its processor says nothing about iterations.
	return part, median(off) / (normalQuartile * normalQuartile)
}

// alike is the relative deviation of pieces below which trust does not matter.
const alike = 0.01

// learnClaims returns the time of a claim without waiting for others: the median over workers of
// the shortest.
func (c *cost) learnClaims() {
	var shortest []float64
	for i := range c.heard {
		if t := c.heard[i].claiming; t > 0 {
			shortest = append(shortest, t)
		}
		c.heard[i].claiming = 0
	}
	if len(shortest) > 0 {
		c.claimed = median(shortest)
	}
}

// maxMove is the limit of a weight's change in one execution, as a logarithm: a factor of 4.
const maxMove = 1.3863

// trend is a worker's deviation from its weight in the last executions.
type trend struct{ mean, square float64 }

// add adds a deviation and returns its stable part: 1 if it is as before, near 0 if it varies.
// Threads that wait for a processor are slow now and then.
func (t *trend) add(off float64) float64 {
	if t.square == 0 {
		t.mean, t.square = off, off*off
	} else {
		t.mean, t.square = (t.mean+off)/2, (t.square+off*off)/2
	}
	return t.mean * t.mean / t.square
}

// misfit is the variance of a worker's ratio from which on a profile does not fit.
const misfit = 0.1

// learnSpeeds moves each weight towards predicted over measured time. It returns false if there is
// nothing to learn from. Without a profile the number of iterations is the prediction, which is
// fair because chunks were small and interleaved.
//
// A slow worker and costlier iterations look alike, except that a slow worker is slow everywhere.
// So a weight moves less the more the ratio varies between the worker's places: by d^2/(d^2 + 4e^2)
// of the way d (in logarithms), where e is the standard error of the ratio over places, the
// worker's own or the mean of all, and consecutive pieces are one place. Without that, moving costs
// leave weights wrong by factors. If the ratios of all workers are that uncertain the profile does
// not fit: then the costs are learned, and the speeds from the next execution.
func (c *cost) learnSpeeds() bool {
	ratio, unsure := make([]float64, c.P), make([]float64, c.P)
	known, sum, pooled, workers := 0.0, 0.0, 0.0, 0.0
	for i := range c.heard {
		if ratio[i], unsure[i] = c.speed(c.heard[i].chunks); ratio[i] > 0 {
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
				move := d * d * d / (d*d + 4*max(unsure[i], pooled/workers)) * c.trends[i].add(d)
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

// speed returns predicted over measured time of a worker's pieces, 0 without any, and the square of
// its relative standard error. Pieces that took far longer than the others relative to the
// prediction lost their processor and do not count.
func (c *cost) speed(chunks []costRecord) (ratio, variance float64) {
	predicted, measured, most := 0.0, 0.0, math.Inf(1)
	if c.profile != nil {
		most = disturbed * c.slowness(chunks)
	}
	for _, r := range chunks {
		if p := c.predicted(r); r.t <= most*p {
			predicted += p
			measured += r.t
		}
	}
	if !(predicted > 0 && measured > 0) {
		return 0, 0
	}
	ratio = predicted / measured
	places, off, squares, end := 0.0, 0.0, 0.0, -1
	for _, r := range chunks {
		p := c.predicted(r)
		if r.t > most*p {
			continue
		}
		if r.start != end {
			squares += float64(off * off)
			places, off = places+1, 0
		}
		off += p - float64(ratio*r.t)
		end = r.start + r.n
	}
	squares += float64(off * off)
	if places < 2 {
		return ratio, 1
	}
	return ratio, squares / (predicted * predicted) * places / (places - 1)
}

// disturbed is how many times the median a piece must take to be dropped.
const disturbed = 2

// slowness returns the median of measured over predicted time of pieces.
func (c *cost) slowness(chunks []costRecord) float64 {
	var list []float64
	for _, r := range chunks {
		if p := c.predicted(r); p > 0 {
			list = append(list, r.t/p)
		}
	}
	if len(list) == 0 {
		return math.Inf(1)
	}
	return median(list)
}

// predicted returns the expected cost of a piece, or its iterations without a profile.
func (c *cost) predicted(r costRecord) float64 {
	if c.profile == nil {
		return float64(r.n)
	}
	return c.profile.between(r.start, r.start+r.n)
}

// spread adds the cost of a piece to its bins, and to covered, if not nil, the part of each bin
// that it covers. Within a piece, costs keep the proportions of the old profile, so that large
// pieces do not erase what small ones taught.
func (c *cost) spread(r costRecord, t float64, bins []bin, covered []float64) {
	m, n := float64(len(bins)), float64(c.N)
	from, to := float64(r.start)*m/n, float64(r.start+r.n)*m/n
	whole := c.predicted(r)
	known := whole > 0 && c.profile != nil
	var as []bin // costs in proportion to these, or, with known, to the old profile
	if known && len(c.profile.bins) == len(bins)+1 {
		as = c.profile.bins
	}
	if !known {
		whole = to - from
	}
	scale := t / whole
	for b := int(from); b < len(bins) && float64(b) < to; b++ {
		lo, hi := max(from, float64(b)), min(to, float64(b+1))
		if covered != nil {
			covered[b] += hi - lo
		}
		switch {
		case as != nil:
			bins[b].cost += scale * as[b].cost * (hi - lo)
		case known:
			bins[b].cost += scale * (c.profile.at(hi*n/m) - c.profile.at(lo*n/m))
		default:
			bins[b].cost += scale * (hi - lo)
		}
	}
}
