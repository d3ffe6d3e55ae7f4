package machine

// This file writes the conversion to float64 over whole vectors: four at a time, then one at a time. The number
// of bytes is a multiple of the vector's.

import (
	"fmt"

	"flow/kernels/loop/amd64"
)

// F64OfF32 sets dst to a as float64.
var F64OfF32 = of("F64OfF32", "dst a bytes", (*emitter).widensFloats)

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
