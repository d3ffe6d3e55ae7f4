package machine

// This file emits the movers of data between row-major matrices and packed panels.

import "flow/kernels/loop/amd64"

// in takes some rows of a matrix, 4 of f64 or 8 of f32, into lanes of a panel. out is the way back.
// Both walk along the rows of the matrix: walking down many rows far apart would throw lines out of L1
// half used.
//
//	in:  dst[p*cs+i] = src[i*ss+p] for each row i and p < k
//	out: dst[i*cs+p] = src[p*ss+i]
func (e *tiler) in()  { e.transposed(false) }
func (e *tiler) out() { e.transposed(true) }

// transposed writes blocks of as many columns as rows, then column by column.
func (e *tiler) transposed(out bool) {
	group, block := 4, e.block64
	if !e.double() {
		group, block = 8, e.block32
	}
	e.rows = group
	k, ss, ds := e.param("k"), e.stride("ss"), e.stride("cs")
	from, to := e.rowsOf(e.param("src"), ss), e.rowsOf(e.param("dst"), ds)
	along, across, far := from, to, ds
	if out {
		along, across, far = to, from, ss
	}
	wide := e.general()
	e.mov(far, wide)
	e.shl(map[int]int{4: 2, 8: 3}[group], wide)
	e.sub(group, k)
	e.jumpIf(amd64.Less, "rest")
	e.label("block")
	block(from, to, out)
	e.advance(along, group*e.size)
	e.advance(across, wide)
	e.sub(group, k)
	e.jumpIf(amd64.GreaterEq, "block")
	e.label("rest")
	e.add(group, k)
	e.jumpIf(amd64.Equal, "end")
	e.label("column")
	x := e.of(amd64.L128)
	for i := range group {
		at := mem{base: across.base[0], disp: i * e.size}
		if out {
			e.moveOne(at, x)
			e.moveOne(x, to.at(i))
		} else {
			e.moveOne(from.at(i), x)
			e.moveOne(x, at)
		}
	}
	e.advance(along, e.size)
	e.advance(across, far)
	e.dec(k)
	e.jumpIf(amd64.NotEqual, "column")
	e.label("end")
	e.finish()
}

// block64 transposes 4 x 4 elements. Halves of two rows are put together by the load itself, so that a
// block takes only four shuffles. The rows after these are asked for, ahead of the next call.
func (e *tiler) block64(from, to rows, out bool) {
	if !out {
		next := rows{base: []reg{e.general()}, rs: from.rs, rs3: from.rs3}
		e.lea(mem{base: from.base[0], index: from.rs, scale: 4}, next.base[0])
		for i := range 4 {
			e.prefetch(next.at(i))
		}
	}
	for half := range 2 { // columns 0 and 1, then 2 and 3
		lo, hi := e.of(amd64.L256), e.of(amd64.L256)
		a, b := e.of(amd64.L256), e.of(amd64.L256)
		e.v(amd64.VMOVUPD, from.at(0).plus(16*half), a.x())
		e.v(amd64.VMOVUPD, from.at(1).plus(16*half), b.x())
		e.v(amd64.VINSERTF128, 1, from.at(2).plus(16*half), a, a)
		e.v(amd64.VINSERTF128, 1, from.at(3).plus(16*half), b, b)
		e.v(amd64.VUNPCKLPD, b, a, lo)
		e.v(amd64.VUNPCKHPD, b, a, hi)
		e.v(amd64.VMOVUPD, lo, to.at(2*half))
		e.v(amd64.VMOVUPD, hi, to.at(2*half+1))
	}
}

// block32 transposes 8 x 8 elements.
func (e *tiler) block32(from, to rows, _ bool) {
	for half := range 2 { // columns 0 to 3, then 4 to 7: rows i and i+4 share a register
		var r, u [4]reg
		for i := range r {
			r[i], u[i] = e.of(amd64.L256), e.of(amd64.L256)
			e.v(amd64.VMOVUPS, from.at(i).plus(16*half), r[i].x())
			e.v(amd64.VINSERTF128, 1, from.at(i+4).plus(16*half), r[i], r[i])
		}
		e.v(amd64.VUNPCKLPS, r[1], r[0], u[0]) // r0.0 r1.0 r0.1 r1.1
		e.v(amd64.VUNPCKHPS, r[1], r[0], u[1]) // r0.2 r1.2 r0.3 r1.3
		e.v(amd64.VUNPCKLPS, r[3], r[2], u[2])
		e.v(amd64.VUNPCKHPS, r[3], r[2], u[3])
		for c := range 4 {
			unpack, y := amd64.VUNPCKLPD, e.of(amd64.L256)
			if c%2 > 0 {
				unpack = amd64.VUNPCKHPD
			}
			e.v(unpack, u[2+c/2], u[c/2], y)
			e.v(amd64.VMOVUPS, y, to.at(4*half+c))
		}
	}
}

// copyRows copies k rows as wide as the widest tile from a matrix to dst, where they lie one behind the
// other.
func (e *tiler) copyRows() {
	bytes := vectors * e.bytes
	k, src, ss, dst := e.param("k"), e.param("src"), e.stride("ss"), e.param("dst")
	e.test(k)
	e.jumpIf(amd64.Equal, "end")
	e.label("row")
	for at := 0; at < bytes; at += 32 {
		y := e.of(amd64.L256)
		e.v(amd64.VMOVUPS, mem{base: src, disp: at}, y)
		e.v(amd64.VMOVUPS, y, mem{base: dst, disp: at})
	}
	e.add(ss, src)
	e.add(bytes, dst)
	e.dec(k)
	e.jumpIf(amd64.NotEqual, "row")
	e.label("end")
	e.finish()
}

// turnAhead is how many bytes of a row are asked for before their use: eight rows are more streams
// than processors follow by themselves.
const turnAhead = 512

// Transpose turns eight rows of src, srcStep bytes apart, into eight columns of dst, whose rows are
// dstStep bytes apart, 8 x 8 elements of f64 a round.
var Transpose = of("Transpose", "dst dstStep src srcStep rounds", (*emitter).transpose, AVX512)

func (e *emitter) transpose() {
	dst, dstStep, src, srcStep, n := e.param("dst"), e.param("dstStep"), e.param("src"), e.param("srcStep"), e.param("rounds")
	in, out := e.three(srcStep), e.three(dstStep)
	e.label("loop")
	from, to := e.rows(src, srcStep, in), e.rows(dst, dstStep, out)
	v := e.vectors(8)
	for k := range 8 {
		e.v(amd64.VMOVUPD, from[k], v[k])
		ahead := from[k]
		ahead.disp += turnAhead
		e.prefetch(ahead)
	}
	w := e.turned(v)
	for k := range 8 {
		e.v(amd64.VMOVUPD, w[k], to[k])
	}
	e.add(64, src)
	e.lea(mem{base: dst, index: dstStep, scale: 8}, dst)
	e.dec(n)
	e.jumpIf(amd64.NotEqual, "loop")
	e.finish()
}

// turned is the transpose of v, whose contents are lost.
func (e *emitter) turned(v []reg) []reg {
	w := e.vectors(8)
	for k := 0; k < 8; k += 2 { // pairs of elements
		e.v(amd64.VUNPCKLPD, v[k+1], v[k], w[k])
		e.v(amd64.VUNPCKHPD, v[k+1], v[k], w[k+1])
	}
	for k := range 2 { // pairs of pairs
		for half := 0; half < 8; half += 4 {
			a, b := w[half+k], w[half+k+2]
			e.v(amd64.VSHUFF64X2, 0x88, b, a, v[half+k])
			e.v(amd64.VSHUFF64X2, 0xdd, b, a, v[half+k+2])
		}
	}
	for k := range 4 { // halves
		e.v(amd64.VSHUFF64X2, 0x88, v[k+4], v[k], w[k])
		e.v(amd64.VSHUFF64X2, 0xdd, v[k+4], v[k], w[k+4])
	}
	return w
}

// three is three times step.
func (e *emitter) three(step reg) reg {
	r := e.general()
	e.lea(mem{base: step, index: step, scale: 2}, r)
	return r
}

// rows is the operands of eight rows from base on; three is three times step.
func (e *emitter) rows(base, step, three reg) []mem {
	four := e.general()
	e.lea(mem{base: base, index: step, scale: 4}, four)
	var out []mem
	for _, b := range []reg{base, four} {
		out = append(out, mem{base: b}, mem{base: b, index: step, scale: 1}, mem{base: b, index: step, scale: 2}, mem{base: b, index: three, scale: 1})
	}
	return out
}
