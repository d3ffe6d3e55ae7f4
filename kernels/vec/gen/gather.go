package main

// This file writes the reductions of the rows of a sparse matrix: what limits them is the wait for x[col[k]], which lie
// anywhere, so each loop asks for those of 64 entries on before it uses its own. The caller sees to it that there are so many.

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	gatherStep  = 8
	gatherAhead = 64 // entries; by measurement on graphs of 2 to 31 million entries
)

// sparseRow is a loop over rows: of each, over its entries.
type sparseRow struct {
	ptr, col, x, out, rows reg.Register
	k, end                 reg.Register
}

// rows starts a function over rows of a CSR matrix.
func (e *emitter) sparseRows(name, signature, doc string) sparseRow {
	e.Function(name)
	e.SignatureExpr(signature)
	e.Doc(name + " " + doc)
	e.Pragma("noescape")
	return sparseRow{ptr: e.param("ptr"), col: e.param("col"), x: e.param("x"), out: e.param("out"), rows: e.param("rows"), k: e.GP64(), end: e.GP64()}
}

// ask prefetches x[col[k+ahead]] and the n-1 after it.
func (e *emitter) ask(r sparseRow, n int) {
	for q := range n {
		j := e.GP64()
		e.MOVLQSX(operand.Mem{Base: r.col, Index: r.k, Scale: 4, Disp: 4 * (gatherAhead + q)}, j)
		e.PREFETCHT0(operand.Mem{Base: r.x, Index: j, Scale: 8})
	}
}

// extremeRows writes maxRowsI64 and minRowsI64: 8 entries a step, the last of a row under a mask. VPGATHERDQ leaves the lanes
// that the mask leaves out, which hold start.
func (e *emitter) extremeRows() {
	for _, f := range []struct {
		name string
		pick func(a, b, d operand.Op)
	}{
		{"maxRowsI64", func(a, b, d operand.Op) { e.VPMAXSQ(a, b, d) }},
		{"minRowsI64", func(a, b, d operand.Op) { e.VPMINSQ(a, b, d) }},
	} {
		name := f.name + e.name
		r := e.sparseRows(name, "func(out, ptr *int64, col *int32, x *int64, rows int, start int64) (longest int64)",
			fmt.Sprintf("is the extreme of start and x[col[k]] for ptr[i] <= k < ptr[i+1], of each row, and the length of the longest. It reads up to %d entries beyond a row.",
				gatherAhead+gatherStep))
		longest, n, some, one := e.GP64(), e.GP64(), e.GP64(), e.GP64()
		start := e.vector()
		e.Load(e.Param("start"), n)
		e.VPBROADCASTQ(n, start)
		e.XORQ(longest, longest)
		e.MOVQ(operand.U64(1), one)
		e.MOVQ(operand.Mem{Base: r.ptr}, r.k)
		e.TESTQ(r.rows, r.rows)
		e.JZ(operand.LabelRef("done"))
		e.Label("row")
		acc, got, idx, mask := e.vector(), e.vector(), e.YMM(), e.K()
		e.MOVQ(operand.Mem{Base: r.ptr, Disp: 8}, r.end)
		e.VMOVDQA64(start, acc)
		e.MOVQ(r.end, n)
		e.SUBQ(r.k, n)
		e.CMPQ(n, longest)
		e.CMOVQGT(n, longest)
		e.JMP(operand.LabelRef("test"))
		e.Label("entries")
		eight := e.GP64()
		e.MOVQ(operand.U64(gatherStep), eight)
		e.CMPQ(n, eight)
		e.CMOVQLT(n, eight)
		e.SHLXQ(eight, one, some)
		e.DECQ(some)
		e.KMOVW(some.As32(), mask)
		e.VMOVDQU32_Z(operand.Mem{Base: r.col, Index: r.k, Scale: 4}, mask, idx)
		e.VMOVDQA64(start, got) // not acc: gathers of one row must not wait for each other
		e.VPGATHERDQ(operand.Mem{Base: r.x, Index: idx, Scale: 8}, mask, got)
		e.ask(r, gatherStep)
		f.pick(got, acc, acc)
		e.ADDQ(operand.I8(gatherStep), r.k)
		e.SUBQ(operand.I8(gatherStep), n)
		e.Label("test")
		e.TESTQ(n, n)
		e.JG(operand.LabelRef("entries"))
		half, quarter, other := e.YMM(), e.XMM(), e.XMM()
		e.VEXTRACTI64X4(operand.Imm(1), acc, half)
		f.pick(half, acc.AsY(), half)
		e.VEXTRACTI128(operand.Imm(1), half, quarter)
		f.pick(quarter, half.AsX(), quarter)
		e.VPSHUFD(operand.Imm(0x4e), quarter, other)
		f.pick(other, quarter, quarter)
		e.VMOVQ(quarter, operand.Mem{Base: r.out})
		e.MOVQ(r.end, r.k)
		e.ADDQ(operand.I8(8), r.ptr)
		e.ADDQ(operand.I8(8), r.out)
		e.DECQ(r.rows)
		e.JNZ(operand.LabelRef("row"))
		e.Label("done")
		e.Store(longest, e.ReturnIndex(0))
		e.finish()
	}
}

// extremeRowsF64 writes maxRowsF64 and its like: the extreme of zero and what the entries of a row give, x[col[k]] or val[k] x[col[k]]. Lanes that the
// mask leaves out hold zero, which takes part anyway. VMAXPD forgets a NaN in its first source, so NaNs are looked for beside it; the sum with zero at the
// end makes -0 zero.
func (e *emitter) extremeRowsF64() {
	for _, f := range []struct {
		name   string
		least  bool
		valued bool
	}{{"maxRowsF64", false, false}, {"minRowsF64", true, false}, {"maxDotsF64", false, true}, {"minDotsF64", true, true}} {
		pick := func(a, b, d operand.Op) {
			if f.least {
				e.VMINPD(a, b, d)
			} else {
				e.VMAXPD(a, b, d)
			}
		}
		params, what := "func(out *float64, ptr *int64, col *int32, x *float64, rows int, nan float64) (longest int64)", "x[col[k]]"
		if f.valued {
			params, what = "func(out *float64, ptr *int64, col *int32, val, x *float64, rows int, nan float64) (longest int64)", "val[k] * x[col[k]]"
		}
		r := e.sparseRows(f.name+e.name, params, fmt.Sprintf("is the extreme of 0 and %s for ptr[i] <= k < ptr[i+1], of each row, nan if one is NaN, and the "+
			"length of the longest. It reads up to %d entries beyond a row.", what, gatherAhead+gatherStep))
		var val reg.Register
		if f.valued {
			val = e.param("val")
		}
		longest, n, some, one := e.GP64(), e.GP64(), e.GP64(), e.GP64()
		nan, zero := e.XMM(), e.vector()
		e.Load(e.Param("nan"), nan)
		e.VXORPD(zero, zero, zero)
		e.XORQ(longest, longest)
		e.MOVQ(operand.U64(1), one)
		e.MOVQ(operand.Mem{Base: r.ptr}, r.k)
		e.TESTQ(r.rows, r.rows)
		e.JZ(operand.LabelRef("done"))
		e.Label("row")
		acc, got, idx, mask, bad, found := e.vector(), e.vector(), e.YMM(), e.K(), e.K(), e.K()
		e.MOVQ(operand.Mem{Base: r.ptr, Disp: 8}, r.end)
		e.VMOVAPD(zero, acc)
		e.KXORW(found, found, found)
		e.MOVQ(r.end, n)
		e.SUBQ(r.k, n)
		e.CMPQ(n, longest)
		e.CMOVQGT(n, longest)
		e.JMP(operand.LabelRef("test"))
		e.Label("entries")
		eight := e.GP64()
		e.MOVQ(operand.U64(gatherStep), eight)
		e.CMPQ(n, eight)
		e.CMOVQLT(n, eight)
		e.SHLXQ(eight, one, some)
		e.DECQ(some)
		e.KMOVW(some.As32(), mask)
		e.VMOVDQU32_Z(operand.Mem{Base: r.col, Index: r.k, Scale: 4}, mask, idx)
		v := e.vector()
		if f.valued {
			e.VMOVUPD_Z(operand.Mem{Base: val, Index: r.k, Scale: 8}, mask, v)
		}
		e.VMOVAPD(zero, got)
		e.VGATHERDPD(operand.Mem{Base: r.x, Index: idx, Scale: 8}, mask, got)
		e.ask(r, gatherStep)
		if f.valued {
			e.VMULPD(v, got, got)
		}
		e.VCMPPD(operand.U8(3), got, got, bad) // unordered
		e.KORW(bad, found, found)
		pick(got, acc, acc)
		e.ADDQ(operand.I8(gatherStep), r.k)
		e.SUBQ(operand.I8(gatherStep), n)
		e.Label("test")
		e.TESTQ(n, n)
		e.JG(operand.LabelRef("entries"))
		half, quarter, other := e.YMM(), e.XMM(), e.XMM()
		e.VEXTRACTF64X4(operand.Imm(1), acc, half)
		pick(half, acc.AsY(), half)
		e.VEXTRACTF128(operand.Imm(1), half, quarter)
		pick(quarter, half.AsX(), quarter)
		e.VPSHUFD(operand.Imm(0x4e), quarter, other)
		pick(other, quarter, quarter)
		e.VADDSD(zero.AsX(), quarter, quarter)
		e.KORTESTW(found, found)
		e.JZ(operand.LabelRef("store"))
		e.VMOVAPD(nan, quarter)
		e.Label("store")
		e.VMOVSD(quarter, operand.Mem{Base: r.out})
		e.MOVQ(r.end, r.k)
		e.ADDQ(operand.I8(8), r.ptr)
		e.ADDQ(operand.I8(8), r.out)
		e.DECQ(r.rows)
		e.JNZ(operand.LabelRef("row"))
		e.Label("done")
		e.Store(longest, e.ReturnIndex(0))
		e.finish()
	}
}

// chainRows writes the chains of a sparse matrix and a column, of which the order is the meaning: one element after the other.
// Without values an entry is 1, and the step of the chain an addition.
func (e *emitter) chainRows() {
	for _, valued := range []bool{false, true} {
		name, params := "sumRowsF64"+e.name, "func(out *float64, ptr *int64, col *int32, x *float64, rows int)"
		doc := "is the sum, in order, of x[col[k]] for ptr[i] <= k < ptr[i+1], of each row."
		if valued {
			name, params = "dotRowsF64"+e.name, "func(out *float64, ptr *int64, col *int32, val, x *float64, rows int)"
			doc = "is the chain of fused multiply-adds of val[k] and x[col[k]] for ptr[i] <= k < ptr[i+1], of each row."
		}
		r := e.sparseRows(name, params, doc+fmt.Sprintf(" It reads up to %d columns beyond a row.", gatherAhead+1))
		var val reg.Register
		if valued {
			val = e.param("val")
		}
		sum, v, j := e.XMM(), e.XMM(), e.GP64()
		e.MOVQ(operand.Mem{Base: r.ptr}, r.k)
		e.TESTQ(r.rows, r.rows)
		e.JZ(operand.LabelRef("done"))
		e.Label("row")
		e.MOVQ(operand.Mem{Base: r.ptr, Disp: 8}, r.end)
		e.VXORPD(sum, sum, sum)
		e.JMP(operand.LabelRef("test"))
		e.Label("entry")
		e.MOVLQSX(operand.Mem{Base: r.col, Index: r.k, Scale: 4}, j)
		if valued {
			e.VMOVSD(operand.Mem{Base: val, Index: r.k, Scale: 8}, v)
			e.VFMADD231SD(operand.Mem{Base: r.x, Index: j, Scale: 8}, v, sum)
		} else {
			e.VADDSD(operand.Mem{Base: r.x, Index: j, Scale: 8}, sum, sum)
		}
		e.ask(r, 1)
		e.INCQ(r.k)
		e.Label("test")
		e.CMPQ(r.k, r.end)
		e.JLT(operand.LabelRef("entry"))
		e.VMOVSD(sum, operand.Mem{Base: r.out})
		e.ADDQ(operand.I8(8), r.ptr)
		e.ADDQ(operand.I8(8), r.out)
		e.DECQ(r.rows)
		e.JNZ(operand.LabelRef("row"))
		e.Label("done")
		e.finish()
	}
}
