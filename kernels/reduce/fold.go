package reduce

// This file lists the reductions for those that reduce what they make, without storing it.

import (
	"math"
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
)

// Axis is what a reduction goes over.
type Axis uint8

const (
	OverAll  Axis = iota // one result
	OverRows             // a result per row
	OverCols             // a result per column
)

// Fold is a reduction as those see it that run one over what they make: of all elements, of rows or
// of columns.
type Fold struct {
	Def   *op.Def
	Axis  Axis
	Whole Whole
	Part  bool // the result is the accumulator
}

// fold returns the reduction w over an axis, or its accumulators.
func (w Whole) fold(axis Axis, part bool) *Fold { return &Fold{Axis: axis, Whole: w, Part: part} }

// Arg reports argmin or argmax.
func (f *Fold) Arg() bool { return f.Whole.places() }

// Sums returns the number of exact sums from which loops make the result for elements of e. The second
// sum of a variance is that of the squares.
func (f *Fold) Sums(e types.Elem) int {
	if n := f.Whole.sums(e); n < 2 || e != types.I64 {
		return n
	}
	return 0
}

// states returns the class of the states of the reduction of elements of e (package state), and the
// type of what they take.
func (f *Fold) states(e types.Elem) (loop.Class, types.Elem) {
	switch c := f.Whole.Class; {
	case c == loop.Sum && e == types.Bool:
		return loop.Count, e
	case c == loop.Count || c == loop.Any || c == loop.All:
		return c, types.Bool
	default:
		return c, e
	}
}

// pool keeps Accumulators for kernels of one call, which may be a chunk of a few rows.
var pool = sync.Pool{New: func() any { return &Accumulators{} }}

// Of returns the reduction of all elements of a, as a number of e.
func (f *Fold) Of(a *value.Dense, e types.Elem) value.Scalar {
	s := pool.Get().(*Accumulators)
	defer pool.Put(s)
	s.Open(f, a.Elem, 0, 1)
	s.Add(a, 0, 0, a.Cols)
	return s.Result(0, e, a.Rows*a.Cols)
}

// Into reduces the columns of a into the row out, or writes accumulators to it: see
// Accumulators.Finish.
func (f *Fold) Into(out, a *value.Dense) {
	s, lines := pool.Get().(*Accumulators), 1
	defer pool.Put(s)
	if f.Axis == OverCols {
		lines = a.Cols
	}
	if s.Open(f, a.Elem, 0, lines); a.Rows*a.Cols > 0 {
		s.Add(a, 0, 0, a.Cols)
	}
	s.Finish(out, a.Rows)
}

// Extreme reports a least or greatest element.
func (f *Fold) Extreme() bool { return f.Whole.Class == loop.Least || f.Whole.Class == loop.Greatest }

// Named returns the reduction of that row, nil if there is none.
func Named(name string) *Fold { return Folds()[name] }

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
