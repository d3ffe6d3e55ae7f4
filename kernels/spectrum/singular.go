package spectrum

// This file computes singular values and vectors.

import (
	"cmp"
	"math"
	"slices"

	gonumblas "gonum.org/v1/gonum/blas"
	lapack "gonum.org/v1/gonum/lapack/gonum"

	"flow/kernels/blas"
)

// Singular is a singular value decomposition.
type Singular struct {
	*Machine
	// Values descend, k = min(m, n) of them. Row i of Left, k x m, and of Right, k x n, are the
	// vectors of value i, of length 1; nil unless asked for.
	Values, Left, Right []float64
}

// NewSingular begins the computation for a, m x n, both > 0, without gaps, finite; a is
// overwritten. The computation fails if an iteration does not converge.
func NewSingular(set *blas.Set, workers, m, n int, a []float64, vectors bool) *Singular {
	p := &Singular{Machine: newMachine(set, workers)}
	p.Values = p.floats(min(m, n))
	p.pass(0, nil, func() {
		if m >= n {
			p.decompose(m, n, a, nil, vectors, false)
			return
		}
		t := p.floats(len(a))
		transpose(t, m, a, n, m, n)
		p.decompose(n, m, t, nil, vectors, true)
	})
	return p
}

// NewFolded begins the computation of the singular values of a matrix of n columns. state(i) returns
// the state of block i of count, as Folder.Rows or Folder.States has written it. The values are
// those of NewSingular, bit for bit, and so are the vectors on the right. Those on the left are of
// the stacked triangles (see Unfold). The computation fails if the iteration does not converge.
func NewFolded(set *blas.Set, workers, count, n int, vectors bool, state func(i int) []float64) *Singular {
	p := &Singular{Machine: newMachine(set, workers)}
	p.Values = p.floats(n)
	p.pass(0, nil, func() {
		a, powers := unpacked(make([]float64, count*n*n), count, n, state)
		p.decompose(count*n, n, a, powers, vectors, false)
	})
	return p
}

// decompose goes on with a, high x wide, high >= wide. powers is as in level. turned: a is the
// transpose of the matrix.
func (p *Singular) decompose(high, wide int, a []float64, powers []int, vectors, turned bool) {
	machine := p.Machine
	newFolding(machine, wide, vectors).fold(high, a, powers, func(rows int, a []float64, power int, unfold unfolding) {
		at := machine.floats(rows * wide)
		transpose(at, rows, a, wide, rows, wide)
		machine.bidiagonal(rows, wide, a, at, func(b *bidiagonal) {
			rescale := func() {
				for i, x := range p.Values {
					p.Values[i] = math.Ldexp(x, power)
				}
			}
			if !vectors {
				copy(p.Values, b.d)
				if (lapack.Implementation{}).Dlasq1(wide, p.Values, b.e, machine.zeros(4*wide)) != 0 {
					machine.fail(ErrDiverged)
					return
				}
				rescale()
				return
			}
			machine.divideBidiagonal(b.d, b.e, func(c *conquest, order []int) {
				for i, r := range order {
					p.Values[i] = c.d[r]
				}
				rescale()
				machine.back(b, c, order, unfold, func(left, right []float64) {
					p.Left, p.Right = left, right
					if turned {
						p.Left, p.Right = right, left
					}
				})
			})
		})
	})
}

// back makes the vectors of a from those of its bidiagonal form.
func (m *Machine) back(b *bidiagonal, c *conquest, order []int, unfold unfolding, then func(left, right []float64)) {
	k, n := len(order), b.n
	left, right := make([]float64, k*b.rows), make([]float64, k*n)
	blocks := len(b.left.blocks)
	m.pass(blocks+len(b.right.blocks), func(w *worker, i int) {
		if i < blocks {
			b.left.close(m, w, i)
		} else {
			b.right.close(m, w, i-blocks)
		}
	}, func() {
		strips := (k + strip - 1) / strip
		m.pass(2*strips, func(w *worker, s int) {
			r, z, long, basis := b.left, left, b.rows, c.bases[1]
			if s >= strips {
				r, z, long, basis = b.right, right, n, c.bases[0]
				s -= strips
			}
			count := min(strip, k-s*strip)
			for i := s * strip; i < s*strip+count; i++ {
				copy(z[i*long:], basis.q[order[i]*n:][:n])
			}
			r.apply(m, w, count, z[s*strip*long:], long)
		}, func() {
			unfold(left, func(left []float64) { then(left, right) })
		})
	})
}

// divideBidiagonal finds the singular vectors of the upper bidiagonal matrix with diagonal d and e
// right of it. then gets the values by row, the right vectors as the first basis and the left ones
// as the second, and the order in which values descend.
//
// A part is rows lo..hi-1 with the columns that they have elements in: one more than rows, but for
// the last part. So it has one right vector more, of value 0, in the row behind the others. A row
// between two parts belongs to neither; it is what joins them.
func (m *Machine) divideBidiagonal(d, e []float64, then func(c *conquest, order []int)) {
	n := len(d)
	c := &conquest{m: m, n: n, bases: []*basis{newBasis(n), newBasis(n)}, d: make([]float64, n), delta: make([]float64, n*n), owner: make([]*join, n)}
	levels := [][]*join{}
	parts := [][2]int{{0, n}}
	for n/len(parts) > leaf {
		var joins []*join
		var halves [][2]int
		for _, p := range parts {
			mid := p[0] + (p[1]-p[0]-1)/2
			joins = append(joins, &join{lo: p[0], hi: p[1], cuts: []int{mid + 1, mid}, ends: []int{min(p[1]+1, n), p[1]}})
			halves = append(halves, [2]int{p[0], mid}, [2]int{mid + 1, p[1]})
		}
		levels, parts = append(levels, joins), halves
	}
	c.prepare = func(j *join) { c.borderRow(j, d[j.cuts[1]], e[j.cuts[1]]) }
	m.passOf(n*leaf*leaf*12, len(parts), func(_ *worker, i int) { c.part(d, e, parts[i][0], parts[i][1]) }, func() {
		if c.failed.Load() {
			m.fail(ErrDiverged)
			return
		}
		c.climb(levels, func() {
			order := ascending(c.d, 0, n)
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.d[b], c.d[a]) }) // equal ones as they come
			then(c, order)
		})
	})
}

// part decomposes rows lo..hi-1 by QR iteration, after rotations from the right have taken the
// column too many away.
func (c *conquest) part(d, e []float64, lo, hi int) {
	n, wide := hi-lo, min(hi+1, c.n)-lo
	if n == 0 {
		if wide > 0 {
			c.bases[0].q[lo*c.n+lo] = 1
		}
		return
	}
	v := c.bases[0].q[lo*c.n+lo:]
	for i := range wide {
		v[i*c.n+i] = 1
	}
	s, beside := append([]float64(nil), d[lo:hi]...), append([]float64(nil), e[lo:hi]...)
	if wide > n {
		bulge := beside[n-1]
		for i := n - 1; i >= 0; i-- {
			r := math.Hypot(s[i], bulge)
			if r == 0 {
				break
			}
			cos, sin := s[i]/r, bulge/r
			s[i] = r
			if i > 0 {
				bulge = -sin * beside[i-1]
				beside[i-1] *= cos
			}
			c.bases[0].rotate(c.n, lo, lo+wide, lo+i, lo+n, cos, sin)
		}
	}
	u := make([]float64, n*n)
	for i := range n {
		u[i*n+i] = 1
	}
	if !(lapack.Implementation{}).Dbdsqr(gonumblas.Upper, n, wide, n, 0, s, beside[:n-1], v, c.n, u, n, nil, 1, make([]float64, max(1, 4*n))) {
		c.failed.Store(true)
	}
	copy(c.d[lo:hi], s)
	transpose(c.bases[1].q[lo*c.n+lo:], c.n, u, n, n, n)
}

// borderRow finds z of the join of two bidiagonal parts, between which the row (alpha, beta)
// stands, and deflates.
func (c *conquest) borderRow(j *join, alpha, beta float64) {
	n, right, left, mid := c.n, c.bases[0], c.bases[1], j.cuts[1]
	left.q[mid*n+mid] = 1
	c.d[mid] = 0
	z := make([]float64, j.hi-j.lo)
	for r := j.lo; r < j.hi; r++ {
		if r <= mid {
			z[r-j.lo] = alpha * right.q[r*n+mid]
		} else {
			z[r-j.lo] = beta * right.q[r*n+mid+1]
		}
	}
	if j.ends[0] > j.hi { // of the two right vectors of value 0 one meets the row, the other one goes on
		x, y := z[mid-j.lo], beta*right.q[j.hi*n+mid+1]
		if size := math.Hypot(x, y); size > 0 {
			right.rotate(n, j.lo, j.ends[0], mid, j.hi, x/size, y/size)
			z[mid-j.lo] = size
		}
	}
	j.rho, j.squares = 1, true
	tol := 8 * 0x1p-52 * max(math.Abs(alpha), math.Abs(beta), greatest(c.d[j.lo:j.hi]))
	if tol == 0 {
		for r := j.lo; r < j.hi; r++ {
			j.drop(r)
		}
		return
	}
	first := z[mid-j.lo]
	if math.Abs(first) < tol {
		first = tol
	}
	j.keep(0, first, mid, whole)
	last, lastKind := -1, 0 // the last one that is no pole yet
	keep := func() {
		if last >= 0 {
			j.keep(max(c.d[last], tol/2), z[last-j.lo], last, lastKind)
		}
	}
	for _, r := range ascending(c.d, j.lo, j.hi) {
		zr, k := z[r-j.lo], upper
		if r > mid {
			k = lower
		}
		if r == mid {
			continue
		}
		if math.Abs(zr) <= tol {
			j.drop(r)
			continue
		}
		if last >= 0 && c.d[r]-c.d[last] <= tol {
			zl := z[last-j.lo]
			size := math.Hypot(zr, zl)
			right.rotate(n, j.lo, j.ends[0], last, r, zr/size, -zl/size)
			left.rotate(n, j.lo, j.ends[1], last, r, zr/size, -zl/size)
			z[r-j.lo], z[last-j.lo] = size, 0
			j.drop(last)
			if lastKind != k {
				k = whole
			}
		} else {
			keep()
		}
		last, lastKind = r, k
	}
	keep()
}

// A matrix comes to bidiagonal or triangular form by reflectors, some columns at a time (J. Dongarra,
// S. Hammarling, D. Sorensen, as in tridiagonal.go).
//
// With y = t(a) v the matrix H a is a - v t(y), and with x = a u the matrix a H is a - x t(u). Within a
// panel that is not done: a column, a row and a product with a vector are a's with the pairs (v, y) and
// (x, u) before. a is kept twice, by rows and by columns, so that both products are sums of rows.

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
	coefs       []float64 // 2*panel
}

// bidiagonal begins the reduction of a to bidiagonal form.
func (m *Machine) bidiagonal(rows, n int, a, at []float64, then func(b *bidiagonal)) {
	b := m.newBidiagonal(rows, n, false, then)
	b.a, b.at = a, at
	b.begin()
}

// newBidiagonal is a reduction without its matrix; triangle: to triangular form.
func (m *Machine) newBidiagonal(rows, n int, triangle bool, then func(b *bidiagonal)) *bidiagonal {
	b := &bidiagonal{m: m, rows: rows, n: n, d: m.floats(n), e: m.zeros(n), left: m.reflectors(rows, n, 0),
		vx: m.floats(rows * 2 * panel), xv: m.floats(rows * 2 * panel), yu: m.floats(n * 2 * panel), uy: m.floats(n * 2 * panel),
		v: m.floats(rows), x: m.floats(rows), y: m.floats(n), u: m.floats(n), coefs: m.floats(2 * panel)}
	if triangle {
		b.r = m.zeros(n * n)
	} else {
		b.right = m.reflectors(n, max(n-1, 0), 1)
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
	b.m.combine(&b.m.workers[0], c, b.coefs, pairs, ld, len(c), k)
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
