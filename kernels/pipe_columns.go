package kernels

// This file reduces columns. Memory is read by rows, so that the state is that of all columns in
// work.

import (
	"slices"

	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

// columnElems is the largest block of columns, half of what a second-level cache of 512 KiB holds.
// It has no more rows than a cascade of package exact takes.
const columnElems = 32 << 10

// columnRows is the rows of a block of so many columns.
func columnRows(cols int) int {
	return min(exact.BlockRows, columnElems/min(cols, columnGroup))
}

// columnState is the reduction of columns c0..c1-1 so far.
type columnState struct {
	c0, c1 int
	sums   columnSums
	n      []int64      // counts, sums of integers, or the rows of extreme elements; -1: none yet
	next   []int        // of every column that begins a block: the row behind those that have been looked at for extreme elements
	best   *value.Dense // extreme elements, 1 x (c1-c0)
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
		s.next = resized(s.next, n)
		clear(s.next)
	case f.inColumns(f.elem):
		s.sums.begin(f.w, f.elem, n)
	case f.extreme():
		f.w.empty(f.one)
		if s.best == nil || s.best.Elem != f.elem || s.best.Cols != n {
			s.best = value.New(f.elem, 1, n)
		}
		b := dense.SlabOf(s.best, 0, n)
		dense.Fill(&b, f.elem, f.one.At(0, 0), 0, n)
	default: // a count, or a sum of integers
		s.n = resized(s.n, n)
		clear(s.n)
	}
}

// resized is n elements of s, of which nothing is known, in its memory if that is enough.
func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// add takes in a block whose first element is (i0, j0) of the index space.
func (s *columnState) add(f *folder, b *value.Dense, i0, j0 int) {
	j := j0 - s.c0
	switch {
	case f.inColumns(f.elem):
		s.sums.add(j, b)
	case f.arg:
		s.place(f, b, i0, j)
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
				vec.AddI64(n, n, b.I64[i*b.Stride:][:b.Cols])
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

// place looks for the extreme elements of a block whose first element is that of row i0 and of
// column j of the state.
func (s *columnState) place(f *folder, b *value.Dense, i0, j int) {
	behind := i0 >= s.next[j]
	s.next[j] = max(s.next[j], i0+b.Rows)
	switch at := s.n[j : j+b.Cols]; b.Elem {
	case types.F64:
		placeColumns(at, s.best.F64[j:], b.F64, b, i0, f.least, behind)
	case types.F32:
		placeColumns(at, s.best.F32[j:], b.F32, b, i0, f.least, behind)
	case types.Bool:
		placeColumns(at, s.best.Bool[j:], b.Bool, b, i0, f.least, behind)
	default:
		placeColumns(at, s.best.I64[j:], b.I64, b, i0, f.least, behind)
	}
}

// placeColumns looks for the extreme elements of columns in a block whose first row is i0, behind
// all that have been looked at or not. Of equal ones it is the first, though a worker may get an
// earlier block after a later one.
func placeColumns[T vec.Element](at []int64, best, x []T, d *value.Dense, i0 int, least, behind bool) {
	for i := range d.Rows {
		row := int64(i0 + i)
		line := x[i*d.Stride : i*d.Stride+d.Cols]
		at, best := at[:len(line)], best[:len(line)]
		switch {
		case at[0] < 0:
			copy(best, line)
			for j := range at {
				at[j] = row
			}
		case !behind:
			for j, v := range line {
				if beats(v, best[j], least) || row < at[j] && !beats(best[j], v, least) {
					best[j], at[j] = v, row
				}
			}
		case least:
			for j, v := range line {
				if v < best[j] || v != v && best[j] == best[j] {
					best[j], at[j] = v, row
				}
			}
		default:
			for j, v := range line {
				if v > best[j] || v != v && best[j] == best[j] {
					best[j], at[j] = v, row
				}
			}
		}
	}
}

// merge takes in the same columns of other rows.
func (s *columnState) merge(f *fold, e types.Elem, o *columnState) {
	if f.inColumns(e) {
		s.sums.merge(&o.sums)
		return
	}
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
		case f.extreme():
		default:
			s.n[j] += o.n[j]
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
	if f.inColumns(f.elem) {
		s.sums.put(out, s.c0, rows)
		return
	}
	for j := range s.c1 - s.c0 {
		x := value.Scalar{Elem: out.Elem}
		switch {
		case f.arg:
			x.I = s.n[j]
		case f.extreme():
			x = define.Canonical(s.best.At(0, j))
		case f.w.name == "any":
			x = value.Bool(s.n[j] > 0)
		case f.w.name == "all":
			x = value.Bool(s.n[j] == int64(rows))
		default:
			x.I = s.n[j]
		}
		out.Set(0, s.c0+j, x)
	}
}

// reduceColumns adds an area of whole columns' pieces to the state of the columns in work.
func (m *machine) reduceColumns(x *execution, a area) error {
	rows := columnRows(a.cols())
	for i := a.i0; i < a.i1; i += rows {
		for j := a.j0; j < a.j1; j += columnGroup {
			b, err := m.make(x, area{i, min(i+rows, a.i1), j, min(j+columnGroup, a.j1)})
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
