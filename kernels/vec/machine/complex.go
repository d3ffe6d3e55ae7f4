package machine

// This file writes the steps of Fourier transforms of several columns at a time. A line is 8 complex
// numbers of 8 columns: their 8 real parts, then their 8 imaginary parts. Both sets have the same
// lines, but the columns are in another order in them.

import (
	"fmt"

	"flow/kernels/loop/amd64"
)

// ComplexLine is the bytes of a line.
const ComplexLine = 128

// These are the kernels. Steps are in bytes.
var (
	// SplitComplex makes lines of complex numbers: column c of line i is at src + i*step + c*lane. Real
	// parts are put at re, with the sign bit of reSign turned over where it is set, and imaginary parts
	// at im. SplitReal makes lines of real numbers.
	SplitComplex = of("SplitComplex", splitParams, func(e *emitter) { e.split(false) })
	SplitReal    = of("SplitReal", splitParams, func(e *emitter) { e.split(true) })
	// MergeComplex stores the columns of line i one after the other at dst + i*step. MergeInverse
	// divides them by n, and stores the conjugates, in which no zero is negative.
	MergeComplex = of("MergeComplex", "dst step src rows n", func(e *emitter) { e.merge(false) })
	MergeInverse = of("MergeInverse", "dst step src rows n", func(e *emitter) { e.merge(true) })
	// Fourier is the steps of factors 2, 4 and others, by whether the roots are lines.
	Fourier [3][2]*Kernel
)

const splitParams = "re im lineStep src step lane rows reSign imSign"

func init() {
	for k, factor := range []string{"2", "4", "N"} {
		for lines := range 2 {
			Fourier[k][lines] = of(fmt.Sprint("Fourier", factor, lines), fourierParams, func(e *emitter) { e.fourier(k, lines > 0) })
		}
	}
}

// split writes a line a round. Lower and upper halves of pairs of vectors are its real and imaginary
// parts.
func (e *emitter) split(real bool) {
	reAt, imAt, lineStep, src := e.param("re"), e.param("im"), e.param("lineStep"), e.param("src")
	step, lane, n := e.param("step"), e.param("lane"), e.param("rows")
	reSign, imSign, three := e.vector(), e.vector(), e.three(lane)
	e.v(amd64.VBROADCASTSD, e.place("reSign"), reSign)
	e.v(amd64.VBROADCASTSD, e.place("imSign"), imSign)
	e.label("loop")
	from := e.rows(src, lane, three)
	one := func(m mem) reg {
		x := e.of(amd64.L128)
		if real {
			e.v(amd64.VMOVSD, m, x) // the upper half is 0
		} else {
			e.v(amd64.VMOVUPD, m, x)
		}
		return x
	}
	two := func(k int) reg {
		x := one(from[k])
		if real {
			e.v(amd64.VINSERTF128, 1, one(from[k+1]), x.y(), x.y())
		} else {
			e.v(amd64.VINSERTF128, 1, from[k+1], x.y(), x.y())
		}
		return x
	}
	vector := func(k int) reg {
		x := two(k)
		v := e.vector()
		if e.set == AVX2 {
			return reg{x.id, v.length}
		}
		y := two(k + 2)
		e.v(amd64.VSHUFF64X2, 0x44, reg{y.id, v.length}, reg{x.id, v.length}, v)
		return v
	}
	for at := 0; at < ComplexLine/2; at += e.bytes {
		lo, hi, re := vector(at/8), vector(at/8+e.bytes/16), e.vector()
		e.v(amd64.VUNPCKLPD, hi, lo, re)
		e.v(amd64.VUNPCKHPD, hi, lo, hi)
		e.v(amd64.VXORPD, reSign, re, re)
		e.v(amd64.VXORPD, imSign, hi, hi)
		e.v(amd64.VMOVUPD, re, mem{base: reAt, disp: at})
		e.v(amd64.VMOVUPD, hi, mem{base: imAt, disp: at})
	}
	e.add(step, src)
	e.add(lineStep, reAt)
	e.add(lineStep, imAt)
	e.dec(n)
	e.jumpIf(amd64.NotEqual, "loop")
	e.finish()
}

func (e *emitter) merge(inverse bool) {
	dst, step, src, n := e.param("dst"), e.param("step"), e.param("src"), e.param("rows")
	by, zero := e.vector(), e.vector()
	if inverse {
		e.v(amd64.VBROADCASTSD, e.place("n"), by)
		e.v(amd64.VXORPD, zero, zero, zero)
	}
	e.label("loop")
	for at := 0; at < ComplexLine/2; at += e.bytes {
		re, im, lo := e.vector(), e.vector(), e.vector()
		e.v(amd64.VMOVUPD, mem{base: src, disp: at}, re)
		e.v(amd64.VMOVUPD, mem{base: src, disp: ComplexLine/2 + at}, im)
		if inverse {
			e.v(amd64.VDIVPD, by, re, re)
			e.v(amd64.VDIVPD, by, im, im)
			e.v(amd64.VSUBPD, im, zero, im)
		}
		e.v(amd64.VUNPCKLPD, im, re, lo)
		e.v(amd64.VUNPCKHPD, im, re, im)
		e.v(amd64.VMOVUPD, lo, mem{base: dst, disp: 2 * at})
		e.v(amd64.VMOVUPD, im, mem{base: dst, disp: 2*at + e.bytes})
	}
	e.add(ComplexLine, src)
	e.add(step, dst)
	e.dec(n)
	e.jumpIf(amd64.NotEqual, "loop")
	e.finish()
}

// A step of factor p takes p lines of x, s*m lines apart, to p lines of y, s lines apart: for j < m and
// q < s from line s*j + q of x to line s*p*j + q of y. t is p - 1 roots for each j, lines or single
// numbers. A factor other than 2 and 4 makes only line s*k of these, by p - 1 roots at w, and has one
// root at t for each j, tStep bytes apart.
const fourierParams = "x y m s far near t w p tStep"

// complex is a vector of real and one of imaginary parts.
type complex struct{ re, im reg }

// at loads a part of a line, behind byte `off` of it.
func (e *emitter) complexAt(m mem, off int) complex {
	c := complex{e.vector(), e.vector()}
	e.v(amd64.VMOVUPD, m.plus(off), c.re)
	e.v(amd64.VMOVUPD, m.plus(ComplexLine/2+off), c.im)
	return c
}

func (e *emitter) both(op amd64.Op, a, b complex) complex {
	c := complex{e.vector(), e.vector()}
	e.v(op, b.re, a.re, c.re)
	e.v(op, b.im, a.im, c.im)
	return c
}

func (e *emitter) plusComplex(a, b complex) complex  { return e.both(amd64.VADDPD, a, b) }
func (e *emitter) minusComplex(a, b complex) complex { return e.both(amd64.VSUBPD, a, b) }

// turned adds i b to a, or subtracts it.
func (e *emitter) turnComplex(a, b complex, plus bool) complex {
	c := complex{e.vector(), e.vector()}
	re, im := amd64.VSUBPD, amd64.VADDPD
	if !plus {
		re, im = im, re
	}
	e.v(re, b.im, a.re, c.re)
	e.v(im, b.re, a.im, c.im)
	return c
}

// timesRoot multiplies by a root; each product is rounded. It overwrites a.
func (e *emitter) timesRoot(a complex, root mem, off int, lines bool) complex {
	load, half := amd64.VMOVUPD, ComplexLine/2
	if !lines {
		load, half, off = amd64.VBROADCASTSD, 8, 0
	}
	re, im, c, d := e.vector(), e.vector(), e.vector(), e.vector()
	e.v(load, root.plus(off), re)
	e.v(load, root.plus(half+off), im)
	e.v(amd64.VMULPD, re, a.re, c)
	e.v(amd64.VMULPD, im, a.im, d)
	e.v(amd64.VSUBPD, d, c, c)
	e.v(amd64.VMULPD, im, a.re, d)
	e.v(amd64.VMULPD, re, a.im, im)
	e.v(amd64.VADDPD, im, d, d)
	return complex{c, d}
}

func (e *emitter) storeComplex(c complex, m mem, off int) {
	e.v(amd64.VMOVUPD, c.re, m.plus(off))
	e.v(amd64.VMOVUPD, c.im, m.plus(ComplexLine/2+off))
}

func (e *emitter) fourier(kind int, lines bool) {
	x, y, m, s, far, near, t := e.param("x"), e.param("y"), e.param("m"), e.param("s"), e.param("far"), e.param("near"), e.param("t")
	root := 16
	if lines {
		root = ComplexLine
	}
	factor := []int{2, 4, 0}[kind]
	from, to := []mem{{base: x}, {base: x, index: far, scale: 1}}, []mem{{base: y}, {base: y, index: near, scale: 1}}
	var back reg
	switch kind {
	case 1:
		far3, near3 := e.three(far), e.three(near)
		from = append(from, mem{base: x, index: far, scale: 2}, mem{base: x, index: far3, scale: 1})
		to = append(to, mem{base: y, index: near, scale: 2}, mem{base: y, index: near3, scale: 1})
		back = near3
	case 0:
		back = near
	}
	p, w, tStep, n, at, by := e.param("p"), e.param("w"), e.param("tStep"), e.general(), e.general(), e.general()
	if kind == 2 {
		back = e.general()
		e.mov(p, back)
		e.dec(back)
		e.imul(near, back)
	}
	e.label("j")
	q := e.general()
	e.mov(s, q)
	e.label("q")
	for off := 0; off < ComplexLine/2; off += e.bytes {
		switch kind {
		case 0:
			a, b := e.complexAt(from[0], off), e.complexAt(from[1], off)
			e.storeComplex(e.plusComplex(a, b), to[0], off)
			e.storeComplex(e.timesRoot(e.minusComplex(a, b), mem{base: t}, off, lines), to[1], off)
		case 1:
			a, c := e.complexAt(from[0], off), e.complexAt(from[2], off)
			even, odd := e.plusComplex(a, c), e.minusComplex(a, c)
			b, d := e.complexAt(from[1], off), e.complexAt(from[3], off)
			sum, diff := e.plusComplex(b, d), e.minusComplex(b, d)
			e.storeComplex(e.plusComplex(even, sum), to[0], off)
			e.storeComplex(e.timesRoot(e.turnComplex(odd, diff, false), mem{base: t}, off, lines), to[1], off)
			e.storeComplex(e.timesRoot(e.minusComplex(even, sum), mem{base: t, disp: root}, off, lines), to[2], off)
			e.storeComplex(e.timesRoot(e.turnComplex(odd, diff, true), mem{base: t, disp: 2 * root}, off, lines), to[3], off)
		default:
			sum := e.complexAt(from[0], off)
			e.mov(x, at)
			e.mov(w, by)
			e.mov(p, n)
			e.dec(n)
			e.label(fmt.Sprint("r", off))
			e.add(far, at)
			term := e.timesRoot(e.complexAt(mem{base: at}, off), mem{base: by}, 0, false)
			e.v(amd64.VADDPD, term.re, sum.re, sum.re)
			e.v(amd64.VADDPD, term.im, sum.im, sum.im)
			e.add(16, by)
			e.dec(n)
			e.jumpIf(amd64.NotEqual, fmt.Sprint("r", off))
			e.storeComplex(e.timesRoot(sum, mem{base: t}, off, lines), to[0], off)
		}
	}
	e.add(ComplexLine, x)
	e.add(ComplexLine, y)
	e.dec(q)
	e.jumpIf(amd64.NotEqual, "q")
	e.add(back, y)
	if kind == 2 {
		e.add(tStep, t)
	} else {
		e.add((factor-1)*root, t)
	}
	e.dec(m)
	e.jumpIf(amd64.NotEqual, "j")
	e.finish()
}
