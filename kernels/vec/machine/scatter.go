package machine

// This file writes products of a sparse matrix that name rows of a dense one by their entries: of
// each row of the sparse matrix, a strip of the rows of b that it names is added up in registers
// (dotLines), or a strip of a row of b is added to the rows of out that it names (addLines), for
// strips of 1, 2 or 4 vectors. addRows is addLines of one column. What limits them is the wait for
// lines that lie anywhere, so they ask for those of later entries before they use their own.
// Additions to a row of out are made in the order of the rows of the matrix: they are steps of a
// chain.

import (
	"fmt"

	"flow/kernels/loop/amd64"
)

// linesAhead is how many entries before its use a line is asked for.
const linesAhead = 24

// streamAhead is how many entries before their use columns and values are asked for: processors
// fetch what lies in order by themselves, but on a shared virtual machine with 4 KiB pages asking
// made a pass over 4 million entries twice as fast (November 2026; 256 to 1024 are alike).
const streamAhead = 256

// The kernels of this file, those without values (Ones) for matrices of ones. DotLines and AddLines
// are by the width of a strip in vectors.
var (
	// DotLines sets the first columns, at most 8 times the vectors of a strip, of each row i of out
	// to the chains of the rows of b that col[k] for ptr[i] <= k < ptr[i+1] names, each times val[k].
	// ldout and ldb are bytes. It reads LinesAhead columns beyond a row.
	DotLines, DotLinesOnes = map[int]*Kernel{}, map[int]*Kernel{}
	// AddLines adds the first columns of row i of b times val[k], fused, to row col[k] of out for the
	// entries ptr[i] <= k < ptr[i+1] with lo <= col[k] < hi, row by row. Columns ascend in a row.
	AddLines, AddLinesOnes = map[int]*Kernel{}, map[int]*Kernel{}
	// AddRows does the steps sum[col[k]] += x[i] * val[k], fused, of the same entries.
	AddRows     = of("AddRows", "sum ptr col val x rows lo hi", func(e *emitter) { e.addRows(true) }, AVX512)
	AddRowsOnes = of("AddRowsOnes", "sum ptr col x rows lo hi", func(e *emitter) { e.addRows(false) }, AVX512)
)

// LinesAhead is how many entries beyond a row DotLines reads.
const LinesAhead = linesAhead + 1

func init() {
	for _, q := range [...]int{1, 2, 4} {
		dots, adds := " rows columns ldout ldb", " rows columns ldout ldb lo hi"
		DotLines[q] = of(fmt.Sprint("DotLines", q), "out ptr col val b"+dots, func(e *emitter) { e.dotLines(q, true) }, AVX512)
		AddLines[q] = of(fmt.Sprint("AddLines", q), "out ptr col val b"+adds, func(e *emitter) { e.addLines(q, true) }, AVX512)
		DotLinesOnes[q] = of(fmt.Sprint("DotLinesOnes", q), "out ptr col b"+dots, func(e *emitter) { e.dotLines(q, false) }, AVX512)
		AddLinesOnes[q] = of(fmt.Sprint("AddLinesOnes", q), "out ptr col b"+adds, func(e *emitter) { e.addLines(q, false) }, AVX512)
	}
}

// stripMasks are the masks of the vectors of a strip of so many columns.
func (e *emitter) stripMasks(columns reg, q int) []reg {
	masks := make([]reg, q)
	bits, count := e.general(), e.general()
	e.mov(1, bits)
	e.mov(columns, count)
	e.shlx(count, bits, bits)
	e.dec(bits)
	for i := range masks {
		masks[i] = e.mask()
		e.v(amd64.KMOVB, bits, masks[i])
		e.shr(8, bits)
	}
	return masks
}

// askStreams asks for the columns, and the values if there are any, that are used streamAhead
// entries after k.
func (e *emitter) askStreams(col, val reg, valued bool, k reg) {
	e.prefetch(mem{base: col, index: k, scale: 4, disp: 4 * streamAhead})
	if valued {
		e.prefetch(mem{base: val, index: k, scale: 8, disp: 8 * streamAhead})
	}
}

// askLine asks for the q vectors of the line that is named linesAhead entries on.
func (e *emitter) askLine(col, k, base, ld reg, q int) {
	j := e.general()
	e.extend(mem{base: col, index: k, scale: 4, disp: 4 * linesAhead}, j)
	e.imul(ld, j)
	for i := range q {
		e.prefetch(mem{base: base, index: j, scale: 1, disp: 64 * i})
	}
}

func (e *emitter) dotLines(q int, valued bool) {
	out, ptr, col, b := e.param("out"), e.param("ptr"), e.param("col"), e.param("b")
	rows, columns, ldout, ldb := e.param("rows"), e.param("columns"), e.param("ldout"), e.param("ldb")
	values := e.block
	if valued {
		values = e.param("val")
	}
	masks := e.stripMasks(columns, q)
	acc, u, line := e.vectors(q), e.vector(), e.vectors(q)
	k, end, j := e.general(), e.general(), e.general()
	e.mov(mem{base: ptr}, k)
	e.test(rows)
	e.jumpIf(amd64.Equal, "done")
	e.label("row")
	e.mov(mem{base: ptr, disp: 8}, end)
	for _, v := range acc {
		e.v(amd64.VXORPD, v, v, v)
	}
	e.jump("test")
	e.label("entry")
	e.extend(mem{base: col, index: k, scale: 4}, j)
	e.imul(ldb, j)
	if valued {
		e.v(amd64.VBROADCASTSD, mem{base: values, index: k, scale: 8}, u)
	}
	for i := range q {
		e.vz(amd64.VMOVUPD, mem{base: b, index: j, scale: 1, disp: 64 * i}, masks[i], line[i])
		if valued {
			e.v(amd64.VFMADD231PD, line[i], u, acc[i])
		} else {
			e.v(amd64.VADDPD, line[i], acc[i], acc[i])
		}
	}
	e.askLine(col, k, b, ldb, q)
	e.askStreams(col, values, valued, k)
	e.inc(k)
	e.label("test")
	e.cmp(k, end)
	e.jumpIf(amd64.Less, "entry")
	for i, v := range acc {
		e.v(amd64.VMOVUPD, v, masks[i], mem{base: out, disp: 64 * i})
	}
	e.add(8, ptr)
	e.add(ldout, out)
	e.dec(rows)
	e.jumpIf(amd64.NotEqual, "row")
	e.label("done")
	e.finish()
}

// bounds finds the entries k..end-1 of a row whose columns are in lo..hi-1: columns ascend, so it
// counts those below both.
func (e *emitter) bounds(col, k, end reg, lo, hi reg) {
	at, n, some, full, one, below := e.general(), e.general(), e.general(), e.general(), e.general(), e.general()
	valid, less, entries := e.mask(), e.mask(), e.vector()
	e.mov(k, at)
	e.mov(end, n)
	e.sub(k, n)
	e.mov(k, end)
	e.mov(1, one)
	e.jump("more")
	e.label("count")
	e.mov(16, full)
	e.cmp(n, full)
	e.cmov(amd64.Less, n, full)
	e.shlx(full, one, some)
	e.dec(some)
	e.v(amd64.KMOVW, some, valid)
	e.vz(amd64.VMOVDQU32, mem{base: col, index: at, scale: 4}, valid, entries)
	e.prefetch(mem{base: col, index: at, scale: 4, disp: 4 * streamAhead})
	for _, c := range []struct {
		bound reg
		to    reg
	}{{lo, k}, {hi, end}} {
		e.v(amd64.VPCMPD, 1, c.bound, entries, valid, less)
		e.v(amd64.KMOVW, less, below)
		e.popcount(below, below)
		e.add(below, c.to)
	}
	e.add(16, at)
	e.sub(16, n)
	e.label("more")
	e.test(n)
	e.jumpIf(amd64.Greater, "count")
}

func (e *emitter) addRows(valued bool) {
	sum, ptr, col, x, rows := e.param("sum"), e.param("ptr"), e.param("col"), e.param("x"), e.param("rows")
	values := e.block
	if valued {
		values = e.param("val")
	}
	lo, hi := e.vector(), e.vector()
	e.v(amd64.VPBROADCASTD, e.param("lo"), lo)
	e.v(amd64.VPBROADCASTD, e.param("hi"), hi)
	k, end, j := e.general(), e.general(), e.general()
	u, s := e.of(amd64.L128), e.of(amd64.L128)
	e.test(rows)
	e.jumpIf(amd64.Equal, "done")
	e.label("row")
	e.mov(mem{base: ptr}, k)
	e.mov(mem{base: ptr, disp: 8}, end)
	e.v(amd64.VMOVSD, mem{base: x}, u)
	e.bounds(col, k, end, lo, hi)
	e.jump("test")
	e.label("entry")
	e.extend(mem{base: col, index: k, scale: 4}, j)
	named := mem{base: sum, index: j, scale: 8}
	e.v(amd64.VMOVSD, named, s)
	if valued {
		e.v(amd64.VFMADD231SD, mem{base: values, index: k, scale: 8}, u, s)
		e.prefetch(mem{base: values, index: k, scale: 8, disp: 8 * streamAhead}) // columns: bounds has asked
	} else {
		e.v(amd64.VADDSD, u, s, s)
	}
	e.v(amd64.VMOVSD, s, named)
	e.inc(k)
	e.label("test")
	e.cmp(k, end)
	e.jumpIf(amd64.Less, "entry")
	e.add(8, ptr)
	e.add(8, x)
	e.dec(rows)
	e.jumpIf(amd64.NotEqual, "row")
	e.label("done")
	e.finish()
}

func (e *emitter) addLines(q int, valued bool) {
	out, ptr, col, b := e.param("out"), e.param("ptr"), e.param("col"), e.param("b")
	rows, ldout, ldb := e.param("rows"), e.param("ldout"), e.param("ldb")
	values := e.block
	if valued {
		values = e.param("val")
	}
	masks := e.stripMasks(e.param("columns"), q)
	lo, hi := e.vector(), e.vector()
	e.v(amd64.VPBROADCASTD, e.param("lo"), lo)
	e.v(amd64.VPBROADCASTD, e.param("hi"), hi)
	y, u, sum := e.vectors(q), e.vector(), e.vectors(q)
	k, end, j := e.general(), e.general(), e.general()
	e.test(rows)
	e.jumpIf(amd64.Equal, "done")
	e.label("row")
	e.mov(mem{base: ptr}, k)
	e.mov(mem{base: ptr, disp: 8}, end)
	for i := range q {
		e.vz(amd64.VMOVUPD, mem{base: b, disp: 64 * i}, masks[i], y[i])
	}
	e.bounds(col, k, end, lo, hi)
	e.jump("test")
	e.label("entry")
	e.extend(mem{base: col, index: k, scale: 4}, j)
	e.imul(ldout, j)
	if valued {
		e.v(amd64.VBROADCASTSD, mem{base: values, index: k, scale: 8}, u)
		e.prefetch(mem{base: values, index: k, scale: 8, disp: 8 * streamAhead})
	}
	for i := range q {
		named := mem{base: out, index: j, scale: 1, disp: 64 * i}
		e.vz(amd64.VMOVUPD, named, masks[i], sum[i])
		if valued {
			e.v(amd64.VFMADD231PD, y[i], u, sum[i])
		} else {
			e.v(amd64.VADDPD, y[i], sum[i], sum[i])
		}
		e.v(amd64.VMOVUPD, sum[i], masks[i], named)
	}
	e.inc(k)
	e.label("test")
	e.cmp(k, end)
	e.jumpIf(amd64.Less, "entry")
	e.add(8, ptr)
	e.add(ldb, b)
	e.dec(rows)
	e.jumpIf(amd64.NotEqual, "row")
	e.label("done")
	e.finish()
}
