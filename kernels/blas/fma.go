package blas

// This file defines the fused multiply-add of both element types in portable Go.

import (
	"math"
	"unsafe"
)

// fma returns x*y + z, rounded once.
func fma[T element](x, y, z T) T {
	if unsafe.Sizeof(x) == 8 {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	return fma32(x, y, z)
}

// fma32 returns x*y + z, rounded once to float32.
//
// The product of two 24-bit significands is exact in 53 bits. The sum is not always, and rounding
// it to float64 and then to float32 would round twice: wrong where the first rounding lands on the
// middle of two float32 values. So the sum is rounded to odd: where it is inexact and its last bit
// is even, it moves one step towards the exact value. An odd last bit is never a middle, and 53 >=
// 24+2 bits are enough for the second rounding to be the right one, subnormal results included
// (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
//
// T is float32.
func fma32[T element](x, y, z T) T {
	p := float64(x) * float64(y)
	c := float64(z)
	s := p + c
	bits := math.Float64bits(s)
	if bits&1 != 0 {
		return T(s) // already odd, or NaN
	}
	// The error of the sum, exactly (Knuth's TwoSum). Infinities give NaN here and are kept as they
	// are.
	t := s - p
	e := (p - (s - t)) + (c - t)
	switch {
	case e == 0 || e != e:
		return T(s)
	case (e > 0) == (s > 0):
		bits++ // the exact value lies further from zero
	default:
		bits--
	}
	return T(math.Float64frombits(bits))
}

// FMA returns x*y + z, rounded once: a step of the chains that every product is made of.
func FMA[T float32 | float64](x, y, z T) T { return fma(x, y, z) }
