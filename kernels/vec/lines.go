package vec

// This file defines the products of sparse matrices and dense ones of some columns. A sparse matrix
// is the entries ptr[i] <= k < ptr[i+1] of each row i: their columns col[k], which ascend, and
// values val[k]; val = nil: ones. Every element of a result is one chain of fused multiply-adds,
// from 0 and in the order of its entries.

import "math"

// Lines is a dense matrix: row i begins at x[i*Stride].
type Lines struct {
	X            []float64
	Cols, Stride int
}

// row is row i.
func (l Lines) row(i int) []float64 { return l.X[i*l.Stride:][:l.Cols] }

// DotLines sets row i of out, of len(ptr)-1 rows, to the sum of val[k] times rows col[k] of b.
func DotLines(out Lines, ptr []int64, col []int32, val []float64, b Lines) {
	if b.Cols == 0 {
		return
	}
	for i := dotLines(out, ptr, col, val, b); i < len(ptr)-1; i++ {
		row := out.row(i)
		clear(row)
		for k := ptr[i]; k < ptr[i+1]; k++ {
			stepLine(row, b.row(int(col[k])), val, k)
		}
	}
}

// AddLines adds val[k] times row i of b to row col[k] of out, for the entries with lo <= col[k] < hi.
func AddLines(out Lines, ptr []int64, col []int32, val []float64, b Lines, lo, hi int32) {
	if b.Cols == 0 || addLines(out, ptr, col, val, b, lo, hi) {
		return
	}
	for i := range len(ptr) - 1 {
		y := b.row(i)
		for k, end := within(col, ptr[i], ptr[i+1], lo, hi); k < end; k++ {
			stepLine(out.row(int(col[k])), y, val, k)
		}
	}
}

// stepLine is one step of the chains of sum.
func stepLine(sum, y, val []float64, k int64) {
	sum = sum[:len(y)]
	if val == nil {
		for c, v := range y {
			sum[c] += v
		}
		return
	}
	u := val[k]
	for c, v := range y {
		sum[c] = math.FMA(u, v, sum[c])
	}
}

// AddRowsF64 is AddLines of one column: it adds x[i] val[k] to sum[col[k]].
func AddRowsF64(sum []float64, ptr []int64, col []int32, val, x []float64, lo, hi int32) {
	if addRows(sum, ptr, col, val, x, lo, hi) {
		return
	}
	for i := range len(ptr) - 1 {
		k, end := within(col, ptr[i], ptr[i+1], lo, hi)
		u, cols := x[i], col[k:end]
		if val == nil {
			for _, j := range cols {
				sum[j] += u
			}
			continue
		}
		v := val[k:end]
		for p, j := range cols {
			sum[j] = math.FMA(u, v[p], sum[j])
		}
	}
}

// within is the entries of k..end-1 with lo <= col < hi.
func within(col []int32, k, end int64, lo, hi int32) (from, to int64) {
	row := col[k:end]
	return k + int64(NotLess(row, lo)), k + int64(NotLess(row, hi))
}

// NotLess is the first place of an ascending list that holds at least x, len(list) if there is
// none. The search has no branches that depend on the list: rows of a sparse matrix have their
// boundaries at places that cannot be foretold.
func NotLess(list []int32, x int32) int {
	base, n := 0, len(list)
	for n > 1 {
		half := n / 2
		base += half & int((int64(list[base+half-1])-int64(x))>>63)
		n -= half
	}
	if n == 1 {
		base -= int((int64(list[base]) - int64(x)) >> 63)
	}
	return base
}
