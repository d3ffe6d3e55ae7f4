package reduce

// This file defines the accumulators of reductions that take elements block by block.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/exact"
)

// Accumulators holds the accumulators of a reduction, one for each line. The line of a reduction of all
// elements is the whole matrix, that of a reduction of rows the row in work; a reduction of columns has a
// line for each column. The memory serves the next reduction after Open.
type Accumulators struct {
	of       *Fold
	elem     types.Elem
	first, n int  // the lines are first..first+n-1
	begun    bool // the accumulators are in memory
	squares  []bool
	sums     [2][]exact.Sum // exact sums by part and line, if the reduction is made of them; see squares
	acc      *value.Dense   // otherwise: a row for each line, its accumulator or its extreme element
	place    []int64        // of argmin and argmax: the place of the extreme element; -1: no element yet
	one      *value.Dense   // an accumulator of one element
	turned   *value.Dense
	row      value.Dense
	line     value.Dense
	at       [1]int64
}

// Open starts the reduction f of lines first..first+n-1 of elements of e.
func (s *Accumulators) Open(f *Fold, e types.Elem, first, n int) {
	s.of, s.elem, s.first, s.n, s.begun = f, e, first, n, false
}

// Begun reports whether something was added since Open.
func (s *Accumulators) Begun() bool { return s.begun }

// begin makes the accumulators empty. It is called on first use, because accumulators may be larger than
// the elements of a small reduction.
func (s *Accumulators) begin() {
	if s.begun {
		return
	}
	s.begun = true
	f := s.of
	if s.squares = nil; !f.Arg {
		s.squares = f.Whole.exactParts(s.elem)
	}
	for k := range s.squares {
		s.sums[k] = dense.Resized(s.sums[k], s.n)
		clear(s.sums[k])
	}
	if s.squares != nil {
		return
	}
	t := types.DenseOf(s.elem, 1, 1)
	if !f.Arg {
		t = f.Whole.Acc(s.elem)
	}
	if s.acc == nil || s.acc.Elem != t.Elem || s.acc.Rows < s.n {
		s.acc, s.one = value.New(t.Elem, s.n, 1), value.New(t.Elem, 1, 1)
	}
	if f.Arg {
		s.place = dense.Resized(s.place, s.n)
		for k := range s.place {
			s.place[k] = -1
		}
		return
	}
	for k := range s.n {
		f.Whole.Empty(s.lineOf(k))
	}
}

// lineOf returns the accumulator of line k. It is valid until the next call.
func (s *Accumulators) lineOf(k int) *value.Dense {
	s.acc.Window(&s.row, k, 0, 1, 1)
	return &s.row
}

// Add adds a block whose first element is (i0, j0) of an index space of cols columns.
func (s *Accumulators) Add(b *value.Dense, i0, j0, cols int) {
	s.begin()
	switch f := s.of; {
	case f.Axis == OverCols:
		s.eachColumn(b, j0, func(k int, line *value.Dense) { s.add(k, line, i0) })
	case f.Arg:
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
	b = summands(b, s.squares)
	if s.of.Axis != OverCols {
		addBlock(&s.sums[part][0], b, s.squares[part])
		return
	}
	s.eachColumn(b, j0, func(k int, line *value.Dense) { addBlock(&s.sums[part][k], line, s.squares[part]) })
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
	switch f := s.of; {
	case f.Arg:
		v := extreme(dense.SlabOf(b, 0, b.Cols), b.Elem, f.Least)
		if s.beats(k, v, int64(at)) {
			Places(s.at[:], b, f.Least)
			s.put(k, v, int64(at)+s.at[0])
		}
	case s.squares == nil:
		f.Whole.Part(s.lineOf(k), b)
	default:
		b = summands(b, s.squares)
		for p, squares := range s.squares {
			addBlock(&s.sums[p][k], b, squares)
		}
	}
}

// beats reports whether v, element number at of line k, replaces the extreme element so far.
func (s *Accumulators) beats(k int, v value.Scalar, at int64) bool {
	have := s.place[k]
	if have < 0 {
		return true
	}
	best := s.acc.At(k, 0)
	return beatsScalar(v, best, s.of.Least) || at < have && !beatsScalar(best, v, s.of.Least)
}

// put makes v, element number at of line k, its extreme element if it beats the one so far.
func (s *Accumulators) put(k int, v value.Scalar, at int64) {
	if s.beats(k, v, at) {
		s.acc.Set(k, 0, v)
		s.place[k] = at
	}
}

// Place adds v, element number at of line j, to argmin or argmax.
func (s *Accumulators) Place(j int, v value.Scalar, at int) {
	s.begin()
	s.put(j-s.first, v, int64(at))
}

// Sum returns exact sum number part of line j.
func (s *Accumulators) Sum(part, j int) *exact.Sum {
	s.begin()
	return &s.sums[part][j-s.first]
}

// Join merges v, an accumulator of one element, into line j.
func (s *Accumulators) Join(j int, v value.Scalar) {
	s.begin()
	s.one.Set(0, 0, v)
	s.of.Whole.Join(s.lineOf(j-s.first), s.one)
}

// Merge adds the accumulators of o, which has the same lines and other elements.
func (s *Accumulators) Merge(o *Accumulators) {
	if !o.begun {
		return
	}
	s.begin()
	for k := range s.n {
		switch {
		case s.of.Arg && o.place[k] >= 0:
			s.put(k, o.acc.At(k, 0), o.place[k])
		case s.of.Arg:
		case s.squares == nil:
			s.of.Whole.Join(s.lineOf(k), o.lineOf(k))
		}
		for p := range s.squares {
			s.sums[p][k].Merge(&o.sums[p][k])
		}
	}
}

// Result returns the result of line j, which has count elements, as a number of e.
func (s *Accumulators) Result(j int, e types.Elem, count int) value.Scalar {
	s.begin()
	k := j - s.first
	switch {
	case s.of.Arg:
		return value.I64(s.place[k])
	case s.squares == nil:
		return s.of.Whole.Done(s.lineOf(k), e, count)
	}
	return define.Number(e, exact.Reduced(s.of.Whole.Class, &s.sums[0][k], &s.sums[len(s.squares)-1][k], count, e == types.F32))
}

// Finish writes the results of columns of count elements to a row. A reduction that is a part (Fold.Part)
// writes its accumulators instead, a row for each line.
func (s *Accumulators) Finish(out *value.Dense, count int) {
	s.begin()
	switch {
	case !s.of.Part:
		for j := s.first; j < s.first+s.n; j++ {
			out.Set(0, j, s.Result(j, out.Elem, count))
		}
	case s.squares == nil:
		out.View(s.first, 0, s.n, 1).CopyFrom(s.acc.View(0, 0, s.n, 1))
	default:
		for p := range s.squares {
			for k := range s.n {
				s.sums[p][k].PutWords(out.I64[(s.first+k)*out.Stride+p*exact.Words:][:exact.Words])
			}
		}
	}
}

// PutParts sets element j of out to the result of a reduction of n elements. sums[0] is the exact sum of the
// elements, for a norm of their squares. sums[1] is that of the squares for a variance. ok is false if the
// rounding is in doubt; then the element is not set.
func (w *Whole) PutParts(out *value.Dense, j, n int, sums [2]exact.Parts) (ok bool) {
	var v float64
	switch w.Class {
	case loop.Norm:
		v, ok = sums[0].Round()
		v = math.Sqrt(v)
	case loop.Mean:
		v, ok = sums[0].Round()
		v /= float64(n)
	case loop.Var, loop.Stddev:
		if v, ok = exact.Variance(&sums[0], &sums[1], n, out.Elem == types.F32 && w.Class == loop.Var); w.Class == loop.Stddev {
			v = math.Sqrt(v)
		}
	default:
		if out.Elem == types.F32 {
			var f float32
			f, ok = sums[0].Round32()
			v = float64(f)
		} else {
			v, ok = sums[0].Round()
		}
	}
	if ok {
		PutFloat(out, j, v)
	}
	return ok
}
