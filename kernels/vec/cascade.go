package vec

// This file defines what error-free cascades return.

import (
	"math"
	"unsafe"
)

// Terms is room for the terms of a cascade, its vector of lost errors, and, of the chain machine, what it has still to add and
// what nearSum keeps. It should begin with a cache line.
type Terms [72 + 64 + 16]float64

// NewTerms is one that begins with a cache line: half of the vectors of another would lie on two.
func NewTerms() *Terms {
	room := new([2]Terms)
	over := uintptr(unsafe.Pointer(room)) % 64 // a multiple of 8, and stays so: the collector moves nothing
	return (*Terms)(unsafe.Add(unsafe.Pointer(room), (64-over)%64))
}

// Pointer is the operand of a link whose state t is.
func (t *Terms) Pointer() unsafe.Pointer { return unsafe.Pointer(t) }

// exact reports that the w lost errors after n terms are all zero; a NaN anywhere in a cascade ends up there.
func (t *Terms) exact(n, w int) bool {
	var bad uint64
	for _, v := range t[n : n+w] {
		bad |= math.Float64bits(v) << 1
	}
	return bad == 0
}
