package fourier

// This file computes transforms on several workers and in vectors, with the operations of plan.go on
// each number. The steps of a length n = s c divide into those of the first factors, whose product is
// s, and those of the others. As an s x c matrix, row after row, the operand has columns that the first
// steps transform apart from each other. What they make is a c x s matrix, a row for each column, and
// the other steps transform its columns. A block of eight columns, a line of numbers a row, stays in
// the second-level cache.

import (
	"unsafe"

	"flow/kernels/vec"
)

const (
	lanes = vec.ComplexLanes
	line  = 2 * lanes // floats
)

// halves divides the steps of a length. s is 0 if it is too short.
type halves struct {
	s, c          int
	first, second []int
	roots         [][]float64       // of the steps of second, one after the other
	lines         [][][]float64     // of the steps of first, by block; nil: made when they are needed
	prime         map[int][]float64 // for factors other than 2 and 4, the roots that each of its sums takes
}

// cut divides factors so that the longer columns are as short as possible.
func cut(n int, factors []int) (h halves) {
	s := 1
	for k, p := range factors {
		s *= p
		if c := n / s; min(s, c) >= lanes && (h.s == 0 || max(s, c) < max(h.s, h.c)) && vec.HasComplex() {
			h.s, h.c, h.first, h.second = s, c, factors[:k+1], factors[k+1:]
		}
	}
	return h
}

// floats is the memory of complex numbers.
func floats(z []complex128) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(z))), 2*len(z))
}

// rootsAt is the number of roots that a step of factor p takes for each j, and the least power of them.
func rootsAt(p int) (n, least int) {
	if p == 2 || p == 4 {
		return p - 1, 1
	}
	return p, 0
}

// tables makes the tables of a plan from its roots.
func (p *plan) tables() {
	if p.s == 0 {
		return
	}
	add := func(t *[]float64, k int) {
		z := p.root(k)
		*t = append(*t, real(z), imag(z))
	}
	p.prime = map[int][]float64{}
	for _, f := range p.factors {
		if f == 2 || f == 4 || p.prime[f] != nil {
			continue
		}
		var t []float64
		for k := range f {
			for r := 1; r < f; r++ {
				add(&t, k*r%f*(p.n/f))
			}
		}
		p.prime[f] = t
	}
	s := p.s
	for _, f := range p.second {
		var t []float64
		_, least := rootsAt(f)
		for j := range p.n / (s * f) {
			for k := least; k < f; k++ {
				add(&t, j*k*s)
			}
		}
		p.roots, s = append(p.roots, t), s*f
	}
	if p.n > longestTable {
		return
	}
	p.lines = make([][][]float64, blocks(p.c))
	for b := range p.lines {
		at, _ := block(b, p.c)
		for k, s := 0, 1; k < len(p.first); k++ {
			f := p.first[k]
			n, _ := rootsAt(f)
			t := make([]float64, line*n*(p.s/(s*f)))
			p.stepLines(t, f, s, at)
			p.lines[b], s = append(p.lines[b], t), s*f
		}
	}
}

// blocks is the number of blocks of n columns.
func blocks(n int) int { return (n + lanes - 1) / lanes }

// block is the first column of block b of n columns, and the columns in front that the block before
// has: the last block has as many columns as the others.
func block(b, n int) (at, before int) {
	at = min(b*lanes, n-lanes)
	return at, b*lanes - at
}

// operand is the numbers of a transform, step floats apart.
type operand struct {
	x         []float64
	step      int
	real      bool // there are no imaginary parts
	conjugate bool
}

// at returns number j.
func (x *operand) at(j int) complex128 {
	v := complex(x.x[j*x.step], 0)
	if !x.real {
		v = complex(x.x[j*x.step], x.x[j*x.step+1])
	}
	if x.conjugate {
		v = conjugate(v)
	}
	return v
}

// scratch is the memory of a worker: two blocks of columns and the roots of a step, or all numbers
// twice.
type scratch struct {
	x, y, t []float64
	z, next []complex128
}

func (w *scratch) of(p *plan) {
	if n := line * max(p.s, p.c); len(w.x) < n {
		w.x, w.y, w.t = make([]float64, n), make([]float64, n), make([]float64, n)
	}
}

// firstSteps transforms block b of the columns of x into p.s lines of between.
func (p *plan) firstSteps(w *scratch, x operand, between []float64, b int) {
	w.of(p)
	at, _ := block(b, p.c)
	vec.SplitComplex(w.x, line, x.x, at*x.step, vec.Split{Real: x.real, NegIm: x.conjugate, Step: p.c * x.step, Lane: x.step}, p.s)
	s := 1
	for k, f := range p.first {
		t := w.t
		if p.lines != nil {
			t = p.lines[b][k]
		} else {
			p.stepLines(t, f, s, at)
		}
		vec.FourierStep(f, w.x, w.y, p.s/(s*f), s, t, true, p.prime[f])
		w.x, w.y, s = w.y, w.x, s*f
	}
	vec.MergeComplex(between[line*p.s*b:], line, w.x, p.s, false, 0)
}

// stepLines makes the roots of the step of factor f in first before which s are interleaved, for the
// columns from at on.
func (p *plan) stepLines(t []float64, f, s, at int) {
	n, least := rootsAt(f)
	for k := least; k < f; k++ {
		p.rootLines(t[line*(k-least):], line*n, k*s*at, k*s, k*s*p.c, p.s/(s*f))
	}
}

// rootLines makes rows lines of roots: column c of line i is root at + i*step + c*lane.
func (p *plan) rootLines(dst []float64, ds, at, lane, step, rows int) {
	w := floats(p.w)
	if len(p.w) == p.n {
		vec.SplitComplex(dst, ds, w, 2*at, vec.Split{Step: 2 * step, Lane: 2 * lane}, rows)
		return
	}
	for i := 0; i < rows; {
		first := at + i*step
		s, last := sector(first, p.n)
		// left is how far the last root of this line is from the end of the sector of the first one.
		if left := last - first - (lanes-1)*lane; left >= 0 {
			m, n := mirrorOf(s, p.n), min(rows-i, left/max(1, step)+1)
			how := vec.Split{Turn: m.turn, NegRe: m.negRe, NegIm: m.negIm, Step: 2 * m.by * step, Lane: 2 * m.by * lane}
			vec.SplitComplex(dst[i*ds:], ds, w, 2*(m.at+m.by*first), how, n)
			i += n
			continue
		}
		var z [lanes]complex128
		for c := range z {
			z[c] = p.root(first + c*lane)
		}
		vec.SplitComplex(dst[i*ds:], ds, floats(z[:]), 0, vec.Split{Lane: 2}, 1)
		i++
	}
}

// secondSteps transforms block b of the columns of the matrix between into columns of out.
func (p *plan) secondSteps(w *scratch, between, out []float64, inverse bool, b int) {
	w.of(p)
	at, before := block(b, p.s)
	for j := range blocks(p.c) {
		_, skip := block(j, p.c)
		vec.SplitComplex(w.x[line*lanes*j:], line, between, line*(p.s*j+at)+2*skip, vec.Split{Step: 2, Lane: line}, lanes-skip)
	}
	s := 1
	for k, f := range p.second {
		vec.FourierStep(f, w.x, w.y, p.c/(s*f), s, p.roots[k], false, p.prime[f])
		w.x, w.y, s = w.y, w.x, s*f
	}
	if before == 0 {
		vec.MergeComplex(out[2*at:], 2*p.s, w.x, p.c, inverse, p.n)
		return
	}
	vec.MergeComplex(w.y, line, w.x, p.c, inverse, p.n)
	for j := range p.c {
		copy(out[2*(p.s*j+at+before):][:2*(lanes-before)], w.y[line*j+2*before:])
	}
}
