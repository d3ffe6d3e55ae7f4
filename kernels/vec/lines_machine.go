package vec

// This file runs products of sparse rows and lines by kernels, in strips of some columns: their
// widths show in no bit.

import (
	"unsafe"

	"flow/kernels/vec/machine"
)

// mostStrip is the columns of the widest strip.
const mostStrip = 32

// strip is how many vectors the next strip of so many columns has, and how many of the columns.
func strip(left int) (vectors, columns int) {
	columns = min(mostStrip, left)
	switch {
	case columns <= 8:
		return 1, columns
	case columns <= 16:
		return 2, columns
	}
	return 4, columns
}

// lineArgs is the arguments of a kernel of lines without values.
type lineArgs struct {
	out                       *float64
	ptr                       *int64
	col                       *int32
	b                         *float64
	rows, columns, ldout, ldb int
	lo, hi                    int // AddLines reads these
}

// run runs one of two kernels, the first if there are values.
func (a *lineArgs) run(valued, ones *machine.Kernel, val []float64) {
	if val == nil {
		ones.Call(machine.AVX512, unsafe.Pointer(a))
		return
	}
	args := struct {
		out                       *float64
		ptr                       *int64
		col                       *int32
		val, b                    *float64
		rows, columns, ldout, ldb int
		lo, hi                    int
	}{a.out, a.ptr, a.col, &val[0], a.b, a.rows, a.columns, a.ldout, a.ldb, a.lo, a.hi}
	valued.Call(machine.AVX512, unsafe.Pointer(&args))
}

// dotLines does the first rows; the result is how many.
func dotLines(out Lines, ptr []int64, col []int32, val []float64, b Lines) (n int) {
	if !haveGather {
		return 0
	}
	if n = rowsBefore(ptr, len(col), machine.LinesAhead); n == 0 {
		return 0
	}
	for c := 0; c < b.Cols; c += mostStrip {
		w, columns := strip(b.Cols - c)
		a := lineArgs{&out.X[c], &ptr[0], &col[0], &b.X[c], n, columns, 8 * out.Stride, 8 * b.Stride, 0, 0}
		a.run(machine.DotLines[w], machine.DotLinesOnes[w], val)
	}
	return n
}

// addLines reports whether it did all.
func addLines(out Lines, ptr []int64, col []int32, val []float64, b Lines, lo, hi int32) bool {
	if !haveGather || len(ptr) < 2 || len(col) == 0 {
		return false
	}
	for c := 0; c < b.Cols; c += mostStrip {
		w, columns := strip(b.Cols - c)
		a := lineArgs{&out.X[c], &ptr[0], &col[0], &b.X[c], len(ptr) - 1, columns, 8 * out.Stride, 8 * b.Stride, int(lo), int(hi)}
		a.run(machine.AddLines[w], machine.AddLinesOnes[w], val)
	}
	return true
}

// addRows reports whether it did all.
func addRows(sum []float64, ptr []int64, col []int32, val, x []float64, lo, hi int32) bool {
	if !haveGather || len(ptr) < 2 || len(col) == 0 {
		return false
	}
	if val == nil {
		args := struct {
			sum          *float64
			ptr          *int64
			col          *int32
			x            *float64
			rows, lo, hi int
		}{unsafe.SliceData(sum), &ptr[0], &col[0], &x[0], len(ptr) - 1, int(lo), int(hi)}
		machine.AddRowsOnes.Call(machine.AVX512, unsafe.Pointer(&args))
		return true
	}
	args := struct {
		sum          *float64
		ptr          *int64
		col          *int32
		val, x       *float64
		rows, lo, hi int
	}{unsafe.SliceData(sum), &ptr[0], &col[0], &val[0], &x[0], len(ptr) - 1, int(lo), int(hi)}
	machine.AddRows.Call(machine.AVX512, unsafe.Pointer(&args))
	return true
}
