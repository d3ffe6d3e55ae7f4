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
	coefs [2 * panel]float64
}

func (m *Machine) tridiagonal(n int, a []float64, then func(t *tridiagonal)) {
	t := &tridiagonal{m: m, n: n, a: a, d: make([]float64, n), e: make([]float64, max(n-1, 0)), q: newReflectors(n, max(n-1, 0), 1),
		vw: make([]float64, n*2*panel), wv: make([]float64, 2*panel*n), v: make([]float64, n), y: make([]float64, n)}
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
	t.m.combine(w, row, t.coefs[:], t.wv[j:], t.n, t.n-j, 2*i)
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
	t.m.combine(worker, w, t.coefs[:], t.wv[at:], t.n, len(w), 2*i)
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
