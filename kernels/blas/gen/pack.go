package main

// This file emits the movers of data between row-major matrices and packed panels.

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (e *emitter) packKernels() {
	for _, out := range []bool{false, true} {
		e.transpose64(out)
		e.transpose32(out)
	}
	for _, bytes := range []int{192, 96} {
		e.copyRows(bytes)
	}
	e.askLines()
}

// startTranspose starts transpose<Elem>In, which takes n rows of a matrix into lanes of a panel, or
// Out, the way back. Both walk along the n rows of the matrix: walking down many rows far apart
// would throw lines out of L1 half used.
func (e *emitter) startTranspose(out bool, n int) {
	name, rule := "transpose"+e.elem()+"In", "dst[p*ds+i] = src[i*ss+p]"
	if out {
		name, rule = "transpose"+e.elem()+"Out", "dst[i*ds+p] = src[p*ss+i]"
	}
	e.begin(name, fmt.Sprintf("func(k int, src *%[1]s, ss int, dst *%[1]s, ds int)", e.goElem()),
		fmt.Sprintf("%s sets %s for i < %d and p < k.", name, rule, n))
}

// transpose64 emits blocks of 4 x 4. Halves of two rows are put together by the load itself, so
// that a block takes only four shuffles.
func (e *emitter) transpose64(out bool) {
	e.size = 8
	e.startTranspose(out, 4)
	k, src, ss, dst, ds := e.arg("k"), e.arg("src"), e.stride("ss"), e.arg("dst"), e.stride("ds")
	ss3, ds3 := e.GP64(), e.GP64()
	e.LEAQ(operand.Mem{Base: ss, Index: ss, Scale: 2}, ss3)
	e.LEAQ(operand.Mem{Base: ds, Index: ds, Scale: 2}, ds3)
	from := rows{base: []reg.GPVirtual{src}, rs: ss, rs3: ss3}
	to := rows{base: []reg.GPVirtual{dst}, rs: ds, rs3: ds3}

	e.SUBQ(operand.U8(4), k)
	e.JLT(operand.LabelRef("rest"))
	next := rows{base: []reg.GPVirtual{e.GP64()}, rs: ss, rs3: ss3} // the rows after these, ahead of the next call
	e.LEAQ(operand.Mem{Base: src, Index: ss, Scale: 4}, next.base[0])
	e.Label("block")
	if !out {
		for i := range 4 {
			e.PREFETCHT0(next.at(i))
		}
		e.ADDQ(operand.U8(32), next.base[0])
	}
	for half := range 2 { // columns 0 and 1, then 2 and 3
		lo, hi := e.YMM(), e.YMM()
		a, b := e.YMM(), e.YMM()
		e.VMOVUPD(from.at(0).Offset(16*half), a.AsX())
		e.VMOVUPD(from.at(1).Offset(16*half), b.AsX())
		e.VINSERTF128(operand.U8(1), from.at(2).Offset(16*half), a, a)
		e.VINSERTF128(operand.U8(1), from.at(3).Offset(16*half), b, b)
		e.VUNPCKLPD(b, a, lo)
		e.VUNPCKHPD(b, a, hi)
		e.VMOVUPD(lo, to.at(2*half))
		e.VMOVUPD(hi, to.at(2*half+1))
	}
	if out {
		e.LEAQ(operand.Mem{Base: src, Index: ss, Scale: 4}, src)
		e.ADDQ(operand.U8(32), dst)
	} else {
		e.ADDQ(operand.U8(32), src)
		e.LEAQ(operand.Mem{Base: dst, Index: ds, Scale: 4}, dst)
	}
	e.SUBQ(operand.U8(4), k)
	e.JGE(operand.LabelRef("block"))
	e.Label("rest")
	e.ADDQ(operand.U8(4), k)
	e.JZ(operand.LabelRef("end"))
	e.Label("column")
	x := e.GP64()
	for i := range 4 {
		if out {
			e.MOVQ(operand.Mem{Base: src, Disp: 8 * i}, x)
			e.MOVQ(x, to.at(i))
		} else {
			e.MOVQ(from.at(i), x)
			e.MOVQ(x, operand.Mem{Base: dst, Disp: 8 * i})
		}
	}
	if out {
		e.ADDQ(ss, src)
		e.ADDQ(operand.U8(8), dst)
	} else {
		e.ADDQ(operand.U8(8), src)
		e.ADDQ(ds, dst)
	}
	e.DECQ(k)
	e.JNZ(operand.LabelRef("column"))
	e.Label("end")
	e.end()
}

// transpose32 emits blocks of 8 x 8.
func (e *emitter) transpose32(out bool) {
	e.size = 4
	e.startTranspose(out, 8)
	k, src, ss, dst, ds := e.arg("k"), e.arg("src"), e.stride("ss"), e.arg("dst"), e.stride("ds")
	from, to := e.rowsOf(src, ss), e.rowsOf(dst, ds)

	e.SUBQ(operand.U8(8), k)
	e.JLT(operand.LabelRef("rest"))
	e.Label("block")
	for half := range 2 { // columns 0 to 3, then 4 to 7: rows i and i+4 share a register
		var r, u [4]reg.VecVirtual
		for i := range r {
			y := e.YMM()
			e.VMOVUPS(from.at(i).Offset(16*half), y.AsX())
			e.VINSERTF128(operand.U8(1), from.at(i+4).Offset(16*half), y, y)
			r[i] = y
		}
		for i := range u {
			u[i] = e.YMM()
		}
		e.VUNPCKLPS(r[1], r[0], u[0]) // r0.0 r1.0 r0.1 r1.1
		e.VUNPCKHPS(r[1], r[0], u[1]) // r0.2 r1.2 r0.3 r1.3
		e.VUNPCKLPS(r[3], r[2], u[2])
		e.VUNPCKHPS(r[3], r[2], u[3])
		for c := range 4 {
			y := e.YMM()
			if c%2 == 0 {
				e.VUNPCKLPD(u[2+c/2], u[c/2], y)
			} else {
				e.VUNPCKHPD(u[2+c/2], u[c/2], y)
			}
			e.VMOVUPS(y, to.at(4*half+c))
		}
	}
	along, across, far := from, to, ds
	if out {
		along, across, far = to, from, ss
	}
	eight := e.GP64()
	e.MOVQ(far, eight)
	e.SHLQ(operand.U8(3), eight)
	e.step(along, operand.U8(32))
	e.step(across, eight)
	e.SUBQ(operand.U8(8), k)
	e.JGE(operand.LabelRef("block"))
	e.Label("rest")
	e.ADDQ(operand.U8(8), k)
	e.JZ(operand.LabelRef("end"))
	e.Label("column")
	x := e.GP32()
	for i := range 8 {
		if out {
			e.MOVL(operand.Mem{Base: src, Disp: 4 * i}, x)
			e.MOVL(x, to.at(i))
		} else {
			e.MOVL(from.at(i), x)
			e.MOVL(x, operand.Mem{Base: dst, Disp: 4 * i})
		}
	}
	e.step(along, operand.U8(4))
	e.step(across, far)
	e.DECQ(k)
	e.JNZ(operand.LabelRef("column"))
	e.Label("end")
	e.end()
}

// askLines emits a loop of n prefetches into L2.
func (e *emitter) askLines() {
	e.begin("askLines", "func(n int, next uintptr, step int)", "askLines asks for n > 0 cache lines from next on, step bytes apart.")
	n, next, step := e.arg("n"), e.arg("next"), e.arg("step")
	e.Label("line")
	e.PREFETCHT1(operand.Mem{Base: next})
	e.ADDQ(step, next)
	e.DECQ(n)
	e.JNZ(operand.LabelRef("line"))
	e.end()
}

// step moves all bases of r on by n bytes.
func (e *emitter) step(r rows, n operand.Op) {
	for _, b := range r.base {
		e.ADDQ(n, b)
	}
}

// copyRows emits copyRows<bytes>: k rows of that many bytes (the width of a panel) from a matrix
// with a row distance of ss bytes to dst, where they lie one behind the other.
func (e *emitter) copyRows(bytes int) {
	name := fmt.Sprintf("copyRows%d", bytes)
	e.begin(name, "func(k int, src *byte, ss int, dst *byte)",
		fmt.Sprintf("%s copies k rows of %d bytes, ss bytes apart, to dst, one behind the other.", name, bytes))
	k, src, ss, dst := e.arg("k"), e.arg("src"), e.arg("ss"), e.arg("dst")
	e.TESTQ(k, k)
	e.JZ(operand.LabelRef("end"))
	e.Label("row")
	for at := 0; at < bytes; at += 32 {
		y := e.YMM()
		e.VMOVUPS(operand.Mem{Base: src, Disp: at}, y)
		e.VMOVUPS(y, operand.Mem{Base: dst, Disp: at})
	}
	e.ADDQ(ss, src)
	e.ADDQ(operand.I32(int32(bytes)), dst)
	e.DECQ(k)
	e.JNZ(operand.LabelRef("row"))
	e.Label("end")
	e.end()
}
