package fourier

// This file computes discrete Fourier transforms. Every product that is added to something is
// converted to float64, so that no compiler fuses it, and the bits are the same on every processor.

import (
	"math"
	"math/bits"
	"sync/atomic"

	"flow/kernels/vec"
)

// greatestFactor is the greatest prime factor of a length that the steps take, at a cost that grows
// with the factor; lengths with a greater one go by Bluestein's convolution.
const greatestFactor = 61

func conjugate(z complex128) complex128 { return complex(real(z), -imag(z)) }

// multiply is a b, with each product rounded before the sum: Go's own product may be fused, and
// treats infinities apart.
func multiply(a, b complex128) complex128 {
	return complex(float64(real(a)*real(b))-float64(imag(a)*imag(b)), float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

// factorsOf is n as a product of fours, then primes in ascending order; ok is false where one is
// above greatestFactor.
func factorsOf(n int) (factors []int, ok bool) {
	for n%4 == 0 {
		factors, n = append(factors, 4), n/4
	}
	for p := 2; n > 1; p++ {
		if p > greatestFactor {
			return nil, false
		}
		for n%p == 0 {
			factors, n = append(factors, p), n/p
		}
	}
	return factors, true
}

// A plan is what transforms of one length share.
type plan struct {
	n       int
	factors []int
	ok      bool         // factors are small
	w       []complex128 // roots, all or direct ones
	halves
}

// plans holds the plan of the last length between two powers of two, for lengths of at most
// longestMemo: five megabytes in all. To compute roots takes longer than a transform. It is safe for
// concurrent use.
var plans [24]atomic.Pointer[plan]

const (
	longestMemo  = 1 << 20 // the greatest length whose plan is reused
	longestTable = 1 << 14 // the greatest length with all roots, and whose rooms are reused
)

// memo returns where the plan of length n is kept, or nil.
func memo(n int) *atomic.Pointer[plan] {
	if n > longestMemo {
		return nil
	}
	return &plans[bits.Len(uint(n))]
}

// planOf returns the plan of length n, with all of its roots. Callers share it and must not change it.
func planOf(n int) *plan {
	at := memo(n)
	if at != nil {
		if p := at.Load(); p != nil && p.n == n && len(p.w) == n {
			return p
		}
	}
	p := newPlan(n)
	if p.ok {
		p.w = make([]complex128, n)
		p.direct(0, directRoots(n))
		for k := directRoots(n); k < n; k++ {
			p.w[k] = p.root(k)
		}
	}
	p.tables()
	if n <= longestTable {
		at.Store(p)
	}
	return p
}

// newPlan returns the plan of length n without roots and tables.
func newPlan(n int) *plan {
	p := &plan{n: n}
	if p.factors, p.ok = factorsOf(n); p.ok {
		p.halves = cut(n, p.factors)
	}
	return p
}

// sectors is the number of parts of the circle whose roots are equal but for signs and places. The
// angle is brought into the first of them in integers, so that the roots have the symmetries of the
// circle to the bit.
func sectors(n int) int {
	if n%4 == 0 {
		return 8
	}
	return 2
}

// sector returns the sector of root k, and its last root. A root between two sectors is in the one
// nearer to root 0.
func sector(k, n int) (s, last int) {
	all := sectors(n)
	if 2*k > n {
		below, _ := sector(n-k, n)
		s = all - 1 - below
		return s, ((s+1)*n - 1) / all
	}
	s = max(0, all*k-1) / n
	return s, (s + 1) * n / all
}

// directRoots is the number of roots of the first sector.
func directRoots(n int) int { return n/sectors(n) + 1 }

// direct computes roots lo..hi-1, which are among directRoots.
func (p *plan) direct(lo, hi int) {
	for k := lo; k < hi; k++ {
		p.w[k] = root(k, p.n)
	}
}

// mirror describes the roots of a sector: root k is the direct root at + by*k with changed signs, and
// then turned.
type mirror struct {
	at, by             int
	turn, negRe, negIm bool
}

func mirrorOf(sector, n int) mirror {
	switch s := sectors(n); {
	case sector == 0:
		return mirror{at: 0, by: 1}
	case 2*sector >= s: // the conjugate of root n - k
		m := mirrorOf(s-1-sector, n)
		m.at, m.by = m.at+m.by*n, -m.by
		if m.turn {
			m.negRe = !m.negRe
		} else {
			m.negIm = !m.negIm
		}
		return m
	case sector == 1:
		return mirror{at: n / 4, by: -1, turn: true, negRe: true, negIm: true}
	case sector == 2:
		return mirror{at: -n / 4, by: 1, turn: true, negRe: true}
	}
	return mirror{at: n / 2, by: -1, negRe: true}
}

// root returns root k from a direct one.
func (p *plan) root(k int) complex128 {
	s, _ := sector(k, p.n)
	m := mirrorOf(s, p.n)
	z := p.w[m.at+m.by*k]
	re, im := real(z), imag(z)
	if m.negRe {
		re = -re
	}
	if m.negIm {
		im = -im
	}
	if m.turn {
		re, im = im, re
	}
	return complex(re, im)
}

// root is exp(-2 pi i k / n), 0 <= k < n.
func root(k, n int) complex128 {
	up := false // below the real axis, as the sign says, unless k is beyond half of the circle
	if 2*k > n {
		k, up = n-k, true
	}
	left := 4*k > n
	half := 2 * k // of n: the angle in units of pi / n
	if left {
		half = n - half
	}
	c, s := math.Sqrt2/2, math.Sqrt2/2 // of pi / 4
	switch {
	case 4*half > n:
		a := math.Pi * float64(n-2*half) / (2 * float64(n))
		c, s = vec.Sin(a), vec.Cos(a)
	case 4*half < n:
		a := math.Pi * float64(half) / float64(n)
		c, s = vec.Cos(a), vec.Sin(a)
	}
	if left {
		c = -c
	}
	if !up {
		s = -s
	}
	return complex(c, s)
}

// stockham goes through the factors. Before each the array holds s transforms of length n that are
// interleaved; a step of factor p makes s p transforms of length n / p of them. x and y have the same
// length; of the two the first returned has the result.
func stockham(x, y []complex128, of *plan) (z, other []complex128) {
	n, s, w := len(x), 1, of.w
	for _, p := range of.factors {
		switch p {
		case 2:
			stepOf2(x, y, n/2, s, w)
		case 4:
			stepOf4(x, y, n/4, s, w)
		default:
			stepOf(p, x, y, n/p, s, w)
		}
		x, y, n, s = y, x, n/p, s*p
	}
	return x, y
}

func stepOf2(x, y []complex128, m, s int, w []complex128) {
	for j := range m {
		t := w[j*s]
		for q := range s {
			a, b := x[q+s*j], x[q+s*(j+m)]
			y[q+s*2*j] = a + b
			y[q+s*(2*j+1)] = multiply(a-b, t)
		}
	}
}

func stepOf4(x, y []complex128, m, s int, w []complex128) {
	for j := range m {
		t1, t2, t3 := w[j*s], w[2*j*s], w[3*j*s]
		for q := range s {
			a, b, c, d := x[q+s*j], x[q+s*(j+m)], x[q+s*(j+2*m)], x[q+s*(j+3*m)]
			even, odd, sum, diff := a+c, a-c, b+d, b-d
			turn := complex(imag(diff), -real(diff)) // -i diff
			y[q+s*4*j] = even + sum
			y[q+s*(4*j+1)] = multiply(odd+turn, t1)
			y[q+s*(4*j+2)] = multiply(even-sum, t2)
			y[q+s*(4*j+3)] = multiply(odd-turn, t3)
		}
	}
}

// stepOf is the step of any factor, by the sum of the transform of p numbers.
func stepOf(p int, x, y []complex128, m, s int, w []complex128) {
	a := make([]complex128, p)
	every := len(w) / p // w[k every] are the roots of p
	for j := range m {
		for q := range s {
			for r := range a {
				a[r] = x[q+s*(j+m*r)]
			}
			for k := range p {
				sum := a[0]
				for r, at := 1, k; r < p; r++ {
					sum += multiply(a[r], w[at*every])
					if at += k; at >= p {
						at -= p
					}
				}
				y[q+s*(p*j+k)] = multiply(sum, w[j*k*s])
			}
		}
	}
}

// convolved is the length of the convolution that a transform of length n is: see run.bluestein.
func convolved(n int) int { return 1 << bits.Len(uint(2*n-2)) }

// roomOf is the bytes of a transform of length n beside its operand, which is of f64, and its result.
func roomOf(n int) float64 {
	if n < 1 {
		return 0
	} else if _, ok := factorsOf(n); ok {
		return 18 * float64(n) // between the steps, and the direct roots
	}
	return 16 * (float64(n) + 3.2*float64(convolved(n)))
}
