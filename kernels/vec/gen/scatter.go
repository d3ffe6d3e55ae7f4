package main

// This file writes products of a sparse matrix that name rows of a dense one by their entries: of
// each row of the sparse matrix, a strip of the rows of b that it names is added up in registers
// (dotLines), or a strip of a row of b is added to the rows of out that it names (addLines), for
// strips of 1, 2 or 4 vectors. addRows is addLines of one column. What limits them is the wait for
// lines that lie anywhere, so they ask for those of later entries before they use their own.
// Additions to a row of out are made in the order of the rows of the matrix: they are steps of a
// chain.

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// linesAhead is how many entries before its use a line is asked for.
const linesAhead = 24

// streamAhead is how many entries before their use columns and values are asked for: processors
// fetch what lies in order by themselves, but on a shared virtual machine with 4 KiB pages asking
// made a pass over 4 million entries twice as fast (November 2026; 256 to 1024 are alike).
const streamAhead = 256

// stripVectors is the widths of strips.
var stripVectors = [...]int{1, 2, 4}

// lines writes all of them.
func (e *emitter) lines() {
	for _, valued := range []bool{true, false} {
		e.addRows(valued)
		for _, q := range stripVectors {
			e.dotLines(q, valued)
			e.addLines(q, valued)
		}
	}
}

// variant is the name of a function and its parameter of values, which matrices of ones lack.
func variant(stem string, q int, valued bool) (name, val string) {
	if q > 0 {
		stem = fmt.Sprintf("%s%d", stem, q)
	}
	if valued {
		return stem + "F64", "val, "
	}
	return stem + "OnesF64", ""
}

// stripMasks are the masks of the vectors of a strip of so many columns.
func (e *emitter) stripMasks(columns reg.Register, q int) []reg.OpmaskVirtual {
	masks := make([]reg.OpmaskVirtual, q)
	bits, count := e.GP64(), e.GP64()
	e.MOVQ(operand.U64(1), bits)
	e.MOVQ(columns, count)
	e.SHLXQ(count, bits, bits)
	e.DECQ(bits)
	for i := range masks {
		masks[i] = e.K()
		e.KMOVB(bits.As32(), masks[i])
		e.SHRQ(operand.Imm(8), bits)
	}
	return masks
}

// askStreams asks for the columns, and the values if there are any, that are used streamAhead
// entries after k.
func (e *emitter) askStreams(col, val, k reg.Register) {
	e.PREFETCHT0(operand.Mem{Base: col, Index: k, Scale: 4, Disp: 4 * streamAhead})
	if val != nil {
		e.PREFETCHT0(operand.Mem{Base: val, Index: k, Scale: 8, Disp: 8 * streamAhead})
	}
}

// askLine asks for the q vectors of the line that is named linesAhead entries on.
func (e *emitter) askLine(col, k, base, ld reg.Register, q int) {
	j := e.GP64()
	e.MOVLQSX(operand.Mem{Base: col, Index: k, Scale: 4, Disp: 4 * linesAhead}, j)
	e.IMULQ(ld, j)
	for i := range q {
		e.PREFETCHT0(operand.Mem{Base: base, Index: j, Scale: 1, Disp: 64 * i})
	}
}

func (e *emitter) dotLines(q int, valued bool) {
	name, val := variant("dotLines", q, valued)
	name += e.name
	e.Function(name)
	e.SignatureExpr("func(out *float64, ptr *int64, col *int32, " + val + "b *float64, rows, columns, ldout, ldb int)")
	e.Doc(fmt.Sprintf("%s sets the first columns, at most %d, of each row i of out to the chains of the rows of b that col[k] for ptr[i] <= k < ptr[i+1] "+
		"names, each times val[k]. ldout and ldb are bytes. It reads %d columns beyond a row.", name, 8*q, linesAhead+1))
	e.Pragma("noescape")
	out, ptr, col, b := e.param("out"), e.param("ptr"), e.param("col"), e.param("b")
	rows, columns, ldout, ldb := e.param("rows"), e.param("columns"), e.param("ldout"), e.param("ldb")
	var values reg.Register
	if valued {
		values = e.param("val")
	}
	masks := e.stripMasks(columns, q)
	acc, u, line := e.vectors(q), e.vector(), e.vectors(q)
	k, end, j := e.GP64(), e.GP64(), e.GP64()
	e.MOVQ(operand.Mem{Base: ptr}, k)
	e.TESTQ(rows, rows)
	e.JZ(operand.LabelRef("done"))
	e.Label("row")
	e.MOVQ(operand.Mem{Base: ptr, Disp: 8}, end)
	for _, v := range acc {
		e.VXORPD(v, v, v)
	}
	e.JMP(operand.LabelRef("test"))
	e.Label("entry")
	e.MOVLQSX(operand.Mem{Base: col, Index: k, Scale: 4}, j)
	e.IMULQ(ldb, j)
	if valued {
		e.VBROADCASTSD(operand.Mem{Base: values, Index: k, Scale: 8}, u)
	}
	for i := range q {
		e.VMOVUPD_Z(operand.Mem{Base: b, Index: j, Scale: 1, Disp: 64 * i}, masks[i], line[i])
		if valued {
			e.VFMADD231PD(line[i], u, acc[i])
		} else {
			e.VADDPD(line[i], acc[i], acc[i])
		}
	}
	e.askLine(col, k, b, ldb, q)
	e.askStreams(col, values, k)
	e.INCQ(k)
	e.Label("test")
	e.CMPQ(k, end)
	e.JLT(operand.LabelRef("entry"))
	for i, v := range acc {
		e.VMOVUPD(v, masks[i], operand.Mem{Base: out, Disp: 64 * i})
	}
	e.ADDQ(operand.I8(8), ptr)
	e.ADDQ(ldout, out)
	e.DECQ(rows)
	e.JNZ(operand.LabelRef("row"))
	e.Label("done")
	e.finish()
}

// bounds finds the entries k..end-1 of a row whose columns are in lo..hi-1: columns ascend, so it
// counts those below both.
func (e *emitter) bounds(col, k, end reg.Register, lo, hi reg.VecVirtual) {
	at, n, some, full, one, below := e.GP64(), e.GP64(), e.GP64(), e.GP64(), e.GP64(), e.GP64()
	valid, less, entries := e.K(), e.K(), e.vector()
	e.MOVQ(k, at)
	e.MOVQ(end, n)
	e.SUBQ(k, n)
	e.MOVQ(k, end)
	e.MOVQ(operand.U64(1), one)
	e.JMP(operand.LabelRef("more"))
	e.Label("count")
	e.MOVQ(operand.U64(16), full)
	e.CMPQ(n, full)
	e.CMOVQLT(n, full)
	e.SHLXQ(full, one, some)
	e.DECQ(some)
	e.KMOVW(some.As32(), valid)
	e.VMOVDQU32_Z(operand.Mem{Base: col, Index: at, Scale: 4}, valid, entries)
	e.PREFETCHT0(operand.Mem{Base: col, Index: at, Scale: 4, Disp: 4 * streamAhead})
	for _, c := range []struct {
		bound reg.VecVirtual
		to    reg.Register
	}{{lo, k}, {hi, end}} {
		e.VPCMPD(operand.U8(1), c.bound, entries, valid, less)
		e.KMOVW(less, below.As32())
		e.POPCNTL(below.As32(), below.As32())
		e.ADDQ(below, c.to)
	}
	e.ADDQ(operand.I8(16), at)
	e.SUBQ(operand.I8(16), n)
	e.Label("more")
	e.TESTQ(n, n)
	e.JG(operand.LabelRef("count"))
}

func (e *emitter) addRows(valued bool) {
	name, val := variant("addRows", 0, valued)
	name += e.name
	e.Function(name)
	e.SignatureExpr("func(sum *float64, ptr *int64, col *int32, " + val + "x *float64, rows, lo, hi int)")
	e.Doc(name + " does the steps sum[col[k]] += x[i] * val[k], fused, of the entries ptr[i] <= k < ptr[i+1] with lo <= col[k] < hi, row by row. Columns ascend in a row.")
	e.Pragma("noescape")
	sum, ptr, col, x, rows := e.param("sum"), e.param("ptr"), e.param("col"), e.param("x"), e.param("rows")
	var values reg.Register
	if valued {
		values = e.param("val")
	}
	lo, hi := e.vector(), e.vector()
	e.VPBROADCASTD(reg.GP(e.param("lo").(reg.GPVirtual)).As32(), lo)
	e.VPBROADCASTD(reg.GP(e.param("hi").(reg.GPVirtual)).As32(), hi)
	k, end, next, j := e.GP64(), e.GP64(), e.GP64(), e.GP64()
	u, s := e.XMM(), e.XMM()
	e.MOVQ(operand.Mem{Base: ptr}, next)
	e.TESTQ(rows, rows)
	e.JZ(operand.LabelRef("done"))
	e.Label("row")
	e.MOVQ(next, k)
	e.MOVQ(operand.Mem{Base: ptr, Disp: 8}, end)
	e.MOVQ(end, next)
	e.VMOVSD(operand.Mem{Base: x}, u)
	e.bounds(col, k, end, lo, hi)
	e.JMP(operand.LabelRef("test"))
	e.Label("entry")
	e.MOVLQSX(operand.Mem{Base: col, Index: k, Scale: 4}, j)
	named := operand.Mem{Base: sum, Index: j, Scale: 8}
	e.VMOVSD(named, s)
	if valued {
		e.VFMADD231SD(operand.Mem{Base: values, Index: k, Scale: 8}, u, s)
		e.PREFETCHT0(operand.Mem{Base: values, Index: k, Scale: 8, Disp: 8 * streamAhead}) // columns: bounds has asked
	} else {
		e.VADDSD(u, s, s)
	}
	e.VMOVSD(s, named)
	e.INCQ(k)
	e.Label("test")
	e.CMPQ(k, end)
	e.JLT(operand.LabelRef("entry"))
	e.ADDQ(operand.I8(8), ptr)
	e.ADDQ(operand.I8(8), x)
	e.DECQ(rows)
	e.JNZ(operand.LabelRef("row"))
	e.Label("done")
	e.finish()
}

func (e *emitter) addLines(q int, valued bool) {
	name, val := variant("addLines", q, valued)
	name += e.name
	e.Function(name)
	e.SignatureExpr("func(out *float64, ptr *int64, col *int32, " + val + "b *float64, rows, columns, ldout, ldb, lo, hi int)")
	e.Doc(fmt.Sprintf("%s adds the first columns, at most %d, of row i of b times val[k], fused, to row col[k] of out for the entries ptr[i] <= k < ptr[i+1] "+
		"with lo <= col[k] < hi, row by row. Columns ascend in a row. ldout and ldb are bytes.", name, 8*q))
	e.Pragma("noescape")
	out, ptr, col, b := e.param("out"), e.param("ptr"), e.param("col"), e.param("b")
	rows, ldout, ldb := e.param("rows"), e.param("ldout"), e.param("ldb")
	var values reg.Register
	if valued {
		values = e.param("val")
	}
	masks := e.stripMasks(e.param("columns"), q)
	lo, hi := e.vector(), e.vector()
	e.VPBROADCASTD(reg.GP(e.param("lo").(reg.GPVirtual)).As32(), lo)
	e.VPBROADCASTD(reg.GP(e.param("hi").(reg.GPVirtual)).As32(), hi)
	y, u, sum := e.vectors(q), e.vector(), e.vectors(q)
	k, end, next, j := e.GP64(), e.GP64(), e.GP64(), e.GP64()
	e.MOVQ(operand.Mem{Base: ptr}, next)
	e.TESTQ(rows, rows)
	e.JZ(operand.LabelRef("done"))
	e.Label("row")
	e.MOVQ(next, k)
	e.MOVQ(operand.Mem{Base: ptr, Disp: 8}, end)
	e.MOVQ(end, next)
	for i := range q {
		e.VMOVUPD_Z(operand.Mem{Base: b, Disp: 64 * i}, masks[i], y[i])
	}
	e.bounds(col, k, end, lo, hi)
	e.JMP(operand.LabelRef("test"))
	e.Label("entry")
	e.MOVLQSX(operand.Mem{Base: col, Index: k, Scale: 4}, j)
	e.IMULQ(ldout, j)
	if valued {
		e.VBROADCASTSD(operand.Mem{Base: values, Index: k, Scale: 8}, u)
		e.PREFETCHT0(operand.Mem{Base: values, Index: k, Scale: 8, Disp: 8 * streamAhead})
	}
	for i := range q {
		named := operand.Mem{Base: out, Index: j, Scale: 1, Disp: 64 * i}
		e.VMOVUPD_Z(named, masks[i], sum[i])
		if valued {
			e.VFMADD231PD(y[i], u, sum[i])
		} else {
			e.VADDPD(y[i], sum[i], sum[i])
		}
		e.VMOVUPD(sum[i], masks[i], named)
	}
	e.INCQ(k)
	e.Label("test")
	e.CMPQ(k, end)
	e.JLT(operand.LabelRef("entry"))
	e.ADDQ(operand.I8(8), ptr)
	e.ADDQ(ldb, b)
	e.DECQ(rows)
	e.JNZ(operand.LabelRef("row"))
	e.Label("done")
	e.finish()
}
