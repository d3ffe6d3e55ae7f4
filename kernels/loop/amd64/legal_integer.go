package amd64

// This file holds the rules for operations on 64-bit integers that AVX2 lacks.

import "math/bits"

// signBit is what turns an unsigned order into a signed one.
const signBit = 1 << 63

// compareWords makes signed comparisons of "greater" and "equal".
func compareWords(g *legalizer, s *step) virt {
	equal := Inst{Op: VPCMPEQQ, Len: L256, InMem: s.InMem, Mem: s.Mem}
	greater := Inst{Op: VPCMPGTQ, Len: L256, InMem: s.InMem, Mem: s.Mem}
	var v virt
	switch s.Imm &^ 4 {
	case 0:
		v = g.emit(step{Inst: equal, a: s.a, b: s.b})
	case 1: // less
		v = g.op(VPCMPGTQ, L256, g.second(s), s.a)
	case 2: // not greater
		v = g.emit(step{Inst: greater, a: s.a, b: s.b})
	default:
		panic("BUG: an unknown comparison of words")
	}
	if s.Imm == 2 || s.Imm == 4 || s.Imm == 5 {
		return g.not(v)
	}
	return v
}

func compareUnsigned(g *legalizer, s *step) virt {
	x := *s
	x.a = g.with(VPXOR, s.a, signBit, 0)
	if w, ok := g.word(s); ok {
		w ^= signBit
		x.b, x.InMem, x.Mem = 0, true, g.asm.Const(w, w, w, w)
	} else {
		x.b, x.InMem = g.with(VPXOR, g.second(s), signBit, 0), false
	}
	return compareWords(g, &x)
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

// shiftArithmetic returns s.a or s.b shifted right with its sign. AVX2 has such an instruction for words of
// 32 bits alone. With a constant, it makes the upper half of the result, and a logical shift the lower
// half. With a variable, the bits that differ from the sign are shifted logically; a shift by 64 or more
// leaves none of them.
func shiftArithmetic(g *legalizer, s *step) virt {
	switch n := s.Imm; {
	case s.Op == VPSRAVQ:
		sign := g.sign(s.a)
		x := g.op(VPXOR, L256, s.a, sign)
		x = g.emit(step{Inst: Inst{Op: VPSRLVQ, Len: L256, InMem: s.InMem, Mem: s.Mem}, a: x, b: s.b})
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
	return g.emit(step{Inst: Inst{Op: VPBLENDD, Len: L256, Imm: 0xaa}, a: x, b: y})
}

func absolute(g *legalizer, s *step) virt {
	x := g.second(s)
	sign := g.sign(x)
	return g.op(VPSUBQ, L256, g.op(VPXOR, L256, x, sign), sign)
}

// lowHalves packs the low half of each lane.
func lowHalves(g *legalizer, s *step) virt { return g.narrow(s.a) }

// turn moves every lane down by some places, the lowest to the top: both operands are one vector.
func turn(g *legalizer, s *step) virt {
	imm := uint8(0)
	for k := range uint8(4) {
		imm |= (k + s.Imm) & 3 << (2 * k)
	}
	return g.emit(step{Inst: Inst{Op: VPERMQI, Len: L256, Imm: imm}, b: s.b})
}
