package vec

// This file defines the rows of sparse matrices that have assembly. Integers have one maximum, and
// chains are gone along in order, so the choice shows in no bit.

import (
	"math"

	"golang.org/x/sys/cpu"
)

// gatherAhead is how many entries beyond a row the loops read, at most; see gen/gather.go.
const gatherAhead = 64 + 16

var haveGather = haveAVX512 && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2

// extremeRowsI64 does the first rows; the result is how many.
func extremeRowsI64(least bool, out, ptr []int64, col []int32, x []int64, bound int64) (n int, longest int64) {
	if !haveGather {
		return 0, 0
	}
	switch n = rowsBefore(ptr, len(col), gatherAhead); {
	case n == 0:
	case least:
		longest = minRowsI64AVX512(&out[:n][0], &ptr[0], &col[0], &x[0], n, bound)
	default:
		longest = maxRowsI64AVX512(&out[:n][0], &ptr[0], &col[0], &x[0], n, bound)
	}
	return n, longest
}

func extremeRowsI32(least bool, out, ptr []int64, col, x []int32, bound int64) (n int, longest int64) {
	if !haveGather {
		return 0, 0
	}
	switch n = rowsBefore(ptr, len(col), gatherAhead); {
	case n == 0:
	case least:
		longest = minRowsI32AVX512(&out[:n][0], &ptr[0], &col[0], &x[0], n, bound)
	default:
		longest = maxRowsI32AVX512(&out[:n][0], &ptr[0], &col[0], &x[0], n, bound)
	}
	return n, longest
}

// narrowWhole does the first elements; the result is how many.
func narrowWhole(dst []int32, src []int64) (n int, least, greatest int64) {
	if n = len(src) &^ 7; !haveGather || n == 0 {
		return 0, 0, 0
	}
	least, greatest = narrowI64AVX512(&dst[:n][0], &src[0], 8*n)
	return n, least, greatest
}

func narrowRowsWhole(dst []int32, src, ptr []int64) (n int, least, greatest, leastOf, greatestOf int64) {
	if n = len(src) &^ 7; !haveGather || n == 0 {
		return 0, 0, 0, 0, 0
	}
	least, greatest, leastOf, greatestOf = narrowRowsI64AVX512(&dst[:n][0], &src[0], &ptr[:n+1][0], 8*n)
	return n, least, greatest, leastOf, greatestOf
}

func maxRowsF64(out []float64, ptr []int64, col []int32, val, x []float64) (n int, longest int64) {
	if !haveGather {
		return 0, 0
	}
	switch n = rowsBefore(ptr, len(col), gatherAhead); {
	case n == 0:
	case val == nil:
		longest = maxRowsF64AVX512(&out[:n][0], &ptr[0], &col[0], &x[0], n, math.NaN())
	default:
		longest = maxDotsF64AVX512(&out[:n][0], &ptr[0], &col[0], &val[0], &x[0], n, math.NaN())
	}
	return n, longest
}

func minRowsF64(out []float64, ptr []int64, col []int32, val, x []float64) (n int, longest int64) {
	if !haveGather {
		return 0, 0
	}
	switch n = rowsBefore(ptr, len(col), gatherAhead); {
	case n == 0:
	case val == nil:
		longest = minRowsF64AVX512(&out[:n][0], &ptr[0], &col[0], &x[0], n, math.NaN())
	default:
		longest = minDotsF64AVX512(&out[:n][0], &ptr[0], &col[0], &val[0], &x[0], n, math.NaN())
	}
	return n, longest
}

func sumRows(out []float64, ptr []int64, col []int32, x []float64) (n int) {
	if !haveAVX2 {
		return 0
	}
	if n = rowsBefore(ptr, len(col), gatherAhead); n > 0 {
		sumRowsF64AVX2(&out[:n][0], &ptr[0], &col[0], &x[0], n)
	}
	return n
}

func dotRows(out []float64, ptr []int64, col []int32, val, x []float64) (n int) {
	if !haveAVX2 {
		return 0
	}
	if n = rowsBefore(ptr, len(col), gatherAhead); n > 0 {
		dotRowsF64AVX2(&out[:n][0], &ptr[0], &col[0], &val[0], &x[0], n)
	}
	return n
}
