package spectrum

// This file solves the secular equation: the eigenvalues of a diagonal matrix plus one of rank 1.

import "math"

// poles is the secular equation 1/rho + sum(z[i]^2 / (d[i] - x)) = 0 with d ascending, no two
// alike, no z[i] 0 and rho > 0. It has a root between any two neighbours of d, and one above all of
// them.
//
// Of the eigenvalues d and x are themselves; with squares they are squares of singular values d,
// whose differences are formed as products.
type poles struct {
	d, z    []float64
	rho     float64
	squares bool
}

// gap is d[i] - d[o] as the equation has it, with a small relative error.
func (p *poles) gap(i, o int) float64 {
	if p.squares {
		return (p.d[i] - p.d[o]) * (p.d[i] + p.d[o])
	}
	return p.d[i] - p.d[o]
}

// root finds root number j. It makes delta[i] = d[i] - x, each with a small relative error, and
// returns x as the pole nearest to it and the distance from there. ok is false if it was not found.
//
// Between d[j] and d[j+1] the terms below and above are each replaced by one with the pole next to
// x that has the same value and slope, and the root of that is the next x (R.-C. Li, Solving
// secular equations stably and efficiently, LAPACK Working Note 89, 1994: the middle way). The sign
// of the sum at every x narrows the interval in which the root lies, and what leaves it is replaced
// by bisection. x ends where the sum is below what rounding may make of it (M. Gu, S. Eisenstat, A
// divide-and-conquer algorithm for the symmetric tridiagonal eigenproblem, SIAM J. Matrix Anal.
// Appl. 16, 1995).
func (p *poles) root(j int, delta []float64) (origin int, mu float64, ok bool) {
	n := len(p.d)
	var lo, hi float64 // the root lies between
	last := j == n-1
	if last {
		sum := 0.0
		for _, z := range p.z {
			sum += float64(z * z)
		}
		origin, hi = j, p.rho*sum*(1+1e-14)
	} else {
		width := p.gap(j+1, j)
		for i := range delta {
			delta[i] = p.gap(i, j) - 0.5*width
		}
		if f := p.sum(j, delta); f.value >= 0 {
			origin, hi = j, 0.5*width
		} else {
			origin, lo = j+1, -0.5*width
		}
	}
	mu = lo + 0.5*(hi-lo)
	old := math.Inf(1)
	for step := range 100 {
		for i := range delta {
			delta[i] = p.gap(i, origin) - mu
		}
		f := p.sum(j, delta)
		if math.Abs(f.value) <= f.noise+0x1p-53*math.Abs(mu)*(f.below+f.above) {
			return origin, mu, true
		}
		if f.value < 0 {
			lo = mu
		} else {
			hi = mu
		}
		next := mu + p.middleWay(j, delta, f)
		slow := step%3 == 2 && math.Abs(f.value) > 0.1*old
		if step%3 == 2 {
			old = math.Abs(f.value)
		}
		if slow || !(next > lo && next < hi) {
			next = between(lo, hi)
		}
		if next == mu || next == lo || next == hi { // neighbours: no number lies between
			return origin, mu, true
		}
		mu = next
	}
	return origin, mu, false
}

// between is a number between lo and hi, which have one sign, one of them may be 0: their mean, or
// where they differ in size the mean of their exponents, about.
func between(lo, hi float64) float64 {
	small, large := lo, hi
	if math.Abs(small) > math.Abs(large) {
		small, large = large, small
	}
	switch {
	case small == 0:
		return large * 0x1p-10
	case large/small > 16:
		return math.Copysign(math.Sqrt(math.Abs(small))*math.Sqrt(math.Abs(large)), large)
	}
	return lo + 0.5*(hi-lo)
}

// secular is the left side of the equation at some x.
type secular struct {
	value        float64
	below, above float64 // slopes of the terms up to j, and of those after it
	noise        float64 // what rounding may be of value
}

// sum is the equation at x, given as delta; j says where it lies.
func (p *poles) sum(j int, delta []float64) secular {
	const eps = 0x1p-53
	below, above, noise := 0.0, 0.0, 0.0
	var f secular
	j = min(j, len(delta)-1)
	// From either end towards x, where terms are largest; each partial sum is rounded once.
	for i := 0; i <= j; i++ {
		t := p.z[i] / delta[i]
		below += float64(p.z[i] * t)
		f.below += float64(t * t)
		noise += math.Abs(below)
	}
	for i := len(delta) - 1; i > j; i-- {
		t := p.z[i] / delta[i]
		above += float64(p.z[i] * t)
		f.above += float64(t * t)
		noise += math.Abs(above)
	}
	rho := 1 / p.rho
	f.value = rho + above + below
	f.noise = eps * (8*(math.Abs(above)+math.Abs(below)) + noise + 2*rho)
	return f
}

// middleWay is the step from x to the next one.
func (p *poles) middleWay(j int, delta []float64, f secular) float64 {
	k := j
	if j == len(delta)-1 { // the interval above all poles: with the two last ones
		if j == 0 {
			return f.value * delta[0] / (f.value - float64(delta[0]*f.below)) // one pole: exact
		}
		k = j - 1
		// All terms count as those of d[j-1] but the last one.
		t := p.z[j] / delta[j]
		f.above = t * t
		f.below = max(0, f.below-f.above)
	}
	l, r := delta[k], delta[k+1]
	c := f.value - float64(l*f.below) - float64(r*f.above)
	a := float64((l+r)*f.value) - float64(l*r*(f.below+f.above))
	b := l * r * f.value
	root := math.Sqrt(math.Abs(float64(a*a) - 4*float64(b*c)))
	switch {
	case c == 0:
		return b / a
	case j > k: // the root is the larger one
		if a >= 0 {
			return (a + root) / (2 * c)
		}
		return 2 * b / (a - root)
	case a <= 0:
		return (a - root) / (2 * c)
	}
	return 2 * b / (a + root)
}
