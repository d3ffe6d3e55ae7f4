package main

import "github.com/mmcloughlin/avo/operand"

// This file writes the sum of three numbers rounded once, for sums of short rows.

// triples writes dst = a + b + c, rounded once, for whole vectors. With uh + ul = b + c and th + tl = a + uh, both exact, the
// sum is th + v where v is tl + ul rounded to odd: S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums:
// proved algorithms using rounding to odd", IEEE TC 57(4), 2008. bad receives a vector that is not zero where an intermediate
// sum is not finite.
func (e *emitter) triples() {
	name := "sum3F64" + e.name
	e.Function(name)
	e.SignatureExpr("func(dst, a, b, c *float64, bytes int, bad *float64)")
	e.Doc(name + " works on that many bytes, a multiple of the vector size.")
	e.Pragma("noescape")
	dst, a, b, c, n, bad := e.param("dst"), e.param("a"), e.param("b"), e.param("c"), e.param("bytes"), e.param("bad")
	wrong, one, zero := e.vector(), e.vector(), e.vector()
	e.VXORPD(wrong, wrong, wrong)
	e.VXORPD(zero, zero, zero)
	e.VPTERNLOGD(operand.Imm(0xff), one, one, one)
	e.VPSRLQ(operand.U8(63), one, one)
	i := e.GP64()
	e.XORQ(i, i)
	e.JMP(operand.LabelRef("test"))
	e.Label("loop")
	uh, th, ul, tl := e.vector(), e.vector(), e.vector(), e.vector()
	x := e.vector()
	e.VMOVUPD(at(b, i, 0), uh)
	e.VMOVUPD(at(c, i, 0), x)
	e.VMOVAPD(e.twoSum(uh, x), ul)
	e.VMOVUPD(at(a, i, 0), th)
	e.VMOVAPD(e.twoSum(th, uh), tl)
	r := e.twoSum(tl, ul) // tl is the sum of the errors now, r what it lacks
	// Rounded to odd: where something is lacking and the last bit is 0, one unit towards it.
	lacks, even, apart := e.K(), e.K(), e.K()
	e.VCMPPD(operand.U8(4), zero, r, lacks)
	e.VPTESTNMQ(one, tl, lacks, even)
	up, down, sign := e.vector(), e.vector(), e.vector()
	e.VPADDQ(one, tl, up)
	e.VPSUBQ(one, tl, down)
	e.VXORPD(r, tl, sign)
	e.VPMOVQ2M(sign, apart)
	e.VMOVDQU64(down, apart, up)
	e.VMOVDQU64(up, even, tl)
	e.VSUBPD(th, th, x)
	e.VORPD(x, wrong, wrong)
	e.VADDPD(tl, th, th)
	e.VMOVUPD(th, at(dst, i, 0))
	e.ADDQ(operand.U8(e.bytes), i)
	e.Label("test")
	e.CMPQ(i, n)
	e.JLT(operand.LabelRef("loop"))
	e.VMOVUPD(wrong, operand.Mem{Base: bad})
	e.finish()
}
