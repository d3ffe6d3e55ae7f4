package vec

// This file calls the kernels of Fourier transforms of several columns at a time (machine/complex.go).

import (
	"unsafe"

	"flow/kernels/vec/machine"
)

// ComplexLanes is the number of columns of a line: their real parts, then their imaginary parts.
const ComplexLanes = machine.ComplexLine / 16

// HasComplex reports whether this machine runs the functions of this file.
func HasComplex() bool { return haveAVX2 }

// Split is how SplitComplex reads columns. Column c of line i is element at + i*Step + c*Lane of its
// source.
type Split struct {
	Real         bool // there are no imaginary parts
	Turn         bool // real and imaginary parts change places, after their signs have changed
	NegRe, NegIm bool // the signs of real or imaginary parts change
	Step, Lane   int
}

// SplitComplex makes rows lines of columns of complex numbers, line i at dst[i*ds].
func SplitComplex(dst []float64, ds int, src []float64, at int, how Split, rows int) {
	k, width := machine.SplitComplex, 2
	if how.Real {
		k, width = machine.SplitReal, 1
	}
	_ = dst[(rows-1)*ds+2*ComplexLanes-1]
	for _, i := range [2]int{0, (rows - 1) * how.Step} { // any corner may be the first or the last element
		_, _, _ = src[at+i], src[at+i+(ComplexLanes-1)*how.Lane], src[at+i+max(0, (ComplexLanes-1)*how.Lane)+width-1]
	}
	args := struct {
		re, im           *float64
		ds               int
		src              *float64
		step, lane, rows int
		sign             [2]uint64
	}{&dst[0], &dst[ComplexLanes], 8 * ds, &src[at], 8 * how.Step, 8 * how.Lane, rows, [2]uint64{}}
	if how.Turn {
		args.re, args.im = args.im, args.re
	}
	for k, neg := range [2]bool{how.NegRe, how.NegIm} {
		if neg {
			args.sign[k] = 1 << 63
		}
	}
	k.Call(set(), unsafe.Pointer(&args))
}

// MergeComplex stores the columns of rows lines one after the other, those of line i at dst[i*step].
// The inverse transform divides by n, and stores conjugates in which no zero is negative.
func MergeComplex(dst []float64, step int, src []float64, rows int, inverse bool, n int) {
	k := machine.MergeComplex
	if inverse {
		k = machine.MergeInverse
	}
	_, _ = dst[(rows-1)*step+2*ComplexLanes-1], src[(2*ComplexLanes)*rows-1]
	args := struct {
		dst  *float64
		step int
		src  *float64
		rows int
		n    float64
	}{&dst[0], 8 * step, &src[0], rows, float64(n)}
	k.Call(set(), unsafe.Pointer(&args))
}

// fourierLines is how many lines a call takes or makes at most, unless a factor needs more: some
// microseconds.
const fourierLines = 1 << 12

// FourierStep is a step of factor p: from line s*j + q + s*m*r of x, r < p, to line s*(p*j + k) + q of
// y, for j < m and q < s. For each j < m, t has p roots, or p - 1 for a factor of 2 or 4, as lines or
// as numbers. w is the roots of p.
func FourierStep(p int, x, y []float64, m, s int, t []float64, lines bool, w []float64) {
	const line = 2 * ComplexLanes
	root, side := 2, 0
	if lines {
		root, side = line, 1
	}
	_, _ = x[line*m*s*p-1], y[line*m*s*p-1]
	args := struct {
		x, y            *float64
		m, s, far, near int
		t, w            *float64
		p, tStep        int
	}{s: s, far: 8 * line * m * s, near: 8 * line * s, p: p}
	n, kind, made := p-1, p/4, 1
	if p != 2 && p != 4 {
		n, kind, made, args.w = p, 2, p, &w[0]
	}
	args.tStep = 8 * root * n
	_ = t[m*n*root-1]
	step := max(1, fourierLines/(s*p*made))
	for j := 0; j < m; j += step {
		args.m = min(step, m-j)
		args.x = &x[line*s*j]
		for k := range made {
			args.y, args.t = &y[line*s*(p*j+k)], &t[root*(j*n+k)]
			if made > 1 {
				args.w = &w[2*(p-1)*k]
			}
			machine.Fourier[kind][side].Call(set(), unsafe.Pointer(&args))
		}
	}
}
