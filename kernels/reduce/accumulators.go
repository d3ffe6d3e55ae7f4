package reduce

// This file keeps what a reduction has of the elements so far, for those that reduce blocks of them.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/exact"
)

// Accumulators is what a reduction has of some lines so far: of all elements, of the row in work, or
// of columns, of which each is a line.
type Accumulators struct {
	of       *Fold
	elem     types.Elem
	first, n int  // the lines are first..first+n-1
	begun    bool // they are in memory
	squares  []bool
	sums     [2][]exact.Sum // of reductions that are made of exact sums, by the places in squares
	acc      *value.Dense   // of others, a row for each line: its accumulator, or its extreme element
	place    []int64        // of argmin and argmax: where that is; -1: nowhere yet
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

// Begun reports that something was added since Open.
func (s *Accumulators) Begun() bool { return s.begun }

// begin makes the lines empty where they are first needed: of few elements, they are larger than these.
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

// lineOf is the accumulator of a line, until the next call.
func (s *Accumulators) lineOf(k int) *value.Dense {
	s.acc.Window(&s.row, k, 0, 1, 1)
	return &s.row
}

// Add takes in a block whose first element is (i0, j0) of an index space of cols columns.
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

// AddPart adds a block whose first column is j0 to the exact sums of that part.
func (s *Accumulators) AddPart(part int, b *value.Dense, j0 int) {
	s.begin()
	if s.of.Axis != OverCols {
		s.addSum(part, 0, b)
		return
	}
	s.eachColumn(b, j0, func(k int, line *value.Dense) { s.addSum(part, k, line) })
}

// eachColumn calls f with the lines of a block. Columns are turned, so that each is in one piece.
func (s *Accumulators) eachColumn(b *value.Dense, j0 int, f func(k int, line *value.Dense)) {
	if s.turned == nil || s.turned.Elem != b.Elem || s.turned.Rows*s.turned.Cols < b.Rows*b.Cols {
		s.turned = value.New(b.Elem, b.Cols, b.Rows)
	}
	t := *s.turned
	t.Rows, t.Cols, t.Stride = b.Cols, b.Rows, b.Rows
	dense.TurnInto(&t, b)
	for k := range b.Cols {
		t.Window(&s.line, k, 0, 1, b.Rows)
		f(j0-s.first+k, &s.line)
	}
}

// add takes in elements of a line, of which the first has the number at.
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
		if len(s.squares) == 2 && b.Elem == types.I64 { // once for both sums
			b = dense.Widened(b, types.F64)
		}
		for p := range s.squares {
			s.addSum(p, k, b)
		}
	}
}

// addSum adds elements to an exact sum. The variance of integers is that of floats.
func (s *Accumulators) addSum(part, k int, b *value.Dense) {
	if len(s.squares) == 2 && b.Elem == types.I64 {
		b = dense.Widened(b, types.F64)
	}
	if x := &s.sums[part][k]; s.squares[part] {
		squaresTo(x, b)
	} else {
		exactTo(x, b)
	}
}

// beats reports whether v, the element number at of a line, replaces its extreme element so far.
func (s *Accumulators) beats(k int, v value.Scalar, at int64) bool {
	have := s.place[k]
	if have < 0 {
		return true
	}
	best := s.acc.At(k, 0)
	return beatsScalar(v, best, s.of.Least) || at < have && !beatsScalar(best, v, s.of.Least)
}

// put makes v, the element number at of a line, its extreme element if it beats the one so far.
func (s *Accumulators) put(k int, v value.Scalar, at int64) {
	if s.beats(k, v, at) {
		s.acc.Set(k, 0, v)
		s.place[k] = at
	}
}

// Place takes in the element number at of line j, which is v.
func (s *Accumulators) Place(j int, v value.Scalar, at int) {
	s.begin()
	s.put(j-s.first, v, int64(at))
}

// Sum is the exact sum of line j that is number part of those that the reduction is made of.
func (s *Accumulators) Sum(part, j int) *exact.Sum {
	s.begin()
	return &s.sums[part][j-s.first]
}

// Join takes in an accumulator of line j that is one element.
func (s *Accumulators) Join(j int, v value.Scalar) {
	s.begin()
	s.one.Set(0, 0, v)
	s.of.Whole.Join(s.lineOf(j-s.first), s.one)
}

// Merge takes in the same lines of other elements.
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

// Result is the result, as one of e, for count elements of line j.
func (s *Accumulators) Result(j int, e types.Elem, count int) value.Scalar {
	s.begin()
	k := j - s.first
	switch {
	case s.of.Arg:
		return value.I64(s.place[k])
	case s.squares == nil:
		return s.of.Whole.Done(s.lineOf(k), e, count)
	}
	return define.Number(e, s.of.Whole.ofSums(&s.sums[0][k], &s.sums[len(s.squares)-1][k], count, e))
}

// Finish writes the results of columns, each of count elements, to a row, or accumulators, a row for
// each line.
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

// PutParts sets element j of the result of a reduction of n elements that is made of exact sums, if
// ok: of the elements, or of their squares alone, and of the squares if there are two.
func (w Whole) PutParts(out *value.Dense, j, n int, sums [2]exact.Parts) (ok bool) {
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

// PutSums sets element j from the exact sums themselves.
func (w Whole) PutSums(out *value.Dense, j, n int, sum, squares *exact.Sum) {
	PutFloat(out, j, w.ofSums(sum, squares, n, out.Elem))
}
