package reduce

// This file reduces rows and columns by way of exact sums: sum, mean, norm, var and stddev.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

// The sums that a reduction is made of: of the elements, of their squares.
var (
	ofElements = []bool{false}
	ofSquares  = []bool{true}
	ofBoth     = []bool{false, true}
)

// exactParts says of which exact sums a reduction of elements of e is made, and which are of
// squares; nil if it is not.
func (w *Whole) exactParts(e types.Elem) (squares []bool) {
	switch w.Class {
	case loop.Sum:
		if e.IsFloat() {
			return ofElements
		}
	case loop.Mean:
		return ofElements
	case loop.Norm:
		return ofSquares
	case loop.Var, loop.Stddev:
		return ofBoth
	}
	return nil
}

// PutFloat sets element i of a contiguous vector of floats.
func PutFloat(out *value.Dense, i int, x float64) {
	if out.Elem == types.F32 {
		out.F32[i] = float32(x)
	} else {
		out.F64[i] = x
	}
}

// widener holds a row or a column converted to float64, because exact sums take float64.
type widener []float64

func (w *widener) floats(line *value.Dense) []float64 {
	n := line.Cols
	x := slices.Grow((*w)[:0], n)[:n]
	switch *w = x; line.Elem {
	case types.F32:
		vec.Convert(x, line.F32)
	case types.Bool:
		vec.Convert(x, line.Bool)
	case types.I64:
		vec.Convert(x, line.I64[:n])
	default:
		return line.F64[:n]
	}
	return x
}

// ints reports whether sums of elements of e are sums of integers, which float64 may not represent.
func (w *Whole) ints(e types.Elem) bool { return e == types.I64 && w.Class == loop.Mean }

// summands returns block a as the exact sums of parts add it. The integers of a variance become floats,
// because their squares are floats.
func summands(a *value.Dense, parts []bool) *value.Dense {
	if len(parts) == 2 && a.Elem == types.I64 {
		return dense.Widened(a, types.F64)
	}
	return a
}

// addBlock adds the summands a, or their squares, to x.
func addBlock(x *exact.Sum, a *value.Dense, squares bool) {
	if squares {
		squaresTo(x, a)
	} else {
		exactTo(x, a)
	}
}

// addFloats adds numbers, or their squares, to an exact sum.
func addFloats(sum *exact.Sum, x []float64, squares bool) {
	if squares {
		sum.AddSquares(x)
	} else {
		sum.AddSlice(x)
	}
}

// ByRow writes the reduction of each row of the n x m matrix a to the n x 1 column out. If a is a column, out
// may share its memory.
func (w Whole) ByRow(out, a *value.Dense, r *Room) {
	list := w.exactParts(a.Elem)
	if list == nil {
		dense.ForElem(a.Elem, linesOf[float64], linesOf[float32], linesOf[int64], linesOf[uint8])(w.Class, out, a)
		return
	}
	for i := range a.Rows {
		a.Window(&r.row, i, 0, 1, a.Cols)
		w.exactLine(out, i, a.Cols, list, r)
	}
}

// EachList sets element i of out, for lo <= i < hi, to the reduction of n elements, which is made of
// exact sums: of those of the row that list writes, a window of one row, and of zeros.
func (w *Whole) EachList(out *value.Dense, lo, hi, n int, list func(i int, row *value.Dense)) {
	r := linePool.Get().(*Room)
	defer linePool.Put(r)
	for i := lo; i < hi; i++ {
		list(i, &r.row)
		w.exactLine(out, i, n, w.exactParts(r.row.Elem), r)
	}
	r.row = value.Dense{}
}

// exactLine sets element i of out to the reduction of n elements: of those of r.row, and of zeros. It
// sums a short row without an accumulator where that loses no bit.
func (w *Whole) exactLine(out *value.Dense, i, n int, list []bool, r *Room) {
	if w.Class == loop.Sum && r.row.Elem == types.F64 { // the most frequent: 0.3 of the time of what follows
		out.F64[i] = exact.Of(r.row.F64[:r.row.Cols])
		return
	}
	var x []float64
	ints := w.ints(r.row.Elem)
	if r.row.Cols > 0 && !ints {
		x = r.wide.floats(&r.row)
	}
	if n > 0 && (x != nil || r.row.Cols == 0) {
		var parts [2]exact.Parts
		sure := true
		for k, squares := range list {
			ok := false
			parts[k], ok = exact.PartsOf(x, squares)
			sure = sure && ok
		}
		if sure && w.PutParts(out, i, n, parts) {
			return
		}
	}
	r.sums = [2]exact.Sum{}
	if ints && r.row.Cols > 0 {
		r.sums[0].AddInts(r.row.I64[:r.row.Cols])
	}
	for k, squares := range list {
		addFloats(&r.sums[k], x, squares)
	}
	PutFloat(out, i, exact.Reduced(w.Class, &r.sums[0], &r.sums[len(list)-1], n, out.Elem == types.F32))
}
