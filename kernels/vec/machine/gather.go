package machine

// This file writes the reductions of the rows of a sparse matrix: what limits them is the wait for
// x[col[k]], which lie anywhere, so each loop asks for those of 64 entries on before it uses its
// own. The caller sees to it that there are so many.

import "flow/kernels/loop/amd64"

const (
	gatherStep  = 8
	gatherAhead = 64 // entries; by measurement on graphs of 2 to 31 million entries
)

// The kernels of this file. Their results are the length of the longest row. All read up to Ahead
// entries beyond a row.
var (
	// MaxRowsI64 and its like set out[i] to the extreme of out[i] and x[col[k]] for ptr[i] <= k <
	// ptr[i+1], of each row. No element that a row names is beyond bound.
	MaxRowsI64 = extremeRows("MaxRowsI64", false, false)
	MinRowsI64 = extremeRows("MinRowsI64", true, false)
	MaxRowsI32 = extremeRows("MaxRowsI32", false, true)
	MinRowsI32 = extremeRows("MinRowsI32", true, true)
	// ExtremesF64 set out[i] to the greatest ([1]: the least) of start and what the entries of row i
	// give, nan if one is NaN. An entry gives x[col[k]], or ([Times], [Plus]) val[k] * x[col[k]] or
	// val[k] + x[col[k]]. A zero is never -0.
	ExtremesF64 = [2][3]*Kernel{{extremesF64("MaxRowsF64", false, Alone), extremesF64("MaxDotsF64", false, Times), extremesF64("MaxSumsF64", false, Plus)},
		{extremesF64("MinRowsF64", true, Alone), extremesF64("MinDotsF64", true, Times), extremesF64("MinSumsF64", true, Plus)}}
	// SumRowsF64 sets out[i] to the sum, in order, of x[col[k]], DotRowsF64 to the chain of fused
	// multiply-adds of val[k] and x[col[k]]. They have no result.
	SumRowsF64 = of("SumRowsF64", "out ptr col x rows", func(e *emitter) { e.chainRows(false) })
	DotRowsF64 = of("DotRowsF64", "out ptr col val x rows", func(e *emitter) { e.chainRows(true) })
	// NarrowI64 copies the low halves of src to dst; its results are the least and the greatest of
	// src. NarrowRowsI64 has those of the elements i with ptr[i] < ptr[i+1] behind them, the greatest
	// and the least int64 if there is none; NarrowMarkedI64 those of the elements whose bits are set at
	// ptr. They work on that many bytes of src, one vector at the least.
	NarrowI64       = of("NarrowI64", "dst src bytes", func(e *emitter) { e.narrow(false, false) }, AVX512)
	NarrowRowsI64   = of("NarrowRowsI64", "dst src ptr bytes", func(e *emitter) { e.narrow(true, false) }, AVX512)
	NarrowMarkedI64 = of("NarrowMarkedI64", "dst src ptr bytes", func(e *emitter) { e.narrow(true, true) }, AVX512)
)

// What an entry of a row does with the element that it names.
const (
	Alone = iota
	Times
	Plus
)

// Ahead is how many entries beyond a row the kernels of this file read, at most.
const Ahead = gatherAhead + 16

// sparseRow is a loop over rows: of each, over its entries.
type sparseRow struct {
	ptr, col, x, out, rows reg
	k, end                 reg
}

// sparseRows starts a kernel over rows of a CSR matrix.
func (e *emitter) sparseRows() sparseRow {
	return sparseRow{ptr: e.param("ptr"), col: e.param("col"), x: e.param("x"), out: e.param("out"), rows: e.param("rows"), k: e.general(), end: e.general()}
}

// ask prefetches x[col[k+ahead]] and the n-1 after it, which are that many bytes wide.
func (e *emitter) ask(r sparseRow, n, width int) {
	for q := range n {
		j := e.general()
		e.extend(mem{base: r.col, index: r.k, scale: 4, disp: 4 * (gatherAhead + q)}, j)
		e.prefetch(mem{base: r.x, index: j, scale: uint8(width)})
	}
}

func extremeRows(name string, least, narrow bool) *Kernel {
	return of(name, "out ptr col x rows bound", func(e *emitter) { e.extremeRows(least, narrow) }, AVX512)
}

// extremeRows takes what a row starts from, and what its entries name, 8 or 16 entries a step, the
// last of a row under a mask. VPGATHER leaves the lanes that the mask leaves out, which hold what
// loses against everything. A row ends as soon as it holds the bound.
func (e *emitter) extremeRows(least, narrow bool) {
	pick := func(a, b, d any) {
		switch {
		case narrow && least:
			e.v(amd64.VPMINSD, a, b, d)
		case narrow:
			e.v(amd64.VPMAXSD, a, b, d)
		case least:
			e.v(amd64.VPMINSQ, a, b, d)
		default:
			e.v(amd64.VPMAXSQ, a, b, d)
		}
	}
	width, step, loser := 8, 8, uint64(1)<<63
	if narrow {
		width, step, loser = 4, 16, 1<<31
	}
	if least {
		loser--
	}
	r := e.sparseRows()
	bound, longest, n, some, one, best := e.param("bound"), e.general(), e.general(), e.general(), e.general(), e.general()
	lost, ends := e.vector(), e.vector()
	e.mov(loser, best)
	if narrow {
		e.v(amd64.VPBROADCASTD, best, lost)
		e.v(amd64.VPBROADCASTD, bound, ends)
	} else {
		e.v(amd64.VPBROADCASTQ, best, lost)
		e.v(amd64.VPBROADCASTQ, bound, ends)
	}
	e.clear(longest)
	e.mov(1, one)
	e.mov(mem{base: r.ptr}, r.k)
	e.test(r.rows)
	e.jumpIf(amd64.Equal, "done")
	e.label("row")
	acc, got, mask, found := e.vector(), e.vector(), e.mask(), e.mask()
	e.mov(mem{base: r.ptr, disp: 8}, r.end)
	e.mov(mem{base: r.out}, best)
	e.mov(r.end, n)
	e.sub(r.k, n)
	e.jumpIf(amd64.Equal, "next")
	e.cmp(n, longest)
	e.cmov(amd64.Greater, n, longest)
	e.cmp(best, bound)
	if least {
		e.jumpIf(amd64.LessEqual, "next")
	} else {
		e.jumpIf(amd64.GreaterEq, "next")
	}
	e.v(amd64.VMOVAPD, lost, acc)
	e.label("entries")
	full := e.general()
	e.mov(step, full)
	e.cmp(n, full)
	e.cmov(amd64.Less, n, full)
	e.shlx(full, one, some)
	e.dec(some)
	e.v(amd64.KMOVW, some, mask)
	entries := mem{base: r.col, index: r.k, scale: 4}
	e.v(amd64.VMOVAPD, lost, got) // not acc: gathers of one row must not wait for each other
	if narrow {
		idx := e.of(amd64.L512)
		e.vz(amd64.VMOVDQU32, entries, mask, idx)
		e.v(amd64.VPGATHERDD, mem{base: r.x, index: idx, scale: 4}, mask, got)
	} else {
		idx := e.of(amd64.L256)
		e.vz(amd64.VMOVDQU32, entries, mask, idx)
		e.v(amd64.VPGATHERDQ, mem{base: r.x, index: idx, scale: 8}, mask, got)
	}
	e.ask(r, step, width)
	pick(got, acc, acc)
	if narrow {
		e.v(amd64.VPCMPD, 0, acc, ends, found)
	} else {
		e.v(amd64.VPCMPQ, 0, acc, ends, found)
	}
	e.v(amd64.KORTESTW, found, found)
	e.jumpIf(amd64.NotEqual, "fold")
	e.add(step, r.k)
	e.sub(step, n)
	e.jumpIf(amd64.Greater, "entries")
	e.label("fold")
	half, quarter, other, greatest := e.of(amd64.L256), e.of(amd64.L128), e.of(amd64.L128), e.general()
	e.v(amd64.VEXTRACTF64X4, 1, acc, half)
	pick(half, acc.y(), half)
	e.v(amd64.VEXTRACTF128, 1, half, quarter)
	pick(quarter, half.x(), quarter)
	e.v(amd64.VPSHUFD, 0x4e, quarter, other)
	pick(other, quarter, quarter)
	if narrow {
		e.v(amd64.VPSHUFD, 0xb1, quarter, other)
		pick(other, quarter, quarter)
		e.v(amd64.VMOVD, quarter, greatest)
		e.extend(greatest, greatest)
	} else {
		e.v(amd64.VMOVQ, quarter, greatest)
	}
	e.cmp(greatest, best)
	if least {
		e.cmov(amd64.Less, greatest, best)
	} else {
		e.cmov(amd64.Greater, greatest, best)
	}
	e.mov(best, mem{base: r.out})
	e.label("next")
	e.mov(r.end, r.k)
	e.add(8, r.ptr)
	e.add(8, r.out)
	e.dec(r.rows)
	e.jumpIf(amd64.NotEqual, "row")
	e.label("done")
	e.store(longest, 0)
	e.finish()
}

func (e *emitter) narrow(some, marked bool) {
	dst, src, n := e.param("dst"), e.param("src"), e.param("bytes")
	acc, v, low, i := e.vectors(4), e.vector(), e.of(amd64.L256), e.general()
	e.v(amd64.VMOVDQU64, mem{base: src}, acc[0])
	e.v(amd64.VMOVAPD, acc[0], acc[1])
	ptr := src
	mask, begin := e.mask(), e.vector()
	if some {
		ptr = e.param("ptr")
		x := e.general()
		e.mov(1<<63-1, x)
		e.v(amd64.VPBROADCASTQ, x, acc[2])
		e.inc(x)
		e.v(amd64.VPBROADCASTQ, x, acc[3])
	} else {
		acc = acc[:2]
	}
	e.clear(i)
	e.label("loop")
	e.v(amd64.VMOVDQU64, at(src, i, 0), v)
	if marked {
		e.v(amd64.KMOVB, mem{base: ptr}, mask)
		e.add(1, ptr)
	} else if some {
		e.v(amd64.VMOVDQU64, at(ptr, i, 0), begin)
		e.v(amd64.VPCMPQ, 1, at(ptr, i, 8), begin, mask) // less
	}
	if some {
		e.v(amd64.VPMINSQ, v, acc[2], mask, acc[2])
		e.v(amd64.VPMAXSQ, v, acc[3], mask, acc[3])
	}
	e.v(amd64.VPMINSQ, v, acc[0], acc[0])
	e.v(amd64.VPMAXSQ, v, acc[1], acc[1])
	e.v(amd64.VPMOVQD, v, low)
	e.v(amd64.VMOVDQU, low, mem{base: dst})
	e.add(32, dst)
	e.add(64, i)
	e.cmp(i, n)
	e.jumpIf(amd64.Less, "loop")
	for k := range acc {
		pick := amd64.VPMINSQ
		if k%2 == 1 {
			pick = amd64.VPMAXSQ
		}
		half, quarter, other, x := e.of(amd64.L256), e.of(amd64.L128), e.of(amd64.L128), e.general()
		e.v(amd64.VEXTRACTF64X4, 1, acc[k], half)
		e.v(pick, half, acc[k].y(), half)
		e.v(amd64.VEXTRACTF128, 1, half, quarter)
		e.v(pick, quarter, half.x(), quarter)
		e.v(amd64.VPSHUFD, 0x4e, quarter, other)
		e.v(pick, other, quarter, quarter)
		e.v(amd64.VMOVQ, quarter, x)
		e.store(x, k)
	}
	e.finish()
}

func extremesF64(name string, least bool, with int) *Kernel {
	return of(name, "out ptr col val x rows nan start", func(e *emitter) { e.extremesF64(least, with) }, AVX512)
}

// extremesF64 takes the extreme of start and what the entries of a row give. Lanes that the mask
// leaves out hold start, which takes part anyway. VMAXPD forgets a NaN in its first source, so NaNs
// are looked for beside it; the sum with zero at the end makes -0 zero.
func (e *emitter) extremesF64(least bool, with int) {
	pick := amd64.VMAXPD
	if least {
		pick = amd64.VMINPD
	}
	r := e.sparseRows()
	val := e.block
	if with != Alone {
		val = e.param("val")
	}
	longest, n, some, one := e.general(), e.general(), e.general(), e.general()
	nan, zero, start := e.of(amd64.L128), e.of(amd64.L128), e.vector()
	e.v(amd64.VMOVSD, e.place("nan"), nan)
	e.v(amd64.VBROADCASTSD, e.place("start"), start)
	e.v(amd64.VXORPD, zero, zero, zero)
	e.clear(longest)
	e.mov(1, one)
	e.mov(mem{base: r.ptr}, r.k)
	e.test(r.rows)
	e.jumpIf(amd64.Equal, "done")
	e.label("row")
	acc, got, idx, mask, bad, found := e.vector(), e.vector(), e.of(amd64.L256), e.mask(), e.mask(), e.mask()
	e.mov(mem{base: r.ptr, disp: 8}, r.end)
	e.v(amd64.VMOVAPD, start, acc)
	e.v(amd64.KXORW, found, found, found)
	e.mov(r.end, n)
	e.sub(r.k, n)
	e.cmp(n, longest)
	e.cmov(amd64.Greater, n, longest)
	e.jump("test")
	e.label("entries")
	eight := e.general()
	e.mov(gatherStep, eight)
	e.cmp(n, eight)
	e.cmov(amd64.Less, n, eight)
	e.shlx(eight, one, some)
	e.dec(some)
	e.v(amd64.KMOVW, some, mask)
	e.vz(amd64.VMOVDQU32, mem{base: r.col, index: r.k, scale: 4}, mask, idx)
	v := e.vector()
	if with != Alone {
		e.vz(amd64.VMOVUPD, mem{base: val, index: r.k, scale: 8}, mask, v)
	}
	e.v(amd64.VMOVAPD, start, got)
	e.v(amd64.VGATHERDPD, mem{base: r.x, index: idx, scale: 8}, mask, got)
	e.ask(r, gatherStep, 8)
	if with != Alone {
		e.v(amd64.KMOVW, some, mask) // which the gather has cleared
	}
	switch with {
	case Times:
		e.v(amd64.VMULPD, v, got, mask, got)
	case Plus:
		e.v(amd64.VADDPD, v, got, mask, got)
	}
	e.v(amd64.VCMPPD, 3, got, got, bad) // unordered
	e.v(amd64.KORW, bad, found, found)
	e.v(pick, got, acc, acc)
	e.add(gatherStep, r.k)
	e.sub(gatherStep, n)
	e.label("test")
	e.test(n)
	e.jumpIf(amd64.Greater, "entries")
	half, quarter, other := e.of(amd64.L256), e.of(amd64.L128), e.of(amd64.L128)
	e.v(amd64.VEXTRACTF64X4, 1, acc, half)
	e.v(pick, half, acc.y(), half)
	e.v(amd64.VEXTRACTF128, 1, half, quarter)
	e.v(pick, quarter, half.x(), quarter)
	e.v(amd64.VPSHUFD, 0x4e, quarter, other)
	e.v(pick, other, quarter, quarter)
	e.v(amd64.VADDSD, zero, quarter, quarter)
	e.v(amd64.KORTESTW, found, found)
	e.jumpIf(amd64.Equal, "store")
	e.v(amd64.VMOVAPD, nan, quarter)
	e.label("store")
	e.v(amd64.VMOVSD, quarter, mem{base: r.out})
	e.mov(r.end, r.k)
	e.add(8, r.ptr)
	e.add(8, r.out)
	e.dec(r.rows)
	e.jumpIf(amd64.NotEqual, "row")
	e.label("done")
	e.store(longest, 0)
	e.finish()
}

// chainRows takes the chains of a sparse matrix and a column, of which the order is the meaning: one
// element after the other. Without values an entry is 1, and the step of the chain an addition.
func (e *emitter) chainRows(valued bool) {
	r := e.sparseRows()
	val := e.block
	if valued {
		val = e.param("val")
	}
	sum, v, j := e.of(amd64.L128), e.of(amd64.L128), e.general()
	e.mov(mem{base: r.ptr}, r.k)
	e.test(r.rows)
	e.jumpIf(amd64.Equal, "done")
	e.label("row")
	e.mov(mem{base: r.ptr, disp: 8}, r.end)
	e.v(amd64.VXORPD, sum, sum, sum)
	e.jump("test")
	e.label("entry")
	e.extend(mem{base: r.col, index: r.k, scale: 4}, j)
	if valued {
		e.v(amd64.VMOVSD, mem{base: val, index: r.k, scale: 8}, v)
		e.v(amd64.VFMADD231SD, mem{base: r.x, index: j, scale: 8}, v, sum)
	} else {
		e.v(amd64.VADDSD, mem{base: r.x, index: j, scale: 8}, sum, sum)
	}
	e.ask(r, 1, 8)
	e.askStreams(r.col, val, valued, r.k)
	e.inc(r.k)
	e.label("test")
	e.cmp(r.k, r.end)
	e.jumpIf(amd64.Less, "entry")
	e.v(amd64.VMOVSD, sum, mem{base: r.out})
	e.add(8, r.ptr)
	e.add(8, r.out)
	e.dec(r.rows)
	e.jumpIf(amd64.NotEqual, "row")
	e.label("done")
	e.finish()
}
