package spectrum

// This file takes a matrix to bidiagonal or triangular form by reflectors, some columns at a time
// (J. Dongarra, S. Hammarling, D. Sorensen, as in tridiagonal.go).
//
// With y = t(a) v the matrix H a is a - v t(y), and with x = a u the matrix a H is a - x t(u).
// Within a panel that is not done: a column, a row and a product with a vector are a's with the
// pairs (v, y) and (x, u) before. a is kept twice, by rows and by columns, so that both products
// are sums of rows.

// bidiagonal is the reduction of a, m x n with m >= n and elements of size 1 at most, at being its
// transpose.
type bidiagonal struct {
	m           *Machine
	rows, n     int
	a, at       []float64
	d, e        []float64   // the diagonal, and what stands right of it
	left, right *reflectors // right is nil where the form is triangular
	r           []float64   // the triangle, n x n, where it is
	then        func()
	first       int       // first column of the panel
	vx, xv      []float64 // rows x 2*panel: row r is v[0][r], x[0][r], v[1][r], ...; and its transpose
	yu, uy      []float64 // n x 2*panel: y[0][c], u[0][c], ...; and its transpose
	v, y        []float64 // of the column
	u, x        []float64 // of the row
	coefs       [2 * panel]float64
}

// bidiagonal begins the reduction of a to bidiagonal form.
func (m *Machine) bidiagonal(rows, n int, a, at []float64, then func(b *bidiagonal)) {
	b := m.newBidiagonal(rows, n, false, then)
	b.a, b.at = a, at
	b.begin()
}

// newBidiagonal is a reduction without its matrix; triangle: to triangular form.
func (m *Machine) newBidiagonal(rows, n int, triangle bool, then func(b *bidiagonal)) *bidiagonal {
	b := &bidiagonal{m: m, rows: rows, n: n, d: make([]float64, n), e: make([]float64, n), left: newReflectors(rows, n, 0),
		vx: make([]float64, rows*2*panel), xv: make([]float64, rows*2*panel), yu: make([]float64, n*2*panel), uy: make([]float64, n*2*panel),
		v: make([]float64, rows), x: make([]float64, rows), y: make([]float64, n), u: make([]float64, n)}
	if triangle {
		b.r = make([]float64, n*n)
	} else {
		b.right = newReflectors(n, max(n-1, 0), 1)
	}
	b.then = func() { then(b) }
	return b
}

// begin begins with the matrix that is there. What an earlier one has left behind is not read.
func (b *bidiagonal) begin() {
	b.first = 0
	b.column(0)
}

// less makes c the sum of c and the first k rows of pairs, each times -by.
func (b *bidiagonal) less(c, by, pairs []float64, ld, k int) {
	for i, x := range by[:k] {
		b.coefs[i] = -x
	}
	b.m.combine(&b.m.workers[0], c, b.coefs[:], pairs, ld, len(c), k)
}

// product makes c the sum of rows of a matrix, each times an element of by, and goes on with then.
func (b *bidiagonal) product(c, by, rows []float64, ld int, then func()) {
	clear(c)
	b.m.passOf(len(c)*len(by), (len(c)+slice-1)/slice, func(w *worker, s int) {
		from, to := s*slice, min((s+1)*slice, len(c))
		b.m.combine(w, c[from:to], by, rows[from:], ld, to-from, len(by))
	}, then)
}

// store makes v number k of the pairs, of which the first element is that of row at.
func store(v, pairs, turned []float64, ld, at, k int) {
	copy(turned[k*ld+at:], v)
	for i, x := range v {
		pairs[(at+i)*2*panel+k] = x
	}
}

// column makes the left reflector of column j and asks for its product with a.
func (b *bidiagonal) column(j int) {
	k := 2 * (j - b.first)
	if k == 2*panel {
		b.update(j)
		return
	}
	v := b.v[:b.rows-j]
	copy(v, b.at[j*b.rows+j:])
	b.less(v, b.yu[j*2*panel:], b.xv[j:], b.rows, k)
	b.d[j] = reflect(v)
	b.left.set(j, v)
	if b.r != nil {
		b.r[j*b.n+j] = b.d[j]
	}
	if j == b.n-1 {
		b.then()
		return
	}
	y := b.y[:b.n-j-1]
	b.product(y, v, b.a[j*b.n+j+1:], b.n, func() {
		var g [2 * panel]float64
		b.m.combine(&b.m.workers[0], g[:k], v, b.vx[j*2*panel:], 2*panel, k, len(v))
		b.less(y, g[:], b.uy[j+1:], b.n, k)
		store(v, b.vx, b.xv, b.rows, j, k)
		store(y, b.yu, b.uy, b.n, j+1, k)
		b.row(j)
	})
}

// row makes the right reflector of row j and asks for its product with a; or it stores the row of
// the triangle.
func (b *bidiagonal) row(j int) {
	k := 2*(j-b.first) + 1
	u := b.u[:b.n-j-1]
	copy(u, b.a[j*b.n+j+1:])
	b.less(u, b.vx[j*2*panel:], b.uy[j+1:], b.n, k)
	if b.r != nil {
		copy(b.r[j*b.n+j+1:], u)
		b.column(j + 1)
		return
	}
	b.e[j] = reflect(u)
	b.right.set(j, u)
	x := b.x[:b.rows-j-1]
	b.product(x, u, b.at[(j+1)*b.rows+j+1:], b.rows, func() {
		var h [2 * panel]float64
		b.m.combine(&b.m.workers[0], h[:k], u, b.yu[(j+1)*2*panel:], 2*panel, k, len(u))
		b.less(x, h[:], b.xv[j+1:], b.rows, k)
		store(x, b.vx, b.xv, b.rows, j+1, k)
		store(u, b.yu, b.uy, b.n, j+1, k)
		b.column(j + 1)
	})
}

// update brings rows and columns from j on up to date and begins a panel there.
func (b *bidiagonal) update(j int) {
	high, wide, k := b.rows-j, b.n-j, 2*panel
	strips := (high + strip - 1) / strip
	b.m.passOf(2*high*wide*k, strips+(wide+strip-1)/strip, func(w *worker, s int) {
		if s < strips {
			r := j + s*strip
			b.m.set.F64.Gemm(&w.ws, false, true, min(strip, b.rows-r), wide, k, b.vx[r*2*panel:], 2*panel, b.uy[j:], b.n, b.a[r*b.n+j:], b.n)
			return
		}
		c := j + (s-strips)*strip
		b.m.set.F64.Gemm(&w.ws, false, true, min(strip, b.n-c), high, k, b.yu[c*2*panel:], 2*panel, b.xv[j:], b.rows, b.at[c*b.rows+j:], b.rows)
	}, func() {
		b.first = j
		b.column(j)
	})
}
