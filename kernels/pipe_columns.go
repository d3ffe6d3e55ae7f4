package kernels

// This file reduces columns. Memory is read by rows, so that the state is that of all columns in work.

import (
	"math"
	"slices"

	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

// A block of columns: its rows are one cascade of package exact each.
const (
	columnRows = exact.BlockRows
	columnCols = 2 * exact.BlockCols
)

// columnState is the reduction of columns c0..c1-1 so far.
type columnState struct {
	c0, c1 int
	sums   []exact.Sum
	n      []int64      // counts, sums of integers, or the rows of extreme elements; -1: none yet
	best   *value.Dense // extreme elements, 1 x (c1-c0)
	accs   []*value.Dense
	line   *value.Dense // a column of a block
	wide   []float64    // a block of float32 as float64
}

func (s *columnState) reset() { s.c0, s.c1 = 0, 0 }

// begin starts columns c0..c1-1 of elements of f.elem.
func (s *columnState) begin(f *folder, c0, c1 int) {
	n := c1 - c0
	s.c0, s.c1 = c0, c1
	switch {
	case f.arg:
		s.best, s.n = value.New(f.elem, 1, n), resized(s.n, n)
		for j := range s.n {
			s.n[j] = -1
		}
	case f.exactly(f.elem):
		s.sums = resized(s.sums, n)
		for j := range s.sums {
			s.sums[j].Reset()
		}
	case f.extreme():
		f.w.empty(f.one)
		if s.best == nil || s.best.Elem != f.elem || s.best.Cols != n {
			s.best = value.New(f.elem, 1, n)
		}
		b := slabOf(s.best, 0, n)
		fill(&b, f.elem, f.one.At(0, 0), 0, n)
	case f.counts():
		s.n = resized(s.n, n)
		clear(s.n)
	default:
		t := f.w.acc(f.elem)
		for len(s.accs) < n { // of one type whatever the elements are
			s.accs = append(s.accs, value.New(t.Elem, t.Rows, t.Cols))
		}
		for _, acc := range s.accs[:n] {
			f.w.empty(acc)
		}
	}
}

// resized is n elements of s, of which nothing is known, in its memory if that is enough.
func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// add takes in a block whose first element is (i0, j0) of the index space.
func (s *columnState) add(f *folder, b *value.Dense, i0, j0 int) {
	j := j0 - s.c0
	switch {
	case f.exactly(f.elem):
		s.addExact(f, b, j)
	case f.arg:
		switch at := s.n[j : j+b.Cols]; b.Elem {
		case types.F64:
			placeColumns(at, s.best.F64[j:], b.F64, b, i0, f.least)
		case types.F32:
			placeColumns(at, s.best.F32[j:], b.F32, b, i0, f.least)
		case types.Bool:
			placeColumns(at, s.best.Bool[j:], b.Bool, b, i0, f.least)
		default:
			placeColumns(at, s.best.I64[j:], b.I64, b, i0, f.least)
		}
	case f.extreme():
		switch pick := choose(f.w.name == "min"); b.Elem {
		case types.F64:
			pickColumns(s.best.F64[j:j+b.Cols], b.F64, b, pick.f64)
		case types.F32:
			pickColumns(s.best.F32[j:j+b.Cols], b.F32, b, pick.f32)
		case types.Bool:
			pickColumns(s.best.Bool[j:j+b.Cols], b.Bool, b, pick.b)
		default:
			pickColumns(s.best.I64[j:j+b.Cols], b.I64, b, pick.i64)
		}
	case !f.counts():
		if s.line == nil || s.line.Elem != f.elem || s.line.Cols != b.Rows {
			s.line = value.New(f.elem, 1, b.Rows)
		}
		for k := range b.Cols {
			for i := range b.Rows {
				s.line.Set(0, i, b.At(i, k))
			}
			f.w.part(s.accs[j+k], s.line)
		}
	default:
		switch n := s.n[j : j+b.Cols]; {
		case b.Elem == types.F64:
			countColumns(n, b.F64, b)
		case b.Elem == types.F32:
			countColumns(n, b.F32, b)
		case b.Elem == types.Bool: // sums too
			countColumns(n, b.Bool, b)
		case f.w.name == "sum":
			for i := range b.Rows {
				for k, v := range b.I64[i*b.Stride : i*b.Stride+b.Cols] {
					n[k] += v
				}
			}
		default:
			countColumns(n, b.I64, b)
		}
	}
}

func (s *columnState) addExact(f *folder, b *value.Dense, j int) {
	x := b.F64
	switch b.Elem {
	case types.F64:
	case types.F32:
		s.wide = resized(s.wide, b.Rows*b.Cols)
		x = s.wide
		vec.Convert(x, b.F32[:len(x)])
	default: // integers and bools: of these the sum of 2^53 and more is no float64
		for i := range b.Rows {
			for k := range b.Cols {
				v := b.At(i, k)
				if !f.squares() {
					s.sums[j+k].AddInt(v.I)
					continue
				}
				h, l := exact.Square(float64(v.I))
				s.sums[j+k].Add(h)
				s.sums[j+k].Add(l)
			}
		}
		return
	}
	for k := 0; k < b.Cols; k += exact.BlockCols {
		n := min(exact.BlockCols, b.Cols-k)
		exact.AddColumns(s.sums[j+k:j+k+n], x[k:], b.Cols, b.Rows, f.squares())
	}
}

func countColumns[T vec.Element](n []int64, x []T, d *value.Dense) {
	for i := range d.Rows {
		for j, v := range x[i*d.Stride : i*d.Stride+d.Cols] {
			if v != 0 {
				n[j]++
			}
		}
	}
}

func pickColumns[T vec.Element](best, x []T, d *value.Dense, pick func(dst, a, b []T)) {
	for i := range d.Rows {
		pick(best, best, x[i*d.Stride:i*d.Stride+d.Cols])
	}
}

// placeColumns looks for the extreme elements of columns in a block whose first row is i0. Of equal ones it is the first, though a
// worker may get an earlier block after a later one.
func placeColumns[T vec.Element](at []int64, best, x []T, d *value.Dense, i0 int, least bool) {
	for i := range d.Rows {
		row := int64(i0 + i)
		for j, v := range x[i*d.Stride : i*d.Stride+d.Cols] {
			if at[j] < 0 || beats(v, best[j], least) || row < at[j] && !beats(best[j], v, least) {
				best[j], at[j] = v, row
			}
		}
	}
}

// merge takes in the same columns of other rows.
func (s *columnState) merge(f *fold, e types.Elem, o *columnState) {
	for j := range s.c1 - s.c0 {
		switch {
		case f.arg:
			if o.n[j] < 0 {
				continue
			}
			a, b := s.best.At(0, j), o.best.At(0, j)
			if s.n[j] < 0 || beatsScalar(b, a, f.least) || !beatsScalar(a, b, f.least) && o.n[j] < s.n[j] {
				s.best.Set(0, j, b)
				s.n[j] = o.n[j]
			}
		case f.exactly(e):
			s.sums[j].Merge(&o.sums[j])
		case f.extreme():
		case f.counts():
			s.n[j] += o.n[j]
		default:
			f.w.join(s.accs[j], o.accs[j])
		}
	}
	if f.arg || !f.extreme() {
		return
	}
	switch pick := choose(f.w.name == "min"); s.best.Elem {
	case types.F64:
		pick.f64(s.best.F64, s.best.F64, o.best.F64)
	case types.F32:
		pick.f32(s.best.F32, s.best.F32, o.best.F32)
	case types.Bool:
		pick.b(s.best.Bool, s.best.Bool, o.best.Bool)
	default:
		pick.i64(s.best.I64, s.best.I64, o.best.I64)
	}
}

// finish writes the results of the columns, each of that many elements, to out.
func (s *columnState) finish(f *folder, out *value.Dense, rows int) {
	for j := range s.c1 - s.c0 {
		x := value.Scalar{Elem: out.Elem}
		switch {
		case f.arg:
			x.I = s.n[j]
		case f.exactly(f.elem) && f.squares():
			x = number(out.Elem, math.Sqrt(s.sums[j].Round()))
		case f.exactly(f.elem) && f.w.name == "mean":
			x = number(out.Elem, s.sums[j].Round()/float64(rows))
		case f.exactly(f.elem) && out.Elem == types.F32:
			x.F = float64(s.sums[j].Round32())
		case f.exactly(f.elem):
			x.F = s.sums[j].Round()
		case f.extreme():
			x = canonical(s.best.At(0, j))
		case f.w.name == "any":
			x = value.Bool(s.n[j] > 0)
		case f.w.name == "all":
			x = value.Bool(s.n[j] == int64(rows))
		case !f.counts():
			x = f.w.done(s.accs[j], out.Elem, rows)
		default:
			x.I = s.n[j]
		}
		out.Set(0, s.c0+j, x)
	}
}

// reduceColumns adds an area of whole columns' pieces to the state of the columns in work.
func (m *machine) reduceColumns(x *execution, a area) error {
	for i := a.i0; i < a.i1; i += columnRows {
		for j := a.j0; j < a.j1; j += columnCols {
			b, err := m.make(x, area{i, min(i+columnRows, a.i1), j, min(j+columnCols, a.j1)})
			if err != nil {
				return err
			}
			for k := range m.f {
				if f := &m.f[k]; f.axis == overCols {
					f.cols.add(f, b, i, j)
				} else {
					f.add(b)
				}
			}
		}
	}
	return nil
}

// columns reduces all rows of a group of columns and writes the results.
func (m *machine) columns(x *execution, a area) error {
	for k := range m.f {
		if f := &m.f[k]; f.axis == overCols {
			f.cols.begin(f, a.j0, a.j1)
		}
	}
	err := m.reduceColumns(x, a)
	for k := range m.f {
		if f := &m.f[k]; f.axis == overCols && err == nil {
			f.cols.finish(f, f.out, x.rows)
		}
	}
	return err
}
