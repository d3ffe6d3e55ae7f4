package main

// This file writes the loops whose results or conditions are bools, one byte each, and the loops on integers.

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// comparison is one relation: the predicates of VCMPPD and VPCMPQ, and how AVX2, which has only > and ==, comes to it.
type comparison struct {
	name       string
	f64, i64   uint8
	equal, not bool // of AVX2 integers: b > a, or a == b, negated
	swap       bool // a > b
}

var comparisons = []comparison{
	{"eq", 0, 0, true, false, false},
	{"ne", 4, 4, true, true, false},
	{"lt", 17, 1, false, false, false},
	{"le", 18, 2, false, true, true},
}

// compares writes dst = a op b, one byte 0 or 1 for each element, for whole vectors.
func (e *emitter) compares() {
	for _, c := range comparisons {
		e.compare(c.name+"F64"+e.name, "float64", func(a, b operand.Mem) reg.Register {
			v := e.vector()
			e.VMOVUPD(a, v)
			if e.bytes == 64 {
				k := e.K()
				e.VCMPPD(operand.U8(c.f64), b, v, k)
				return e.fromMask(k)
			}
			e.VCMPPD(operand.U8(c.f64), b, v, v)
			return e.fromSigns(v, false)
		})
		e.compare(c.name+"I64"+e.name, "int64", func(a, b operand.Mem) reg.Register {
			v := e.vector()
			if e.bytes == 64 {
				k := e.K()
				e.VMOVDQU64(a, v)
				e.VPCMPQ(operand.U8(c.i64), b, v, k)
				return e.fromMask(k)
			}
			switch {
			case c.equal:
				e.VMOVDQU(a, v)
				e.VPCMPEQQ(b, v, v)
			case c.swap: // a > b
				e.VMOVDQU(a, v)
				e.VPCMPGTQ(b, v, v)
			default: // b > a
				e.VMOVDQU(b, v)
				e.VPCMPGTQ(a, v, v)
			}
			return e.fromSigns(v, c.not)
		})
	}
}

// fromMask is the bits of k in a general register.
func (e *emitter) fromMask(k reg.Register) reg.Register {
	r := e.GP32()
	e.KMOVB(k, r)
	return r.As64()
}

// fromSigns is the sign bits of four elements in a general register.
func (e *emitter) fromSigns(v reg.VecVirtual, not bool) reg.Register {
	r := e.GP32()
	e.VMOVMSKPD(v, r)
	if not {
		e.XORL(operand.U8(15), r)
	}
	return r.As64()
}

// compare writes one function; one gives the bits of one vector's comparison.
func (e *emitter) compare(name, elem string, one func(a, b operand.Mem) reg.Register) {
	e.Function(name)
	e.SignatureExpr(fmt.Sprintf("func(dst *uint8, a, b *%s, bytes int)", elem))
	e.Doc(name + " reads that many bytes of a and b, a multiple of the vector size, and writes one for each element.")
	e.Pragma("noescape")
	dst, a, b, n := e.param("dst"), e.param("a"), e.param("b"), e.param("bytes")
	ones := e.GP64()
	e.MOVQ(operand.U64(0x0101010101010101), ones)
	i := e.GP64()
	e.XORQ(i, i)
	e.JMP(operand.LabelRef("test"))
	e.Label("loop")
	bits := one(at(a, i, 0), at(b, i, 0))
	bytes := e.GP64()
	e.PDEPQ(ones, bits, bytes)
	if e.bytes == 64 {
		e.MOVQ(bytes, operand.Mem{Base: dst})
		e.ADDQ(operand.U8(8), dst)
	} else {
		e.MOVL(bytes.As32(), operand.Mem{Base: dst})
		e.ADDQ(operand.U8(4), dst)
	}
	e.ADDQ(operand.U8(e.bytes), i)
	e.Label("test")
	e.CMPQ(i, n)
	e.JLT(operand.LabelRef("loop"))
	e.finish()
}

// integers writes dst = a op b on int64.
func (e *emitter) integers() {
	e.loop2("addI64"+e.name, "int64", func(e *emitter, b, a, d operand.Op) { e.VPADDQ(b, a, d) })
	e.loop2("subI64"+e.name, "int64", func(e *emitter, b, a, d operand.Op) { e.VPSUBQ(b, a, d) })
	if e.bytes == 64 {
		e.loop2("mulI64"+e.name, "int64", func(e *emitter, b, a, d operand.Op) { e.VPMULLQ(b, a, d) })
	}
}

// selects writes dst = c ? a : b on elements of 64 bits; c is one byte 0 or 1 for each.
func (e *emitter) selects() {
	name := "select64" + e.name
	e.Function(name)
	e.SignatureExpr("func(dst *uint64, c *uint8, a, b *uint64, bytes int)")
	e.Doc(name + " works on that many bytes of dst, a and b, a multiple of the vector size.")
	e.Pragma("noescape")
	dst, c, a, b, n := e.param("dst"), e.param("c"), e.param("a"), e.param("b"), e.param("bytes")
	i := e.GP64()
	e.XORQ(i, i)
	e.JMP(operand.LabelRef("test"))
	e.Label("loop")
	mask, x := e.vector(), e.vector()
	e.VPMOVZXBQ(operand.Mem{Base: c}, mask)
	if e.bytes == 64 {
		k := e.K()
		e.VPTESTMQ(mask, mask, k)
		e.VMOVDQU64(at(b, i, 0), x)
		e.VMOVDQU64(at(a, i, 0), k, x)
		e.VMOVDQU64(x, at(dst, i, 0))
		e.ADDQ(operand.U8(8), c)
	} else {
		e.VPSLLQ(operand.U8(63), mask, mask)
		y := e.vector()
		e.VMOVUPD(at(a, i, 0), y)
		e.VMOVUPD(at(b, i, 0), x)
		e.VBLENDVPD(mask, y, x, x)
		e.VMOVUPD(x, at(dst, i, 0))
		e.ADDQ(operand.U8(4), c)
	}
	e.ADDQ(operand.U8(e.bytes), i)
	e.Label("test")
	e.CMPQ(i, n)
	e.JLT(operand.LabelRef("loop"))
	e.finish()
}

// widens writes dst = float64(a) for int64, which AVX2 cannot.
func (e *emitter) widens() {
	e.Function("f64ofI64" + e.name)
	e.SignatureExpr("func(dst *float64, a *int64, bytes int)")
	e.Doc("f64ofI64" + e.name + " works on that many bytes, a multiple of the vector size.")
	e.Pragma("noescape")
	dst, a, n := e.param("dst"), e.param("a"), e.param("bytes")
	e.over(n, func(i reg.Register, unroll int) {
		v := e.vectors(unroll)
		for k, r := range v {
			e.VCVTQQ2PD(at(a, i, k*e.bytes), r)
		}
		for k, r := range v {
			e.VMOVUPD(r, at(dst, i, k*e.bytes))
		}
	})
	e.finish()
}
