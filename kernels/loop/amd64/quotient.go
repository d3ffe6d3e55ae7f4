package amd64

// This file divides by what is the same in all rounds of a loop: by the reciprocal, in four
// operations, where an instruction that divides takes as long as sixteen. The result is the same.
//
// For a divisor s let h be 1/s, rounded, and t the rest of 1/s: h + t differs from it by less than
// one part in 2^103. So q = x*h + x*t, rounded once at the end, is one of the two numbers around
// x/s. Then the rest r = x - q*s is a number of the format, and q + r*h rounds as x/s does (P.
// Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990,
// theorem 8). All this holds where nothing overflows or loses bits below the least exponent. So x
// and s have to be of moderate size, which zeros, infinities and nans are not; where an element is
// not, its vector is divided.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
)

// The exponents of divisors and of dividends: from the least to below the greatest. A quotient is
// then above 2^-901 and below 2^1001, and a rest a multiple of 2^-506.
const (
	leastDivisor, mostDivisor   = -500, 500
	leastDividend, mostDividend = -400, 500
)

// twiceBits is twice the bits of 2^e: the bits of a number doubled are those of its magnitude.
func twiceBits(e int) loop.Word { return 2 * math.Float64bits(math.Ldexp(1, e)) }

// quotient is a / b for a divisor that some loop around does not change; 0 where it changes. Of AVX2
// a division takes about as long as what stands for it.
func (l *lowering) quotient(a, b operand) virt {
	if l.vexOnly() || a.konst || l.lanes < 0 || l.values[a.v].depth < l.depthNow() || !b.konst && l.values[b.v].depth >= l.depthNow() {
		return 0
	}
	e := types.F64
	number := func(x float64) operand { return constantOf(e, math.Float64bits(x)) }
	bits := func(w loop.Word) operand { return constantOf(types.I64, w) }
	whole := func(v virt) operand { return inRegister(e, v) }
	from, span := bits(twiceBits(leastDividend)), bits(twiceBits(mostDividend)-twiceBits(leastDividend))
	// outside compares the magnitude of x with a range.
	outside := func(x, from, span operand, code uint8) virt {
		twice := whole(l.binary(VPADDQ, types.I64, x, x))
		return l.compare(VPCMPUQ, types.I64, whole(l.binary(VPSUBQ, types.I64, twice, from)), span, code)
	}
	var high, low operand
	if b.konst {
		s := math.Float64frombits(b.word)
		if !(math.Abs(s) >= math.Ldexp(1, leastDivisor) && math.Abs(s) < math.Ldexp(1, mostDivisor)) {
			return 0
		}
		h := 1 / s
		high, low = number(h), number(math.FMA(-h, s, 1)*h)
	} else {
		b = whole(l.vector(b))
		high = whole(l.binary(VDIVPD, e, number(1), b))
		rest := l.multiplyAdd(true, high, b, number(1), 0)
		low = whole(l.binary(VMULPD, e, whole(rest), high))
		fits := outside(b, bits(twiceBits(leastDivisor)), bits(twiceBits(mostDivisor)-twiceBits(leastDivisor)), 1) // below
		span = whole(l.merged(fits, constantOf(types.I64, span.word), bits(0)))
	}
	a = whole(l.vector(a))
	q := whole(l.multiplyAdd(false, a, high, whole(l.binary(VMULPD, e, a, low)), 0))
	r := whole(l.multiplyAdd(true, q, b, a, 0))
	out := l.multiplyAdd(false, r, high, q, l.fresh(vectorClass))
	skip := l.asm.Label()
	l.jumpIfNone(skip, l.under(outside(a, from, span, 5))) // not below
	l.emit(&step{Inst: Inst{Op: VDIVPD, Len: l.length}, a: a.v, b: l.vector(b), dst: out, effect: true})
	l.bind(skip)
	return out
}

// multiplyAdd is a*b + c, or c - a*b, in dst, which other steps make, too; 0: in a register of its
// own.
func (l *lowering) multiplyAdd(minus bool, a, b, c operand, dst virt) virt {
	s := step{Inst: Inst{Len: l.length}, fused: fusedStep{is: true, minusProduct: minus}, a: l.vector(a), b: l.vector(b), c: l.vector(c), dst: dst, effect: dst != 0}
	if dst == 0 {
		s.dst = l.fresh(vectorClass)
	}
	return l.emit(&s)
}
