package schedule

import "math"

// This file defines cuts, a loop in units of equal expected cost. COST counts in units, so a claim
// computes with integers: half of what is left is a shift, and the iterations of a range of units
// are two look-ups.

// cuts maps units to iterations: unit u begins at iteration at(u). An expensive iteration has many
// units and belongs to the last that begins at it; those before have no iterations. Conversely a
// unit may have many cheap iterations.
type cuts struct {
	units int // at(0) = 0, at(units) = n
	n     int
	each  int // without a table: iterations a unit
	by    *profile
	rate  float64 // units per unit of cost; 0: nothing has a cost
	// first iteration of each part of 2^cutBits units, interpolated linearly in between
	first []int
}

// cutBits is the resolution within a part, as a power of two: single iterations of loops of eight
// million. Its product with a number of iterations does not overflow.
const cutBits = 9

// dearBin is the cost, in parts, from which a bin unlike its neighbours is not cut: one unknown
// iteration is likely to have all its cost.
const dearBin = 4

// evenCuts returns units of equally many iterations.
func evenCuts(n, each int) cuts { return cuts{units: ceilDiv(n, each), n: n, each: each} }

// newCuts returns as many parts as the profile has bins. The interpolation error is below the cost
// of a part. The table is in memory, which has room for two numbers more than bins.
func newCuts(p *profile, memory []int) cuts {
	parts := len(p.bins) - 1
	t := cuts{units: parts << cutBits, n: p.n, by: p, first: memory}
	t.first[parts], t.first[parts+1] = p.n, p.n
	step := p.total() / float64(parts)
	if !(step > 0) || math.IsInf(step, 0) { // nothing is known to cost more than anything else
		for k := range parts {
			t.first[k] = int(float64(k) * p.per)
		}
		return t
	}
	t.rate = float64(t.units) / p.total()
	b, rate := 0, p.per/p.bins[0].cost // iterations a unit of cost in bin b
	for k := 1; k < parts; k++ {
		c := step * float64(k)
		if p.bins[b+1].before < c && b+1 < parts {
			for b++; p.bins[b+1].before < c && b+1 < parts; b++ {
			}
			rate = p.per / p.bins[b].cost
		}
		x := float64(b) * p.per
		switch in, cost := c-p.bins[b].before, p.bins[b].cost; {
		case cost <= dearBin*step || !p.apart(b):
			x += in * rate
		case in > cost/2:
			x += p.per
		}
		if !(x < float64(p.n)) { // rounding, at the end of the last bin with a cost
			x = float64(p.n)
		}
		t.first[k] = max(int(x+0.5), t.first[k-1])
	}
	return t
}

// at returns the iteration at which a unit begins, for 0 <= u <= units. It is monotone.
func (t *cuts) at(u int) int {
	if t.first == nil {
		return min(u*t.each, t.n)
	}
	k := u >> cutBits
	from := t.first[k]
	return from + ((t.first[k+1]-from)*(u&(1<<cutBits-1))+1<<(cutBits-1))>>cutBits
}

// snapped returns the unit at the beginning of the iteration where unit u begins, so that counting
// on from there leaves no units of a claimed iteration behind. It returns u if the table cannot
// tell.
func (t *cuts) snapped(u int) int {
	i := t.at(u)
	if t.rate == 0 || i >= t.n {
		return u
	}
	if v := min(int(t.by.until(i)*t.rate+0.5), t.units); t.at(v) == i {
		return v
	}
	return u
}
