package spectrum

// This file computes eigenvalues and eigenvectors of symmetric matrices.

import (
	"math"

	"flow/kernels/blas"
)

// Eigen is a symmetric eigenproblem.
type Eigen struct {
	*Machine
	// Values ascend. Row i of Vectors, n x n, is an eigenvector of value i, of length 1; nil unless
	// asked for.
	Values, Vectors []float64
}

// NewEigen begins the computation for a, n x n, n > 0, without gaps, finite, of which the lower
// triangle is read; a is overwritten. The computation fails if an iteration does not converge.
func NewEigen(set *blas.Set, workers, n int, a []float64, vectors bool) *Eigen {
	p := &Eigen{Machine: newMachine(set, workers)}
	m := p.Machine
	p.Values = m.floats(n)
	for i := range n {
		clear(a[i*n+i+1 : (i+1)*n])
	}
	power := scaleToOne(a)
	for i := range n {
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
	// The first pass is empty, so that whoever runs the machine begins the work.
	m.pass(0, nil, func() {
		m.tridiagonal(n, a, func(t *tridiagonal) {
			if !vectors {
				copy(p.Values, t.d)
				if !rationalQL(p.Values, t.e) {
					m.fail(ErrDiverged)
				}
				p.rescale(power)
				return
			}
			m.divide(t.d, t.e, func(q []float64, order []int) {
				p.Vectors = a // no longer needed
				for i, r := range order {
					p.Values[i] = t.d[r]
				}
				p.rescale(power)
				m.pass(len(t.q.blocks), func(w *worker, b int) { t.q.close(m, w, b) }, func() {
					m.pass((n+strip-1)/strip, func(w *worker, s int) {
						count := min(strip, n-s*strip)
						for i := range count {
							copy(p.Vectors[(s*strip+i)*n:][:n], q[order[s*strip+i]*n:])
						}
						t.q.apply(m, w, count, p.Vectors[s*strip*n:], n)
					}, func() {})
				})
			})
		})
	})
	return p
}

func (p *Eigen) rescale(power int) {
	for i, x := range p.Values {
		p.Values[i] = math.Ldexp(x, power)
	}
}

// scaleToOne divides a by the power of two that makes its greatest element 1/2 or more and less
// than 1, so that no square overflows, or vanishes while it counts.
func scaleToOne(a []float64) (power int) {
	most := greatest(a)
	if most == 0 {
		return 0
	}
	_, power = math.Frexp(most)
	half, rest := math.Ldexp(1, -power/2), math.Ldexp(1, power/2-power) // the whole of it may be no number
	for i, x := range a {
		a[i] = x * half * rest
	}
	return power
}

// leaf is the most rows of a part that is not divided.
const leaf = 24

// divide finds the eigenvectors of the symmetric tridiagonal matrix with diagonal d and e beside
// it, which are overwritten; d becomes the values. then gets the vectors, rows of q in the order of
// d, and the order in which values ascend.
func (m *Machine) divide(d, e []float64, then func(q []float64, order []int)) {
	n := len(d)
	c := &conquest{m: m, n: n, bases: []*basis{newBasis(n)}, d: d, delta: make([]float64, n*n), owner: make([]*join, n)}
	levels := [][]*join{}
	parts := [][2]int{{0, n}}
	for (n+len(parts)-1)/len(parts) > leaf {
		var joins []*join
		var halves [][2]int
		for _, p := range parts {
			mid := (p[0] + p[1]) / 2
			joins = append(joins, &join{lo: p[0], hi: p[1], cuts: []int{mid}, ends: []int{p[1]}})
			halves = append(halves, [2]int{p[0], mid}, [2]int{mid, p[1]})
			d[mid-1] -= math.Abs(e[mid-1])
			d[mid] -= math.Abs(e[mid-1])
		}
		levels, parts = append(levels, joins), halves
	}
	c.prepare = func(j *join) { c.border(j, e[j.cuts[0]-1]) }
	m.passOf(n*leaf*leaf*6, len(parts), func(_ *worker, i int) {
		lo, hi := parts[i][0], parts[i][1]
		if !implicitQL(d[lo:hi], append([]float64(nil), e[lo:max(hi-1, lo)]...), c.bases[0].q[lo*n+lo:], n) {
			c.failed.Store(true)
		}
	}, func() {
		if c.failed.Load() {
			m.fail(ErrDiverged)
			return
		}
		c.climb(levels, func() { then(c.bases[0].q, ascending(d, 0, n)) })
	})
}

// border finds z of the join of two tridiagonal parts, between which e stood, and deflates:
// LAPACK's criteria, that of a rotation being what it would leave beside the diagonal.
func (c *conquest) border(j *join, e float64) {
	n, q, mid := c.n, c.bases[0].q, j.cuts[0]
	z := make([]float64, j.hi-j.lo)
	for i := range z {
		x := q[(j.lo+i)*n+mid-1]
		if j.lo+i >= mid {
			x = math.Copysign(1, e) * q[(j.lo+i)*n+mid]
		}
		z[i] = x * math.Sqrt2 / 2 // of length 1
	}
	j.rho = 2 * math.Abs(e)
	tol := 8 * 0x1p-53 * max(greatest(c.d[j.lo:j.hi]), greatest(z))
	kind := func(r int) int {
		if r < mid {
			return upper
		}
		return lower
	}
	last, lastKind := -1, 0 // the last one that is no pole yet
	for _, r := range ascending(c.d, j.lo, j.hi) {
		zr, k := z[r-j.lo], kind(r)
		if j.rho*math.Abs(zr) <= tol {
			j.drop(r)
			continue
		}
		if last >= 0 {
			zl := z[last-j.lo]
			size := math.Hypot(zr, zl)
			cos, sin := zr/size, -zl/size
			if math.Abs((c.d[r]-c.d[last])*cos*sin) <= tol {
				z[r-j.lo], z[last-j.lo] = size, 0
				c.bases[0].rotate(n, j.lo, j.hi, last, r, cos, sin)
				x, y := c.d[last], c.d[r]
				c.d[last] = float64(x*cos*cos) + float64(y*sin*sin)
				c.d[r] = float64(x*sin*sin) + float64(y*cos*cos)
				j.drop(last)
				if lastKind != k {
					k = whole
				}
			} else {
				j.keep(c.d[last], zl, last, lastKind)
			}
		}
		last, lastKind = r, k
	}
	if last >= 0 {
		j.keep(c.d[last], z[last-j.lo], last, lastKind)
	}
}
