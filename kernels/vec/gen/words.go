package main

// This file writes the links on lanes that are no float64: int64, and float32 that are kept as float64 so that they may
// meet what is wider. What AVX2 has no instruction for is made of what it has.

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// wordLinks are the links.
var wordLinks = []link{
	{"loadFloats", func(c *chain) {
		c.narrowAt(1)
		for k, v := range c.acc {
			c.VCVTPS2PD(operand.Mem{Base: c.at, Disp: k * c.bytes / 2}, v)
		}
	}},
	{"storeFloats", func(c *chain) {
		c.narrowAt(1)
		for k, v := range c.acc {
			c.VMOVUPS(c.half(v), operand.Mem{Base: c.at, Disp: k * c.bytes / 2})
		}
	}},
	{"roundFloats", func(c *chain) {
		for _, v := range c.acc {
			c.VCVTPS2PD(c.half(v), v)
		}
	}},
	{"addWords", func(c *chain) { c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VPADDQ(m, v, v) }) }},
	{"subWords", func(c *chain) { c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VPSUBQ(m, v, v) }) }},
	{"subWordsFrom", func(c *chain) { c.reversed(func(src2, src1, dst operand.Op) { c.VPSUBQ(src2, src1, dst) }) }},
	{"mulWords", func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) {
			if c.bytes == 64 {
				c.VPMULLQ(m, v, v)
				return
			}
			x := c.vector()
			c.VMOVUPD(m, x)
			c.product(x, v, v)
		})
	}},
	{"negWords", func(c *chain) {
		zero := c.constant(0)
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VPSUBQ(v, zero, v) })
	}},
	{"absWords", func(c *chain) {
		zero := c.constant(0)
		c.each(func(k int, v reg.VecVirtual, m operand.Op) {
			if c.bytes == 64 {
				c.VPABSQ(v, v)
				return
			}
			s := c.vector()
			c.VPCMPGTQ(v, zero, s)
			c.VPXOR(s, v, v)
			c.VPSUBQ(s, v, v)
		})
	}},
	{"minWords", func(c *chain) { c.extremeWords(true) }},
	{"maxWords", func(c *chain) { c.extremeWords(false) }},
	{"signWords", func(c *chain) {
		zero := c.constant(0)
		c.each(func(k int, v reg.VecVirtual, m operand.Op) {
			above, below := c.vector(), c.vector()
			c.above(k, v, zero, above)
			c.above(k+1, zero, v, below)
			c.VPSUBQ(above, below, v)
		})
	}},
	{"rectifyWords", func(c *chain) {
		zero := c.constant(0)
		c.each(func(k int, v reg.VecVirtual, m operand.Op) {
			above := c.vector()
			c.above(k, v, zero, above)
			c.VANDPD(above, v, v)
		})
	}},
	{"equalWords", relationOfWords(0)},
	{"notEqualWords", relationOfWords(4)},
	{"lessWords", relationOfWords(1)},
	{"lessEqualWords", relationOfWords(2)},
	{"greaterWords", relationOfWords(6)},
	{"greaterEqualWords", relationOfWords(5)},
	{"nonZeroWords", func(c *chain) {
		zero := c.constant(0)
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.compareWords(k, 4, zero, v) })
	}},
	{"wordOfTruth", func(c *chain) { // 1 or 0
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VPSRLQ(operand.Imm(63), v, v) })
	}},
	{"numberOfWord", func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.toNumbers(v, v) })
	}},
	{"floatOfWord", func(c *chain) { // rounded to float32 once
		zero := c.constant(0)
		c.each(func(k int, v reg.VecVirtual, m operand.Op) {
			if c.bytes == 64 {
				y := c.YMM()
				c.VCVTQQ2PS(v, y)
				c.VCVTPS2PD(y, v)
				return
			}
			// Of what has more than 53 bits the last 11 become one, behind all that float32 has: then the first rounding is none.
			odd, few := c.vector(), c.vector()
			c.VPAND(c.place(0x7ff), v, odd)
			c.VPADDQ(c.place(0x7ff), odd, odd)
			c.VPOR(v, odd, odd)
			c.VANDPD(c.place(math.MaxUint64-0x7ff), odd, odd)
			c.VPADDQ(c.place(1<<53), v, few)
			c.VPSRLQ(operand.Imm(54), few, few)
			c.VPCMPEQQ(zero, few, few)
			c.VBLENDVPD(few, v, odd, v)
			c.toNumbers(v, v)
			c.VCVTPS2PD(c.half(v), v)
		})
	}},
	{"wordOfNumber", func(c *chain) { c.truncate() }},
	{"floorDivWords", func(c *chain) { c.divide(quotientBelow) }},
	{"modWords", func(c *chain) { c.divide(remainderBelow) }},
	{"ceilDivWords", func(c *chain) { c.divide(quotientAbove) }},
}

// half is v as float32.
func (c *chain) half(v reg.VecVirtual) operand.Op {
	if c.bytes == 64 {
		y := c.YMM()
		c.VCVTPD2PS(v, y)
		return y
	}
	y := c.XMM()
	c.VCVTPD2PSY(v, y)
	return y
}

// above is dst = a > b in lanes.
func (c *chain) above(k int, a, b, dst reg.VecVirtual) {
	if c.bytes == 32 {
		c.VPCMPGTQ(b, a, dst)
		return
	}
	mask := maskRegisters[k%len(maskRegisters)]
	c.VPCMPGTQ(b, a, mask)
	c.VPMOVM2Q(mask, dst)
}

// extremeWords is acc = min(acc, operand), or max.
func (c *chain) extremeWords(least bool) {
	c.each(func(k int, v reg.VecVirtual, m operand.Op) {
		switch {
		case c.bytes == 64 && least:
			c.VPMINSQ(m, v, v)
		case c.bytes == 64:
			c.VPMAXSQ(m, v, v)
		default:
			x, other := c.vector(), c.vector()
			c.VMOVUPD(m, x)
			if least {
				c.VPCMPGTQ(x, v, other)
			} else {
				c.VPCMPGTQ(v, x, other)
			}
			c.VBLENDVPD(other, x, v, v)
		}
	})
}

// relationOfWords is acc = acc op operand by the predicate of VPCMPQ.
func relationOfWords(predicate uint8) func(c *chain) {
	return func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.compareWords(k, predicate, m, v) })
	}
}

func (c *chain) compareWords(k int, predicate uint8, m operand.Op, v reg.VecVirtual) {
	if c.bytes == 64 {
		mask := maskRegisters[k%len(maskRegisters)]
		c.VPCMPQ(operand.U8(predicate), m, v, mask)
		c.VPMOVM2Q(mask, v)
		return
	}
	switch predicate {
	case 0, 4:
		c.VPCMPEQQ(m, v, v)
	case 1, 5: // operand > acc
		x := c.vector()
		c.VMOVUPD(m, x)
		c.VPCMPGTQ(v, x, v)
	default: // acc > operand
		c.VPCMPGTQ(m, v, v)
	}
	if predicate == 2 || predicate == 4 || predicate == 5 {
		c.VXORPD(c.place(math.MaxUint64), v, v)
	}
}

// product is dst = a b modulo 2^64, of AVX2 from products of halves. dst may be a or b.
func (c *chain) product(a, b, dst reg.VecVirtual) {
	if c.bytes == 64 {
		c.VPMULLQ(a, b, dst)
		return
	}
	cross, other := c.vector(), c.vector()
	c.VPSRLQ(operand.Imm(32), a, cross)
	c.VPMULUDQ(cross, b, cross)
	c.VPSRLQ(operand.Imm(32), b, other)
	c.VPMULUDQ(other, a, other)
	c.VPADDQ(other, cross, cross)
	c.VPSLLQ(operand.Imm(32), cross, cross)
	c.VPMULUDQ(a, b, dst)
	c.VPADDQ(cross, dst, dst)
}

// toNumbers is dst = v as float64, rounded once: of AVX2 the sum of the halves, each put behind the point by its exponent.
func (c *chain) toNumbers(v, dst reg.VecVirtual) {
	if c.bytes == 64 {
		c.VCVTQQ2PD(v, dst)
		return
	}
	high := c.vector()
	c.VPSRLQ(operand.Imm(32), v, high)
	c.VPXOR(c.place(0x4530000080000000), high, high) // 2^84 + 2^63 + 2^32 of the high half
	c.VSUBPD(c.place(0x4530000080100000), high, high)
	c.VPAND(c.place(math.MaxUint32), v, dst)
	c.VPOR(c.place(0x4330000000000000), dst, dst) // 2^52 + the low half
	c.VADDPD(dst, high, dst)
}

// toWords is dst = v as int64, of magnitude 2^63 at most, rounded to the nearest one.
func (c *chain) toWords(v, dst reg.VecVirtual) {
	if c.bytes == 64 {
		c.VCVTPD2QQ(v, dst)
		return
	}
	bits, high := c.vector(), c.vector()
	c.VMULPD(c.place(math.Float64bits(0x1p-32)), v, bits)
	c.VADDPD(c.place(math.Float64bits(magic)), bits, bits)
	c.VSUBPD(c.place(math.Float64bits(magic)), bits, high)
	c.VPSLLQ(operand.Imm(32), bits, bits)
	if v != dst {
		c.VMOVAPD(v, dst)
	}
	c.VFNMADD231PD(c.place(math.Float64bits(0x1p32)), high, dst) // exact
	c.VADDPD(c.place(math.Float64bits(magic)), dst, dst)
	c.VPSUBQ(c.place(math.Float64bits(magic)), dst, dst)
	c.VPADDQ(bits, dst, dst)
}

// truncate is acc without the fraction, as int64. Lanes that are nan or outside of -2^63 to 2^63 have no such word. The operand of the link
// before, an accumulator, gets those of the first round that has some, and zeros beside them; the results in them say nothing.
func (c *chain) truncate() {
	least, above := c.constant(math.Float64bits(-0x1p63)), c.constant(math.Float64bits(0x1p63))
	within := func(v reg.VecVirtual) reg.VecVirtual {
		inside, below := c.vector(), c.vector()
		if c.bytes == 64 {
			c.VCMPPD(operand.U8(13), least, v, lookupMask)            // v >= least
			c.VCMPPD(operand.U8(1), above, v, lookupMask, lookupMask) // and v < above
			c.VPMOVM2Q(lookupMask, inside)
			return inside
		}
		c.VCMPPD(operand.U8(29), least, v, inside)
		c.VCMPPD(operand.U8(17), above, v, below)
		c.VANDPD(below, inside, inside)
		return inside
	}
	c.labels++
	done := fmt.Sprintf("words%d", c.labels)
	all := c.constant(math.MaxUint64)
	for _, v := range c.acc {
		c.VANDPD(within(v), all, all)
	}
	if c.bytes == 64 {
		c.VPMOVQ2M(all, lookupMask)
		c.KORTESTB(lookupMask, lookupMask)
		c.JCS(operand.LabelRef(done)) // all ones
	} else {
		signs := c.GP32()
		c.VMOVMSKPD(all, signs)
		c.CMPL(signs, operand.Imm(15))
		c.JEQ(operand.LabelRef(done))
	}
	state := func(k int) operand.Mem { return operand.Mem{Base: c.other, Disp: k * c.bytes} }
	seen := c.constant(0)
	for k := range c.acc {
		c.VORPD(state(k), seen, seen)
	}
	if c.bytes == 64 {
		c.VPTESTMQ(seen, seen, lookupMask)
		c.KORTESTB(lookupMask, lookupMask)
	} else {
		c.VPTEST(seen, seen)
	}
	c.JNE(operand.LabelRef(done)) // a round before has some
	for k, v := range c.acc {
		outside := within(v)
		c.VANDNPD(v, outside, outside)
		c.VMOVUPD(outside, state(k))
	}
	c.Label(done)
	for _, v := range c.acc {
		if c.bytes == 64 {
			c.VCVTTPD2QQ(v, v)
			continue
		}
		c.VROUNDPD(operand.U8(11), v, v)
		c.toWords(v, v)
	}
}

// The results of a division.
const (
	quotientBelow = iota // rounded towards minus infinity
	remainderBelow
	quotientAbove
)

// divide is acc = acc op operand. Where an element of the operand is 0 the result says nothing, and the operand of the link before, one
// vector, gets bits.
//
// The quotient of the numbers nearest to x and y is off by 1/2 + 2^12/|y| at most, for |x| is at most 2^63 and four roundings were made; so
// what is left of x is at most |y|/2 + 2^12, and that divided again leaves at most a little more than |y|/2, exactly. All of it is modulo 2^64,
// which takes -2^63 / -1 to where int64 has it.
func (c *chain) divide(result int) {
	c.throughMemory(true, func(x, y operand.Mem) reg.VecVirtual {
		d, inverse, zero := c.vector(), c.vector(), c.constant(0)
		c.VMOVUPD(y, d)
		state := operand.Mem{Base: c.other}
		found := c.vector()
		if c.bytes == 64 {
			c.VPTESTNMQ(d, d, lookupMask)
			c.VPMOVM2Q(lookupMask, found)
		} else {
			c.VPCMPEQQ(zero, d, found)
		}
		c.VORPD(state, found, found)
		c.VMOVUPD(found, state)

		c.toNumbers(d, inverse)
		one := c.constant(math.Float64bits(1))
		c.VDIVPD(inverse, one, inverse)
		rest, quotient := c.vector(), c.vector()
		c.VMOVUPD(x, rest)
		for k := range 2 {
			n, taken := c.vector(), c.vector()
			c.toNumbers(rest, n)
			c.VMULPD(inverse, n, n)
			c.toWords(n, n)
			c.product(n, d, taken)
			c.VPSUBQ(taken, rest, rest)
			if k == 0 {
				c.VMOVAPD(n, quotient)
			} else {
				c.VPADDQ(n, quotient, quotient)
			}
		}
		// The remainder has the other sign than y, or of quotientAbove the same, and is not 0.
		off, some := c.vector(), c.vector()
		c.VXORPD(rest, d, off)
		c.above(0, zero, off, off)
		c.VMOVAPD(rest, some)
		c.compareWords(1, 4, zero, some)
		if result == quotientAbove {
			c.VANDNPD(some, off, off) // some, and not off
			c.VPSUBQ(off, quotient, quotient)
			return quotient
		}
		c.VANDPD(some, off, off)
		if result == quotientBelow {
			c.VPADDQ(off, quotient, quotient)
			return quotient
		}
		c.VANDPD(d, off, off)
		c.VPADDQ(off, rest, rest)
		return rest
	})
}
