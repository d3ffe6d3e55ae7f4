package reduce

// This file finds the least and the greatest elements of rows, and their places. Loops
// (kernels.reducingRows) do it where there is enough work and rows are short.

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/vec"
)

// extremeLines writes the least or greatest element of every row; rows are not empty. Every NaN
// becomes the same one, as in the whole reduction.
func extremeLines[T vec.Element](result, d *value.Dense, least bool) {
	if d.Cols == 0 || d.Rows == 0 {
		return
	}
	out := dense.GridOf[T](result).X[:d.Rows]
	extremesOf(out, dense.GridOf[T](d).X, d.Stride, d.Cols, least)
	for i, v := range out {
		if v != v {
			nan := math.NaN()
			out[i] = T(nan)
		}
	}
}

// argLines writes the index of the extreme element of every row of d to out.
// The extremes of some rows come first, and then their places: which element it is is chance, and a
// branch on that would be mispredicted.
func argLines[T vec.Element](out []int64, d *value.Dense, least bool) {
	x := dense.GridOf[T](d).X
	if d.Cols < shortRow {
		for i := range d.Rows {
			out[i] = placeInShort(x[i*d.Stride:i*d.Stride+d.Cols], least)
		}
		return
	}
	words := argPool.Get().(*[atOnce]uint64)
	defer argPool.Put(words)
	room := unsafe.Slice((*T)(unsafe.Pointer(words)), atOnce)
	for from := 0; from < d.Rows; from += len(room) {
		best := room[:min(len(room), d.Rows-from)]
		extremesOf(best, x[from*d.Stride:], d.Stride, d.Cols, least)
		for k, v := range best {
			i := from + k
			out[i] = int64(firstAt(x[i*d.Stride:i*d.Stride+d.Cols], v))
		}
	}
}

// atOnce is how many rows argLines takes at a time, argPool keeps room for their extremes.
const atOnce = 64

var argPool = sync.Pool{New: func() any { return new([atOnce]uint64) }}

// shortRow is from how many elements on two passes by vectors are less than one without.
const shortRow = 16

func placeInShort[T vec.Element](row []T, least bool) int64 {
	best, at := row[0], 0
	for j, v := range row {
		if Beats(v, best, least) {
			best, at = v, j
		}
	}
	return int64(at)
}

// Beats reports that v replaces best: strictly beyond it, or the first NaN.
func Beats[T vec.Element](v, best T, least bool) bool {
	if v != v {
		return best == best
	}
	if least {
		return v < best
	}
	return v > best
}

// firstAt is where v stands first in x, or a nan if v is one.
func firstAt[T vec.Element](x []T, v T) int {
	if v != v {
		return slices.IndexFunc(x, func(u T) bool { return u != u })
	}
	switch x := any(x).(type) {
	case []float64:
		return vec.Index(x, float64(v))
	case []float32:
		return vec.Index(x, float32(v))
	case []int64:
		return vec.Index(x, int64(v))
	}
	return slices.Index(x, v)
}

// Places writes the place of the extreme element of every row of d.
func Places(out []int64, d *value.Dense, least bool) {
	dense.ForElem(d.Elem, argLines[float64], argLines[float32], argLines[int64], argLines[uint8])(out, d, least)
}
