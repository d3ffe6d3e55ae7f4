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

// iterations is a range of them.
type iterations struct{ start, past int }

// ranges is the iterations that begin in each of some bins.
func (p *profile) ranges(bins []int) []iterations {
	var list []iterations
	for _, b := range bins {
		r := iterations{p.begin(b), p.begin(b + 1)}
		if r.start < r.past {
			list = append(list, r)
		}
	}
	return list
}

// begin is the first iteration that begins in a bin.
func (p *profile) begin(b int) int { return ceilDiv(b*p.n, len(p.bins)-1) }

// costs are the bins' costs, to keep.
func (p *profile) costs() []float64 {
	list := make([]float64, len(p.bins)-1)
	for i := range list {
		list[i] = p.bins[i].cost
	}
	return list
}

func (p *profile) total() float64 { return p.bins[len(p.bins)-1].before }

// nearer is p with differences between iterations that are only so large a part of its own.
func (p *profile) nearer(part float64) *profile {
	if part == 1 {
		return p
	}
	costs := p.costs()
	mean := p.total() / float64(len(costs))
	for b := range costs {
		costs[b] = mean + part*(costs[b]-mean)
	}
	return newProfile(p.n, costs)
}

// between is the cost of the iterations from start to before past.
func (p *profile) between(start, past int) float64 { return p.until(past) - p.until(start) }

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
