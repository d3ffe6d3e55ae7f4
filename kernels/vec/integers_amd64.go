package vec

// This file defines the loops on integers that have assembly, like those of loops_amd64.go.

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
