package schedule

// This file defines profile, what COST expects of a loop: how much the iterations before one cost.

// profile is a piecewise constant cost over the iterations, with prefix sums.
type profile struct {
	n    int
	bins []bin   // and one of no cost behind them
	per  float64 // iterations a bin
	rate float64 // bins an iteration
}

// bin is so many iterations. What a look-up needs of it lies in one cache line.
type bin struct{ before, cost float64 } // the sum of all before it, its own

func newProfile(n int, cost []float64) *profile {
	p := &profile{n: n, bins: make([]bin, len(cost)+1), per: float64(n) / float64(len(cost)), rate: float64(len(cost)) / float64(n)}
	for i, c := range cost {
		p.bins[i].cost = c
		p.bins[i+1].before = p.bins[i].before + c
	}
	return p
}

// without is p where some bins cost nothing.
func (p *profile) without(bins []int) *profile {
	if len(bins) == 0 {
		return p
	}
	costs := p.costs()
	for _, b := range bins {
		costs[b] = 0
	}
	return newProfile(p.n, costs)
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
