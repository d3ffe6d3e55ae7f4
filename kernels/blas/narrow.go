package blas

// This file defines the products of tall matrices of which one has no more than mostNarrow columns.
// Its elements are broadcast and the other's rows are the vectors; both are read once, so memory is
// what they wait for, and it is asked ahead.

import "unsafe"

// mostNarrow is the most columns of a narrow factor.
const mostNarrow = 4

// narrowAhead is how many bytes of the wide factor memory is asked ahead, about.
const narrowAhead = 2 << 10

// tallByFew computes rows i0..i1-1 of c += t(a)@b for a narrow b, as the transpose of t(b)@a: each
// element is the same chain, as fma(x, y, z) is fma(y, x, z).
func (d *driver[T]) tallByFew(ws *Workspace, i0, i1, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	m := i1 - i0
	ld := roundUp(m, d.lanes)
	p := newTallPair(k, b, ldb, n, n, a[i0:], lda, m, ld)
	buf := scratch[T](ws, n*ld+p.spare())
	turned := buf[:n*ld]
	for i := range m {
		for j, v := range c[(i0+i)*ldc:][:n] {
			turned[j*ld+i] = v
		}
	}
	d.fewByTall(&p, turned, ld, buf[n*ld:])
	for i := range m {
		for j := range n {
			c[(i0+i)*ldc+j] = turned[j*ld+i]
		}
	}
}

// fewByTall computes c += t(a)@b for a narrow a, whose rows in c are padded to whole vectors.
func (d *driver[T]) fewByTall(p *tallPair[T], c []T, ldc int, spare []T) {
	kernels := d.kernels.Narrow[p.na-1]
	widest := len(kernels) * d.lanes
	size := int(unsafe.Sizeof(c[0]))
	depth := p.k
	if p.nb > widest {
		depth = max(leastDepth, tallDepth/(size*p.nb)) // so that the lines between two groups of columns are read once
	}
	p.each(depth, spare, func(k int, a []T, lda int, b []T, ldb int) {
		ahead := (narrowAhead/size + ldb - 1) / ldb * ldb
		for j := 0; j < p.nb; j += widest {
			nv := (min(widest, p.nb-j) + d.lanes - 1) / d.lanes
			d.run(kernels[nv-1], &call[T]{k: k, a: &a[0], rs: 1, ks: lda, b: &b[j], bs: ldb, c: &c[j], cs: ldc, step: ahead})
		}
	})
}
