package machine

// This file writes dst = a op b, and conversions, over whole vectors: four at a time, then one at a
// time. The bytes to do are a multiple of the vector's.

import (
	"fmt"

	"flow/kernels/loop/amd64"
)

// The kernels of this file. MulI64, and F64OfI64, which sets dst to a as float64, have no
// instruction in AVX2.
var (
	MulF64   = elementwise("MulF64", plain(amd64.VMULPD))
	MulF32   = elementwise("MulF32", plain(amd64.VMULPS))
	AddI64   = elementwise("AddI64", plain(amd64.VPADDQ))
	MulI64   = elementwise("MulI64", plain(amd64.VPMULLQ), AVX512)
	MinF64   = extremes("MinF64", laneTypes[0], false)
	MaxF64   = extremes("MaxF64", laneTypes[0], true)
	MinF32   = extremes("MinF32", laneTypes[1], false)
	MaxF32   = extremes("MaxF32", laneTypes[1], true)
	MinI64   = elementwise("MinI64", pick(false))
	MaxI64   = elementwise("MaxI64", pick(true))
	F64OfI64 = of("F64OfI64", "dst a bytes", (*emitter).widensIntegers, AVX512)
	F64OfF32 = of("F64OfF32", "dst a bytes", (*emitter).widensFloats)
)

// binary writes dst = b op a, of which b lies in memory.
type binary func(e *emitter, b mem, a, dst reg)

func plain(op amd64.Op) binary { return func(e *emitter, b mem, a, dst reg) { e.v(op, b, a, dst) } }

// pick is the lesser or greater of two integers.
func pick(greatest bool) binary {
	return func(e *emitter, b mem, a, dst reg) {
		y := e.vector()
		e.v(amd64.VMOVUPD, b, y)
		e.better(laneTypes[2], greatest, y, dst) // a is dst
	}
}

// elementwise is a kernel of elements.
func elementwise(name string, f binary, only ...Set) *Kernel {
	return of(name, "dst a b bytes", func(e *emitter) {
		dst, a, b, n := e.param("dst"), e.param("a"), e.param("b"), e.param("bytes")
		e.over(n, func(i reg, unroll int) {
			v := e.vectors(unroll)
			for k, r := range v {
				e.v(amd64.VMOVUPD, at(a, i, k*e.bytes), r)
			}
			for k, r := range v {
				f(e, at(b, i, k*e.bytes), r, r)
			}
			for k, r := range v {
				e.v(amd64.VMOVUPD, r, at(dst, i, k*e.bytes))
			}
		})
		e.finish()
	}, only...)
}

// extremes is the elementwise minimum or maximum of floats; NaN wins, and -0 is less than 0.
func extremes(name string, l lanes, greatest bool) *Kernel {
	return of(name, "dst a b bytes", func(e *emitter) {
		dst, a, b, n := e.param("dst"), e.param("a"), e.param("b"), e.param("bytes")
		sign := e.signs(l.bits)
		e.over(n, func(i reg, unroll int) {
			for k := range unroll {
				x, y, d := e.vector(), e.vector(), e.vector()
				e.v(amd64.VMOVUPD, at(a, i, k*e.bytes), x)
				e.v(amd64.VMOVUPD, at(b, i, k*e.bytes), y)
				if greatest { // -min(-a, -b)
					e.v(amd64.VXORPD, sign, x, x)
					e.v(amd64.VXORPD, sign, y, y)
				}
				e.lesser(l, y, x, d)
				if greatest {
					e.v(amd64.VXORPD, sign, d, d)
				}
				e.v(amd64.VMOVUPD, d, at(dst, i, k*e.bytes))
			}
		})
		e.finish()
	})
}

// lesser is d = min(a, b). VMINPD gives its second source when the two compare equal or unordered.
// So the two orders of operands agree but for zeros, where the or keeps a minus, and NaNs, where it
// keeps the NaN.
func (e *emitter) lesser(l lanes, b, a, d reg) {
	less := amd64.VMINPD
	if l.bits == 32 {
		less = amd64.VMINPS
	}
	other := e.vector()
	e.v(less, b, a, other)
	e.v(less, a, b, d)
	e.v(amd64.VORPD, other, d, d)
}

// over runs body for offsets 0 .. n in steps of four vectors, then of one. n is left.
func (e *emitter) over(n reg, body func(i reg, unroll int)) {
	i, end := e.general(), e.general()
	e.clear(i)
	e.mov(n, end)
	e.and(-4*e.bytes, end)
	for _, unroll := range []int{4, 1} {
		label := fmt.Sprintf("by%d", unroll)
		e.jump(label + "test")
		e.label(label)
		body(i, unroll)
		e.add(unroll*e.bytes, i)
		e.label(label + "test")
		e.cmp(i, end)
		e.jumpIf(amd64.Less, label)
		e.mov(n, end)
	}
}
func (e *emitter) widensIntegers() {
	dst, a, n := e.param("dst"), e.param("a"), e.param("bytes")
	e.over(n, func(i reg, unroll int) {
		v := e.vectors(unroll)
		for k, r := range v {
			e.v(amd64.VCVTQQ2PD, at(a, i, k*e.bytes), r)
		}
		for k, r := range v {
			e.v(amd64.VMOVUPD, r, at(dst, i, k*e.bytes))
		}
	})
	e.finish()
}

// widenAhead is how many bytes ahead floats that are widened are asked for.
const widenAhead = 2048

// widensFloats writes dst = float64(a) for float32. The bytes are those of dst.
func (e *emitter) widensFloats() {
	dst, a, n := e.param("dst"), e.param("a"), e.param("bytes")
	from := e.general()
	e.over(n, func(i reg, unroll int) {
		e.mov(i, from)
		e.shr(1, from)
		v := e.vectors(unroll)
		for k, r := range v {
			e.v(amd64.VCVTPS2PD, at(a, from, k*e.bytes/2), r)
		}
		if unroll > 1 { // rows of a matrix are widened one by one, and each call is a new stream
			for k := 0; k < unroll*e.bytes/2; k += 64 {
				e.prefetch(at(a, from, k+widenAhead))
			}
		}
		for k, r := range v {
			e.v(amd64.VMOVUPD, r, at(dst, i, k*e.bytes))
		}
	})
	e.finish()
}
