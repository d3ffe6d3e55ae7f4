package blas

// This file defines the products that pack nothing, or one factor once. The first is the product of two
// tall matrices, t(a)@b with few columns on both sides. Both lie in memory as the micro-kernel reads
// them, rows of the summed dimension one behind the other, so nothing is packed:
//
//	for tallDepth bytes of rows of a and b:        they stay in L1, or in L2 where they are wide
//	    for MR columns of a:
//	        for NR columns of b: micro-tile of c
//
// A micro-tile at an edge computes with what lies behind the row, and its results go to the padding
// of c.

import (
	"unsafe"

	"flow/kernels/vec/machine"
)

// tallDepth is how many bytes of a and b are gone over at a time: with the tile of c they fit into
// an L1 of 32 KiB, and the steps of k are enough to hide the load and store of c.
const tallDepth = 20 << 10

// leastDepth is the least number of rows, for wide matrices: then they come from L2.
const leastDepth = 48

// tallAll computes rows i0..i1-1 of c += t(a)@b, for k rows of a and b; lower: the elements on and
// below the diagonal, and maybe more. c is padded: see TallRows and TallCols.
func (d *driver[T]) tallAll(ws *Workspace, lower bool, i0, i1, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	switch {
	case i1 <= i0 || n == 0 || k == 0:
		return
	case n <= mostNarrow:
		d.tallByFew(ws, i0, i1, n, k, a, lda, b, ldb, c, ldc)
		return
	case i1-i0 <= mostNarrow:
		p := newTallPair(k, a[i0:], lda, i1-i0, i1-i0, b, ldb, n, roundUp(n, d.lanes))
		d.fewByTall(&p, c[i0*ldc:], ldc, scratch[T](ws, p.spare()))
		return
	}
	p := newTallPair(k, a, lda, i1, roundUp(i1, d.mr), b, ldb, n, roundUp(n, d.lanes))
	var zero T
	depth := max(leastDepth, tallDepth/(int(unsafe.Sizeof(zero))*(i1-i0+n)))
	p.each(depth, scratch[T](ws, p.spare()), func(k int, a []T, lda int, b []T, ldb int) {
		d.tallBlock(lower, i0, i1, n, k, a, lda, b, ldb, c, ldc)
	})
}

// tallPair is the two operands, with the columns that are theirs and those that are read.
type tallPair[T element] struct {
	k          int
	a          []T
	lda        int
	na, readsA int
	b          []T
	ldb        int
	nb, readsB int
	safe       int // rows behind which nothing is read that lies behind the end of the memory
}

func newTallPair[T element](k int, a []T, lda, na, readsA int, b []T, ldb, nb, readsB int) tallPair[T] {
	safe := min(k, within(cap(a)-readsA, lda), within(cap(b)-readsB, ldb))
	return tallPair[T]{k, a[:cap(a)], lda, na, readsA, b[:cap(b)], ldb, nb, readsB, safe}
}

// spare is the elements of scratch that each asks for.
func (p *tallPair[T]) spare() int { return min(p.k-p.safe, leastDepth) * (p.readsA + p.readsB) }

// each calls block with up to depth rows after another; rows near the end of the memory come as copies.
func (p *tallPair[T]) each(depth int, spare []T, block func(k int, a []T, lda int, b []T, ldb int)) {
	for q := 0; q < p.safe; q += depth {
		block(min(depth, p.safe-q), p.a[q*p.lda:], p.lda, p.b[q*p.ldb:], p.ldb)
	}
	if p.safe == p.k {
		return
	}
	depth = min(p.k-p.safe, leastDepth)
	at, bt := spare[:depth*p.readsA], spare[depth*p.readsA:]
	for q := p.safe; q < p.k; q += depth {
		k := min(depth, p.k-q)
		for r := range k {
			copy(at[r*p.readsA:], p.a[(q+r)*p.lda:][:p.na])
			copy(bt[r*p.readsB:], p.b[(q+r)*p.ldb:][:p.nb])
		}
		block(k, at, p.readsA, bt, p.readsB)
	}
}

// within is the number of rows, ld apart, that begin at most last elements from the first.
func within(last, ld int) int {
	if last < 0 {
		return 0
	}
	return last/ld + 1
}

// tallBlock is tallAll on k rows from which whole vectors can be read.
func (d *driver[T]) tallBlock(lower bool, i0, i1, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	ahead := d.rowsAhead(b, k*ldb, ldb, ldb)
	ahead.step, ahead.skip = cacheLine, uintptr(k/machine.Round)*cacheLine
	end := ahead.next + uintptr(k*ldb)*unsafe.Sizeof(b[0])
	for i := i0; i < i1; i += d.mr {
		cols := n
		if lower {
			cols = min(n, i+d.mr)
		}
		for j := 0; j < cols; j += d.nr {
			nv := min(d.nr, cols-j+d.lanes-1) / d.lanes
			if ahead.next >= end {
				ahead.step = 0
			}
			d.run(d.kernels.Gemm[0][nv-1], &call[T]{k: k, a: &a[i], rs: 1, ks: lda, b: &b[j], bs: ldb, c: &c[i*ldc+j], cs: ldc, next: ahead.next, step: int(ahead.step)})
			ahead.next += ahead.skip
		}
	}
}

// What follows is for a factor of at most mostNarrow columns. Its elements are broadcast and the
// other's rows are the vectors; both are read once, so memory is what they wait for, and it is asked
// ahead.

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

// A product with one row or one column has a matrix that is read once, so it is not packed.

// byVector computes c = c ± a@op(b) for a c of one column or one row, if it is a product that has a
// kernel for that.
func (d *driver[T]) byVector(ws *Workspace, tb, sub bool, m, n, k int, a operand[T], b []T, ldb int, c []T, ldc int) bool {
	step := ldb // of a column b
	if tb {
		step = 1
	}
	switch {
	case n == 1 && a.ks == 1 && m >= dotRows:
		d.columnOfDots(ws, step, sub, m, k, a, b, c, ldc)
	case n == 1 && a.rs == 1 && m >= d.lanes:
		d.sumOfRows(ws, sub, m, k, b, step, a.v, a.ks, c, ldc)
	case m == 1 && !tb && n >= d.lanes:
		d.sumOfRows(ws, sub, n, k, a.v, a.ks, b, ldb, c, 1)
	default:
		return false
	}
	return true
}

const dotRows = machine.DotRows

// dotElements is how many elements of a matrix one call of the kernel for dots reads. A call cannot be
// stopped and takes some ten microseconds. If the rows are short, a call takes as long as eight of
// them, so it takes more rows.
const dotElements = 1 << 14

// columnOfDots multiplies rows by a column, eight rows at a time. The last eight may include rows that
// were taken before, whose sums are dropped.
func (d *driver[T]) columnOfDots(ws *Workspace, step int, sub bool, m, k int, a operand[T], b []T, c []T, ldc int) {
	buf := scratch[T](ws, dotRows+k)
	sums, x := buf[:dotRows], buf[dotRows:]
	copyVector(x, b, step, sub)
	i := 0
	for most := max(1, dotElements/(dotRows*k)); ldc == 1 && i+dotRows <= m; {
		blocks := min(most, (m-i)/dotRows)
		d.run(d.kernels.Dot, &call[T]{k: k, a: &a.v[i*a.rs], rs: a.rs, b: &x[0], c: &c[i], step: blocks})
		i += blocks * dotRows
	}
	for ; i < m; i += dotRows {
		from := min(i, m-dotRows)
		for r := range sums {
			sums[r] = c[(from+r)*ldc]
		}
		d.run(d.kernels.Dot, &call[T]{k: k, a: &a.v[from*a.rs], rs: a.rs, b: &x[0], c: &sums[0], step: 1})
		for r := i - from; r < dotRows; r++ {
			c[(from+r)*ldc] = sums[r]
		}
	}
}

// sumOfRows adds rows of b, each times or minus times an element of a, to the elements of c. Those of a
// are as apart from each other, and those of c cs.
func (d *driver[T]) sumOfRows(ws *Workspace, sub bool, n, k int, a []T, as int, b []T, ldb int, c []T, cs int) {
	wide := roundUp(n, d.lanes)
	p := newTallPair(k, a, 1, 1, 1, b, ldb, n, wide)
	buf := scratch[T](ws, wide+k+p.spare()+leastDepth*(1+wide))
	sums, x := buf[:wide], buf[wide:wide+k]
	copyVector(x, a, as, sub)
	p = newTallPair(k, x, 1, 1, 1, b, ldb, n, wide)
	copyVector(sums[:n], c, cs, false)
	d.clearLanes(sums, 1, n, wide)
	d.fewByTall(&p, sums, wide, buf[wide+k:])
	for j, v := range sums[:n] {
		c[j*cs] = v
	}
}

// copyVector makes dst the elements of src that are step apart, or the negative of them: -x*y is
// exact in the sign.
func copyVector[T element](dst, src []T, step int, negative bool) {
	for p := range dst {
		dst[p] = src[p*step]
		if negative {
			dst[p] = -dst[p]
		}
	}
}

// What follows is products of many blocks of rows by one right factor, which is packed once: for
// blocks so small that packing anew for each would count, and so many workers that each would do
// it.
//
//	for MR rows of a:                              their row of c stays in L1
//	    for a block of k (maxDepth):
//	        for each panel of b, NR columns wide: micro-tile of c = c ± rows of a @ panel
//
// All of b should stay in L2: the panels stream from there once for every MR rows.

// packAll packs op(b), k x n, into the memory of ws. The panels of a block of k follow those of the
// block before.
func (d *driver[T]) packAll(ws *Workspace, tb bool, n, k int, b []T, ldb int) []T {
	cols, depth := roundUp(n, d.nr), evenly(max(k, 1), d.maxDepth)
	packed := scratch[T](ws, cols*k)
	for p := 0; p < k; p += depth {
		from := p * ldb
		if tb {
			from = p
		}
		d.pack(tb, n, min(depth, k-p), b[from:], ldb, packed[p*cols:])
	}
	return packed
}

// gemmPacked computes c = c ± a@op(b) with what packAll has made of b. A c that is longer than its
// shape may be written to behind its end.
func (d *driver[T]) gemmPacked(ws *Workspace, sub bool, m, n, k int, a []T, lda int, packed []T, c []T, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	depth := evenly(k, d.maxDepth)
	x := product[T]{driver: d, ws: ws, sub: sub, m: m, a: operand[T]{a, lda, 1}, c: c, ldc: ldc, w: n,
		compact: ldc == n && n < d.nr, behind: len(c) - m*ldc, rows: scratch[T](ws, depth*d.mr)}
	for i := 0; i < m; i += d.mr {
		for x.p = 0; x.p < k; x.p += depth {
			x.kp = min(depth, k-x.p)
			x.panels = packed[x.p*roundUp(n, d.nr):]
			x.line(i)
		}
	}
}
