package kernels

// This file reduces rows: several to a block where they are short, piece by piece where they are
// long.

import (
	"flow/ir/loop"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/reduce"
)

// reduceRows reduces an area of whole rows.
func (m *machine) reduceRows(x *execution, a area) error {
	if a.cols() > blockElems {
		for i := a.i0; i < a.i1; i++ {
			if err := m.longRow(x, i); err != nil {
				return err
			}
		}
		return nil
	}
	rows := max(1, blockElems/a.cols())
	for i := a.i0; i < a.i1; i += rows {
		b, err := m.make(x, area{i, min(i+rows, a.i1), a.j0, a.j1})
		if err != nil {
			return err
		}
		for k := range m.f {
			if f := &m.f[k]; f.Axis == reduce.OverRows {
				f.reduceRows(b, i)
			} else {
				f.add(b)
			}
		}
	}
	return nil
}

// reduceRows writes the results of the rows of a block, whose first row is row i.
func (f *folder) reduceRows(b *value.Dense, i int) {
	out := f.rowsOf(f.out, i, b.Rows)
	switch {
	case f.Arg:
		reduce.Places(out.I64, b, f.Least)
	case f.Whole.Lines(out, b, &f.room):
	default:
		f.Whole.ByRow(out, b, &f.room)
	}
}

// rowsOf is n elements of a column from i on.
func (f *folder) rowsOf(d *value.Dense, i, n int) *value.Dense {
	s := dense.SlabOf(d, i, n)
	f.view = value.Dense{Elem: d.Elem, Rows: n, Cols: 1, Stride: 1, F64: s.F64, F32: s.F32, I64: s.I64, Bool: s.Bool}
	return &f.view
}

// window.LongRow reduces row i piece by piece.
func (m *machine) longRow(x *execution, i int) error {
	for k := range m.f {
		m.f[k].beginRow()
	}
	err := error(nil)
	if row := (area{i, i + 1, 0, x.cols}); m.foldWorker(x) != nil {
		err = row.split(loop.NearCount, 1, func(a area) error { return m.reduceArea(x, a) })
	} else {
		err = row.split(blockElems, 1, func(a area) error { return m.placeBlock(x, a) })
	}
	if err != nil {
		return err
	}
	m.takeFolds()
	for k := range m.f {
		m.f[k].endRow(i, x.cols)
	}
	return nil
}

// placeBlock reduces a piece of a long row.
func (m *machine) placeBlock(x *execution, a area) error {
	b, err := m.make(x, a)
	if err != nil {
		return err
	}
	for k := range m.f {
		if f := &m.f[k]; f.Arg {
			f.place(b, a.j0, 0)
		} else {
			f.add(b)
		}
	}
	return nil
}

// beginRow starts a row that is reduced piece by piece.
func (f *folder) beginRow() {
	if f.Axis != reduce.OverRows {
		return
	}
	f.resetSums()
	f.best.at = -1
	if !f.Arg {
		f.Whole.Empty(f.acc)
	}
}

// place looks for the extreme element in a block. Element (i, 0) of the block has the number at + i*cols.
func (f *folder) place(b *value.Dense, at, cols int) {
	for i := range b.Rows {
		reduce.SetExtreme(f.one, dense.SlabOf(b, i*b.Stride, b.Cols), f.Least)
		if v, first := f.one.At(0, 0), int64(at+i*cols); f.beats(v, first) {
			var place [1]int64
			b.Window(&f.view, i, 0, 1, b.Cols)
			reduce.Places(place[:], &f.view, f.Least)
			f.better(v, first+place[0])
		}
	}
}

// beats reports whether v, the element number at, replaces the extreme element so far.
func (f *folder) beats(v value.Scalar, at int64) bool {
	best := &f.best
	return best.at < 0 || reduce.BeatsScalar(v, best.v, f.Least) || at < best.at && !reduce.BeatsScalar(best.v, v, f.Least)
}

// better makes v, the element number at, the extreme element if it beats the one so far. at is -1 if there is
// no such element.
func (f *folder) better(v value.Scalar, at int64) {
	if at >= 0 && f.beats(v, at) {
		f.best.v, f.best.at = v, at
	}
}

// endRow writes the result of row i, of n elements.
func (f *folder) endRow(i, n int) {
	if f.Axis != reduce.OverRows {
		return
	}
	switch {
	case f.Arg:
		f.out.I64[i] = f.best.at
		return
	}
	f.putSums()
	f.out.Set(i, 0, f.Whole.Done(f.acc, f.out.Elem, n))
}
