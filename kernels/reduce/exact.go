package reduce

// This file defines reductions by exact sums: sum, mean, norm, var and stddev.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
)

// sums returns how many exact sums a reduction of elements of e needs. A norm needs that of the
// squares, and a variance also that of the elements. 0: it needs none.
func (w *Whole) sums(e types.Elem) int {
	switch w.Class {
	case loop.Sum:
		if e.IsFloat() {
			return 1
		}
	case loop.Mean, loop.Norm:
		return 1
	case loop.Var, loop.Stddev:
		return 2
	}
	return 0
}

// PutFloat sets element i of a contiguous vector of floats.
func PutFloat(out *value.Dense, i int, x float64) {
	if out.Elem == types.F32 {
		out.F32[i] = float32(x)
	} else {
		out.F64[i] = x
	}
}

// ByRow writes the reduction of each row of the n x m matrix a to the n x 1 column out. If a is a
// column, out may share its memory. s is memory for the states.
func (f *Fold) ByRow(out, a *value.Dense, s *Accumulators) {
	if f.Extreme() {
		lines := dense.ForElem(a.Elem, extremeLines[float64], extremeLines[float32], extremeLines[int64], extremeLines[uint8])
		lines(out, a, f.Whole.Class == loop.Least)
		return
	}
	for i := range a.Rows {
		a.Window(&s.list, i, 0, 1, a.Cols)
		f.listed(out, i, a.Cols, s)
	}
}

// EachList sets element i of out, a column, for lo <= i < hi, to the reduction of n elements: of those
// of the row that list writes, a window of one row, and of zeros.
func (f *Fold) EachList(out *value.Dense, lo, hi, n int, list func(i int, row *value.Dense)) {
	s := pool.Get().(*Accumulators)
	defer pool.Put(s)
	for i := lo; i < hi; i++ {
		list(i, &s.list)
		f.listed(out, i, n, s)
	}
	s.list = value.Dense{}
}

// listed sets element i of out to the reduction of n elements: of those of s.list, and of zeros.
func (f *Fold) listed(out *value.Dense, i, n int, s *Accumulators) {
	if c := f.Whole.Class; s.list.Elem == types.F64 && (c == loop.Sum || c == loop.Mean || c == loop.Norm) { // they need no state
		v := exact.Of(s.list.F64[:s.list.Cols], c == loop.Norm)
		switch c {
		case loop.Mean:
			v /= float64(n)
		case loop.Norm:
			v = math.Sqrt(v)
		}
		if v != v {
			v = math.NaN() // 0 / 0 has another sign
		}
		out.F64[i] = v
		return
	}
	s.Open(f, s.list.Elem, 0, 1)
	s.Add(&s.list, 0, 0, 0)
	out.Set(i, 0, s.Result(0, out.Elem, n))
}
