package spectrum

// This file defines QL iterations: with vectors for small parts, without for all of a matrix.

import (
	"math"
	"slices"
)

// implicitQL makes d the eigenvalues of the symmetric tridiagonal matrix of d and e, in no order,
// and the rows of z, ld apart and zeros before, its eigenvectors: QL with implicit shifts (A.
// Dubrulle, R. Martin, J. Wilkinson, The implicit QL algorithm, in the Handbook for Automatic
// Computation, 1971).
func implicitQL(d, e, z []float64, ld int) bool {
	n := len(d)
	e = append(e, 0)
	for i := range n {
		z[i*ld+i] = 1
	}
	for l := range n {
		for step := 0; ; step++ {
			m := l
			for ; m < n-1; m++ {
				if math.Abs(e[m]) <= 0x1p-53*(math.Abs(d[m])+math.Abs(d[m+1])) {
					break
				}
			}
			if m == l {
				break
			}
			if step == 60 {
				return false
			}
			g := (d[l+1] - d[l]) / (2 * e[l])
			g = d[m] - d[l] + e[l]/(g+math.Copysign(math.Hypot(g, 1), g))
			s, c, p := 1.0, 1.0, 0.0
			i := m - 1
			for ; i >= l; i-- {
				f, b := s*e[i], c*e[i]
				r := math.Hypot(f, g)
				e[i+1] = r
				if r == 0 {
					d[i+1] -= p
					e[m] = 0
					break
				}
				s, c = f/r, g/r
				g = d[i+1] - p
				r = float64((d[i]-g)*s) + 2*float64(c*b)
				p = s * r
				d[i+1] = g + p
				g = float64(c*r) - b
				x, y := z[i*ld:i*ld+n], z[(i+1)*ld:(i+1)*ld+n]
				for k, v := range x {
					x[k], y[k] = float64(c*v)-float64(s*y[k]), float64(s*v)+float64(c*y[k])
				}
			}
			if i >= l {
				continue
			}
			d[l] -= p
			e[l], e[m] = g, 0
		}
	}
	return true
}

// asZero is the size below which an element beside the diagonal counts as 0, where those of the
// matrix are of size 1. All that is neglected so is less than a rounding error, and its square is
// far from vanishing.
const asZero = 0x1p-69

// rationalQL makes d the eigenvalues of the symmetric tridiagonal matrix of d and e, in ascending
// order: QL without square roots (the variant of W. Kahan in B. Parlett, The Symmetric Eigenvalue
// Problem, 8.15). e is overwritten.
func rationalQL(d, e []float64) bool {
	n := len(d)
	for i, x := range e {
		e[i] = x * x
	}
	negligible := func(i int) bool {
		return e[i] <= asZero*asZero || e[i] <= 0x1p-106*math.Abs(d[i]*d[i+1])
	}
	// From part to part; each has its smaller end first, where QL finds values.
	for from := 0; from < n; {
		to := from + 1
		for to < n && !negligible(to-1) {
			to++
		}
		if math.Abs(d[to-1]) < math.Abs(d[from]) {
			slices.Reverse(d[from:to])
			slices.Reverse(e[from : to-1])
		}
		steps := 60 * (to - from)
		for l := from; l < to; {
			m := l
			for m < to-1 && !negligible(m) {
				m++
			}
			if m == l {
				l++
				continue
			}
			if steps--; steps < 0 {
				return false
			}
			qlStep(d, e, l, m)
		}
		from = to
	}
	slices.Sort(d)
	return true
}

// qlStep is one step on rows l..m.
func qlStep(d, e []float64, l, m int) {
	p := d[l]
	root := math.Sqrt(e[l])
	sigma := (d[l+1] - p) / (2 * root)
	sigma = p - root/(sigma+math.Copysign(math.Sqrt(float64(sigma*sigma)+1), sigma))
	c, s := 1.0, 0.0
	gamma := d[m] - sigma
	p = gamma * gamma
	for i := m - 1; i >= l; i-- {
		b := e[i]
		r := p + b
		if i != m-1 {
			e[i+1] = s * r
		}
		old := c
		c, s = p/r, b/r
		was, alpha := gamma, d[i]
		gamma = float64(c*(alpha-sigma)) - float64(s*was)
		d[i+1] = was + (alpha - gamma)
		if c != 0 {
			p = gamma * gamma / c
		} else {
			p = old * b
		}
	}
	e[l] = s * p
	d[l] = sigma + gamma
}
