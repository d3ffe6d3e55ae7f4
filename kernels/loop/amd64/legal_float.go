package amd64

// This file holds the rules for operations on floats that AVX2 lacks: conversions from and to
// 64-bit integers, and scaling by a power of two. All are exact or rounded once.

import "math"

// Words and numbers of the conversions. 2^52 with a 32-bit integer in its last bits is 2^52 plus
// that integer, and 2^84 is 2^84 plus 2^32 times the integer (the method is known from the
// conversions that compilers make for processors with SSE2).
var (
	lowerWord = math.Float64bits(0x1p52)
	upperWord = math.Float64bits(0x1p84)
	// signedOffset takes back the sign bit of the upper half, which was flipped.
	signedOffset = math.Float64bits(0x1p84 + 0x1p63 + 0x1p52)
)

// toDouble converts i64 to f64.
func (g *legalizer) toDouble(x virt) virt {
	upper := g.with(VPXOR, g.shift(VPSRLQ, x, 32), upperWord|1<<31, 0)
	upper = g.with(VSUBPD, upper, signedOffset, 0)                         // the upper half as f64, less 2^52
	return g.op(VADDPD, L256, upper, g.with(VPBLENDD, x, lowerWord, 0xaa)) // rounded once
}

// toSingle converts i64 to f32 by way of f64. Where that would round, which is from 2^53, the last
// 11 bits are first replaced by one bit that says whether they are 0: rounding to odd, after which
// rounding again is harmless (S. Boldo & G. Melquiond, "Emulation of FMA and correctly rounded
// sums", 2008).
func toSingle(g *legalizer, s *step) virt {
	const last = 1<<11 - 1
	x := g.second(s)
	odd := g.with(VPADDQ, g.with(VPAND, x, last, 0), last, 0)
	odd = g.with(VPAND, g.op(VPOR, L256, odd, x), ^uint64(last), 0)
	// |x| > 2^53 as an unsigned comparison of x + 2^53.
	large := g.with(VPCMPGTQ, g.with(VPADDQ, x, 1<<53+signBit, 0), 1<<54+signBit, 0)
	return g.op(VCVTPD2PS, L256, 0, g.toDouble(g.blend(false, x, odd, large)))
}

// toWord converts f64 to i64 towards zero, for numbers in range: the integral part is split into
// halves of 32 bits, of which the lower one is not negative, and each half is added to a number
// that has its last bit at 1.
func (g *legalizer) toWord(x virt) virt {
	whole := g.emit(step{Inst: Inst{Op: VROUNDPD, Len: L256, Imm: 11}, b: x})
	upper := g.with(VMULPD, whole, math.Float64bits(0x1p-32), 0)
	upper = g.emit(step{Inst: Inst{Op: VROUNDPD, Len: L256, Imm: 9}, b: upper})
	lower := g.emit(step{Inst: Inst{Len: L256}, fused: fusedStep{is: true, minusProduct: true}, a: upper, b: g.constant(math.Float64bits(0x1p32)), c: whole})
	upper = g.shift(VPSLLQ, g.with(VADDPD, upper, math.Float64bits(0x1.8p52), 0), 32)
	lower = g.with(VPXOR, g.with(VADDPD, lower, lowerWord, 0), lowerWord, 0)
	return g.op(VPOR, L256, upper, lower)
}

// compareSingle compares f32 and widens the mask.
func compareSingle(g *legalizer, s *step) virt {
	s.Op = VCMPPS
	return g.op(VPMOVSXDQ, L256, 0, g.emit(*s))
}

// Immediates of comparisons of floats, all quiet.
const (
	lessImm       = 0x11
	greaterImm    = 0x1e
	orderedImm    = 0x07 // none is a nan
	notLessImm    = 0x15 // or unordered
	notAtMostImm  = 0x16 // or unordered
	largestExp    = 1023
	leastExp      = -1022
	downwards     = -969 // leastExp + 53: see scale
	exponentShift = 52
)

// scale is a * 2^n rounded once, n being integral. If |n| <= 1022 in all lanes, one product with a
// power of two does. Else powers are taken off first, twice upwards or downwards. Downwards only
// 2^-969 is taken, so that what was rounded on the way because it became subnormal is rounded to 0
// in the end (the C library musl scales so). n that is nan or infinite multiplies by nan, infinity
// or 0.
func scale(g *legalizer, s *step) virt {
	float := math.Float64bits
	power := func(n float64) uint64 { return float(math.Ldexp(1, int(n))) }
	scaled := func(x, n virt) virt {
		factor := g.shift(VPSLLQ, g.with(VADDPD, n, float(0x1p52+largestExp), 0), exponentShift)
		return g.op(VMULPD, L256, x, factor)
	}
	if w, ok := g.word(s); ok && math.Abs(math.Float64frombits(w)) <= -leastExp {
		return g.with(VMULPD, s.a, power(math.Float64frombits(w)), 0)
	}
	copied := func(to, from virt) virt {
		if to == 0 {
			to = g.fresh(vectorClass)
		}
		g.steps = append(g.steps, step{Inst: Inst{Op: VMOVAPD, Len: L256}, b: from, dst: to, effect: true})
		return to
	}
	x, n := copied(0, s.a), copied(0, g.second(s))
	size := g.with(VANDPD, n, math.MaxInt64, 0)
	far := g.with(VCMPPD, size, float(-leastExp), notAtMostImm)
	near := g.asm.Label()
	g.steps = append(g.steps, step{a: far, scalar: func(m *maker, _ Reg, r regs) {
		m.vec.none(m, r.a)
		m.Jump(Equal, near)
	}})
	special := g.with(VCMPPD, size, float(math.Inf(1)), notLessImm)
	one := g.constant(float(1))
	factor := g.blend(false, one, g.op(VMAXPD, L256, g.constant(0), n), special) // the instruction gives its second operand if that is nan
	y, rest := g.op(VMULPD, L256, x, factor), g.op(VPANDN, L256, special, n)
	for range 2 {
		up, down := g.with(VCMPPD, rest, float(largestExp), greaterImm), g.with(VCMPPD, rest, float(leastExp), lessImm)
		factor := g.blend(false, one, g.constant(power(largestExp)), up)
		y = g.op(VMULPD, L256, y, g.blend(false, factor, g.constant(power(downwards)), down))
		taken := g.op(VPOR, L256, g.with(VPAND, up, float(largestExp), 0), g.with(VPAND, down, float(downwards), 0))
		rest = g.op(VSUBPD, L256, rest, taken)
	}
	rest = g.with(VMAXPD, g.with(VMINPD, rest, float(largestExp), 0), float(leastExp), 0)
	copied(x, y)
	copied(n, rest)
	g.steps = append(g.steps, step{scalar: func(m *maker, _ Reg, _ regs) { m.Bind(near) }})
	return scaled(x, n)
}
