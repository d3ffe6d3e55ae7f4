package vec

// This file holds what the generated functions of one number (functions_gen.go) share, and their loops.

import (
	"math"
	"unsafe"
)

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

// LoopF64 is the loop of f.
func (f Function) LoopF64() func(dst, a []float64) {
	plain := Map1F64(f.F)
	if !HaveChain {
		return plain
	}
	return func(dst, a []float64) { chained(dst, a, f.Link, plain) }
}

// LoopF32 is the same in float32: the function of float64, rounded once more.
func (f Function) LoopF32() func(dst, a []float32) {
	plain := Map1F32(f.F)
	if !HaveChain {
		return plain
	}
	return func(dst, a []float32) { chained(dst, a, f.Link, plain) }
}

// fewElements is how many are left to the plain loop: a group of the machine costs about as much as that many.
const fewElements = 4

// chained runs one link on a: whole groups in place, the rest by way of a group of its own.
func chained[T Float](dst, a []T, link uint64, plain func(dst, a []T)) {
	var zero T
	group := ChainBytes / int(unsafe.Sizeof(zero))
	a = a[:len(dst)]
	whole := len(dst) - len(dst)%group
	all := ^uint64(0)
	if whole > 0 {
		code := [...]Link{{LinkLoad, unsafe.Pointer(&a[0]), all}, {Op: link}, {LinkStore, unsafe.Pointer(&dst[0]), all}, {Op: LinkEnd}}
		runChain[T](code[:], whole)
	}
	dst, a = dst[whole:], a[whole:]
	if len(dst) <= fewElements {
		plain(dst, a)
		return
	}
	var room [ChainBytes / 4]T
	copy(room[:], a)
	p := unsafe.Pointer(&room[0])
	code := [...]Link{{LinkLoad, p, all}, {Op: link}, {LinkStore, p, all}, {Op: LinkEnd}}
	runChain[T](code[:], group)
	copy(dst, room[:])
}

// runChain is the machine for T, called directly so that the caller's links stay on its stack.
func runChain[T Float](code []Link, n int) {
	var zero T
	if unsafe.Sizeof(zero) == 8 {
		ChainF64(code, n)
	} else {
		ChainF32(code, n)
	}
}
