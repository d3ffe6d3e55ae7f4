// Package sparsity estimates the number of nonzeros of a matrix before it is computed. The order of
// product chains, the form of intermediate results and the predicted memory depend on it; no value
// does.
//
// An Estimate is a count and, if the matrix itself is available, its distribution over rows and
// columns: the sketch of J. Sommer, M. Boehm, A. Evfimievski, B. Reinwald, P. Haas, "MNC:
// Structure-exploiting sparsity estimation for matrix expressions", SIGMOD 2019. Without it the
// nonzeros are assumed to be uniform, which underestimates squares of graphs with hubs by far.
//
// All computations are additions, multiplications and divisions in one order, never fused, so all
// machines get the same numbers: the order of a chain is part of what a program means.
package sparsity

import (
	"cmp"
	"math"
	"sync"
)

// Basis says what an estimate rests on.
type Basis uint8

// The bases, worst last. An estimate made of two has the worse.
const (
	Counted   Basis = iota // the number itself
	Estimated              // computed from counts or from a generator's arguments
	Bounded                // there may be so many, or few
	Guessed                // nothing is known before the run
)

func (b Basis) String() string { return [...]string{"counted", "estimated", "at most", "guessed"}[b] }

// Estimate is what is known of the nonzeros of a matrix.
type Estimate struct {
	Rows, Cols int
	NNZ        float64 // elements that are not zero
	Full       bool    // dense: every element takes part in operations on it
	Basis      Basis
	// MostRow and MostCol are the most nonzeros in a row and a column; 0 if unknown.
	MostRow, MostCol float64

	// Side is where all nonzeros of a square matrix are: Below (the diagonal, or on it), Above, or
	// anywhere.
	Side Side

	// nil: uniform. They may be of another matrix with the same proportions: see share
	row, col *counts
}

// Side is a triangle of a matrix.
type Side int8

// The sides.
const (
	Anywhere Side = iota
	Below
	Above
)

// counts is the number of nonzeros of each row or column.
type counts struct {
	n    []float64
	sum  float64
	some float64 // how many have any
	most float64 // the greatest

	mu      sync.Mutex
	touched map[touchKey]float64      // what Touched has found
	joined  map[[2]Estimate]*Estimate // what Join has found, if these are its rows or columns
}

// touchKey is what Touched depends on beside the counts of columns.
type touchKey struct {
	ranks int
	nnz   float64
}

// guess is the density of a matrix of which nothing is known. It is part of what chains of products
// mean.
const guess = 0.01

// Unknown returns the estimate of a sparse matrix of which nothing is known.
func Unknown(rows, cols int) Estimate {
	return Estimate{Rows: rows, Cols: cols, NNZ: guess * cells(rows, cols), Basis: Guessed}
}

// Dense returns the estimate of a dense matrix of which nothing is known.
func Dense(rows, cols int) Estimate {
	return Estimate{Rows: rows, Cols: cols, NNZ: cells(rows, cols), Full: true, Basis: Guessed}
}

// Uniform returns the estimate of nnz nonzeros at random places.
func Uniform(rows, cols int, nnz float64, b Basis) Estimate {
	return Estimate{Rows: rows, Cols: cols, NNZ: min(nnz, cells(rows, cols)), Basis: b}
}

// Counts returns the estimate of a matrix with these nonzeros in each row and column.
func Counts(byRow, byCol []float64) Estimate {
	e := Estimate{Rows: len(byRow), Cols: len(byCol), row: count(byRow), col: count(byCol)}
	e.NNZ, e.MostRow, e.MostCol = e.row.sum, e.row.most, e.col.most
	return e
}

func count(n []float64) *counts {
	var sum, most float64
	some := 0
	for _, x := range n {
		k := 0
		if x > 0 { // without a jump, which took most of the time: whether a row is empty is hard to foresee
			k = 1
		}
		some += k
		sum += x
		if x > most {
			most = x
		}
	}
	return &counts{n: n, sum: sum, some: float64(some), most: most}
}

func cells(rows, cols int) float64 { return float64(max(rows, 0)) * float64(max(cols, 0)) }

// share returns element k of c, of n rows or columns, for a matrix with nnz nonzeros.
func (c *counts) share(k, n int, nnz float64) float64 {
	switch {
	case c == nil:
		return nnz / float64(n)
	case c.sum == 0:
		return 0
	}
	return float64(c.n[k]*nnz) / c.sum
}

// filled returns how many of n rows or columns have nonzeros, of nnz.
func (c *counts) filled(n int, nnz float64) float64 {
	if c == nil {
		return min(float64(n), nnz)
	}
	return c.some
}

// Touched estimates how many columns a rank has entries in, over all of so many ranks that have equal
// parts of the rows, without the columns of the rank itself. The entries of a column may be in any row.
func (e *Estimate) Touched(ranks int) float64 {
	hit := func(entries float64) float64 { // about 1 - exp(-x)
		x := entries / float64(ranks)
		return 1 - 1/power(1+x/8, 8)
	}
	if e.col == nil {
		return float64(ranks-1) * float64(e.Cols) * hit(e.NNZ/float64(max(e.Cols, 1)))
	}
	e.col.mu.Lock()
	defer e.col.mu.Unlock()
	sum, ok := e.col.touched[touchKey{ranks, e.NNZ}]
	if !ok {
		for k := range e.Cols {
			sum += hit(e.col.share(k, e.Cols, e.NNZ))
		}
		if e.col.touched == nil {
			e.col.touched = map[touchKey]float64{}
		}
		e.col.touched[touchKey{ranks, e.NNZ}] = sum
	}
	return float64(ranks-1) * sum
}

// Even reports whether the distribution of the nonzeros over rows is unknown.
func (e *Estimate) Even() bool { return e.row == nil }

// InRow returns the estimated number of nonzeros of row i.
func (e *Estimate) InRow(i int) float64 { return e.row.share(i, e.Rows, e.NNZ) }

// T estimates the transpose.
func (e Estimate) T() Estimate {
	e.Rows, e.Cols, e.row, e.col, e.MostRow, e.MostCol = e.Cols, e.Rows, e.col, e.row, e.MostCol, e.MostRow
	if e.Side != Anywhere {
		e.Side = Below + Above - e.Side
	}
	return e
}

// Window estimates the rows x cols elements from (r0, c0) on.
func (e Estimate) Window(r0, c0, rows, cols int) Estimate {
	if r0 == 0 && c0 == 0 && rows == e.Rows && cols == e.Cols {
		return e
	}
	w := Estimate{Rows: rows, Cols: cols, Basis: max(e.Basis, Estimated), MostRow: e.MostRow, MostCol: e.MostCol}
	in := func(c *counts, from, n, all int) (part *counts, share float64) {
		if all == 0 || c == nil && n == all {
			return c, 1
		}
		if c == nil {
			return nil, float64(n) / float64(all)
		}
		part = count(c.n[from : from+n])
		if c.sum > 0 {
			share = part.sum / c.sum
		}
		return part, share
	}
	var byRow, byCol float64
	w.row, byRow = in(e.row, r0, rows, e.Rows)
	w.col, byCol = in(e.col, c0, cols, e.Cols)
	w.NNZ = min(float64(float64(e.NNZ*byRow)*byCol), cells(rows, cols))
	if e.row != nil && cols == e.Cols && e.Basis == Counted {
		w.Basis = Counted // whole rows, each of which was counted
	}
	return w
}

// meets returns the probability that an element of a row of a meets one of b in the same column, as
// MNC estimates it: the sum of the products of column counts over the product of their sums.
func meets(a, b *Estimate) float64 {
	if a.col == nil || b.col == nil {
		return 1 / float64(max(a.Cols, 1))
	}
	if a.col.sum == 0 || b.col.sum == 0 {
		return 0
	}
	s := 0.0
	for j, x := range a.col.n {
		s += float64(x * b.col.n[j])
	}
	return s / a.col.sum / b.col.sum
}

// Meet estimates an elementwise product of two matrices of one shape.
func Meet(a, b Estimate) Estimate {
	switch {
	case b.Full:
		return a
	case a.Full:
		return b
	}
	p := meets(&a, &b)
	e := a
	e.Basis, e.Side = max(a.Basis, b.Basis, Estimated), max(a.Side, b.Side)
	e.NNZ = 0
	if a.row == nil && b.row == nil {
		e.NNZ = float64(a.NNZ*b.NNZ) / max(cells(a.Rows, a.Cols), 1)
	} else {
		for i := range a.Rows {
			x, y := a.row.share(i, a.Rows, a.NNZ), b.row.share(i, b.Rows, b.NNZ)
			e.NNZ += min(x, y, float64(float64(x*y)*p))
		}
	}
	e.NNZ = min(e.NNZ, a.NNZ, b.NNZ)
	return e
}

// Join estimates the union of the nonzeros of two matrices of one shape. A compilation asks for the
// same union in every pass that weighs memory or cost, so the counts keep the answer.
func Join(a, b Estimate) Estimate {
	keeper := cmp.Or(a.row, a.col, b.row, b.col)
	if keeper == nil {
		return join(&a, &b)
	}
	keeper.mu.Lock()
	defer keeper.mu.Unlock()
	key := [2]Estimate{a, b}
	e := keeper.joined[key]
	if e == nil {
		if keeper.joined == nil {
			keeper.joined = map[[2]Estimate]*Estimate{}
		}
		e = new(Estimate)
		*e = join(&a, &b)
		keeper.joined[key] = e
	}
	return *e
}

// mutualShare estimates the share of links of a counted matrix that are mutual, among those that may
// be: a row with x entries and a column with y entries have at most min(x, y) in common. It is 0.84 in
// web-NotreDame and 0.65 in soc-Epinions1.
const mutualShare = 0.75

// join is Join where no answer is kept.
func join(a, b *Estimate) Estimate {
	p := meets(a, b)
	e := Estimate{Rows: a.Rows, Cols: a.Cols, Side: both(a, b), Basis: max(a.Basis, b.Basis, Estimated)}
	if a.row == nil && b.row == nil {
		e.NNZ = a.NNZ + b.NNZ - float64(a.NNZ*b.NNZ)/max(cells(a.Rows, a.Cols), 1)
	} else {
		rows := make([]float64, a.Rows)
		mutual := a.row == b.col && a.col == b.row && a.Side == Anywhere // b is the transpose of a
		for i := range rows {
			x, y := a.row.share(i, a.Rows, a.NNZ), b.row.share(i, b.Rows, b.NNZ)
			in := x + y - float64(float64(x*y)*p)
			if mutual {
				in -= float64(mutualShare * min(x, y))
			}
			rows[i] = min(float64(a.Cols), max(x, y, in))
		}
		e.row = count(rows)
		e.NNZ = e.row.sum
	}
	if a.col != nil || b.col != nil {
		cols := make([]float64, a.Cols)
		for j := range cols {
			cols[j] = min(float64(a.Rows), a.col.share(j, a.Cols, a.NNZ)+b.col.share(j, b.Cols, b.NNZ))
		}
		e.col = count(cols)
	}
	e.NNZ = min(max(e.NNZ, a.NNZ, b.NNZ), cells(e.Rows, e.Cols))
	return e
}

// Work returns the multiplications of a @ b: the sum over k of nonzeros in column k of a times
// those in row k of b.
func Work(a, b *Estimate) float64 {
	switch {
	case a.Full && b.Full:
		return float64(float64(a.Rows)*float64(a.Cols)) * float64(b.Cols)
	case b.Full:
		return a.NNZ * float64(b.Cols)
	case a.Full:
		return float64(a.Rows) * b.NNZ
	case a.col == nil && b.row == nil:
		return float64(a.NNZ*b.NNZ) / float64(max(a.Cols, 1))
	}
	s := 0.0
	for k := range a.Cols {
		s += float64(a.col.share(k, a.Cols, a.NNZ) * b.row.share(k, b.Rows, b.NNZ))
	}
	return s
}

// Product estimates a @ b. With p nonempty pairs of rows of a and columns of b, each k makes an
// element nonzero with probability (nonzeros of column k of a) (nonzeros of row k of b) / p,
// independently. If rows of a or columns of b have at most one nonzero, the number of
// multiplications is exact (MNC, theorem 3.1).
func Product(a, b Estimate) Estimate {
	if a.Full || b.Full {
		return Estimate{Rows: a.Rows, Cols: b.Cols, NNZ: cells(a.Rows, b.Cols), Full: true, Basis: Guessed}
	}
	e := Estimate{Rows: a.Rows, Cols: b.Cols, Side: both(&a, &b), row: a.row, col: b.col, Basis: max(a.Basis, b.Basis, Estimated)}
	work := Work(&a, &b)
	if a.MostRow == 1 || b.MostCol == 1 {
		e.NNZ = work
		if a.col != nil && b.row != nil && e.Basis < Guessed {
			e.Basis = max(a.Basis, b.Basis)
		}
		return e
	}
	p := a.row.filled(a.Rows, a.NNZ) * b.col.filled(b.Cols, b.NNZ)
	if p == 0 {
		return e
	}
	zero := 1.0
	if a.col == nil && b.row == nil {
		zero = power(1-min(1, float64(a.NNZ/float64(a.Cols)*float64(b.NNZ/float64(a.Cols)))/p), a.Cols)
	} else {
		for k := range a.Cols {
			zero *= 1 - min(1, float64(a.col.share(k, a.Cols, a.NNZ)*b.row.share(k, b.Rows, b.NNZ))/p)
		}
	}
	e.NNZ = min(float64(p*(1-zero)), work)
	return e
}

// power returns x to the k by squaring. math.Pow differs between machines.
func power(x float64, k int) float64 {
	y := 1.0
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}

// Bytes returns the memory of the matrix, with the given bytes for an element of a dense and a
// stored element of a sparse one.
func (e *Estimate) Bytes(element, stored int) float64 {
	if e.Full {
		return cells(e.Rows, e.Cols) * float64(element)
	}
	return 8*float64(e.Rows+1) + math.Ceil(e.NNZ)*float64(4+stored)
}
