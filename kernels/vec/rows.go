package vec

// This file finds the extremes of integers that the rows of a pattern name. Row i names x[col[k]] for
// ptr[i] <= k < ptr[i+1]. len(ptr) is len(out)+1, and every col[k] is an index of x.

import (
	"math"
	"sort"
	"unsafe"

	"flow/kernels/vec/machine"
)

// MaxRows raises out[i] to the greatest element that row i names. No named element is greater than bound, an
// int32. A row ends once it reaches bound: if most vertices of a graph have the greatest label already, few
// entries are read.
func MaxRows(out, ptr []int64, col, x []int32, bound int64) {
	for i := extremeRows(machine.MaxRows, out, ptr, col, x, bound); i < len(out); i++ {
		v, row := out[i], col[ptr[i]:ptr[i+1]]
		for ; len(row) >= abreast && v < bound; row = row[abreast:] {
			v = max(v, int64(max(x[row[0]], x[row[1]], x[row[2]], x[row[3]])))
		}
		for k := 0; k < len(row) && v < bound; k++ {
			v = max(v, int64(x[row[k]]))
		}
		out[i] = v
	}
}

// MinRows lowers out[i] to the least element that row i names. No named element is less than bound.
func MinRows(out, ptr []int64, col, x []int32, bound int64) {
	for i := extremeRows(machine.MinRows, out, ptr, col, x, bound); i < len(out); i++ {
		v, row := out[i], col[ptr[i]:ptr[i+1]]
		for ; len(row) >= abreast && v > bound; row = row[abreast:] {
			v = min(v, int64(min(x[row[0]], x[row[1]], x[row[2]], x[row[3]])))
		}
		for k := 0; k < len(row) && v > bound; k++ {
			v = min(v, int64(x[row[k]]))
		}
		out[i] = v
	}
}

// abreast is how many elements a row reads between two comparisons with the bound.
const abreast = 4

// extremeRows runs kernel k on the first n rows, and returns n.
func extremeRows(k *machine.Kernel, out, ptr []int64, col, x []int32, bound int64) (n int) {
	if !haveGather {
		return 0
	}
	if n = rowsBefore(ptr, len(col)); n > 0 {
		args := struct {
			out, ptr *int64
			col, x   *int32
			rows     int
			bound    int64
		}{&out[:n][0], &ptr[0], &col[0], &x[0], n, bound}
		k.Call(machine.AVX512, unsafe.Pointer(&args))
	}
	return n
}

// rowsBefore returns the number of rows whose ends a kernel can pass by machine.Ahead entries.
func rowsBefore(ptr []int64, entries int) int {
	return sort.Search(len(ptr)-1, func(i int) bool { return ptr[i+1] > int64(entries-machine.Ahead) })
}

// Narrow copies the low halves of src to dst, and says what the least and the greatest of src are:
// where both fit in an int32, dst is src. Of no elements they are the greatest and the least int64.
func Narrow(dst []int32, src []int64) (least, greatest int64) {
	n, least, greatest := narrowWhole(dst, src)
	if n == 0 {
		least, greatest = math.MaxInt64, math.MinInt64
	}
	for i := n; i < len(src); i++ {
		v := src[i]
		dst[i] = int32(v)
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest
}

// NarrowMarked is Narrow for the elements whose bits are set in marks: bit i stands for element i. The other
// elements of dst are undefined.
func NarrowMarked(dst []int32, src []int64, marks []uint64) (least, greatest int64) {
	n, least, greatest := narrowMarked(dst, src, marks)
	for i, end := n, 0; i < len(src); i = end {
		end = min(i&^63+64, len(src))
		dst, src, w := dst[i:end], src[i:end], marks[i/64]>>(i%64)
		if w == math.MaxUint64 { // most words are full
			lo, hi := Narrow(dst, src)
			least, greatest = min(least, lo), max(greatest, hi)
			continue
		}
		for k, v := range src { // no branch depends on a mark: among mixed ones it would often be mispredicted
			dst[k] = int32(v)
			lo, hi := v, v
			if w&1 == 0 {
				lo, hi = math.MaxInt64, math.MinInt64
			}
			least, greatest, w = min(least, lo), max(greatest, hi), w>>1
		}
	}
	return least, greatest
}

// narrowWhole is Narrow by a kernel for the first n elements. n is 0 if there is no kernel.
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

// narrowMarked is NarrowMarked by a kernel for the first n elements. n is 0 if there is no kernel.
func narrowMarked(dst []int32, src []int64, marks []uint64) (n int, least, greatest int64) {
	if n = len(src) &^ 7; !haveGather || n == 0 {
		return 0, math.MaxInt64, math.MinInt64
	}
	args := struct {
		dst   *int32
		src   *int64
		marks *uint64
		bytes int
		all   [2]int64
		of    [2]int64
	}{&dst[:n][0], &src[0], &marks[0], 8 * n, [2]int64{}, [2]int64{}}
	machine.NarrowMarkedI64.Call(machine.AVX512, unsafe.Pointer(&args))
	return n, args.of[0], args.of[1]
}
