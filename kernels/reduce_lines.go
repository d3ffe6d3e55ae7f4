package kernels

// This file defines the loops of row and column reductions that need no exact sum: counts, sums of integers, minima,
// maxima and their places. All of them go over memory by rows.

import (
	"math"
	"slices"
	"sync"

	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// lineRoom is memory that the loops of this file use again and again.
type lineRoom struct {
	counts []int64
	acc    *value.Dense
	row    value.Dense
	exact  *exactRows
}

// What kernels of one call use, which may be a chunk of a few rows.
var (
	linePool   = sync.Pool{New: func() any { return &lineRoom{} }}
	columnPool = sync.Pool{New: func() any { return &columnSums{} }}
)

// lines reduces every row or column of a where a loop of this file can; false leaves it to the accumulator.
func (w whole) lines(out, a *value.Dense, byRow bool, r *lineRoom) bool {
	switch w.name {
	case "min", "max":
		least := w.name == "min"
		switch pick := choose(least); a.Elem {
		case types.F64:
			extremeLines(out.F64, a.F64, a, byRow, least, pick.f64)
		case types.F32:
			extremeLines(out.F32, a.F32, a, byRow, least, pick.f32)
		case types.Bool:
			extremeLines(out.Bool, a.Bool, a, byRow, least, pick.b)
		default:
			extremeLines(out.I64, a.I64, a, byRow, least, pick.i64)
		}
		return true
	case "count":
		countLines(out.I64, a, byRow)
		return true
	case "any", "all":
		r.counts = slices.Grow(r.counts[:0], out.Rows*out.Cols)
		counts := r.counts[:out.Rows*out.Cols]
		countLines(counts, a, byRow)
		whole := int64(a.Rows)
		if byRow {
			whole = int64(a.Cols)
		}
		for i, n := range counts {
			out.Bool[i] = truthBit(w.name == "any" && n > 0 || w.name == "all" && n == whole)
		}
		return true
	case "sum":
		switch a.Elem {
		case types.Bool:
			countLines(out.I64, a, byRow)
			return true
		case types.I64:
			sumLines(out.I64, a, byRow)
			return true
		}
	}
	return false
}

// countLines writes the number of elements that are not 0 of every line.
func countLines(out []int64, a *value.Dense, byRow bool) {
	switch a.Elem {
	case types.F64:
		countIn(out, a.F64, a, byRow)
	case types.F32:
		countIn(out, a.F32, a, byRow)
	case types.Bool:
		countIn(out, a.Bool, a, byRow)
	default:
		countIn(out, a.I64, a, byRow)
	}
}

func countIn[T vec.Element](out []int64, x []T, d *value.Dense, byRow bool) {
	if byRow {
		for i := range d.Rows {
			if d.Cols == 0 { // and perhaps no memory
				out[i] = 0
				continue
			}
			row := x[i*d.Stride : i*d.Stride+d.Cols]
			if b, ok := any(row).([]uint8); ok {
				out[i] = vec.CountTrue(b)
			} else {
				out[i] = vec.CountNonZero(row)
			}
		}
		return
	}
	clear(out)
	if d.Cols > 0 {
		countColumns(out, x, d)
	}
}

// sumLines writes the sum of every line of integers.
func sumLines(out []int64, a *value.Dense, byRow bool) {
	clear(out)
	for i := range a.Rows {
		if a.Cols == 0 {
			return
		}
		switch row := a.I64[i*a.Stride:][:a.Cols]; {
		case byRow:
			out[i] = vec.SumI64(row)
		default:
			vec.AddI64(out, out, row)
		}
	}
}

// extremeLines writes the least or greatest element of every line; lines are not empty. Every NaN becomes the same
// one, as in the whole reduction.
func extremeLines[T vec.Element](out, x []T, d *value.Dense, byRow, least bool, pick func(dst, a, b []T)) {
	for i := range d.Rows {
		if d.Cols == 0 {
			return
		}
		row := x[i*d.Stride : i*d.Stride+d.Cols]
		switch o := out[:min(len(out), len(row))]; {
		case byRow:
			out[i] = extremeOf(row, least)
		case i == 0:
			copy(o, row)
		default:
			pick(o, o, row)
		}
	}
	for i, v := range out {
		if v != v {
			nan := math.NaN()
			out[i] = T(nan)
		}
	}
}

// argLines writes the index of the extreme element of every line of d, whose elements are x, to out. Of a row the extreme itself comes first,
// and then its place: which element it is is chance, and a branch on that would be mispredicted.
func argLines[T vec.Element](out []int64, x []T, d *value.Dense, byRow, least bool) {
	if byRow {
		for i := range d.Rows {
			row := x[i*d.Stride : i*d.Stride+d.Cols]
			if len(row) < shortRow {
				out[i] = placeInShort(row, least)
				continue
			}
			out[i] = int64(firstAt(row, extremeOf(row, least)))
		}
		return
	}
	if d.Cols == 0 {
		return
	}
	for j := range out {
		out[j] = -1
	}
	placeColumns(out, make([]T, d.Cols), x, d, 0, least, true)
}

// shortRow is from how many elements on two passes by vectors are less than one without.
const shortRow = 16

func placeInShort[T vec.Element](row []T, least bool) int64 {
	best, at := row[0], 0
	for j, v := range row {
		if beats(v, best, least) {
			best, at = v, j
		}
	}
	return int64(at)
}

// beats reports that v replaces best: strictly beyond it, or the first NaN.
func beats[T vec.Element](v, best T, least bool) bool {
	if v != v {
		return best == best
	}
	if least {
		return v < best
	}
	return v > best
}
