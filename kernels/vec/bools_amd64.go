package vec

// This file defines the loops on bools and integers that have assembly, like those of loops_amd64.go.

import "golang.org/x/sys/cpu"

// haveDeposit says that the bits of a comparison become bytes in one instruction.
var haveDeposit = cpu.X86.HasBMI2

// compared is the part of n elements whose comparison has assembly.
func compared(n int) int {
	if !haveDeposit {
		return 0
	}
	return wholeF64(n)
}

// EqF64 is dst = a == b.
func EqF64(dst []uint8, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := compared(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		eqF64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		eqF64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Eq(dst[n:], a[n:], b[n:])
}

// EqI64 is dst = a == b.
func EqI64(dst []uint8, a, b []int64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := compared(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		eqI64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		eqI64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Eq(dst[n:], a[n:], b[n:])
}

// NeF64 is dst = a != b; NaN differs from everything.
func NeF64(dst []uint8, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := compared(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		neF64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		neF64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Ne(dst[n:], a[n:], b[n:])
}

// NeI64 is dst = a != b.
func NeI64(dst []uint8, a, b []int64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := compared(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		neI64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		neI64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Ne(dst[n:], a[n:], b[n:])
}

// LtF64 is dst = a < b.
func LtF64(dst []uint8, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := compared(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		ltF64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		ltF64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Lt(dst[n:], a[n:], b[n:])
}

// LtI64 is dst = a < b.
func LtI64(dst []uint8, a, b []int64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := compared(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		ltI64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		ltI64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Lt(dst[n:], a[n:], b[n:])
}

// LeF64 is dst = a <= b.
func LeF64(dst []uint8, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := compared(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		leF64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		leF64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Le(dst[n:], a[n:], b[n:])
}

// LeI64 is dst = a <= b.
func LeI64(dst []uint8, a, b []int64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := compared(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		leI64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		leI64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Le(dst[n:], a[n:], b[n:])
}

// AddI64 is dst = a + b.
func AddI64(dst, a, b []int64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := wholeF64(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		addI64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		addI64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Add(dst[n:], a[n:], b[n:])
}

// SubI64 is dst = a - b.
func SubI64(dst, a, b []int64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := wholeF64(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		subI64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		subI64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Sub(dst[n:], a[n:], b[n:])
}

// MulI64 is dst = a * b.
func MulI64(dst, a, b []int64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := 0
	if haveAVX512 {
		if n = len(dst) &^ 7; n > 0 {
			mulI64AVX512(&dst[0], &a[0], &b[0], 8*n)
		}
	}
	Mul(dst[n:], a[n:], b[n:])
}

// F64OfI64 is dst = a as float64, rounded to nearest even.
func F64OfI64(dst []float64, a []int64) {
	a = a[:len(dst)]
	n := 0
	if haveAVX512 {
		if n = len(dst) &^ 7; n > 0 {
			f64ofI64AVX512(&dst[0], &a[0], 8*n)
		}
	}
	Convert(dst[n:], a[n:])
}

// select64 is dst = c ? a : b for the first n elements, and says n.
func select64(dst []uint64, c []uint8, a, b []uint64) (n int) {
	c, a, b = c[:len(dst)], a[:len(dst)], b[:len(dst)]
	n = wholeF64(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		select64AVX512(&dst[0], &c[0], &a[0], &b[0], 8*n)
	default:
		select64AVX2(&dst[0], &c[0], &a[0], &b[0], 8*n)
	}
	return n
}
