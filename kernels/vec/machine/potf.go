package machine

// This file emits the Cholesky factor of one MR x MR block, the only place with a square root. A
// register holds a column of the block (a row of the packed panel); its multipliers are broadcast
// from the copy just written to d.

import (
	"math"
	"math/bits"

	"flow/kernels/loop/amd64"
)

// potf reads column j of the block at src[j*ss] and writes the factor's column j to dst[j*MR]. Above
// the diagonal dst holds nothing of use. The result is 0, or the 1-based column whose pivot is not
// positive.
func (e *tiler) potf() {
	d, p, ps := e.param("dst"), e.param("src"), e.stride("ss")
	at := func(j, i int) mem { return mem{base: d, disp: (j*e.rows + i) * e.size} }

	column := amd64.L128 + amd64.Len(bits.Len(uint(e.rows*e.size/32)))
	col := make([]reg, e.rows)
	for j := range col {
		col[j] = e.of(column)
		e.move(mem{base: p}, col[j])
		if j+1 < len(col) {
			e.add(ps, p)
		}
	}
	minor, word, limit := e.general(), e.general(), e.general()
	pivot, x := e.of(amd64.L128), e.of(column)
	e.mov(infinity(e.size), limit)
	for j := range col {
		e.move(col[j], at(j, 0))
		e.mov(j+1, minor)
		// The bits of positive numbers are 1 to those of infinity, those of a NaN and of others are not.
		if e.double() {
			e.mov(at(j, j), word)
		} else {
			e.extend(at(j, j), word)
		}
		e.dec(word)
		e.cmp(word, limit)
		e.jumpIf(amd64.AboveEqual, "end")
		e.moveOne(at(j, j), pivot)
		e.v(e.by(amd64.VSQRTSD, amd64.VSQRTSS), pivot, pivot, pivot)
		e.moveOne(pivot, at(j, j))
		if j+1 == len(col) {
			break
		}
		e.broadcast(at(j, j), x)
		e.divide(x, col[j])
		e.move(col[j], at(j, 0))
		// The lane of the diagonal became pivot/sqrt(pivot), which need not be the root.
		e.moveOne(pivot, at(j, j))
		for i := j + 1; i < len(col); i++ {
			e.broadcast(at(j, i), x)
			e.fused(true, x, col[j], col[i])
		}
	}
	e.clear(minor)
	e.label("end")
	e.emitter.store(minor, 0)
	e.finish()
}

// infinity is the bits of an infinite number of so many bytes.
func infinity(size int) uint64 {
	if size == 8 {
		return math.Float64bits(math.Inf(1))
	}
	return uint64(math.Float32bits(float32(math.Inf(1))))
}

// A solve micro-kernel is forward substitution of MR rows of a packed panel whose
// lanes are right-hand sides. After the update by the k rows above, the tile is solved where it
// stands, in registers.
//
//	b: panel, row p at b[p*bs]; rows 0..k-1 are solved, rows k..k+MR-1 are replaced
//	a: rows k.. of the triangle, element (i, p) at a[i*rs + p*ks] for p < k+MR, its diagonal at p = k+i

func (e *tiler) solve(nv int) {
	k, b, bs := e.param("k"), e.param("b"), e.stride("bs")
	c := e.general()
	e.mov(k, c)
	e.imul(bs, c)
	e.add(b, c)
	t := e.newTile(nv)
	e.load(t, c, bs)
	a, ks := e.rowsOf(e.param("a"), e.stride("rs")), e.stride("ks")
	next, stride := e.param("next"), e.param("step")
	step := e.stepOf(t, true, a, ks, b, bs)
	e.rounds("round", Round, k, nil, func() {
		e.prefetchSecond(mem{base: next})
		e.add(stride, next)
		for range Round {
			step()
		}
	})
	e.steps(k, step, nil)
	e.substitute(t, a, ks)
	e.store(t, c, bs)
	e.finish()
}

// substitute solves the triangle at a: a true division, then one FMA in each chain below.
func (e *tiler) substitute(t tile, a rows, ks reg) {
	x := e.vector()
	for j := range t {
		e.broadcast(a.at(j), x)
		for _, acc := range t[j] {
			e.divide(x, acc)
		}
		for i := j + 1; i < len(t); i++ {
			e.broadcast(a.at(i), x)
			for v, acc := range t[i] {
				e.fused(true, x, t[j][v], acc)
			}
		}
		if j+1 < len(t) {
			e.advance(a, ks)
		}
	}
}
