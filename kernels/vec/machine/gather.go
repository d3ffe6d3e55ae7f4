package machine

// This file writes the extremes of the rows of a pattern with integers of 32 bits.

import (
	"math"

	"flow/kernels/loop/amd64"
)

// The kernels of this file.
var (
	// MaxRows and MinRows set out[i] to the extreme of out[i] and x[col[k]] for ptr[i] <= k < ptr[i+1],
	// for each row i. x has integers of 32 bits. No element that a row names is beyond bound. The
	// kernels read up to Ahead entries beyond a row.
	MaxRows = of("MaxRows", "out ptr col x rows bound", func(e *emitter) { e.extremeRows(false) }, AVX512)
	MinRows = of("MinRows", "out ptr col x rows bound", func(e *emitter) { e.extremeRows(true) }, AVX512)
	// Narrow copies the low halves of 64 * words integers. best gets eight minima and eight maxima of the
	// integers whose bits are set in marks. The words of marks are step bytes apart; 0: the first word
	// serves all.
	Narrow = of("Narrow", "dst src marks step words best", (*emitter).narrow, AVX512)
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

// narrow has two chains for each extreme, since a comparison takes longer than a load.
func (e *emitter) narrow() {
	dst, src, marks, step, words, best := e.param("dst"), e.param("src"), e.param("marks"), e.param("step"), e.param("words"), e.param("best")
	const chains, lanes, inWord = 2, 8, 64
	least, greatest, limit := e.vectors(chains), e.vectors(chains), e.general()
	for k, v := range append(least, greatest...) {
		e.mov(uint64(math.MaxInt64)+uint64(k/chains), limit)
		e.v(amd64.VPBROADCASTQ, limit, v)
	}
	e.label("word")
	left := e.general()
	e.mov(mem{base: marks}, left)
	for k := range inWord / lanes {
		x, some, lo, hi := e.vector(), e.mask(), least[k%chains], greatest[k%chains]
		e.v(amd64.KMOVB, left, some)
		e.shr(lanes, left)
		e.v(amd64.VMOVDQU64, mem{base: src, disp: 8 * lanes * k}, x)
		e.v(amd64.VPMOVQD, x, mem{base: dst, disp: 4 * lanes * k})
		e.v(amd64.VPMINSQ, x, lo, some, lo)
		e.v(amd64.VPMAXSQ, x, hi, some, hi)
	}
	e.add(8*inWord, src)
	e.add(4*inWord, dst)
	e.add(step, marks)
	e.dec(words)
	e.jumpIf(amd64.NotEqual, "word")
	e.v(amd64.VPMINSQ, least[1], least[0], least[0])
	e.v(amd64.VPMAXSQ, greatest[1], greatest[0], greatest[0])
	e.v(amd64.VMOVDQU64, least[0], mem{base: best})
	e.v(amd64.VMOVDQU64, greatest[0], mem{base: best, disp: 8 * lanes})
	e.finish()
}
