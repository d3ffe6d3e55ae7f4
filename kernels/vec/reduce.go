package vec

// This file defines reductions of a slice: its least and its greatest element, its sum, and the number of
// elements that are not zero. Plain loops reduce a slice that is shorter than a vector.

import (
	"slices"
	"unsafe"

	"flow/kernels/vec/machine"
)

// CountNonZero is the number of elements that are not 0.
func CountNonZero[S Element](a []S) (n int64) {
	for _, v := range a {
		n += int64(bit(v != 0))
	}
	return n
}

// SumI64 is the sum of x, which wraps.
func SumI64(x []int64) int64 {
	var a, b, c, d int64
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = a+x[0], b+x[1], c+x[2], d+x[3]
	}
	for _, v := range x {
		a += v
	}
	return a + b + c + d
}

// ordinal returns the number of an element type in machine.Extremes and machine.Form: f64, f32, i64.
func ordinal[T Number]() int {
	switch any(*new(T)).(type) {
	case float64:
		return 0
	case float32:
		return 1
	}
	return 2
}

// ExtremeRows sets out[i] to the least (lesser) or greatest element of row i of x. The row begins at x[i*ld]
// and has cols elements, at least one. The extreme of a row with a NaN is NaN, and -0 is less than 0.
func ExtremeRows[T Number](out, x []T, ld, cols int, lesser bool) {
	if len(out) == 0 {
		return
	}
	x = x[:(len(out)-1)*ld+cols]
	if whole[T](cols) == 0 {
		for i := range out {
			if row := x[i*ld:][:cols]; lesser {
				out[i] = slices.Min(row)
			} else {
				out[i] = slices.Max(row)
			}
		}
		return
	}
	k := machine.Extremes[ordinal[T]()][1-bit(lesser)]
	size := int(unsafe.Sizeof(x[0]))
	for i, n := 0, 0; i < len(out); i += n {
		n = min(len(out)-i, max(1, atOnce/cols))
		args := struct {
			x          *T
			bytes      int
			best       *T
			rows, step int
		}{&x[i*ld], cols * size, &out[i], n, ld * size}
		k.Call(set(), unsafe.Pointer(&args))
	}
}

// atOnce is about how many elements of several rows a kernel takes: the runtime cannot stop it.
const atOnce = 1 << 16

// Extreme returns the least (lesser) or greatest element of x, which is not empty. See ExtremeRows.
func Extreme[T Number](x []T, lesser bool) T {
	var out [1]T
	ExtremeRows(out[:], x, len(x), len(x), lesser)
	return out[0]
}

// Index returns the first place of x that equals v, or -1. No place equals NaN.
func Index[S Number](x []S, v S) int {
	n := whole[S](len(x))
	if n > 0 {
		args := struct {
			x     *S
			bytes int
			v     *S
			at    int
		}{&x[0], n * int(unsafe.Sizeof(v)), &v, 0}
		if machine.Find[ordinal[S]()].Call(set(), unsafe.Pointer(&args)); args.at >= 0 {
			return args.at
		}
	}
	if at := slices.Index(x[n:], v); at >= 0 {
		return n + at
	}
	return -1
}
