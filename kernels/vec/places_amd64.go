package vec

// This file chooses the loops of places.go, and those beside them, for this CPU.

// IndexF64 is Index.
func IndexF64(x []float64, v float64) int {
	n, at := wholeF64(len(x)), -1
	switch {
	case n == 0:
	case haveAVX512:
		at = findF64AVX512(&x[0], 8*n, &v)
	default:
		at = findF64AVX2(&x[0], 8*n, &v)
	}
	if at < 0 {
		if at = Index(x[n:], v); at >= 0 {
			at += n
		}
	}
	return at
}

// IndexF32 is Index.
func IndexF32(x []float32, v float32) int {
	n, at := wholeF32(len(x)), -1
	switch {
	case n == 0:
	case haveAVX512:
		at = findF32AVX512(&x[0], 4*n, &v)
	default:
		at = findF32AVX2(&x[0], 4*n, &v)
	}
	if at < 0 {
		if at = Index(x[n:], v); at >= 0 {
			at += n
		}
	}
	return at
}

// IndexI64 is Index.
func IndexI64(x []int64, v int64) int {
	n, at := wholeF64(len(x)), -1
	switch {
	case n == 0:
	case haveAVX512:
		at = findI64AVX512(&x[0], 8*n, &v)
	default:
		at = findI64AVX2(&x[0], 8*n, &v)
	}
	if at < 0 {
		if at = Index(x[n:], v); at >= 0 {
			at += n
		}
	}
	return at
}

// MinI64 is the elementwise minimum.
func MinI64(dst, a, b []int64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := wholeF64(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		minI64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		minI64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Min(dst[n:], a[n:], b[n:])
}

// MaxI64 is the elementwise maximum.
func MaxI64(dst, a, b []int64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := wholeF64(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		maxI64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		maxI64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Max(dst[n:], a[n:], b[n:])
}

// F64OfF32 is dst = a as float64.
func F64OfF32(dst []float64, a []float32) {
	a = a[:len(dst)]
	n := wholeF64(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		f64ofF32AVX512(&dst[0], &a[0], 8*n)
	default:
		f64ofF32AVX2(&dst[0], &a[0], 8*n)
	}
	for i, v := range a[n:] {
		dst[n+i] = float64(v)
	}
}
