package vec

// This file defines the search for an element.

import (
	"unsafe"

	"flow/kernels/vec/machine"
)

// index is Index in plain Go.
func index[S Number](x []S, v S) int {
	for i, u := range x {
		if u == v {
			return i
		}
	}
	return -1
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
	if at := index(x[n:], v); at >= 0 {
		return n + at
	}
	return -1
}
