package spectrum

// This file puts the parts of a divided matrix together, for eigenvectors and for singular vectors:
// both are those of a diagonal matrix and a vector (M. Gu, S. Eisenstat, A divide-and-conquer
// algorithm for the symmetric tridiagonal eigenproblem, SIAM J. Matrix Anal. Appl. 16, 1995; A
// divide-and-conquer algorithm for the bidiagonal SVD, the same).
//
// A join takes the values d of two parts and their vectors, rows of one matrix. Where an element of
// z, the border between the parts as those vectors see it, is negligible, or two values are as good
// as one, a value stays what it is (deflation). The others are poles of a secular equation, whose
// roots are the new values. From the roots z is computed anew, so that they are exact for it: then
// vectors are orthogonal however close the values. New rows are sums of old ones, by gemm:
//
//	joins of a level:   deflate | roots | z, and old rows by kinds | new rows

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
)

// The kinds of rows: with elements in the columns of the first part, of both, or of the second part.
const (
	upper = iota
	whole
	lower
)

// basis is the vectors of all parts, rows of an n x n matrix.
type basis struct {
	q, next     []float64
	top, bottom []float64 // rows of a join that have elements there, one behind the other; from row lo on
}

func newBasis(n int) *basis {
	return &basis{make([]float64, n*n), make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)}
}

// join puts values lo..hi-1 together. Of basis b its vectors have columns lo..ends[b]-1, those of
// the first part before cuts[b].
type join struct {
	lo, hi     int
	cuts, ends []int

	poles
	rows     []int // of the poles
	kinds    []int
	place    []int // of the poles' rows among those of top and bottom, which overlap
	upTo     []int // rows that are in top, by basis
	from     int   // the first place that is in bottom
	deflated []int // the other rows
	zhat     []float64
	offsets  []float64 // of the roots, from the poles
	origins  []int
}

// conquest is all parts.
type conquest struct {
	m       *Machine
	n       int
	bases   []*basis
	d       []float64 // the values, by row
	delta   []float64 // n x n: row lo + j has the distances of poles from root j
	joins   []*join   // of the level
	strips  []stripOf
	owner   []*join // of a row; nil: it stands between parts that are joined later
	failed  atomic.Bool
	prepare func(j *join) // fills poles, rows, kinds, deflated
}

// stripOf is some rows of a join, counted from its first.
type stripOf struct {
	*join
	first, to int
}

// climb joins the parts of all levels, the last first, and goes on with then.
func (c *conquest) climb(levels [][]*join, then func()) {
	if len(levels) == 0 {
		then()
		return
	}
	top := len(levels) - 1
	c.level(levels[top], func() {
		c.settle()
		c.climb(levels[:top], then)
	})
}

// level joins parts, and goes on with then.
func (c *conquest) level(joins []*join, then func()) {
	m := c.m
	c.joins, c.strips = joins, c.strips[:0]
	for _, j := range joins {
		for i := 0; i < j.hi-j.lo; i += strip {
			c.strips = append(c.strips, stripOf{j, i, min(i+strip, j.hi-j.lo)})
		}
		for i := j.lo; i < j.hi; i++ {
			c.owner[i] = j
		}
	}
	longest := joins[len(joins)-1].hi - joins[len(joins)-1].lo
	m.passOf(c.n*longest, len(joins), func(_ *worker, i int) {
		c.prepare(joins[i])
		joins[i].arrange(len(c.bases))
	}, func() {
		m.passOf(20*c.n*longest, c.n, func(_ *worker, i int) {
			if j := c.owner[i]; j != nil {
				c.root(j, i-j.lo)
			}
		}, func() {
			if c.failed.Load() {
				m.fail(ErrDiverged)
				return
			}
			m.passOf(c.n*longest, len(c.strips), func(_ *worker, i int) { c.gather(c.strips[i]) }, func() {
				m.passOf(c.n*longest*longest, len(c.strips), func(w *worker, i int) { c.rows(w, c.strips[i]) }, func() {
					for _, b := range c.bases {
						b.q, b.next = b.next, b.q
					}
					then()
				})
			})
		})
	})
}

// keep adds row r as a pole, drop as one that stays what it is.
func (j *join) keep(d, z float64, r, kind int) {
	j.d, j.z = append(j.d, d), append(j.z, z)
	j.rows, j.kinds = append(j.rows, r), append(j.kinds, kind)
}

func (j *join) drop(r int) { j.deflated = append(j.deflated, r) }

// arrange gives the rows of the poles places by kind. With squares the first pole's row comes after
// those that are whole: in the first basis it counts as whole too, in the second one as lower.
func (j *join) arrange(bases int) {
	k := len(j.d)
	if k == 0 {
		return
	}
	count := [3]int{}
	for i, kind := range j.kinds {
		if i > 0 || !j.squares {
			count[kind]++
		}
	}
	j.from = count[upper]
	both := count[upper] + count[whole]
	next := [3]int{0, count[upper], both}
	j.upTo = []int{both, both}[:bases]
	j.place = make([]int, k)
	if j.squares {
		next[lower]++
		j.upTo[0]++
		j.place[0] = both
	}
	for i, kind := range j.kinds {
		if i > 0 || !j.squares {
			j.place[i] = next[kind]
			next[kind]++
		}
	}
	j.zhat, j.offsets, j.origins = make([]float64, k), make([]float64, k), make([]int, k)
}

// root solves for root i of a join.
func (c *conquest) root(j *join, i int) {
	if i >= len(j.d) {
		return
	}
	origin, mu, ok := j.root(i, j.distances(c, i))
	if !ok {
		c.failed.Store(true)
	}
	j.origins[i], j.offsets[i] = origin, mu
}

// distances is row i of the join's part of delta.
func (j *join) distances(c *conquest, i int) []float64 {
	return c.delta[(j.lo+i)*c.n+j.lo:][:len(j.d)]
}

// gather makes z anew for some poles, and copies their rows. z[i]^2 = product(root[k] - d[i]) /
// product(d[k] - d[i]), the latter without k = i (K. Löwner).
func (c *conquest) gather(s stripOf) {
	j := s.join
	to := min(s.to, len(j.d))
	if s.first >= to {
		return
	}
	var w [strip]float64
	for i := s.first; i < to; i++ {
		w[i-s.first] = -j.distances(c, i)[i]
	}
	for k := range j.d {
		for i, v := range j.distances(c, k)[s.first:to] {
			if i += s.first; i != k {
				w[i-s.first] *= v / j.gap(i, k)
			}
		}
	}
	for i := s.first; i < to; i++ {
		j.zhat[i] = math.Copysign(math.Sqrt(math.Abs(w[i-s.first])), j.z[i])
		for b, basis := range c.bases {
			at, row := j.place[i], basis.q[j.rows[i]*c.n:]
			left, right := j.cuts[b]-j.lo, j.ends[b]-j.cuts[b]
			if at < j.upTo[b] {
				copy(basis.top[j.lo*c.n+at*left:][:left], row[j.lo:])
			}
			if at -= j.from; at >= 0 {
				copy(basis.bottom[j.lo*c.n+at*right:][:right], row[j.cuts[b]:])
			}
		}
	}
}

// rows makes the new rows of a strip.
func (c *conquest) rows(w *worker, s stripOf) {
	j, k := s.join, len(s.d)
	for i := max(s.first, k); i < s.to; i++ {
		r := j.deflated[i-k]
		for b, basis := range c.bases {
			copy(basis.next[(j.lo+i)*c.n+j.lo:][:j.ends[b]-j.lo], basis.q[r*c.n+j.lo:])
		}
	}
	if last := j.hi; s.to == j.hi-j.lo && j.ends[0] > last { // the right vector too many
		copy(c.bases[0].next[last*c.n+j.lo:][:j.ends[0]-j.lo], c.bases[0].q[last*c.n+j.lo:])
	}
	count := min(s.to, k) - s.first
	if count <= 0 {
		return
	}
	coefs := w.scratch(count * k)
	for b, basis := range c.bases {
		for i := range count {
			c.vector(j, s.first+i, b == 1, coefs[i*k:][:k])
		}
		left, right := j.cuts[b]-j.lo, j.ends[b]-j.cuts[b]
		at := (j.lo+s.first)*c.n + j.lo
		for i := range count {
			clear(basis.next[at+i*c.n:][:left+right])
		}
		c.m.set.F64.Gemm(&w.ws, false, false, count, left, j.upTo[b], coefs, k, basis.top[j.lo*c.n:], left, basis.next[at:], c.n)
		c.m.set.F64.Gemm(&w.ws, false, false, count, right, k-j.from, coefs[j.from:], k, basis.bottom[j.lo*c.n:], right, basis.next[at+left:], c.n)
	}
}

// vector makes x the vector of root i by the places of the poles: z[k] / (d[k] - root), of length
// 1. times: each times its d, which of a singular value is the vector on the other side; its first
// element is -1 before that.
func (c *conquest) vector(j *join, i int, times bool, x []float64) {
	delta := j.distances(c, i)
	for k, z := range j.zhat {
		v := z / delta[k]
		if times {
			if v *= j.d[k]; k == 0 {
				v = -1
			}
		}
		x[j.place[k]] = v
	}
	f := 1 / math.Sqrt(dot(x, x))
	for k := range x {
		x[k] *= f
	}
}

// settle stores the values of all joins: roots first, then what was deflated.
func (c *conquest) settle() {
	for _, j := range c.joins {
		old := make([]float64, len(j.deflated))
		for i, r := range j.deflated {
			old[i] = c.d[r]
		}
		for i, mu := range j.offsets {
			o := j.d[j.origins[i]]
			if j.squares {
				c.d[j.lo+i] = o + mu/(o+math.Sqrt(float64(o*o)+mu))
			} else {
				c.d[j.lo+i] = o + mu
			}
		}
		copy(c.d[j.lo+len(j.offsets):], old)
	}
}

// ascending is the numbers of values lo..hi-1 of d in ascending order, equal ones as they come.
func ascending(d []float64, lo, hi int) []int {
	order := make([]int, hi-lo)
	for i := range order {
		order[i] = lo + i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d[a], d[b]) })
	return order
}

// rotate makes rows r and s of b, from column lo to hi-1, c r + s1 s and c s - s1 r.
func (b *basis) rotate(n, lo, hi, r, s int, c, s1 float64) {
	x, y := b.q[r*n+lo:r*n+hi], b.q[s*n+lo:s*n+hi]
	y = y[:len(x)]
	for i, v := range x {
		x[i], y[i] = float64(c*v)+float64(s1*y[i]), float64(c*y[i])-float64(s1*v)
	}
}

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
