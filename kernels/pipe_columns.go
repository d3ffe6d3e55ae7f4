package kernels

// This file reduces columns. Memory is read by rows, so that the state is that of all columns in
// work.

import (
	"flow/kernels/exact"
	"flow/kernels/reduce"
)

// columnElems is the largest block of columns, half of what a second-level cache of 512 KiB holds.
// It has no more rows than a cascade of package exact takes.
const columnElems = 32 << 10

// columnRows is the rows of a block of so many columns.
func columnRows(cols int) int {
	return min(exact.BlockRows, columnElems/min(cols, columnGroup))
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
				if f := &m.f[k]; f.Axis == reduce.OverCols {
					f.cols.Add(b, i, j)
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
		if f := &m.f[k]; f.Axis == reduce.OverCols {
			f.cols.Begin(f.Fold, f.elem, a.j0, a.j1)
		}
	}
	err := m.reduceColumns(x, a)
	for k := range m.f {
		if f := &m.f[k]; f.Axis == reduce.OverCols && err == nil {
			f.cols.Finish(f.out, x.rows)
		}
	}
	return err
}
