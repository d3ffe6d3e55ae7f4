package main

// This file writes transposition in registers, for AVX-512.

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// turnAhead is how many bytes of a row are asked for before their use: eight rows are more streams
// than processors follow by themselves.
const turnAhead = 512

// transpose writes transposeF64AVX512: eight rows of src, srcStep bytes apart, become eight columns
// of dst, whose rows are dstStep bytes apart; 8 x 8 elements a round.
func (e *emitter) transpose() {
	e.Function("transposeF64" + e.name)
	e.SignatureExpr("func(dst *float64, dstStep int, src *float64, srcStep int, rounds int)")
	e.Doc("transposeF64" + e.name + " turns eight rows of src into eight columns of dst, eight elements of each a round.")
	e.Pragma("noescape")
	dst, dstStep, src, srcStep, n := e.param("dst"), e.param("dstStep"), e.param("src"), e.param("srcStep"), e.param("rounds")
	in, out := e.three(srcStep), e.three(dstStep)
	e.Label("loop")
	from, to := e.rows(src, srcStep, in), e.rows(dst, dstStep, out)
	v := e.vectors(8)
	for k := range 8 {
		e.VMOVUPD(from[k], v[k])
		ahead := from[k]
		ahead.Disp += turnAhead
		e.PREFETCHT0(ahead)
	}
	w := e.turned(v)
	for k := range 8 {
		e.VMOVUPD(w[k], to[k])
	}
	e.ADDQ(operand.Imm(64), src)
	e.LEAQ(operand.Mem{Base: dst, Index: dstStep, Scale: 8}, dst)
	e.DECQ(n)
	e.JNZ(operand.LabelRef("loop"))
	e.finish()
}

// turned is the transpose of v, whose contents are lost.
func (e *emitter) turned(v []reg.VecVirtual) []reg.VecVirtual {
	w := e.vectors(8)
	for k := 0; k < 8; k += 2 { // pairs of elements
		e.VUNPCKLPD(v[k+1], v[k], w[k])
		e.VUNPCKHPD(v[k+1], v[k], w[k+1])
	}
	for k := range 2 { // pairs of pairs
		for half := 0; half < 8; half += 4 {
			a, b := w[half+k], w[half+k+2]
			e.VSHUFF64X2(operand.Imm(0x88), b, a, v[half+k])
			e.VSHUFF64X2(operand.Imm(0xdd), b, a, v[half+k+2])
		}
	}
	for k := range 4 { // halves
		e.VSHUFF64X2(operand.Imm(0x88), v[k+4], v[k], w[k])
		e.VSHUFF64X2(operand.Imm(0xdd), v[k+4], v[k], w[k+4])
	}
	return w
}

// three is three times step.
func (e *emitter) three(step reg.Register) reg.Register {
	r := e.GP64()
	e.LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, r)
	return r
}

// rows is the operands of eight rows from base on; three is three times step.
func (e *emitter) rows(base, step, three reg.Register) []operand.Mem {
	four := e.GP64()
	e.LEAQ(operand.Mem{Base: base, Index: step, Scale: 4}, four)
	var out []operand.Mem
	for _, b := range []reg.Register{base, four} {
		out = append(out, operand.Mem{Base: b}, operand.Mem{Base: b, Index: step, Scale: 1}, operand.Mem{Base: b, Index: step, Scale: 2}, operand.Mem{Base: b, Index: three, Scale: 1})
	}
	return out
}
