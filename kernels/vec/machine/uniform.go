package machine

// This file writes the uniform numbers by counter, for AVX-512 alone: AVX2 has no multiplication of
// 64-bit integers.

import "flow/kernels/loop/amd64"

// Uniform makes 32 numbers a round from the 32 states of SplitMix64 at state, which go on by step
// each round.
var Uniform = of("Uniform", "dst rounds state step", (*emitter).uniform, AVX512)

func (e *emitter) uniform() {
	const vectors = 4
	dst, n, state := e.param("dst"), e.param("rounds"), e.param("state")
	broadcast := func(word any) reg {
		g, v := e.general(), e.vector()
		e.mov(word, g)
		e.v(amd64.VPBROADCASTQ, g, v)
		return v
	}
	step := broadcast(e.place("step"))
	mix1, mix2 := broadcast(uint64(0xBF58476D1CE4E5B9)), broadcast(uint64(0x94D049BB133111EB))
	scale := broadcast(uint64(0x3CA0000000000000)) // 2^-53
	z := e.vectors(vectors)
	for k, r := range z {
		e.v(amd64.VMOVDQU64, mem{base: state, disp: k * e.bytes}, r)
	}
	e.jump("test")
	e.label("loop")
	y, t := e.vectors(vectors), e.vectors(vectors)
	each := func(f func(k int)) {
		for k := range vectors {
			f(k)
		}
	}
	fold := func(shift int, src []reg) {
		each(func(k int) { e.v(amd64.VPSRLQ, shift, src[k], t[k]) })
		each(func(k int) { e.v(amd64.VPXORQ, t[k], src[k], y[k]) })
	}
	fold(30, z)
	each(func(k int) { e.v(amd64.VPMULLQ, mix1, y[k], y[k]) })
	fold(27, y)
	each(func(k int) { e.v(amd64.VPMULLQ, mix2, y[k], y[k]) })
	fold(31, y)
	each(func(k int) { e.v(amd64.VPSRLQ, 11, y[k], y[k]) })
	each(func(k int) { e.v(amd64.VCVTUQQ2PD, y[k], y[k]) })
	each(func(k int) { e.v(amd64.VMULPD, scale, y[k], y[k]) })
	each(func(k int) { e.v(amd64.VMOVUPD, y[k], mem{base: dst, disp: k * e.bytes}) })
	each(func(k int) { e.v(amd64.VPADDQ, step, z[k], z[k]) })
	e.add(vectors*e.bytes, dst)
	e.dec(n)
	e.label("test")
	e.cmp(n, 0)
	e.jumpIf(amd64.Greater, "loop")
	e.finish()
}
