package vec

// This file defines the loops of functions on floats where there is no vector hardware, or too few
// elements for it. The call through a pointer is little beside a function. Roots and roundings come
// here from the interpreter alone, which runs loops of little work; arithmetic has loops of its own in
// arith.go.

// Map1F64 is the loop of a function of one float64.
func Map1F64(f func(float64) float64) func(dst, a []float64) {
	return func(dst, a []float64) {
		a = a[:len(dst)]
		for i, v := range a {
			dst[i] = f(v)
		}
	}
}

// Map1F32 is the same in float32: f in float64, rounded once more.
func Map1F32(f func(float64) float64) func(dst, a []float32) {
	return func(dst, a []float32) {
		a = a[:len(dst)]
		for i, v := range a {
			dst[i] = float32(f(float64(v)))
		}
	}
}

// Map2F64 is the loop of a function of two float64.
func Map2F64(f func(a, b float64) float64) func(dst, a, b []float64) {
	return func(dst, a, b []float64) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i, v := range a {
			dst[i] = f(v, b[i])
		}
	}
}

// Sign is -1, 0 or 1; zeros keep their sign, NaN stays.
func Sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}
