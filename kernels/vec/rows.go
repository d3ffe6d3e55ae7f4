package vec

// This file defines the reductions of the rows of a sparse matrix whose entries name elements of a
// column: row i names x[col[k]] for ptr[i] <= k < ptr[i+1]. len(ptr) is len(out)+1; every col[k] is
// an index of x.

import (
	"math"
	"sort"
	"unsafe"

	"flow/kernels/vec/machine"
)

// MaxRowsI64 raises out[i] to the greatest element that row i names. A row ends where it reaches
// bound, which no element that a row names is beyond: rows of a graph of which most vertices have
// the greatest label already are hardly read. The result is the length of the longest row.
func MaxRowsI64(out, ptr []int64, col []int32, x []int64, bound int64) (longest int64) {
	n, longest := extremeRows(machine.MaxRowsI64, out, ptr, col, x, bound)
	return max(longest, maxRows(out[n:], ptr[n:], col, x, bound))
}

// MinRowsI64 is MaxRowsI64 with the least.
func MinRowsI64(out, ptr []int64, col []int32, x []int64, bound int64) (longest int64) {
	n, longest := extremeRows(machine.MinRowsI64, out, ptr, col, x, bound)
	return max(longest, minRows(out[n:], ptr[n:], col, x, bound))
}

// MaxRowsI32 is MaxRowsI64 of narrow elements, of which more lie in a cache; bound is an int32.
func MaxRowsI32(out, ptr []int64, col, x []int32, bound int64) (longest int64) {
	n, longest := extremeRows(machine.MaxRowsI32, out, ptr, col, x, bound)
	return max(longest, maxRows(out[n:], ptr[n:], col, x, bound))
}

// MinRowsI32 is MaxRowsI32 with the least.
func MinRowsI32(out, ptr []int64, col, x []int32, bound int64) (longest int64) {
	n, longest := extremeRows(machine.MinRowsI32, out, ptr, col, x, bound)
	return max(longest, minRows(out[n:], ptr[n:], col, x, bound))
}

// maxRows is both, in plain Go.
func maxRows[T int32 | int64](out, ptr []int64, col []int32, x []T, bound int64) (longest int64) {
	for i, best := range out {
		row := col[ptr[i]:ptr[i+1]]
		longest = max(longest, int64(len(row)))
		for _, j := range row {
			if best >= bound {
				break
			}
			best = max(best, int64(x[j]))
		}
		out[i] = best
	}
	return longest
}

func minRows[T int32 | int64](out, ptr []int64, col []int32, x []T, bound int64) (longest int64) {
	for i, best := range out {
		row := col[ptr[i]:ptr[i+1]]
		longest = max(longest, int64(len(row)))
		for _, j := range row {
			if best <= bound {
				break
			}
			best = min(best, int64(x[j]))
		}
		out[i] = best
	}
	return longest
}

// Narrow copies the low halves of src to dst, and says what the least and the greatest of src are:
// where both fit in an int32, dst is src. Of no elements they are the greatest and the least int64.
func Narrow(dst []int32, src []int64) (least, greatest int64) {
	n, least, greatest := narrowWhole(dst, src)
	if n == 0 {
		least, greatest = math.MaxInt64, math.MinInt64
	}
	for i := n; i < len(src); i++ {
		v := src[i]
		dst[i] = int32(v)
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest
}

// NarrowRows is Narrow, and says too what the least and the greatest are of the elements i with
// ptr[i] < ptr[i+1].
func NarrowRows(dst []int32, src, ptr []int64) (least, greatest, leastOf, greatestOf int64) {
	n, least, greatest, leastOf, greatestOf := narrowSome(machine.NarrowRowsI64, dst, src, unsafe.Pointer(unsafe.SliceData(ptr)))
	for i := n; i < len(src); i++ {
		v := src[i]
		dst[i] = int32(v)
		least, greatest = min(least, v), max(greatest, v)
		if ptr[i] < ptr[i+1] {
			leastOf, greatestOf = min(leastOf, v), max(greatestOf, v)
		}
	}
	return least, greatest, leastOf, greatestOf
}

// NarrowMarked is Narrow for the elements whose bits are set in marks: bit i stands for element i. The other
// elements of dst are undefined.
func NarrowMarked(dst []int32, src []int64, marks []uint64) (least, greatest int64) {
	n, _, _, least, greatest := narrowSome(machine.NarrowMarkedI64, dst, src, unsafe.Pointer(unsafe.SliceData(marks)))
	for i := n; i < len(src); i++ {
		if v := src[i]; marks[i/64]>>(i%64)&1 != 0 {
			dst[i] = int32(v)
			least, greatest = min(least, v), max(greatest, v)
		}
	}
	return least, greatest
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

// DotRowsF64 sets out[i] to the chain of fused multiply-adds, from 0 and in order, of val[k] and
// the elements that row i names.
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
