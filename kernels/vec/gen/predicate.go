package main

// This file writes the links of the chain machine that make truths or use them. A truth is a lane of ones or of zeros in the
// accumulator, a byte 1 or 0 in memory. A lane is as wide as the machine's elements.

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// relation is acc = acc op operand by the predicate of VCMPPD.
func relation(predicate uint8) func(c *chain) {
	return func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.test(k, predicate, m, v, v) })
	}
}

// test is dst = v op m in lanes.
func (c *chain) test(k int, predicate uint8, m operand.Op, v, dst reg.VecVirtual) {
	if c.bytes == 32 {
		c.VCMPPD(operand.U8(predicate), m, v, dst)
		return
	}
	mask := maskRegisters[k%len(maskRegisters)]
	c.VCMPPD(operand.U8(predicate), m, v, mask)
	c.VPMOVM2Q(mask, dst)
}

// blend is dst = then where mask holds, otherwise elsewhere: of AVX2.
func (c *chain) blend(mask, then, otherwise, dst operand.Op) {
	c.VBLENDVPD(mask, then, otherwise, dst)
}

// bitwise is acc = acc op operand.
func bitwise(f func(c *chain, m operand.Op, v reg.VecVirtual)) func(c *chain) {
	return func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { f(c, m, v) })
	}
}

// constant is a vector of c.
func (c *chain) constant(x uint64) reg.VecVirtual {
	v := c.vector()
	if c.bytes == 64 {
		c.VBROADCASTSD(c.place(x), v)
	} else {
		c.VMOVUPD(c.place(x), v)
	}
	return v
}

// number is a vector of x.
func (c *chain) number(x float64) reg.VecVirtual {
	return c.constant(math.Float64bits(x))
}

// choice is a selection of which the accumulator is the condition, what is taken where it holds, or what is taken elsewhere. The other two
// are in memory: the operand, and that of the link before. ternary is the truth table of VPTERNLOGQ for (acc, other, operand).
func choice(ternary uint8, blend func(c *chain, other, m operand.Op, v reg.VecVirtual)) func(c *chain) {
	return func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) {
			other := operand.Mem{Base: c.other, Disp: k * c.bytes}
			if c.bytes == 32 {
				blend(c, other, m, v)
				return
			}
			x := c.vector()
			c.VMOVUPD(other, x)
			c.VPTERNLOGQ(operand.U8(ternary), m, x, v)
		})
	}
}

// narrowAt makes c.at the address of the operand's elements, which take that many bytes less than lanes by powers of two.
func (c *chain) narrowAt(shift uint64) {
	c.MOVQ(operand.Mem{Base: c.pc, Disp: -8}, c.at)
	c.ANDQ(c.offset, c.at)
	c.SHRQ(operand.Imm(shift), c.at)
	c.ADDQ(operand.Mem{Base: c.pc, Disp: -16}, c.at)
}

func (c *chain) loadTruths() {
	c.narrowAt(3)
	zero := c.vector()
	c.VXORPD(zero, zero, zero)
	for k, v := range c.acc {
		m := operand.Mem{Base: c.at, Disp: k * c.bytes / 8}
		c.VPMOVZXBQ(m, v)
		c.VPSUBQ(v, zero, v)
	}
}

func (c *chain) storeTruths() {
	c.narrowAt(3)
	ones, r := c.GP64(), c.GP64()
	if c.bytes == 32 {
		c.MOVQ(operand.U64(0x0101010101010101), ones)
	}
	for k, v := range c.acc {
		m := operand.Mem{Base: c.at, Disp: k * c.bytes / 8}
		x := c.vector()
		if c.bytes == 64 {
			c.VPSRLQ(operand.Imm(63), v, x)
			c.VPMOVQB(x, m)
		} else {
			c.VMOVMSKPD(v, r.As32())
			c.PDEPQ(ones, r, r)
			c.MOVL(r.As32(), m)
		}
	}
}

// predicates are the links.
var predicates = []link{
	{"other", func(c *chain) { c.MOVQ(c.at, c.other) }},
	{"loadTruths", (*chain).loadTruths},
	{"storeTruths", (*chain).storeTruths},
	{"equal", relation(0)},
	{"notEqual", relation(4)},
	{"less", relation(17)},
	{"lessEqual", relation(18)},
	{"greater", relation(30)},
	{"greaterEqual", relation(29)},
	{"and", bitwise(func(c *chain, m operand.Op, v reg.VecVirtual) { c.VANDPD(m, v, v) })},
	{"or", bitwise(func(c *chain, m operand.Op, v reg.VecVirtual) { c.VORPD(m, v, v) })},
	{"not", func(c *chain) {
		ones := c.constant(math.MaxUint64)
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VXORPD(ones, v, v) })
	}},
	{"choose", choice(0xca, func(c *chain, other, m operand.Op, v reg.VecVirtual) { // acc ? other : operand
		x := c.vector()
		c.VMOVUPD(m, x)
		c.blend(v, other, x, v)
	})},
	{"then", choice(0xe2, func(c *chain, other, m operand.Op, v reg.VecVirtual) { // other ? acc : operand
		x, y := c.vector(), c.vector()
		c.VMOVUPD(other, x)
		c.VMOVUPD(m, y)
		c.blend(x, v, y, v)
	})},
	{"else", choice(0xb8, func(c *chain, other, m operand.Op, v reg.VecVirtual) { // other ? operand : acc
		x := c.vector()
		c.VMOVUPD(other, x)
		c.blend(x, m, v, v)
	})},
	{"isNaN", func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.test(k, 3, v, v, v) })
	}},
	{"isInf", func(c *chain) {
		inf, sign := c.number(inf), c.sign()
		c.each(func(k int, v reg.VecVirtual, m operand.Op) {
			c.VANDNPD(v, sign, v)
			c.test(k, 0, inf, v, v)
		})
	}},
	{"nonZero", func(c *chain) {
		zero := c.constant(0)
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.test(k, 4, zero, v, v) })
	}},
	{"ofTruth", func(c *chain) { // 1 or 0
		one := c.number(1)
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VANDPD(one, v, v) })
	}},
	{"sign", func(c *chain) { // the sign with 1, of numbers that are neither 0 nor NaN
		zero, one, sign := c.constant(0), c.number(1), c.sign()
		c.each(func(k int, v reg.VecVirtual, m operand.Op) {
			unit := c.vector()
			c.VANDPD(v, sign, unit)
			c.VORPD(unit, one, unit)
			mask := maskRegisters[k%len(maskRegisters)]
			if c.bytes == 64 {
				c.VCMPPD(operand.U8(12), zero, v, mask)
				c.VMOVAPD(unit, mask, v)
			} else {
				some := c.vector()
				c.test(k, 12, zero, v, some)
				c.blend(some, unit, v, v)
			}
		})
	}},
	{"rectify", func(c *chain) { // 0 where acc <= 0
		zero := c.constant(0)
		c.each(func(k int, v reg.VecVirtual, m operand.Op) {
			keep := c.vector()
			c.test(k, 22, zero, v, keep)
			c.VANDPD(keep, v, v)
		})
	}},
}

// toIntegral rounds by the mode of VROUNDPD.
func toIntegral(mode uint8) func(c *chain) {
	return func(c *chain) {
		f := c.VRNDSCALEPD
		if c.bytes == 32 {
			f = func(ops ...operand.Op) { c.VROUNDPD(ops[0], ops[1], ops[2]) }
		}
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { f(operand.U8(mode), v, v) })
	}
}
