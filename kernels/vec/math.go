package vec

// This file defines the loops of functions on floats. A function of package math costs tens of cycles, so that the
// call through a pointer does not show; what is cheap has a loop of its own in arith.go.

import "math"

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

// Map2F32 is the same in float32: f in float64, rounded once more.
func Map2F32(f func(a, b float64) float64) func(dst, a, b []float32) {
	return func(dst, a, b []float32) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i, v := range a {
			dst[i] = float32(f(float64(v), float64(b[i])))
		}
	}
}

// Pow is x to the y-th power. Small exponents that programs write are products and square roots; their last bit
// may differ from math.Pow, so they belong to the definition and are not an optimisation.
func Pow(x, y float64) float64 {
	switch y {
	case 2:
		return x * x
	case 3:
		return x * x * x
	case -1:
		return 1 / x
	case 1.5:
		if x >= 0 {
			return x * math.Sqrt(x)
		}
	}
	return math.Pow(x, y)
}

// PowF64 is dst = a to the power b. One exponent for all is the usual case; 2, 3 and 1.5 are products and roots then.
func PowF64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	if len(b) == 0 {
		return
	}
	y := b[0]
	if y != 2 && y != 3 && y != 1.5 || !uniform(b) {
		powers(dst, a, b)
		return
	}
	var buf [256]float64
	for len(dst) > 0 {
		n := min(len(dst), len(buf))
		d, x, t := dst[:n], a[:n], buf[:n]
		switch {
		case y == 2:
			MulF64(d, x, x)
		case y == 3:
			MulF64(t, x, x)
			MulF64(d, t, x)
		case negative(x):
			powers(d, x, b[:n])
		default:
			SqrtF64(t, x)
			MulF64(d, x, t)
		}
		dst, a, b = dst[n:], a[n:], b[n:]
	}
}

// PowF32 is the same in float32, rounded once from float64; a square is just the float32 product.
func PowF32(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	if len(b) > 0 && b[0] == 2 && uniform(b) {
		MulF32(dst, a, a)
		return
	}
	for i, v := range a {
		dst[i] = float32(Pow(float64(v), float64(b[i])))
	}
}

func powers(dst, a, b []float64) {
	for i, v := range a {
		dst[i] = Pow(v, b[i])
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

// Mod is the remainder of x by y with the sign of y, as integers have it; exact like math.Mod.
func Mod(x, y float64) float64 {
	r := math.Mod(x, y)
	if r != 0 && (r < 0) != (y < 0) {
		return r + y
	}
	if r == 0 {
		return math.Copysign(0, y)
	}
	return r
}

// FloorDiv is the floor of x / y.
func FloorDiv(x, y float64) float64 { return math.Floor(x / y) }

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
