package vec

// This file defines the search for an element.

import (
	"unsafe"

	"flow/kernels/vec/machine"
)

// Index is where v stands first in x; -1 if nothing equals it.
func Index[S Element](x []S, v S) int {
	for i, u := range x {
		if u == v {
			return i
		}
	}
	return -1
}

// index is Index by a kernel, as far as whole vectors go.
func index[S Number](k *machine.Kernel, x []S, v S) int {
	n := whole[S](len(x))
	if n > 0 {
		args := struct {
			x     *S
			bytes int
			v     *S
			at    int
		}{&x[0], n * int(unsafe.Sizeof(v)), &v, 0}
		if k.Call(set(), unsafe.Pointer(&args)); args.at >= 0 {
			return args.at
		}
	}
	if at := Index(x[n:], v); at >= 0 {
		return n + at
	}
	return -1
}

// IndexF64 and its like are Index.
func IndexF64(x []float64, v float64) int { return index(machine.FindF64, x, v) }
func IndexF32(x []float32, v float32) int { return index(machine.FindF32, x, v) }
func IndexI64(x []int64, v int64) int     { return index(machine.FindI64, x, v) }
