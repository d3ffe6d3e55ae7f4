package machine

// This file writes the extremes of the rows of a pattern with integers of 32 bits, and the narrowing of
// integers of 64 bits to 32.

import "flow/kernels/loop/amd64"

// The kernels of this file.
var (
	// MaxRows and MinRows set out[i] to the extreme of out[i] and x[col[k]] for ptr[i] <= k < ptr[i+1],
	// for each row i. x has integers of 32 bits. No element that a row names is beyond bound. The
	// kernels read up to Ahead entries beyond a row.
	MaxRows = of("MaxRows", "out ptr col x rows bound", func(e *emitter) { e.extremeRows(false) }, AVX512)
	MinRows = of("MinRows", "out ptr col x rows bound", func(e *emitter) { e.extremeRows(true) }, AVX512)
	// NarrowI64 copies the low halves of src to dst. Its results are the least and the greatest of src.
	// NarrowMarkedI64 has two more results: the least and the greatest of the elements whose bits are
	// set at ptr, or the greatest and the least int64 if no bit is set. bytes is the size of src, at
	// least a vector.
	NarrowI64       = of("NarrowI64", "dst src bytes", func(e *emitter) { e.narrow(false) }, AVX512)
	NarrowMarkedI64 = of("NarrowMarkedI64", "dst src ptr bytes", func(e *emitter) { e.narrow(true) }, AVX512)
)

// extremeRows looks at eight rows at once. Those that have the bound already and those without entries
// need nothing, and branches on each of them would often be mispredicted. It reads 16 entries of a row
// a step, the last ones under a mask. VPGATHER does not change lanes outside of the mask, which hold
// the integer that loses against all others. A row ends once it has the bound.
func (e *emitter) extremeRows(least bool) {
	pick, beyond, below, loser := amd64.VPMAXSD, amd64.Greater, 6, uint64(1)<<31
	if least {
		pick, beyond, below, loser = amd64.VPMINSD, amd64.Less, 1, loser-1
	}
	const step, rowsAtOnce, differ = 16, 8, 4
	ptr, col, x, out, rows, bound := e.param("ptr"), e.param("col"), e.param("x"), e.param("out"), e.param("rows"), e.param("bound")
	k, n, some, one, left, row := e.general(), e.general(), e.general(), e.general(), e.general(), e.general()
	lost, ends, bounds, begin := e.vector(), e.vector(), e.vector(), e.vector()
	e.mov(loser, some)
	e.v(amd64.VPBROADCASTD, some, lost)
	e.v(amd64.VPBROADCASTD, bound, ends)
	e.v(amd64.VPBROADCASTQ, bound, bounds)
	e.mov(1, one)
	e.label("rows")
	there, open, todo := e.mask(), e.mask(), e.mask()
	e.mov(rowsAtOnce, n)
	e.cmp(rows, n)
	e.cmov(amd64.Less, rows, n)
	e.shlx(n, one, left)
	e.dec(left)
	e.v(amd64.KMOVB, left, there)
	e.vz(amd64.VMOVDQU64, mem{base: ptr}, there, begin)
	e.v(amd64.VPCMPQ, below, mem{base: out}, bounds, there, open)
	e.v(amd64.VPCMPQ, differ, mem{base: ptr, disp: 8}, begin, open, todo)
	e.v(amd64.KMOVB, todo, left)
	e.test(left)
	e.jumpIf(amd64.Equal, "next")
	e.label("row")
	acc, got, idx, mask, found := e.vector(), e.vector(), e.vector(), e.mask(), e.mask()
	e.lowest(left, row)
	e.mov(mem{base: ptr, index: row, scale: 8}, k)
	e.mov(mem{base: ptr, index: row, scale: 8, disp: 8}, n)
	e.sub(k, n)
	e.v(amd64.VMOVAPD, lost, acc)
	e.label("entries")
	full := e.general()
	e.mov(step, full)
	e.cmp(n, full)
	e.cmov(amd64.Less, n, full)
	e.shlx(full, one, some)
	e.dec(some)
	e.v(amd64.KMOVW, some, mask)
	e.v(amd64.VMOVAPD, lost, got) // not acc: gathers of one row must not wait for each other
	e.vz(amd64.VMOVDQU32, mem{base: col, index: k, scale: 4}, mask, idx)
	e.v(amd64.VPGATHERDD, mem{base: x, index: idx, scale: 4}, mask, got)
	for q := range step {
		j := e.general()
		e.extend(mem{base: col, index: k, scale: 4, disp: 4 * (gatherAhead + q)}, j)
		e.prefetch(mem{base: x, index: j, scale: 4})
	}
	e.v(pick, got, acc, acc)
	e.v(amd64.VPCMPD, 0, acc, ends, found)
	e.v(amd64.KORTESTW, found, found)
	e.jumpIf(amd64.NotEqual, "fold")
	e.add(step, k)
	e.sub(step, n)
	e.jumpIf(amd64.Greater, "entries")
	e.label("fold")
	e.v(amd64.VMOVD, e.extremeOf(pick, acc), some)
	e.extend(some, some)
	e.mov(mem{base: out, index: row, scale: 8}, n)
	e.cmp(some, n)
	e.cmov(beyond, some, n)
	e.mov(n, mem{base: out, index: row, scale: 8})
	e.lea(mem{base: left, disp: -1}, n)
	e.and(n, left)
	e.jumpIf(amd64.NotEqual, "row")
	e.label("next")
	e.add(8*rowsAtOnce, ptr)
	e.add(8*rowsAtOnce, out)
	e.sub(rowsAtOnce, rows)
	e.jumpIf(amd64.Greater, "rows")
	e.finish()
}

// extremeOf returns a register whose lowest lane has the extreme of the 16 lanes of acc. It halves the
// vector, since operations on short vectors take less work than those of across.
func (e *emitter) extremeOf(pick amd64.Op, acc reg) reg {
	half, quarter, other := e.of(amd64.L256), e.of(amd64.L128), e.of(amd64.L128)
	e.v(amd64.VEXTRACTF64X4, 1, acc, half)
	e.v(pick, half, acc.y(), half)
	e.v(amd64.VEXTRACTF128, 1, half, quarter)
	e.v(pick, quarter, half.x(), quarter)
	for _, swap := range []int{0x4e, 0xb1} {
		e.v(amd64.VPSHUFD, swap, quarter, other)
		e.v(pick, other, quarter, quarter)
	}
	return quarter
}

// narrow writes NarrowI64, or NarrowMarkedI64 if marked.
func (e *emitter) narrow(marked bool) {
	dst, src, n := e.param("dst"), e.param("src"), e.param("bytes")
	acc, v, low, i := e.vectors(4), e.vector(), e.of(amd64.L256), e.general()
	e.v(amd64.VMOVDQU64, mem{base: src}, acc[0])
	e.v(amd64.VMOVAPD, acc[0], acc[1])
	ptr := src
	mask := e.mask()
	if marked {
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
		e.across(acc[k:k+1], 64, func(from, to reg) { e.v(pick, from, to, to) })
		x := e.general()
		e.v(amd64.VMOVQ, acc[k].x(), x)
		e.store(x, k)
	}
	e.finish()
}
