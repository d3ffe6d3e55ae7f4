package vec

import "unsafe"

// This file chooses among the strips of gen/scatter.go: their widths show in no bit.

// linesAhead is how many entries beyond a row dotLines reads, at most; see gen/scatter.go.
const linesAhead = 24 + 1

// mostStrip is the columns of the widest strip.
const mostStrip = 32

// dotLines does the first rows; the result is how many.
func dotLines(out Lines, ptr []int64, col []int32, val []float64, b Lines) (n int) {
	if !haveGather {
		return 0
	}
	if n = rowsBefore(ptr, len(col), linesAhead); n == 0 {
		return 0
	}
	for c := 0; c < b.Cols; c += mostStrip {
		strip := dotLines4F64AVX512
		ones := dotLines4OnesF64AVX512
		columns := min(mostStrip, b.Cols-c)
		switch {
		case columns <= 8:
			strip, ones = dotLines1F64AVX512, dotLines1OnesF64AVX512
		case columns <= 16:
			strip, ones = dotLines2F64AVX512, dotLines2OnesF64AVX512
		}
		to, from := &out.X[c], &b.X[c]
		if val == nil {
			ones(to, &ptr[0], &col[0], from, n, columns, 8*out.Stride, 8*b.Stride)
		} else {
			strip(to, &ptr[0], &col[0], &val[0], from, n, columns, 8*out.Stride, 8*b.Stride)
		}
	}
	return n
}

// addLines reports whether it did all.
func addLines(out Lines, ptr []int64, col []int32, val []float64, b Lines, lo, hi int32) bool {
	if !haveGather || len(ptr) < 2 || len(col) == 0 {
		return false
	}
	for c := 0; c < b.Cols; c += mostStrip {
		strip := addLines4F64AVX512
		ones := addLines4OnesF64AVX512
		columns := min(mostStrip, b.Cols-c)
		switch {
		case columns <= 8:
			strip, ones = addLines1F64AVX512, addLines1OnesF64AVX512
		case columns <= 16:
			strip, ones = addLines2F64AVX512, addLines2OnesF64AVX512
		}
		to, from := &out.X[c], &b.X[c]
		if val == nil {
			ones(to, &ptr[0], &col[0], from, len(ptr)-1, columns, 8*out.Stride, 8*b.Stride, int(lo), int(hi))
		} else {
			strip(to, &ptr[0], &col[0], &val[0], from, len(ptr)-1, columns, 8*out.Stride, 8*b.Stride, int(lo), int(hi))
		}
	}
	return true
}

// addRows reports whether it did all.
func addRows(sum []float64, ptr []int64, col []int32, val, x []float64, lo, hi int32) bool {
	if !haveGather || len(ptr) < 2 || len(col) == 0 {
		return false
	}
	if val == nil {
		addRowsOnesF64AVX512(unsafe.SliceData(sum), &ptr[0], &col[0], &x[0], len(ptr)-1, int(lo), int(hi))
	} else {
		addRowsF64AVX512(unsafe.SliceData(sum), &ptr[0], &col[0], &val[0], &x[0], len(ptr)-1, int(lo), int(hi))
	}
	return true
}
