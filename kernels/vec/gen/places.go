package main

// This file writes what reductions of lines need beside sums: where an element stands.

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// places writes the functions of this file, and minima and maxima of integers.
func (e *emitter) places() {
	for _, l := range laneTypes {
		e.find("find"+l.suffix+e.name, l)
	}
	integers := laneTypes[2]
	for _, greatest := range []bool{false, true} {
		name := map[bool]string{false: "minI64", true: "maxI64"}[greatest]
		e.loop2(name+e.name, integers.elem, func(e *emitter, b, a, d operand.Op) {
			y := e.vector()
			e.VMOVUPD(b, y)
			e.better(integers, greatest, y, d.(reg.VecVirtual)) // a is d
		})
	}
	e.widensFloats()
}

// equal compares the elements at from with v: a mask, or all bits of each that is equal. Numbers
// compare, so a NaN equals nothing.
func (e *emitter) equal(l lanes, from operand.Mem, v reg.VecVirtual) reg.Register {
	var r reg.Register
	if e.bytes == 64 {
		r = e.K()
	} else {
		r = e.vector()
	}
	predicate := operand.Imm(0)
	switch {
	case l.float && l.bits == 64:
		e.VCMPPD(predicate, from, v, r)
	case l.float:
		e.VCMPPS(predicate, from, v, r)
	case e.bytes == 64:
		e.VPCMPQ(predicate, from, v, r)
	default:
		e.VPCMPEQQ(from, v, r)
	}
	return r
}

// find writes one function.
func (e *emitter) find(name string, l lanes) {
	e.Function(name)
	e.SignatureExpr("func(x *" + l.elem + ", bytes int, v *" + l.elem + ") int")
	e.Doc(name + " is the number of the first of so many bytes of x, whole vectors, that equals v; -1 if none does.")
	e.Pragma("noescape")
	x, n, p := e.param("x"), e.param("bytes"), e.param("v")
	v := e.vector()
	if l.bits == 64 {
		e.VBROADCASTSD(operand.Mem{Base: p}, v)
	} else {
		e.VBROADCASTSS(operand.Mem{Base: p}, v)
	}
	i, bits := e.GP64(), e.GP64()
	e.XORQ(i, i)
	e.JMP(operand.LabelRef("test"))
	e.Label("loop")
	same := e.equal(l, at(x, i, 0), v)
	switch {
	case e.bytes == 64 && l.bits == 64:
		e.KMOVB(same, bits.As32())
	case e.bytes == 64:
		e.KMOVW(same, bits.As32())
	case l.bits == 64:
		e.VMOVMSKPD(same, bits.As32())
	default:
		e.VMOVMSKPS(same, bits.As32())
	}
	e.TESTL(bits.As32(), bits.As32())
	e.JNZ(operand.LabelRef("found"))
	e.ADDQ(operand.U8(e.bytes), i)
	e.Label("test")
	e.CMPQ(i, n)
	e.JLT(operand.LabelRef("loop"))
	e.MOVQ(operand.I32(-1), i)
	e.JMP(operand.LabelRef("end"))
	e.Label("found")
	e.BSFL(bits.As32(), bits.As32())
	e.SHRQ(operand.Imm(uint64(map[int]int{64: 3, 32: 2}[l.bits])), i)
	e.ADDQ(bits, i)
	e.Label("end")
	e.Store(i, e.ReturnIndex(0))
	e.finish()
}

// widenAhead is how many bytes ahead floats that are widened are asked for.
const widenAhead = 2048

// widensFloats writes dst = float64(a) for float32. The bytes are those of dst.
func (e *emitter) widensFloats() {
	e.Function("f64ofF32" + e.name)
	e.SignatureExpr("func(dst *float64, a *float32, bytes int)")
	e.Doc("f64ofF32" + e.name + " writes that many bytes, a multiple of the vector size.")
	e.Pragma("noescape")
	dst, a, n := e.param("dst"), e.param("a"), e.param("bytes")
	from := e.GP64()
	e.over(n, func(i reg.Register, unroll int) {
		e.MOVQ(i, from)
		e.SHRQ(operand.Imm(1), from)
		v := e.vectors(unroll)
		for k, r := range v {
			e.VCVTPS2PD(at(a, from, k*e.bytes/2), r)
		}
		if unroll > 1 { // rows of a matrix are widened one by one, and each call is a new stream
			for k := 0; k < unroll*e.bytes/2; k += 64 {
				e.PREFETCHT0(at(a, from, k+widenAhead))
			}
		}
		for k, r := range v {
			e.VMOVUPD(r, at(dst, i, k*e.bytes))
		}
	})
	e.finish()
}
