package vec

// This file defines the loops of functions on floats where there is no vector hardware, or too few
// elements for it. A function costs tens of cycles, so that the call through a pointer does not
// show; what is cheap has a loop of its own in arith.go.

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

// cubeF64 is dst = a * a * a.
func cubeF64(dst, a []float64) {
	var buf [256]float64
	for len(dst) > 0 {
		n := min(len(dst), len(buf))
		Mul(buf[:n], a[:n], a[:n])
		Mul(dst[:n], buf[:n], a[:n])
		dst, a = dst[n:], a[n:]
	}
}

// powerLoop is the loop of Pow. One exponent for all is the usual case; 2, 3 and 1.5 are products
// and roots then.
func powerLoop(general func(dst, a, b []float64)) func(dst, a, b []float64) {
	return func(dst, a, b []float64) {
		a, b = a[:len(dst)], b[:len(dst)]
		if len(b) == 0 {
			return
		}
		y := b[0]
		if y != 2 && y != 3 && y != 1.5 || !uniform(b) {
			general(dst, a, b)
			return
		}
		if y == 3 {
			cubeF64(dst, a)
			return
		}
		var buf [256]float64
		for len(dst) > 0 {
			n := min(len(dst), len(buf))
			d, x, t := dst[:n], a[:n], buf[:n]
			switch {
			case y == 2:
				Mul(d, x, x)
			case negative(x):
				general(d, x, b[:n])
			default:
				SqrtF64(t, x)
				Mul(d, x, t)
			}
			dst, a, b = dst[n:], a[n:], b[n:]
		}
	}
}

// negative reports an element below 0, for which a power of 1.5 is no product.
func negative(a []float64) bool {
	for _, v := range a {
		if v < 0 {
			return true
		}
	}
	return false
}

func uniform[T Float](b []T) bool {
	for _, v := range b {
		if v != b[0] {
			return false
		}
	}
	return true
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
