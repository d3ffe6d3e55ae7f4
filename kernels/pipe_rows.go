package kernels

// This file reduces rows: several to a block where they are short, piece by piece where they are
// long.

import (
	"flow/ir/loop"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/reduce"
)

// rowsElems is the largest block of short rows: as many as package exact sums side by side.
const rowsElems = exact.RowsAtOnce * exact.LongestRow

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
	if a.cols() <= exact.LongestRow {
		rows = (rows + exact.RowsAtOnce - 1) / exact.RowsAtOnce * exact.RowsAtOnce
	}
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
			f.place(b, a.j0)
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

// place looks for the extreme element in a piece of a row from column j on.
func (f *folder) place(b *value.Dense, j int) {
	var at [1]int64
	reduce.Places(at[:], b, f.Least)
	if v := b.At(0, int(at[0])); f.best.at < 0 || reduce.BeatsScalar(v, f.best.v, f.Least) {
		f.best.v, f.best.at = v, int64(j)+at[0]
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
