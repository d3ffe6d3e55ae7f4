package vec

// This file holds what the generated functions (functions_gen.go) share, and lists those of one number.

import "math"

// scaled is p * 2^n rounded once, for p that is 0 or near 1 and bits those of 2^52 + 2^51 + n, |n| < 2046: by two factors, the first of
// which makes no subnormal number.
func scaled(p float64, bits uint64) float64 {
	n := bits - (0x4338000000000000 - 2046)
	half := n >> 1
	return p * math.Float64frombits(half<<52) * math.Float64frombits((n-half)<<52)
}

// A Function is a function of one number: its definition, its link in the chain machine, and how far F may be from the
// exact value in units of the last place of the result: as measured against 160-bit arithmetic and rounded up. Results below the
// normal range are rounded a second time (scaled), so they may be farther away: Tiny is the bound for them, 0 where normal
// arguments have none. Every way of computing a function gives the bits of F.
type Function struct {
	Name string
	F    func(float64) float64
	Link uint64
	Ulps float64
	Tiny float64
}

// Functions are all of them.
var Functions = []Function{
	{"exp", Exp, LinkExp, 0.65, 1},
	{"expm1", Expm1, LinkExpm1, 1, 0},
	{"tanh", Tanh, LinkTanh, 0.85, 0},
	{"sinh", Sinh, LinkSinh, 0.85, 0},
	{"cosh", Cosh, LinkCosh, 0.65, 0},
	{"sigmoid", Sigmoid, LinkSigmoid, 0.75, 1},
	{"log", Log, LinkLog, 0.6, 0},
	{"log2", Log2, LinkLog2, 0.65, 0},
	{"log10", Log10, LinkLog10, 0.65, 0},
	{"log1p", Log1p, LinkLog1p, 0.6, 0},
	{"sin", Sin, LinkSin, 0.8, 0},
	{"cos", Cos, LinkCos, 0.8, 0},
	{"tan", Tan, LinkTan, 0.9, 0},
	{"asin", Asin, LinkAsin, 0.7, 0},
	{"acos", Acos, LinkAcos, 0.7, 0},
	{"atan", Atan, LinkAtan, 0.75, 0},
	{"cbrt", Cbrt, LinkCbrt, 0.51, 0},
	{"rsqrt", Rsqrt, LinkRsqrt, 0.6, 0},
}

// FunctionNamed is that one.
func FunctionNamed(name string) (Function, bool) {
	for _, f := range Functions {
		if f.Name == name {
			return f, true
		}
	}
	return Function{}, false
}
