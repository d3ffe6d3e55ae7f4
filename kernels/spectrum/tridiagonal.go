package spectrum

// This file takes a symmetric matrix to tridiagonal form by reflectors, some columns at a time (J.
// Dongarra, S. Hammarling, D. Sorensen, Block reduction of matrices to condensed forms for
// eigenvalue computations, J. Comput. Appl. Math. 27, 1989).
//
// With w = a v - (t(v) a v / 2) v, H a H is a - v t(w) - w t(v). Within a panel of columns that is
// not done: column j of what a should be is a's with the pairs v, w of the columns before it, and
// so is the product a v, which reads all of a and is the pass. After a panel a is brought up to
// date by gemm. a is kept as a full matrix, so that a v is a sum of rows; its two halves may differ
// in last bits.

import (
	"math"
	"slices"
)

// panel is how many columns wait to be brought into the matrix.
const panel = 32

// tridiagonal is the reduction of a, n x n with elements of size 1 at most.
type tridiagonal struct {
	m    *Machine
	n    int
	a    []float64
	d, e []float64 // the diagonal, and what stands beside it
	q    *reflectors
	then func()

	first int       // first column of the panel
	vw    []float64 // n x 2*panel: row r is v[0][r], w[0][r], v[1][r], w[1][r], ...
	wv    []float64 // 2*panel x n: rows w[0], v[0], w[1], v[1], ...
	v, y  []float64 // of the column; from the row below the diagonal on
	coefs []float64 // 2*panel
}

func (m *Machine) tridiagonal(n int, a []float64, then func(t *tridiagonal)) {
	t := &tridiagonal{m: m, n: n, a: a, d: m.floats(n), e: m.floats(max(n-1, 0)), q: m.reflectors(n, max(n-1, 0), 1),
		vw: m.floats(n * 2 * panel), wv: m.floats(2 * panel * n), v: m.floats(n), y: m.floats(n), coefs: m.floats(2 * panel)}
	t.then = func() { then(t) }
	t.column(0)
}

// column makes the reflector of column j and asks for its product with a.
func (t *tridiagonal) column(j int) {
	i, w := j-t.first, &t.m.workers[0]
	if j == t.n-1 || i == panel {
		t.update(j)
		return
	}
	row := t.a[j*t.n+j : (j+1)*t.n]
	t.negated(t.vw[j*2*panel:], i)
	t.m.combine(w, row, t.coefs, t.wv[j:], t.n, t.n-j, 2*i)
	t.d[j] = row[0]
	x := t.v[:t.n-j-1]
	copy(x, row[1:])
	t.e[j] = reflect(x)
	t.q.set(j, x)
	y := t.y[:len(x)]
	clear(y)
	rows := t.a[(j+1)*t.n+j+1:]
	t.m.passOf(len(x)*len(x), (len(x)+slice-1)/slice, func(w *worker, s int) {
		from, to := s*slice, min((s+1)*slice, len(x))
		t.m.combine(w, y[from:to], x, rows[from:], t.n, to-from, len(x))
	}, func() { t.pair(j) })
}

// negated makes coefs the negative of the first i pairs of x.
func (t *tridiagonal) negated(x []float64, i int) {
	for k, v := range x[:2*i] {
		t.coefs[k] = -v
	}
}

// pair makes w of column j.
func (t *tridiagonal) pair(j int) {
	i, at, worker := j-t.first, j+1, &t.m.workers[0]
	v, w := t.v[:t.n-at], t.y[:t.n-at]
	var g [2 * panel]float64
	t.m.combine(worker, g[:2*i], v, t.vw[at*2*panel:], 2*panel, 2*i, len(v))
	t.negated(g[:], i)
	t.m.combine(worker, w, t.coefs, t.wv[at:], t.n, len(w), 2*i)
	addScaled(w, -0.5*dot(w, v), v)
	copy(t.wv[2*i*t.n+at:], w)
	copy(t.wv[(2*i+1)*t.n+at:], v)
	for r := range v {
		pairs := t.vw[(at+r)*2*panel+2*i:]
		pairs[0], pairs[1] = v[r], w[r]
	}
	t.column(j + 1)
}

// strip is how many rows of a matrix are an item of a pass of gemm.
const strip = 48

// update brings rows and columns from j on up to date and begins a panel there, or ends.
func (t *tridiagonal) update(j int) {
	k, rest := 2*(j-t.first), t.n-j
	t.m.passOf(rest*rest*k, (rest+strip-1)/strip, func(w *worker, s int) {
		r := j + s*strip
		t.m.set.F64.Gemm(&w.ws, false, true, min(strip, t.n-r), rest, k, t.vw[r*2*panel:], 2*panel, t.wv[j:], t.n, t.a[r*t.n+j:], t.n)
	}, func() {
		t.first = j
		if j == t.n-1 {
			t.d[j] = t.a[j*t.n+j]
			t.then()
			return
		}
		t.column(j)
	})
}

// QL iterations run with vectors for small parts, without for all of a matrix.

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
