package amd64

// This file holds the rules for operations that AVX2 lacks, on 64-bit integers and on floats.

import (
	"math"
	"math/bits"
)

// compareWords makes signed comparisons of "greater" and "equal".
func compareWords(g *legalizer, s *step) virt {
	equal := Inst{Op: VPCMPEQQ, Len: L256, InMem: s.InMem, Mem: s.Mem}
	greater := Inst{Op: VPCMPGTQ, Len: L256, InMem: s.InMem, Mem: s.Mem}
	var v virt
	switch s.Imm &^ 4 {
	case 0:
		v = g.emit(&step{Inst: equal, a: s.a, b: s.b})
	case 1: // less
		v = g.op(VPCMPGTQ, L256, g.second(s), s.a)
	case 2: // not greater
		v = g.emit(&step{Inst: greater, a: s.a, b: s.b})
	default:
		panic("BUG: an unknown comparison of words")
	}
	if s.Imm == 2 || s.Imm == 4 || s.Imm == 5 {
		return g.not(v)
	}
	return v
}

// multiply makes the low 64 bits of a product from products of halves: the two mixed products count
// in the upper half alone.
func multiply(g *legalizer, s *step) virt {
	w, known := g.word(s)
	if at := g.values[s.a].source; !known && at.Constant != 0 && !s.InMem {
		s.a, s.b = s.b, s.a
		w, known = g.word(s)
	}
	power := func(w uint64) bool { return w&(w-1) == 0 && w != 0 }
	times := func(w uint64) virt { return g.shift(VPSLLQ, s.a, uint8(bits.TrailingZeros64(w))) }
	switch {
	case !known:
	case power(w):
		return times(w)
	case power(w - 1):
		return g.op(VPADDQ, L256, times(w-1), s.a)
	case power(w + 1):
		return g.op(VPSUBQ, L256, times(w+1), s.a)
	}
	b := g.second(s)
	mixed := g.op(VPMULUDQ, L256, g.shift(VPSRLQ, s.a, 32), b)
	if b == s.a { // both mixed products are the same
		return g.op(VPADDQ, L256, g.shift(VPSLLQ, mixed, 33), g.op(VPMULUDQ, L256, b, b))
	}
	if !known || w>>32 != 0 {
		mixed = g.op(VPADDQ, L256, mixed, g.op(VPMULUDQ, L256, g.shift(VPSRLQ, b, 32), s.a))
	}
	return g.op(VPADDQ, L256, g.shift(VPSLLQ, mixed, 32), g.op(VPMULUDQ, L256, s.a, b))
}

// extremeWord is the lesser or greater of two words.
func extremeWord(g *legalizer, s *step) virt {
	b := g.second(s)
	greater := g.op(VPCMPGTQ, L256, s.a, b)
	if s.Op == VPMINSQ {
		return g.blend(false, s.a, b, greater)
	}
	return g.blend(false, b, s.a, greater)
}

// sign is all ones in the lanes that are negative.
func (g *legalizer) sign(v virt) virt { return g.op(VPCMPGTQ, L256, g.constant(0), v) }

// shiftArithmetic returns s.a or s.b shifted right with its sign. AVX2 has such an instruction for
// words of 32 bits alone. With a constant, it makes the upper half of the result, and a logical shift
// the lower half. With a variable, the bits that differ from the sign are shifted logically; a shift by
// 64 or more leaves none of them.
func shiftArithmetic(g *legalizer, s *step) virt {
	switch n := s.Imm; {
	case s.Op == VPSRAVQ:
		sign := g.sign(s.a)
		x := g.op(VPXOR, L256, s.a, sign)
		x = g.emit(&step{Inst: Inst{Op: VPSRLVQ, Len: L256, InMem: s.InMem, Mem: s.Mem}, a: x, b: s.b})
		return g.op(VPXOR, L256, x, sign)
	case n >= 63:
		return g.sign(s.b)
	case n > 32:
		lower := g.shift(VPSRLQ, g.shift(VPSRAD, s.b, n-32), 32)
		return g.upperHalf(lower, g.shift(VPSRAD, s.b, 31))
	default:
		return g.upperHalf(g.shift(VPSRLQ, s.b, n), g.shift(VPSRAD, s.b, min(n, 31)))
	}
}

// upperHalf returns the lower halves of the words of x and the upper halves of those of y.
func (g *legalizer) upperHalf(x, y virt) virt {
	return g.emit(&step{Inst: Inst{Op: VPBLENDD, Len: L256, Imm: 0xaa}, a: x, b: y})
}

func absolute(g *legalizer, s *step) virt {
	x := g.second(s)
	sign := g.sign(x)
	return g.op(VPSUBQ, L256, g.op(VPXOR, L256, x, sign), sign)
}

// turn moves every lane down by some places, the lowest to the top: both operands are one vector.
func turn(g *legalizer, s *step) virt {
	imm := uint8(0)
	for k := range uint8(4) {
		imm |= (k + s.Imm) & 3 << (2 * k)
	}
	return g.emit(&step{Inst: Inst{Op: VPERMQI, Len: L256, Imm: imm}, b: s.b})
}

// What follows converts floats from and to 64-bit integers, and scales them by a power of two. All are
// exact or rounded once.

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

// toWord converts f64 to i64 towards zero, for numbers in range. Most fit into 32 bits, for which there
// is an instruction: of others it gives the least integer. If a lane has that, the integral parts are
// split into halves of 32 bits, of which the lower one is not negative, and each half is added to a
// number that has its last bit at 1. checks says that numbers out of range fail a check; only a vector
// with the least integer may have one.
func (m *maker) toWord(dst, x Reg, checks bool) {
	t, u := m.free(x, dst), dst
	if dst == x {
		u = m.free(x, t)
	}
	with := func(op Op, dst, a Reg, w uint64, imm uint8) {
		m.Emit(Inst{Op: op, Len: L256, Dst: dst, A: a, InMem: true, Mem: m.Const(w, w, w, w), Imm: imm})
	}
	near, done := m.Label(), m.Label()
	m.Emit(Inst{Op: VCVTTPD2DQ, Len: L256, Dst: t, B: x})
	m.Emit(Inst{Op: VPCMPEQD, Len: L128, Dst: u, A: t, InMem: true, Mem: m.Const(leastInts, leastInts)})
	m.Emit(Inst{Op: VMOVMSKPS, Len: L128, Dst: RAX, B: u})
	m.Test(RAX, RAX)
	m.Jump(Equal, near)
	if checks {
		with(VCMPPD, t, x, math.Float64bits(-0x1p63), 0x1d) // not less
		with(VCMPPD, u, x, math.Float64bits(0x1p63), lessImm)
		m.Emit(Inst{Op: VPAND, Len: L256, Dst: t, A: t, B: u})
		m.Emit(Inst{Op: VMOVMSKPD, Len: L256, Dst: RAX, B: t})
		m.ArithImm(CmpG, RAX, 15)
		m.flagUnless(Equal)
	}
	m.Emit(Inst{Op: VROUNDPD, Len: L256, Imm: 11, Dst: t, B: x})
	with(VMULPD, u, t, math.Float64bits(0x1p-32), 0)
	m.Emit(Inst{Op: VROUNDPD, Len: L256, Imm: 9, Dst: u, B: u})
	with(VFNMADD231PD, t, u, math.Float64bits(0x1p32), 0)
	with(VADDPD, u, u, math.Float64bits(0x1.8p52), 0)
	m.Emit(Inst{Op: VPSLLQ, Len: L256, Imm: 32, Dst: u, B: u})
	with(VADDPD, t, t, lowerWord, 0)
	with(VPXOR, t, t, lowerWord, 0)
	m.Emit(Inst{Op: VPOR, Len: L256, Dst: dst, A: u, B: t})
	m.Goto(done)
	m.Bind(near)
	m.Emit(Inst{Op: VPMOVSXDQ, Len: L256, Dst: dst, B: t})
	m.Bind(done)
}

func (g *legalizer) toWord(x virt) virt {
	return g.emit(&step{a: x, pure: true, scalar: func(m *maker, dst Reg, r regs) { m.toWord(dst, r.a, false) }})
}

// leastInts is the least integer of 32 bits, twice.
const leastInts = 1<<31 | 1<<63

// compareSingle compares f32 and widens the mask.
func compareSingle(g *legalizer, s *step) virt {
	s.Op = VCMPPS
	return g.op(VPMOVSXDQ, L256, 0, g.emit(s))
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

func init() {
	for op, rule := range map[Op]func(g *legalizer, s *step) virt{
		KANDW:      func(g *legalizer, s *step) virt { return g.and(L256, s.a, s.b) },
		KANDNW:     andNot,
		KNOTW:      func(g *legalizer, s *step) virt { return g.not(s.b) },
		KXNORW:     func(g *legalizer, s *step) virt { return g.not(g.op(VPXOR, L256, s.a, s.b)) },
		VCMPPSK:    compareSingle,
		VPCMPQ:     compareWords,
		VALIGNQ:    turn,
		VPMULLQ:    multiply,
		VPMINSQ:    extremeWord,
		VPMAXSQ:    extremeWord,
		VPSRAQ:     shiftArithmetic,
		VPSRAVQ:    shiftArithmetic,
		VPABSQ:     absolute,
		VPMOVQ2M:   func(g *legalizer, s *step) virt { return g.sign(s.b) },
		VCVTQQ2PD:  func(g *legalizer, s *step) virt { return g.toDouble(g.second(s)) },
		VCVTQQ2PS:  toSingle,
		VCVTTPD2QQ: func(g *legalizer, s *step) virt { return g.toWord(g.second(s)) },
		VCVTTPS2QQ: func(g *legalizer, s *step) virt { return g.toWord(g.op(VCVTPS2PD, L256, 0, g.second(s))) },
		VSCALEFPD:  scale,
	} {
		rules[op] = rule
	}
}
