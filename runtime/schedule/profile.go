package schedule

import "slices"

// This file defines profile, COST's expectation of a loop: the cumulative cost of the iterations.

// profile is a piecewise constant cost over the iterations, with prefix sums.
type profile struct {
	n    int
	bins []bin   // and one of no cost behind them
	per  float64 // iterations a bin
	rate float64 // bins an iteration
}

// bin is a range of iterations. A look-up needs one cache line.
type bin struct{ before, cost float64 } // the sum of all before it, its own

func newProfile(n int, cost []float64) *profile {
	p := emptyProfile(n, len(cost))
	for i, c := range cost {
		p.bins[i].cost = c
	}
	p.sum()
	return p
}

// emptyProfile returns a profile in which nothing has a cost.
func emptyProfile(n, bins int) *profile {
	return &profile{n: n, bins: make([]bin, bins+1), per: float64(n) / float64(bins), rate: float64(bins) / float64(n)}
}

// sum recomputes the prefix sums after costs have changed.
func (p *profile) sum() {
	before := 0.0
	for i := range p.bins {
		p.bins[i].before = before
		before += p.bins[i].cost
	}
}

// iterations is a range of iterations.
type iterations struct{ start, past int }

// ranges returns the iterations that begin in each of some bins.
func (p *profile) ranges(bins []int) []iterations {
	var list []iterations
	for _, b := range bins {
		for i := range p.begin(b+1) - p.begin(b) {
			list = append(list, iterations{p.begin(b) + i, p.begin(b) + i + 1})
		}
	}
	return list
}

// begin returns the first iteration that begins in a bin.
func (p *profile) begin(b int) int { return ceilDiv(b*p.n, len(p.bins)-1) }

// apart reports whether one iteration may have all of a bin's cost: it has few iterations, or costs
// twice as much as its neighbours.
func (p *profile) apart(b int) bool {
	if p.per <= fewIterations {
		return true
	}
	c := p.bins[b].cost
	return (b == 0 || c > 2*p.bins[b-1].cost) && (b == len(p.bins)-2 || c > 2*p.bins[b+1].cost)
}

// fewIterations is the most iterations of a bin whose cost may be that of one.
const fewIterations = 4

// costs returns a copy of the bins' costs.
func (p *profile) costs() []float64 {
	list := make([]float64, len(p.bins)-1)
	for i := range list {
		list[i] = p.bins[i].cost
	}
	return list
}

func (p *profile) total() float64 { return p.bins[len(p.bins)-1].before }

// between returns the cost of the iterations from start to before past.
func (p *profile) between(start, past int) float64 { return p.until(past) - p.until(start) }

// until returns the cost of the first i iterations.
func (p *profile) until(i int) float64 { return p.at(float64(i)) }

func (p *profile) at(x float64) float64 {
	if p.n == 0 {
		return 0
	}
	x *= p.rate
	b := min(int(x), len(p.bins)-1)
	return p.bins[b].before + (x-float64(b))*p.bins[b].cost
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
