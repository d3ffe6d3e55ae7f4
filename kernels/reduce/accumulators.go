package reduce

// This file adds up reductions block by block.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/state"
	"flow/kernels/vec"
)

// Accumulators holds the states of a reduction, one for each line. The line of a reduction of all
// elements is the whole matrix, that of a reduction of rows the row in work; a reduction of columns has
// a line for each column. The memory serves the next reduction after Open.
type Accumulators struct {
	of       *Fold
	elem     types.Elem
	first, n int         // the lines are first..first+n-1
	begun    bool        // the states are in memory
	class    loop.Class  // of the states
	takes    types.Elem  // what they take
	st       state.State // nil: none yet
	one      dense.Slab  // an element of each type
	turned   *value.Dense
	row      value.Dense
	line     value.Dense
	list     value.Dense // see Fold.ByRow
	at       [1]int64
}

// Open starts the reduction f of lines first..first+n-1 of elements of e.
func (s *Accumulators) Open(f *Fold, e types.Elem, first, n int) {
	s.of, s.elem, s.first, s.n, s.begun = f, e, first, n, false
}

// Alike returns empty states of the same reduction of the same lines.
func (s *Accumulators) Alike() *Accumulators {
	return &Accumulators{of: s.of, elem: s.elem, first: s.first, n: s.n}
}

// begin makes the states empty. It is called on first use, because states may be larger than the
// elements of a small reduction.
func (s *Accumulators) begin() {
	if s.begun {
		return
	}
	s.begun = true
	if class, takes := s.of.states(s.elem); s.st == nil || s.class != class || s.takes != takes {
		s.class, s.takes, s.st = class, takes, state.New(class, takes)
	}
	s.st.Reset(s.n)
}

// Add adds a block whose first element is (i0, j0) of an index space of cols columns.
func (s *Accumulators) Add(b *value.Dense, i0, j0, cols int) {
	s.begin()
	switch f := s.of; {
	case f.Axis == OverCols:
		s.eachColumn(b, j0, func(k int, line *value.Dense) { s.add(k, line, i0) })
	case f.Arg():
		if f.Axis == OverAll && b.Stride == cols { // whole rows are one
			s.row = *b
			b = &s.row
			b.Rows, b.Cols = min(b.Rows, 1), b.Rows*b.Cols
		}
		for i := range b.Rows {
			b.Window(&s.line, i, 0, 1, b.Cols)
			at := j0
			if f.Axis == OverAll {
				at += (i0 + i) * cols
			}
			s.add(0, &s.line, at)
		}
	default:
		s.add(0, b, 0)
	}
}

// AddPart adds a block whose first column is j0 to the exact sums of one part.
func (s *Accumulators) AddPart(part int, b *value.Dense, j0 int) {
	s.begin()
	sums := s.st.(*state.Exact)
	add := func(k int, b *value.Dense) {
		dense.EachRun(b, func(run dense.Slab, n int) { sums.AllTo(part, k, &run, n) })
	}
	if s.of.Axis != OverCols {
		add(0, b)
		return
	}
	s.eachColumn(b, j0, add)
}

// eachColumn calls f with each column of a block, as a row, and the number of its line.
func (s *Accumulators) eachColumn(b *value.Dense, j0 int, f func(k int, line *value.Dense)) {
	if s.turned == nil || s.turned.Elem != b.Elem || s.turned.Rows*s.turned.Cols < b.Rows*b.Cols {
		s.turned = value.New(b.Elem, b.Cols, b.Rows)
	}
	t := *s.turned
	t.Rows, t.Cols, t.Stride = b.Cols, b.Rows, b.Rows
	dense.Turn(&t, b)
	for k := range b.Cols {
		t.Window(&s.line, k, 0, 1, b.Rows)
		f(j0-s.first+k, &s.line)
	}
}

// add adds elements of line k. at is the number of the first one in the line.
func (s *Accumulators) add(k int, b *value.Dense, at int) {
	if b.Rows*b.Cols == 0 {
		return
	}
	switch st := s.st.(type) {
	case state.Placing:
		least := s.class == loop.ArgLeast
		v := extreme(dense.SlabOf(b, 0, b.Cols), b.Elem, least)
		if st.Wins(k, v, int64(at)) {
			Places(s.at[:], b, least)
			st.Offer(k, v, int64(at)+s.at[0])
		}
	case *state.Exact:
		dense.EachRun(b, func(run dense.Slab, n int) { st.All(k, &run, nil, n) })
	case state.Joining:
		st.Join(k, s.of.Whole.part(b))
	}
}

// Place adds v, element number at of line j, to argmin or argmax.
func (s *Accumulators) Place(j int, v value.Scalar, at int) {
	s.begin()
	s.st.(state.Placing).Offer(j-s.first, v, int64(at))
}

// Adder returns an adder to exact sum number part of line j. It is valid until the next call of
// Adder.
func (s *Accumulators) Adder(part, j int) loop.Adder {
	s.begin()
	return s.st.(*state.Exact).Adder(part, j-s.first)
}

// Join merges v, an accumulator of one element, into line j.
func (s *Accumulators) Join(j int, v value.Scalar) {
	s.begin()
	s.st.(state.Joining).Join(j-s.first, v)
}

// MergePart adds exact sums to part number part of the lines: see state.Exact.
func (s *Accumulators) MergePart(part int, o *state.Exact) {
	s.begin()
	s.st.(*state.Exact).MergePart(part, o)
}

// JoinRow merges accumulators of one element, in a row, into the lines.
func (s *Accumulators) JoinRow(row *value.Dense) {
	s.begin()
	x := dense.SlabOf(row, 0, s.n)
	s.st.(state.Joining).JoinAll(&x)
}

// Take merges an accumulator for each line, in rows of acc.
func (s *Accumulators) Take(acc *value.Dense) {
	s.begin()
	if one, ok := s.st.(state.Joining); ok && acc.Stride == 1 {
		x := dense.SlabOf(acc, s.first, s.n)
		one.JoinAll(&x)
		return
	}
	s.eachRow(acc, func(k int, row *value.Dense) { s.st.(state.Accumulating).Take(k, row) })
}

// Merge adds the states of o, which has the same lines and other elements.
func (s *Accumulators) Merge(o *Accumulators) {
	if o.begun {
		s.begin()
		s.st.Merge(o.st)
	}
}

// Result returns the result of line j, which has count elements, as a number of e.
func (s *Accumulators) Result(j int, e types.Elem, count int) value.Scalar {
	s.begin()
	k := j - s.first
	if sums, ok := s.st.(*state.Exact); ok {
		*sums.Count(k) = int64(count)
	}
	to := &s.one
	if to.I64 == nil {
		*to = dense.Slab{F64: make([]float64, 1), F32: make([]float32, 1), I64: make([]int64, 1), Bool: make([]uint8, 1)}
	}
	s.st.Result(to, k, 1)
	switch e {
	case types.F64:
		return define.Canonical(value.F64(to.F64[0]))
	case types.F32:
		return define.Canonical(value.Scalar{Elem: e, F: float64(to.F32[0])})
	case types.Bool:
		return value.Bool(to.Bool[0] != 0)
	}
	return value.Scalar{Elem: e, I: to.I64[0]}
}

// eachRow calls f with the rows of accumulators and their lines.
func (s *Accumulators) eachRow(acc *value.Dense, f func(k int, row *value.Dense)) {
	for k := range s.n {
		acc.Window(&s.row, s.first+k, 0, 1, acc.Cols)
		f(k, &s.row)
	}
}

// Finish writes the results of lines of count elements to a row. A reduction that is a part (Fold.Part)
// writes its accumulators instead, a row for each line.
func (s *Accumulators) Finish(out *value.Dense, count int) {
	s.begin()
	_, one := s.st.(state.Joining)
	if s.of.Part && !(one && out.Stride == 1) {
		s.eachRow(out, func(k int, row *value.Dense) { s.st.(state.Accumulating).Put(row, k) })
		return
	}
	if sums, ok := s.st.(*state.Exact); ok {
		for k := range s.n {
			*sums.Count(k) = int64(count)
		}
	}
	to := dense.SlabOf(out, s.first, s.n)
	s.st.Result(&to, 0, s.n)
	canonical(to.F64)
	canonical(to.F32)
}

// canonical makes every nan the canonical one.
func canonical[T vec.Float](x []T) {
	for k, v := range x {
		if v != v {
			x[k] = T(math.NaN())
		}
	}
}
