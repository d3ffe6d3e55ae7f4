package vec

// This file defines the rows of sparse matrices that have assembly. Integers have one maximum, and chains are gone along in order, so
// the choice shows in no bit.

import (
	"math"

	"golang.org/x/sys/cpu"
)

// gatherAhead is how many entries beyond a row the loops read, at most; see gen/gather.go.
const gatherAhead = 64 + 8

var haveGather = haveAVX512 && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2

// maxRows does the first rows; the result is how many.
func maxRows(out, ptr []int64, col []int32, x []int64, start int64) (n int, longest int64) {
	if !haveGather {
		return 0, 0
	}
	if n = rowsBefore(ptr, len(col), gatherAhead); n > 0 {
		longest = maxRowsI64AVX512(&out[:n][0], &ptr[0], &col[0], &x[0], n, start)
	}
	return n, longest
}

func minRows(out, ptr []int64, col []int32, x []int64, start int64) (n int, longest int64) {
	if !haveGather {
		return 0, 0
	}
	if n = rowsBefore(ptr, len(col), gatherAhead); n > 0 {
		longest = minRowsI64AVX512(&out[:n][0], &ptr[0], &col[0], &x[0], n, start)
	}
	return n, longest
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
