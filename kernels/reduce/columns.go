package reduce

// This file reduces columns. Memory is read by rows, so the state holds all columns in work.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

// Columns is the reduction of columns c0..c1-1 so far.
type Columns struct {
	of     *Fold
	elem   types.Elem // of the elements
	c0, c1 int
	sums   columnSums
	n      []int64      // counts, sums of integers, or the rows of extreme elements; -1: none yet
	best   *value.Dense // extreme elements, 1 x (c1-c0)
	one    *value.Dense // 1 x 1: the extreme of nothing
}

// Reset forgets the columns; their memory is kept.
func (s *Columns) Reset() { s.c0, s.c1 = 0, 0 }

// Begin starts the reduction f of columns c0..c1-1 of elements of e.
func (s *Columns) Begin(f *Fold, e types.Elem, c0, c1 int) {
	n := c1 - c0
	s.of, s.elem, s.c0, s.c1 = f, e, c0, c1
	switch {
	case f.Arg:
		s.best, s.n = value.New(e, 1, n), dense.Resized(s.n, n)
		for j := range s.n {
			s.n[j] = -1
		}
	case f.inColumns(e):
		s.sums.begin(f.Whole, e, n)
	case f.Extreme():
		if s.one == nil || s.one.Elem != e {
			s.one = value.New(e, 1, 1)
		}
		f.Whole.Empty(s.one)
		if s.best == nil || s.best.Elem != e || s.best.Cols != n {
			s.best = value.New(e, 1, n)
		}
		b := dense.SlabOf(s.best, 0, n)
		dense.Fill(&b, e, s.one.At(0, 0), 0, n)
	default: // a count, or a sum of integers
		s.n = dense.Resized(s.n, n)
		clear(s.n)
	}
}

// Add takes in a block whose first element is (i0, j0) of the index space.
func (s *Columns) Add(b *value.Dense, i0, j0 int) {
	f := s.of
	j := j0 - s.c0
	switch {
	case f.inColumns(s.elem):
		s.sums.add(j, b, 0, len(s.sums.squares))
	case f.Arg:
		for i := range b.Rows {
			for k := range b.Cols {
				s.Place(j0+k, b.At(i, k), i0+i)
			}
		}
	case f.Extreme():
		switch pick := PickOf(f.Whole.Class == loop.Least); b.Elem {
		case types.F64:
			pickColumns(s.best.F64[j:j+b.Cols], b.F64, b, pick.F64)
		case types.F32:
			pickColumns(s.best.F32[j:j+b.Cols], b.F32, b, pick.F32)
		case types.Bool:
			pickColumns(s.best.Bool[j:j+b.Cols], b.Bool, b, pick.b)
		default:
			pickColumns(s.best.I64[j:j+b.Cols], b.I64, b, pick.I64)
		}
	default:
		switch n := s.n[j : j+b.Cols]; {
		case b.Elem == types.F64:
			countColumns(n, b.F64, b)
		case b.Elem == types.F32:
			countColumns(n, b.F32, b)
		case b.Elem == types.Bool: // sums too
			countColumns(n, b.Bool, b)
		case f.Whole.Class == loop.Sum:
			for i := range b.Rows {
				vec.Add(n, n, b.I64[i*b.Stride:][:b.Cols])
			}
		default:
			countColumns(n, b.I64, b)
		}
	}
}

func pickColumns[T vec.Element](best, x []T, d *value.Dense, pick func(dst, a, b []T)) {
	for i := range d.Rows {
		pick(best, best, x[i*d.Stride:i*d.Stride+d.Cols])
	}
}

// countColumns adds the number of elements that are not zero of every column of d, whose elements
// are x, to n.
func countColumns[T vec.Element](n []int64, x []T, d *value.Dense) {
	for i := range d.Rows {
		for j, v := range x[i*d.Stride : i*d.Stride+d.Cols] {
			if v != 0 {
				n[j]++
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

// Merge takes in the same columns of other rows.
func (s *Columns) Merge(o *Columns) {
	f := s.of
	if f.inColumns(s.elem) {
		s.sums.merge(&o.sums)
		return
	}
	for j := range s.c1 - s.c0 {
		switch {
		case f.Arg:
			if o.n[j] >= 0 {
				s.Place(s.c0+j, o.best.At(0, j), int(o.n[j]))
			}
		case f.Extreme():
		default:
			s.n[j] += o.n[j]
		}
	}
	if f.Arg || !f.Extreme() {
		return
	}
	switch pick := PickOf(f.Whole.Class == loop.Least); s.best.Elem {
	case types.F64:
		pick.F64(s.best.F64, s.best.F64, o.best.F64)
	case types.F32:
		pick.F32(s.best.F32, s.best.F32, o.best.F32)
	case types.Bool:
		pick.b(s.best.Bool, s.best.Bool, o.best.Bool)
	default:
		pick.I64(s.best.I64, s.best.I64, o.best.I64)
	}
}

// Finish writes the results of the columns, each of that many elements, to out.
func (s *Columns) Finish(out *value.Dense, rows int) {
	f := s.of
	if f.Part {
		s.putStates(out)
		return
	}
	if f.inColumns(s.elem) {
		s.sums.put(out, s.c0, rows)
		return
	}
	switch n := s.c1 - s.c0; {
	case f.Extreme():
		at := dense.SlabOf(out, s.c0, n)
		dense.CopySlab(&at, out.Elem, 0, dense.SlabOf(s.best, 0, n))
		oneNaN(at.F64)
		oneNaN(at.F32)
	case !f.Arg && (f.Whole.Class == loop.Any || f.Whole.Class == loop.All):
		for j, n := range s.n {
			out.Bool[s.c0+j] = Bit(f.Whole.Class == loop.Any && n > 0 || f.Whole.Class == loop.All && n == int64(rows))
		}
	default:
		copy(out.I64[s.c0:], s.n)
	}
}

// SumOf is the exact sum of column j that is number part of those that the reduction is made of.
func (s *Columns) SumOf(part, j int) *exact.Sum { return &s.sums.of[part][j-s.c0] }

// AddPart adds a block whose first column is j to the exact sums of that part.
func (s *Columns) AddPart(part int, b *value.Dense, j int) {
	s.sums.add(j-s.c0, b, part, part+1)
}

// Count adds counts, or sums of integers, of columns from j on.
func (s *Columns) Count(j int, n []int64) {
	to := s.n[j-s.c0:][:len(n)]
	for k, v := range n {
		to[k] += v
	}
}

// Place takes in row i of column j, whose element is v.
func (s *Columns) Place(j int, v value.Scalar, i int) {
	j -= s.c0
	best := s.best.At(0, j)
	if at := s.n[j]; at < 0 || BeatsScalar(v, best, s.of.Least) || !BeatsScalar(best, v, s.of.Least) && int64(i) < at {
		s.best.Set(0, j, v)
		s.n[j] = int64(i)
	}
}
