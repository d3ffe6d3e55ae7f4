package vec

// This file defines the reductions of the rows of a sparse matrix whose entries name elements of a column: row i names x[col[k]]
// for ptr[i] <= k < ptr[i+1]. len(ptr) is len(out)+1; every col[k] is an index of x.

import (
	"math"
	"sort"
)

// MaxRowsI64 sets out[i] to the greatest of start and the elements that row i names. The result is the length of the longest row.
func MaxRowsI64(out, ptr []int64, col []int32, x []int64, start int64) (longest int64) {
	n, longest := maxRows(out, ptr, col, x, start)
	for i := n; i < len(out); i++ {
		row := col[ptr[i]:ptr[i+1]]
		best := start
		for _, j := range row {
			best = max(best, x[j])
		}
		out[i], longest = best, max(longest, int64(len(row)))
	}
	return longest
}

// MinRowsI64 sets out[i] to the least of start and the elements that row i names. The result is the length of the longest row.
func MinRowsI64(out, ptr []int64, col []int32, x []int64, start int64) (longest int64) {
	n, longest := minRows(out, ptr, col, x, start)
	for i := n; i < len(out); i++ {
		row := col[ptr[i]:ptr[i+1]]
		best := start
		for _, j := range row {
			best = min(best, x[j])
		}
		out[i], longest = best, max(longest, int64(len(row)))
	}
	return longest
}

// MaxRowsF64 sets out[i] to the greatest of 0 and val[k] x[col[k]] of row i, nan if one of them is NaN; never -0. val = nil: ones. The result
// is the length of the longest row.
func MaxRowsF64(out []float64, ptr []int64, col []int32, val, x []float64) (longest int64) {
	n, longest := maxRowsF64(out, ptr, col, val, x)
	return max(longest, extremesF64(out[n:], ptr[n:], col, val, x, func(a, b float64) float64 { return max(a, b) }))
}

// MinRowsF64 is MaxRowsF64 with the least.
func MinRowsF64(out []float64, ptr []int64, col []int32, val, x []float64) (longest int64) {
	n, longest := minRowsF64(out, ptr, col, val, x)
	return max(longest, extremesF64(out[n:], ptr[n:], col, val, x, func(a, b float64) float64 { return min(a, b) }))
}

// extremesF64 is both, in plain Go: min and max give NaN where one is.
func extremesF64(out []float64, ptr []int64, col []int32, val, x []float64, pick func(a, b float64) float64) (longest int64) {
	for i := range out {
		best := 0.0
		for k := ptr[i]; k < ptr[i+1]; k++ {
			v := x[col[k]]
			if val != nil {
				v *= val[k]
			}
			best = pick(best, v)
		}
		if best != best {
			best = math.NaN()
		}
		out[i], longest = best+0, max(longest, ptr[i+1]-ptr[i])
	}
	return longest
}

// SumRowsF64 sets out[i] to the sum, from 0 and in order, of the elements that row i names.
func SumRowsF64(out []float64, ptr []int64, col []int32, x []float64) {
	for i := sumRows(out, ptr, col, x); i < len(out); i++ {
		s := 0.0
		for _, j := range col[ptr[i]:ptr[i+1]] {
			s += x[j]
		}
		out[i] = s
	}
}

// DotRowsF64 sets out[i] to the chain of fused multiply-adds, from 0 and in order, of val[k] and the elements that row i names.
func DotRowsF64(out []float64, ptr []int64, col []int32, val, x []float64) {
	for i := dotRows(out, ptr, col, val, x); i < len(out); i++ {
		s := 0.0
		v := val[ptr[i]:ptr[i+1]]
		for k, j := range col[ptr[i]:ptr[i+1]] {
			s = math.FMA(v[k], x[j], s)
		}
		out[i] = s
	}
}

// rowsBefore is how many rows end so early that a loop may read ahead of them.
func rowsBefore(ptr []int64, entries, ahead int) int {
	return sort.Search(len(ptr)-1, func(i int) bool { return ptr[i+1] > int64(entries-ahead) })
}
