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
	// F32 is the function of a float32 and Link32 its link: F32's results are rounded once more, and are within Ulps32 of the exact value then.
	F32    func(float64) float64
	Link32 uint64
}

// Ulps32 is how far the functions of float32 may be from the exact value, in units of the last place of the result.
const Ulps32 = 0.501

// Functions are all of them.
var Functions = []Function{
	{"exp", Exp, LinkExp, 0.7, 1, Exp32, LinkExp32},
	{"expm1", Expm1, LinkExpm1, 1.15, 0, Expm132, LinkExpm132},
	{"tanh", Tanh, LinkTanh, 0.9, 0, Tanh32, LinkTanh32},
	{"sinh", Sinh, LinkSinh, 0.85, 0, Sinh32, LinkSinh32},
	{"cosh", Cosh, LinkCosh, 0.7, 0, Cosh32, LinkCosh32},
	{"sigmoid", Sigmoid, LinkSigmoid, 0.75, 1, Sigmoid32, LinkSigmoid32},
	{"log", Log, LinkLog, 0.6, 0, Log32, LinkLog32},
	{"log2", Log2, LinkLog2, 0.6, 0, Log232, LinkLog232},
	{"log10", Log10, LinkLog10, 0.6, 0, Log1032, LinkLog1032},
	{"log1p", Log1p, LinkLog1p, 0.6, 0, Log1p32, LinkLog1p32},
	{"sin", Sin, LinkSin, 0.8, 0, Sin32, LinkSin32},
	{"cos", Cos, LinkCos, 0.8, 0, Cos32, LinkCos32},
	{"tan", Tan, LinkTan, 0.95, 0, Tan32, LinkTan32},
	{"asin", Asin, LinkAsin, 0.7, 0, Asin32, LinkAsin32},
	{"acos", Acos, LinkAcos, 0.7, 0, Acos32, LinkAcos32},
	{"atan", Atan, LinkAtan, 0.75, 0, Atan32, LinkAtan32},
	{"cbrt", Cbrt, LinkCbrt, 0.51, 0, Cbrt32, LinkCbrt32},
	{"rsqrt", Rsqrt, LinkRsqrt, 0.6, 0, Rsqrt, LinkRsqrt},
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
