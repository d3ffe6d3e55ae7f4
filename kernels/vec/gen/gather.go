package main

// This file writes the reductions of the rows of a sparse matrix: what limits them is the wait for
// x[col[k]], which lie anywhere, so each loop asks for those of 64 entries on before it uses its
// own. The caller sees to it that there are so many.

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

// ask prefetches x[col[k+ahead]] and the n-1 after it, which are that many bytes wide.
func (e *emitter) ask(r sparseRow, n, width int) {
	for q := range n {
		j := e.GP64()
		e.MOVLQSX(operand.Mem{Base: r.col, Index: r.k, Scale: 4, Disp: 4 * (gatherAhead + q)}, j)
		e.PREFETCHT0(operand.Mem{Base: r.x, Index: j, Scale: uint8(width)})
	}
}

// extremeRows writes maxRowsI64 and its like: what a row starts from, and what its entries name, 8
// or 16 entries a step, the last of a row under a mask. VPGATHER leaves the lanes that the mask
// leaves out, which hold what loses against everything. A row ends as soon as it holds the bound.
func (e *emitter) extremeRows() {
	for _, f := range []struct {
		name   string
		least  bool
		narrow bool
	}{{"maxRowsI64", false, false}, {"minRowsI64", true, false}, {"maxRowsI32", false, true}, {"minRowsI32", true, true}} {
		pick := func(a, b, d operand.Op) {
			switch {
			case f.narrow && f.least:
				e.VPMINSD(a, b, d)
			case f.narrow:
				e.VPMAXSD(a, b, d)
			case f.least:
				e.VPMINSQ(a, b, d)
			default:
				e.VPMAXSQ(a, b, d)
			}
		}
		elem, width, step, loser := "int64", 8, 8, uint64(1)<<63
		if f.narrow {
			elem, width, step, loser = "int32", 4, 16, 1<<31
		}
		if f.least {
			loser--
		}
		r := e.sparseRows(f.name+e.name, fmt.Sprintf("func(out, ptr *int64, col *int32, x *%s, rows int, bound int64) (longest int64)", elem),
			fmt.Sprintf("is the extreme of out[i] and x[col[k]] for ptr[i] <= k < ptr[i+1], of each row, and the length of the longest. No element that a row names is beyond bound. "+
				"It reads up to %d entries beyond a row.", gatherAhead+step))
		bound, longest, n, some, one, best := e.param("bound"), e.GP64(), e.GP64(), e.GP64(), e.GP64(), e.GP64()
		lost, ends := e.vector(), e.vector()
		e.MOVQ(operand.U64(loser), best)
		if f.narrow {
			e.VPBROADCASTD(best.As32(), lost)
			e.VPBROADCASTD(reg.GP(bound.(reg.GPVirtual)).As32(), ends)
		} else {
			e.VPBROADCASTQ(best, lost)
			e.VPBROADCASTQ(bound, ends)
		}
		e.XORQ(longest, longest)
		e.MOVQ(operand.U64(1), one)
		e.MOVQ(operand.Mem{Base: r.ptr}, r.k)
		e.TESTQ(r.rows, r.rows)
		e.JZ(operand.LabelRef("done"))
		e.Label("row")
		acc, got, mask, found := e.vector(), e.vector(), e.K(), e.K()
		e.MOVQ(operand.Mem{Base: r.ptr, Disp: 8}, r.end)
		e.MOVQ(operand.Mem{Base: r.out}, best)
		e.MOVQ(r.end, n)
		e.SUBQ(r.k, n)
		e.JZ(operand.LabelRef("next"))
		e.CMPQ(n, longest)
		e.CMOVQGT(n, longest)
		e.CMPQ(best, bound)
		if f.least {
			e.JLE(operand.LabelRef("next"))
		} else {
			e.JGE(operand.LabelRef("next"))
		}
		e.VMOVDQA64(lost, acc)
		e.Label("entries")
		full := e.GP64()
		e.MOVQ(operand.U64(step), full)
		e.CMPQ(n, full)
		e.CMOVQLT(n, full)
		e.SHLXQ(full, one, some)
		e.DECQ(some)
		e.KMOVW(some.As32(), mask)
		entries := operand.Mem{Base: r.col, Index: r.k, Scale: 4}
		e.VMOVDQA64(lost, got) // not acc: gathers of one row must not wait for each other
		if f.narrow {
			idx := e.ZMM()
			e.VMOVDQU32_Z(entries, mask, idx)
			e.VPGATHERDD(operand.Mem{Base: r.x, Index: idx, Scale: 4}, mask, got)
		} else {
			idx := e.YMM()
			e.VMOVDQU32_Z(entries, mask, idx)
			e.VPGATHERDQ(operand.Mem{Base: r.x, Index: idx, Scale: 8}, mask, got)
		}
		e.ask(r, step, width)
		pick(got, acc, acc)
		if f.narrow {
			e.VPCMPEQD(acc, ends, found)
		} else {
			e.VPCMPEQQ(acc, ends, found)
		}
		e.KORTESTW(found, found)
		e.JNZ(operand.LabelRef("fold"))
		e.ADDQ(operand.I8(step), r.k)
		e.SUBQ(operand.I8(step), n)
		e.JG(operand.LabelRef("entries"))
		e.Label("fold")
		half, quarter, other, greatest := e.YMM(), e.XMM(), e.XMM(), e.GP64()
		e.VEXTRACTI64X4(operand.Imm(1), acc, half)
		pick(half, acc.AsY(), half)
		e.VEXTRACTI128(operand.Imm(1), half, quarter)
		pick(quarter, half.AsX(), quarter)
		e.VPSHUFD(operand.Imm(0x4e), quarter, other)
		pick(other, quarter, quarter)
		if f.narrow {
			e.VPSHUFD(operand.Imm(0xb1), quarter, other)
			pick(other, quarter, quarter)
			e.VMOVD(quarter, greatest.As32())
			e.MOVLQSX(greatest.As32(), greatest)
		} else {
			e.VMOVQ(quarter, greatest)
		}
		e.CMPQ(greatest, best)
		if f.least {
			e.CMOVQLT(greatest, best)
		} else {
			e.CMOVQGT(greatest, best)
		}
		e.MOVQ(best, operand.Mem{Base: r.out})
		e.Label("next")
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

// narrow writes narrowI64 and narrowRowsI64: the low halves of elements, and the least and the
// greatest of them; for rows too those of elements whose rows are not empty. Bytes are those of
// src, a multiple of the vector's.
func (e *emitter) narrow() {
	for _, rows := range []bool{false, true} {
		name, params, doc := "narrowI64"+e.name, "func(dst *int32, src *int64, bytes int) (least, greatest int64)",
			" copies the low halves of src to dst, and is the least and the greatest of src. It works on that many bytes of src, one vector at the least."
		if rows {
			name, params = "narrowRowsI64"+e.name, "func(dst *int32, src, ptr *int64, bytes int) (least, greatest, leastOf, greatestOf int64)"
			doc += " leastOf and greatestOf are of the elements i with ptr[i] < ptr[i+1], the greatest and the least int64 if there is none."
		}
		e.Function(name)
		e.SignatureExpr(params)
		e.Doc(name + doc)
		e.Pragma("noescape")
		dst, src, n := e.param("dst"), e.param("src"), e.param("bytes")
		acc, v, low, i := e.vectors(4), e.vector(), e.YMM(), e.GP64()
		e.VMOVDQU64(operand.Mem{Base: src}, acc[0])
		e.VMOVDQA64(acc[0], acc[1])
		var ptr reg.Register
		mask, begin := e.K(), e.vector()
		if rows {
			ptr = e.param("ptr")
			x := e.GP64()
			e.MOVQ(operand.U64(1<<63-1), x)
			e.VPBROADCASTQ(x, acc[2])
			e.INCQ(x)
			e.VPBROADCASTQ(x, acc[3])
		} else {
			acc = acc[:2]
		}
		e.XORQ(i, i)
		e.Label("loop")
		e.VMOVDQU64(at(src, i, 0), v)
		if rows {
			e.VMOVDQU64(at(ptr, i, 0), begin)
			e.VPCMPQ(operand.U8(1), at(ptr, i, 8), begin, mask) // less
			e.VPMINSQ(v, acc[2], mask, acc[2])
			e.VPMAXSQ(v, acc[3], mask, acc[3])
		}
		e.VPMINSQ(v, acc[0], acc[0])
		e.VPMAXSQ(v, acc[1], acc[1])
		e.VPMOVQD(v, low)
		e.VMOVDQU(low, operand.Mem{Base: dst})
		e.ADDQ(operand.I8(32), dst)
		e.ADDQ(operand.I8(64), i)
		e.CMPQ(i, n)
		e.JL(operand.LabelRef("loop"))
		for k := range acc {
			pick := e.VPMINSQ
			if k%2 == 1 {
				pick = e.VPMAXSQ
			}
			half, quarter, other, x := e.YMM(), e.XMM(), e.XMM(), e.GP64()
			e.VEXTRACTI64X4(operand.Imm(1), acc[k], half)
			pick(half, acc[k].AsY(), half)
			e.VEXTRACTI128(operand.Imm(1), half, quarter)
			pick(quarter, half.AsX(), quarter)
			e.VPSHUFD(operand.Imm(0x4e), quarter, other)
			pick(other, quarter, quarter)
			e.VMOVQ(quarter, x)
			e.Store(x, e.ReturnIndex(k))
		}
		e.finish()
	}
}

// extremeRowsF64 writes maxRowsF64 and its like: the extreme of zero and what the entries of a row
// give, x[col[k]] or val[k] x[col[k]]. Lanes that the mask leaves out hold zero, which takes part
// anyway. VMAXPD forgets a NaN in its first source, so NaNs are looked for beside it; the sum with
// zero at the end makes -0 zero.
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
		e.ask(r, gatherStep, 8)
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

// chainRows writes the chains of a sparse matrix and a column, of which the order is the meaning:
// one element after the other. Without values an entry is 1, and the step of the chain an addition.
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
		e.ask(r, 1, 8)
		e.askStreams(r.col, val, r.k)
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
