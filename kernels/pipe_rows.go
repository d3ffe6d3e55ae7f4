package kernels

// This file reduces rows: several to a block where they are short, piece by piece where they are
// long.

import (
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
)

const (
	// rowsElems is the largest block of short rows: as many as package exact sums side by side.
	rowsElems = exact.RowsAtOnce * exact.LongestRow
	// registerRow is from how many elements on a row is reduced in registers: a sum of it then
	// begins and ends with half a microsecond.
	registerRow = 4 << 10
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
	if a.cols() <= exact.LongestRow {
		rows = (rows + exact.RowsAtOnce - 1) / exact.RowsAtOnce * exact.RowsAtOnce
	}
	for i := a.i0; i < a.i1; i += rows {
		b, err := m.make(x, area{i, min(i+rows, a.i1), a.j0, a.j1})
		if err != nil {
			return err
		}
		for k := range m.f {
			if f := &m.f[k]; f.axis == overRows {
				f.reduceRows(b, i)
			} else {
				f.add(b)
			}
		}
	}
	return nil
}

// reduceRows writes the results of the rows of a block, of which the first is row i.
func (f *folder) reduceRows(b *value.Dense, i int) {
	out := f.rowsOf(f.out, i, b.Rows)
	switch {
	case f.arg:
		argsOf(out.I64, b, true, f.least)
	case f.w.lines(out, b, true, &f.room):
	default:
		f.w.rows(out, b, &f.room)
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
	inRegisters := x.elem == types.F64 && x.cols >= registerRow && m.isPure()
	for k := range m.f {
		m.f[k].beginRow()
		inRegisters = inRegisters && !m.f[k].arg
	}
	err := error(nil)
	if row := (area{i, i + 1, 0, x.cols}); inRegisters {
		err = row.split(loopUnit, 1, func(a area) error { return m.reduceArea(x, a) })
	} else {
		err = row.split(blockElems, 1, func(a area) error { return m.placeBlock(x, a) })
	}
	if err != nil {
		return err
	}
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
		if f := &m.f[k]; f.arg {
			f.place(b, a.j0)
		} else {
			f.add(b)
		}
	}
	return nil
}

// beginRow starts a row that is reduced piece by piece.
func (f *folder) beginRow() {
	if f.axis != overRows {
		return
	}
	f.resetSums()
	f.best.at = -1
	if !f.arg {
		f.w.empty(f.acc)
	}
}

// place looks for the extreme element in a piece of a row from column j on.
func (f *folder) place(b *value.Dense, j int) {
	var at [1]int64
	argsOf(at[:], b, true, f.least)
	if v := b.At(0, int(at[0])); f.best.at < 0 || beatsScalar(v, f.best.v, f.least) {
		f.best.v, f.best.at = v, int64(j)+at[0]
	}
}

// endRow writes the result of row i, of n elements.
func (f *folder) endRow(i, n int) {
	if f.axis != overRows {
		return
	}
	switch {
	case f.arg:
		f.out.I64[i] = f.best.at
		return
	}
	f.putSums()
	f.out.Set(i, 0, f.w.done(f.acc, f.out.Elem, n))
}

func beatsScalar(v, best value.Scalar, least bool) bool {
	if v.Elem.IsFloat() {
		return beats(v.F, best.F, least)
	}
	return beats(v.I, best.I, least)
}

// argsOf writes the place of the extreme element of every line of d.
func argsOf(out []int64, d *value.Dense, byRow, least bool) {
	switch d.Elem {
	case types.F64:
		argLines(out, d.F64, d, byRow, least)
	case types.F32:
		argLines(out, d.F32, d, byRow, least)
	case types.Bool:
		argLines(out, d.Bool, d, byRow, least)
	default:
		argLines(out, d.I64, d, byRow, least)
	}
}
