package main

// This file writes the uniform numbers by counter, for AVX-512 alone: AVX2 has no multiplication of
// 64-bit integers.

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// uniform writes uniformAVX512: 32 numbers a round, from the 32 states of SplitMix64 at state,
// which go on by step each round.
func (e *emitter) uniform() {
	const vectors = 4
	e.Function("uniform" + e.name)
	e.SignatureExpr("func(dst *float64, rounds int, state *uint64, step uint64)")
	e.Doc("uniform" + e.name + " makes 32 numbers a round from the states, and adds step to them.")
	e.Pragma("noescape")
	dst, n, state := e.param("dst"), e.param("rounds"), e.param("state")
	broadcast := func(load func(reg.Register)) reg.VecVirtual {
		g, v := e.GP64(), e.vector()
		load(g)
		e.VPBROADCASTQ(g, v)
		return v
	}
	constant := func(c uint64) reg.VecVirtual {
		return broadcast(func(g reg.Register) { e.MOVQ(operand.U64(c), g) })
	}
	step := broadcast(func(g reg.Register) { e.Load(e.Param("step"), g) })
	mix1, mix2 := constant(0xBF58476D1CE4E5B9), constant(0x94D049BB133111EB)
	scale := constant(0x3CA0000000000000) // 2^-53
	z := e.vectors(vectors)
	for k, r := range z {
		e.VMOVDQU64(operand.Mem{Base: state, Disp: k * e.bytes}, r)
	}
	e.JMP(operand.LabelRef("test"))
	e.Label("loop")
	y, t := e.vectors(vectors), e.vectors(vectors)
	each := func(f func(k int)) {
		for k := range vectors {
			f(k)
		}
	}
	fold := func(shift uint64, src []reg.VecVirtual) {
		each(func(k int) { e.VPSRLQ(operand.Imm(shift), src[k], t[k]) })
		each(func(k int) { e.VPXORQ(t[k], src[k], y[k]) })
	}
	fold(30, z)
	each(func(k int) { e.VPMULLQ(mix1, y[k], y[k]) })
	fold(27, y)
	each(func(k int) { e.VPMULLQ(mix2, y[k], y[k]) })
	fold(31, y)
	each(func(k int) { e.VPSRLQ(operand.Imm(11), y[k], y[k]) })
	each(func(k int) { e.VCVTUQQ2PD(y[k], y[k]) })
	each(func(k int) { e.VMULPD(scale, y[k], y[k]) })
	each(func(k int) { e.VMOVUPD(y[k], operand.Mem{Base: dst, Disp: k * e.bytes}) })
	each(func(k int) { e.VPADDQ(step, z[k], z[k]) })
	e.ADDQ(operand.I32(vectors*e.bytes), dst)
	e.DECQ(n)
	e.Label("test")
	e.CMPQ(n, operand.I32(0))
	e.JGT(operand.LabelRef("loop"))
	e.finish()
}
