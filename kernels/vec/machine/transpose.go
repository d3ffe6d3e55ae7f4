package machine

// This file writes transposition in registers, for AVX-512.

import "flow/kernels/loop/amd64"

// turnAhead is how many bytes of a row are asked for before their use: eight rows are more streams
// than processors follow by themselves.
const turnAhead = 512

// Transpose turns eight rows of src, srcStep bytes apart, into eight columns of dst, whose rows are
// dstStep bytes apart, 8 x 8 elements of f64 a round.
var Transpose = of("Transpose", "dst dstStep src srcStep rounds", (*emitter).transpose, AVX512)

func (e *emitter) transpose() {
	dst, dstStep, src, srcStep, n := e.param("dst"), e.param("dstStep"), e.param("src"), e.param("srcStep"), e.param("rounds")
	in, out := e.three(srcStep), e.three(dstStep)
	e.label("loop")
	from, to := e.rows(src, srcStep, in), e.rows(dst, dstStep, out)
	v := e.vectors(8)
	for k := range 8 {
		e.v(amd64.VMOVUPD, from[k], v[k])
		ahead := from[k]
		ahead.disp += turnAhead
		e.prefetch(ahead)
	}
	w := e.turned(v)
	for k := range 8 {
		e.v(amd64.VMOVUPD, w[k], to[k])
	}
	e.add(64, src)
	e.lea(mem{base: dst, index: dstStep, scale: 8}, dst)
	e.dec(n)
	e.jumpIf(amd64.NotEqual, "loop")
	e.finish()
}

// turned is the transpose of v, whose contents are lost.
func (e *emitter) turned(v []reg) []reg {
	w := e.vectors(8)
	for k := 0; k < 8; k += 2 { // pairs of elements
		e.v(amd64.VUNPCKLPD, v[k+1], v[k], w[k])
		e.v(amd64.VUNPCKHPD, v[k+1], v[k], w[k+1])
	}
	for k := range 2 { // pairs of pairs
		for half := 0; half < 8; half += 4 {
			a, b := w[half+k], w[half+k+2]
			e.v(amd64.VSHUFF64X2, 0x88, b, a, v[half+k])
			e.v(amd64.VSHUFF64X2, 0xdd, b, a, v[half+k+2])
		}
	}
	for k := range 4 { // halves
		e.v(amd64.VSHUFF64X2, 0x88, v[k+4], v[k], w[k])
		e.v(amd64.VSHUFF64X2, 0xdd, v[k+4], v[k], w[k+4])
	}
	return w
}

// three is three times step.
func (e *emitter) three(step reg) reg {
	r := e.general()
	e.lea(mem{base: step, index: step, scale: 2}, r)
	return r
}

// rows is the operands of eight rows from base on; three is three times step.
func (e *emitter) rows(base, step, three reg) []mem {
	four := e.general()
	e.lea(mem{base: base, index: step, scale: 4}, four)
	var out []mem
	for _, b := range []reg{base, four} {
		out = append(out, mem{base: b}, mem{base: b, index: step, scale: 1}, mem{base: b, index: step, scale: 2}, mem{base: b, index: three, scale: 1})
	}
	return out
}
