package main

// This file writes the chain machine's sum of elements that are near one another in size.

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// nearSum adds the accumulator of the round before to cascades that lie at the operand as those of sum do. Their sums do not
// begin with zero but in the middle of a binade, with 1.5 times a power of two, so high that they stay in it: then no
// element is larger than the sum it is added to, and three operations give the sum and its error exactly (T. Dekker, "A
// floating-point technique for extending the available precision", Numer. Math. 18, 1971, theorem 4.7) where twoSum
// takes six. Behind the accumulator of the round before lie two vectors: of the bits in which a sum of the first level
// ever differed from where it began, and that beginning. A sum that has left its binade has other high bits.
func (c *chain) nearSum() {
	const chains, levels = 4, 2
	mem := func(k int) operand.Mem { return operand.Mem{Base: c.at, Disp: k * c.bytes} }
	const lost = chains * levels
	const before = lost + 1
	const strayed, base = before + chainVectors, before + chainVectors + 1
	bad, stray := c.vector(), c.vector()
	c.VMOVUPD(mem(lost), bad)
	c.VMOVUPD(mem(strayed), stray)
	for k := range chains {
		s := c.vectors(levels)
		for l := range s {
			c.VMOVUPD(mem(l*chains+k), s[l])
		}
		for j := k; j < chainVectors; j += chains {
			v := c.vector()
			c.VMOVUPD(mem(before+j), v)
			c.VMOVUPD(c.acc[j], mem(before+j))
			for l := range s {
				c.fastTwoSum(s[l], v)
				if l == 0 {
					c.differ(mem(base), s[l], stray)
				}
			}
			c.VORPD(v, bad, bad)
		}
		for l := range s {
			c.VMOVUPD(s[l], mem(l*chains+k))
		}
	}
	c.VMOVUPD(bad, mem(lost))
	c.VMOVUPD(stray, mem(strayed))
}

// differ sets the bits of stray in which s and base differ.
func (c *chain) differ(base operand.Mem, s, stray reg.VecVirtual) {
	if c.bytes == 64 {
		c.VPTERNLOGQ(operand.Imm(0xf6), base, s, stray) // stray | s ^ base
		return
	}
	x := c.vector()
	c.VXORPD(base, s, x)
	c.VORPD(x, stray, stray)
}

// fastTwoSum adds v to s and makes v the rounding error, which is exact if no element of v is larger than that of s.
func (c *chain) fastTwoSum(s, v reg.VecVirtual) {
	sum := c.vector()
	c.VADDPD(v, s, sum)
	c.VSUBPD(s, sum, s) // what of v arrived
	c.VSUBPD(s, v, v)
	c.VMOVAPD(sum, s)
}
