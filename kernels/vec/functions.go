package vec

// This file holds what the generated functions (functions_gen.go) share, and lists them.

import "math"

// scaled is p * 2^n rounded once, for p that is 0 or near 1 and an integral |n| < 2046. It multiplies by two
// factors, and the first one makes no subnormal number.
func scaled(p, n float64) float64 {
	bits := math.Float64bits(n+0x1.8p52) - (0x4338000000000000 - 2046)
	half := bits >> 1
	return float64(p * math.Float64frombits(half<<52) * math.Float64frombits((bits-half)<<52))
}

// Function is a function F of one number or two: its definition, and how far F may be from the exact
// value in units of the last place of the result: as measured against 160-bit arithmetic and rounded
// up. Ulps is 0 where the exact value is rounded once. Results below the normal range are rounded a
// second time (scaled), so they may be farther away: Tiny is the bound for them, 0 where normal
// arguments have none. Every way of computing a function gives the bits of F.
type Function[F any] struct {
	Name string
	F    F
	Ulps float64
	Tiny float64
	// F32 is the function of float32: its results are rounded once more, and are within Ulps32 of the exact
	// value then.
	F32 F
}

// One and Two are functions of so many numbers.
type (
	One = func(x float64) float64
	Two = func(x, y float64) float64
)

// Ulps32 is how far the functions of float32 may be from the exact value, in units of the last
// place of the result.
const Ulps32 = 0.501

// Functions are those of one number.
var Functions = []Function[One]{
	{"exp", Exp, 0.7, 1, Exp32},
	{"expm1", Expm1, 1.15, 0, Expm132},
	{"tanh", Tanh, 0.9, 0, Tanh32},
	{"sinh", Sinh, 0.85, 0, Sinh32},
	{"cosh", Cosh, 0.7, 0, Cosh32},
	{"sigmoid", Sigmoid, 0.75, 1, Sigmoid32},
	{"log", Log, 0.6, 0, Log32},
	{"log2", Log2, 0.6, 0, Log232},
	{"log10", Log10, 0.6, 0, Log1032},
	{"log1p", Log1p, 0.6, 0, Log1p32},
	{"sin", Sin, 0.8, 0, Sin32},
	{"cos", Cos, 0.8, 0, Cos32},
	{"tan", Tan, 0.95, 0, Tan32},
	{"asin", Asin, 0.7, 0, Asin32},
	{"acos", Acos, 0.7, 0, Acos32},
	{"atan", Atan, 0.75, 0, Atan32},
	{"cbrt", Cbrt, 0.51, 0, Cbrt32},
	{"rsqrt", Rsqrt, 0.6, 0, Rsqrt},
}

// Functions2 are those of two numbers.
var Functions2 = []Function[Two]{
	{"pow", Pow, 0.7, 1, Pow32},
	{"atan2", Atan2, 0.75, 0, Atan232},
	{"idiv", FloorDiv, 0, 0, FloorDiv},
	{"mod", Mod, 0, 0, Mod},
}

// FunctionNamed is the function of one number with that name, Function2Named that of two.
func FunctionNamed(name string) (Function[One], bool)  { return named(Functions, name) }
func Function2Named(name string) (Function[Two], bool) { return named(Functions2, name) }

func named[F any](list []Function[F], name string) (Function[F], bool) {
	for _, f := range list {
		if f.Name == name {
			return f, true
		}
	}
	return Function[F]{}, false
}

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
