package main

// This file emits the Cholesky factor of one MR x MR block, the only place with a square root. A
// register holds a column of the block (a row of the packed panel); its multipliers are broadcast
// from the copy just written to d.

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// potf emits potf<ISA><Elem>: column j of the block at p[j*ps], the factor's column j to d[j*MR].
// Above the diagonal d holds nothing of use. The result is 0, or the 1-based column whose pivot is
// not positive.
func (e *emitter) potf() {
	name := "potf" + e.isa + e.elem()
	e.begin(name, fmt.Sprintf("func(d, p *%s, ps int) int", e.goElem()))
	d, p, ps := e.arg("d"), e.arg("p"), e.stride("ps")
	at := func(j, i int) operand.Mem { return operand.Mem{Base: d, Disp: (j*e.rows + i) * e.size} }

	col := make([]reg.VecVirtual, e.rows)
	for j := range col {
		col[j] = e.vector(e.rows * e.size)
		e.move(operand.Mem{Base: p}, col[j])
		if j+1 < len(col) {
			e.ADDQ(ps, p)
		}
	}
	minor := e.GP64()
	zero, pivot, x := e.XMM(), e.XMM(), e.vector(e.rows*e.size)
	e.VXORPS(zero, zero, zero)
	for j := range col {
		e.move(col[j], at(j, 0))
		e.MOVQ(operand.U32(j+1), minor)
		// Not above zero, or unordered: carry is set for both less and NaN.
		if e.double() {
			e.VMOVSD(at(j, j), pivot)
			e.VUCOMISD(zero, pivot)
		} else {
			e.VMOVSS(at(j, j), pivot)
			e.VUCOMISS(zero, pivot)
		}
		e.JLS(operand.LabelRef("end"))
		if e.double() {
			e.VSQRTSD(pivot, pivot, pivot)
			e.VMOVSD(pivot, at(j, j))
		} else {
			e.VSQRTSS(pivot, pivot, pivot)
			e.VMOVSS(pivot, at(j, j))
		}
		if j+1 == len(col) {
			break
		}
		e.broadcast(at(j, j), x)
		e.divide(x, col[j])
		e.move(col[j], at(j, 0))
		// The lane of the diagonal became pivot/sqrt(pivot), which need not be the root.
		if e.double() {
			e.VMOVSD(pivot, at(j, j))
		} else {
			e.VMOVSS(pivot, at(j, j))
		}
		for i := j + 1; i < len(col); i++ {
			e.broadcast(at(j, i), x)
			e.fused(true, x, col[j], col[i])
		}
	}
	e.XORQ(minor, minor)
	e.Label("end")
	e.result(minor)
	e.end()
}
