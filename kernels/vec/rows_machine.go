package vec

// This file runs rows of sparse matrices by kernels. Integers have one maximum, and
// chains are gone along in order, so the choice shows in no bit.

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"

	"flow/kernels/vec/machine"
)

var haveGather = haveAVX512 && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2

// extremeRows does the first rows; the result is how many.
func extremeRows[T Element | int32](k *machine.Kernel, out, ptr []int64, col []int32, x []T, bound int64) (n int, longest int64) {
	if !haveGather {
		return 0, 0
	}
	if n = rowsBefore(ptr, len(col), machine.Ahead); n == 0 {
		return 0, 0
	}
	args := struct {
		out, ptr *int64
		col      *int32
		x        *T
		rows     int
		bound    int64
		longest  int64
	}{&out[:n][0], &ptr[0], &col[0], &x[0], n, bound, 0}
	k.Call(machine.AVX512, unsafe.Pointer(&args))
	return n, args.longest
}

// narrowWhole does the first elements; the result is how many.
func narrowWhole(dst []int32, src []int64) (n int, least, greatest int64) {
	if n = len(src) &^ 7; !haveGather || n == 0 {
		return 0, 0, 0
	}
	args := struct {
		dst             *int32
		src             *int64
		bytes           int
		least, greatest int64
	}{&dst[:n][0], &src[0], 8 * n, 0, 0}
	machine.NarrowI64.Call(machine.AVX512, unsafe.Pointer(&args))
	return n, args.least, args.greatest
}

// narrowSome is narrowWhole by a kernel k that also returns the least and the greatest of some elements. ptr
// says which, in the form that k takes.
func narrowSome(k *machine.Kernel, dst []int32, src []int64, ptr unsafe.Pointer) (n int, least, greatest, leastOf, greatestOf int64) {
	if n = len(src) &^ 7; !haveGather || n == 0 {
		return 0, math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64
	}
	args := struct {
		dst                                  *int32
		src                                  *int64
		ptr                                  unsafe.Pointer
		bytes                                int
		least, greatest, leastOf, greatestOf int64
	}{&dst[:n][0], &src[0], ptr, 8 * n, 0, 0, 0, 0}
	k.Call(machine.AVX512, unsafe.Pointer(&args))
	return n, args.least, args.greatest, args.leastOf, args.greatestOf
}

// Extremes is a fold of the rows of a sparse matrix: the greatest or least of Start and what the
// entries give.
type Extremes struct {
	Least bool
	Plus  bool // an entry gives val[k] + x[col[k]], not val[k] * x[col[k]]
	Start float64
}

// F64 sets out[i] to the extreme of row i for the first n rows, nan if one is NaN; a zero is +0.
// longest is the length of the longest of them. val = nil: an entry gives x[col[k]].
func (f Extremes) F64(out []float64, ptr []int64, col []int32, val, x []float64) (n int, longest int64) {
	if !haveGather {
		return 0, 0
	}
	if n = rowsBefore(ptr, len(col), machine.Ahead); n == 0 {
		return 0, 0
	}
	of := machine.ExtremesF64[0]
	if f.Least {
		of = machine.ExtremesF64[1]
	}
	k := of[machine.Alone]
	switch {
	case val != nil && f.Plus:
		k = of[machine.Plus]
	case val != nil:
		k = of[machine.Times]
	}
	args := struct {
		out        *float64
		ptr        *int64
		col        *int32
		val, x     *float64
		rows       int
		nan, start float64
		longest    int64
	}{&out[0], &ptr[0], &col[0], unsafe.SliceData(val), &x[0], n, math.NaN(), f.Start, 0}
	k.Call(machine.AVX512, unsafe.Pointer(&args))
	return n, args.longest
}

func sumRows(out []float64, ptr []int64, col []int32, x []float64) (n int) {
	if !haveAVX2 {
		return 0
	}
	if n = rowsBefore(ptr, len(col), machine.Ahead); n > 0 {
		args := struct {
			out  *float64
			ptr  *int64
			col  *int32
			x    *float64
			rows int
		}{&out[:n][0], &ptr[0], &col[0], &x[0], n}
		machine.SumRowsF64.Call(machine.AVX2, unsafe.Pointer(&args))
	}
	return n
}

func dotRows(out []float64, ptr []int64, col []int32, val, x []float64) (n int) {
	if !haveAVX2 {
		return 0
	}
	if n = rowsBefore(ptr, len(col), machine.Ahead); n > 0 {
		args := struct {
			out    *float64
			ptr    *int64
			col    *int32
			val, x *float64
			rows   int
		}{&out[:n][0], &ptr[0], &col[0], &val[0], &x[0], n}
		machine.DotRowsF64.Call(machine.AVX2, unsafe.Pointer(&args))
	}
	return n
}
