package schedule

import "sort"

// This file defines profile, what COST expects of a loop: how much the iterations before one cost, and how many cost so much.

// profile is a piecewise constant cost over the iterations, with prefix sums.
type profile struct {
	n    int
	bins []bin   // and one of no cost behind them
	per  float64 // iterations a bin
	rate float64 // bins an iteration

	// near[k] is the answer to a search for k parts of the total in len(near)-2: a search begins at the right place, which on most costs is within
	// a bin or two of its end. Where a part of the total lies in many bins that cost next to nothing, the two places are bisected.
	near  []int32
	parts float64 // parts a unit of cost
}

// bin is so many iterations. What a look-up needs of it lies in one cache line.
type bin struct{ before, cost float64 } // the sum of all before it, its own

func newProfile(n int, cost []float64) *profile {
	p := &profile{n: n, bins: make([]bin, len(cost)+1), per: float64(n) / float64(len(cost)), rate: float64(len(cost)) / float64(n)}
	for i, c := range cost {
		p.bins[i].cost = c
		p.bins[i+1].before = p.bins[i].before + c
	}
	p.near = make([]int32, len(cost)+2)
	p.parts = float64(len(cost)) / p.total()
	b := 0
	for k := range p.near {
		for b < len(cost) && p.bins[b].before*p.parts < float64(k) {
			b++
		}
		p.near[k] = int32(b)
	}
	return p
}

// costs are the bins' costs, to keep.
func (p *profile) costs() []float64 {
	list := make([]float64, len(p.bins)-1)
	for i := range list {
		list[i] = p.bins[i].cost
	}
	return list
}

func (p *profile) total() float64 { return p.bins[len(p.bins)-1].before }

// until is the cost of the first i iterations.
func (p *profile) until(i int) float64 { return p.at(float64(i)) }

func (p *profile) at(x float64) float64 {
	if p.n == 0 {
		return 0
	}
	x *= p.rate
	b := min(int(x), len(p.bins)-1)
	return p.bins[b].before + (x-float64(b))*p.bins[b].cost
}

// find is the number of iterations that cost c, to the nearest one, at most n.
func (p *profile) find(c float64) int {
	i := p.search(c)
	if i == 0 {
		return 0
	}
	if i == len(p.bins) {
		return p.n
	}
	b := &p.bins[i-1]
	return min(int((float64(i-1)+(c-b.before)/b.cost)*p.per+0.5), p.n)
}

// search is the first bin before which lies at least c; len(bins) if there is none.
func (p *profile) search(c float64) int {
	k := c * p.parts
	if !(k >= 0 && k < float64(len(p.bins)-1)) { // also where the total is 0 or infinite
		return sort.Search(len(p.bins), func(i int) bool { return p.bins[i].before >= c })
	}
	lo, hi := int(p.near[int(k)]), int(p.near[int(k)+1])
	for hi < len(p.bins) && p.bins[hi].before < c { // rounding: one step, if any
		hi++
	}
	for lo > 0 && p.bins[lo-1].before >= c {
		lo--
	}
	for hi-lo > 4 {
		if mid := int(uint(lo+hi) >> 1); p.bins[mid].before < c {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for lo < hi && p.bins[lo].before < c {
		lo++
	}
	return lo
}
