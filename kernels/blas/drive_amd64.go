package blas

// This file defines the drivers of gemm and syrk: they cut the operands into blocks for the caches, pack b and hand
// micro-tiles to the assembly. Cuts change no bit (see the package comment), so they are free to follow the cache.
//
//	for a block of columns of c and a block of k (maxDepth, maxArea):
//	    for each panel of b, NR columns wide:
//	        pack it: row p at p*NR; micro-tiles of the first rows of a     the next panel comes from memory meanwhile
//	    for MR rows of a, the rest:                                        they stay in L1; the next ones come meanwhile
//	        for each panel: micro-tile of c = c ± rows of a @ panel        the panel streams from L2

import "unsafe"

// gemmKernel is c = c ± a@b on a tile of MR rows: see gen/gemm.go.
type gemmKernel[T element] func(k int, a *T, rs, ks int, b *T, bs int, c *T, cs int, next uintptr, step int)

// edgeKernel is the same, touching width[i] columns of row i and asking for nothing ahead.
type edgeKernel[T element] func(k int, a *T, rs, ks int, b *T, bs int, c *T, cs int, width *int64)

// solveKernel is forward substitution of MR rows of a panel: see gen/solve.go.
type solveKernel[T element] func(k int, a *T, rs, ks int, b *T, bs int)

// narrowKernel is c = c + t(a)@b for a few columns of a: see gen/narrow.go.
type narrowKernel[T element] func(k int, a *T, as int, b *T, bs int, c *T, cs int, ahead int)

// driver is the assembly of one instruction set and element type with its sizes.
type driver[T element] struct {
	mr, lanes int // rows of a micro-tile; elements of a vector
	nr        int // columns of the widest micro-tile: three vectors
	round     int // steps of k for each line asked for ahead
	lead      int // groups of MR rows that go through the panels while b is being packed, at most maxLead

	gemm  [2][3]gemmKernel[T] // by sub, by number of vectors less one
	edge  [2][3]edgeKernel[T]
	solve [3]solveKernel[T]
	// narrow is by columns of a less one and number of vectors less one.
	narrow [mostNarrow][]narrowKernel[T]
	potf   func(d, p *T, ps int) int

	// in sets dst[p*ds+i] = src[i*ss+p] for i < group and p < k, out sets dst[i*ds+p] = src[p*ss+i].
	in, out  func(k int, src *T, ss int, dst *T, ds int)
	group    int
	copyRows func(k int, src *byte, ss int, dst *byte) // rows of nr elements

	maxDepth int // k of a block: MR rows of a and a row of c's tiles then stay in L1
	maxArea  int // elements of a packed block of b: it then takes half of an L2 of 1 MiB
	maxOrder int // trsm and potrf beyond this order go by halves
}

// conflicts reports that rows so far apart fall into the same few sets of L1 and push each other out.
func conflicts(bytes int) bool { return bytes%4096 == 0 || bytes%4096 == 64 || bytes%4096 == 4096-64 }

// operand is a matrix with a stride in each direction, so that a transposed one needs no copy.
type operand[T element] struct {
	v      []T
	rs, ks int
}

// maxLead bounds driver.lead, which must be enough work to read the next panel of b from memory behind it.
const maxLead = 8

// gemmAll computes c = c ± a@op(b), or its lower triangle (lower; m == n). b is n x k where tb is true.
func (d *driver[T]) gemmAll(ws *Workspace, tb, sub, lower bool, m, n, k int, a operand[T], b []T, ldb int, c []T, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	depth, cols := d.block(n, k)
	under := 0 // elements of c under the tile: see tile
	compact := !lower && ldc == n && n < d.nr
	buf := scratch[T](ws, depth*(d.lead*d.mr+cols))
	packed := buf[depth*d.lead*d.mr:]
	rows := func(g int) []T { return buf[g*depth*d.mr:][:depth*d.mr] }
	var group [maxLead]operand[T]
	for j := 0; j < n; j += cols {
		w := min(cols, n-j)
		for p := 0; p < k; p += depth {
			kp := min(depth, k-p)
			i, groups := 0, 0
			if lower {
				i = j // rows above see only columns right of the diagonal
			}
			for ; groups < d.lead && i+groups*d.mr < m; groups++ {
				at := i + groups*d.mr
				group[groups] = d.rowsOf(a, at, min(d.mr, m-at), p, kp, rows(groups))
			}
			for q := 0; q < w; q += d.nr {
				var ahead stream
				if tb {
					d.packT(min(d.nr, w-q), kp, b[(j+q)*ldb+p:], ldb, packed[q*kp:])
					ahead = d.rowsAhead(b, (j+q+d.nr)*ldb+p, ldb, kp)
				} else {
					d.packN(min(d.nr, w-q), kp, b[p*ldb+j+q:], ldb, packed[q*kp:])
					ahead = d.columnsAhead(b, p*ldb+j+q+d.nr, ldb)
				}
				for g := range groups {
					at := i + g*d.mr
					if compact {
						under = (m - at - d.mr) * ldc
					}
					d.tile(ws, sub, lower, at, min(d.mr, m-at), j, q, w, kp, group[g], packed, c, ldc, under, ahead)
					ahead.next += ahead.skip
				}
			}
			for i += groups * d.mr; i < m; i += d.mr {
				ap := d.rowsOf(a, i, min(d.mr, m-i), p, kp, rows(0))
				var ahead stream
				if a.ks == 1 {
					ahead = d.rowsAhead(a.v, (i+d.mr)*a.rs+p, a.rs, kp)
				}
				for q := 0; q < w; q += d.nr {
					if q == d.asking()*d.nr {
						ahead.step = 0 // the next MR rows are on their way
					}
					if compact {
						under = (m - i - d.mr) * ldc
					}
					d.tile(ws, sub, lower, i, min(d.mr, m-i), j, q, w, kp, ap, packed, c, ldc, under, ahead)
					ahead.next += ahead.skip
				}
			}
		}
	}
}

// block returns the depth and the columns of the packed blocks of b: cuts of even size within the bounds.
func (d *driver[T]) block(n, k int) (depth, cols int) {
	depth = evenly(k, d.maxDepth)
	most := max(d.maxArea/depth/d.nr, 1) * d.nr
	return depth, roundUp(evenly(n, most), d.nr)
}

// evenly cuts n into as few parts of at most limit as there can be and returns the size of all but the last.
func evenly(n, limit int) int {
	parts := (n + limit - 1) / limit
	return (n + parts - 1) / parts
}

// stream is what a micro-tile asks memory for meanwhile: k/round lines from next on, step bytes apart; the tile after it
// goes on skip bytes further. Addresses are numbers here, as they may lie beyond the matrix: asking there does no harm.
type stream struct {
	next       uintptr
	step, skip uintptr
}

// asking is the number of micro-tiles that it takes to ask for MR rows as long as their k.
func (d *driver[T]) asking() int {
	var zero T
	return max(1, d.mr*int(unsafe.Sizeof(zero))*d.round/cacheLine)
}

// rowsAhead is the stream of whole rows that lie one behind the other from v[at] on; rows with gaps are left to the hardware.
func (d *driver[T]) rowsAhead(v []T, at, ld, k int) stream {
	base := uintptr(unsafe.Pointer(&v[0]))
	if ld != k {
		return stream{next: base}
	}
	return stream{base + uintptr(at)*unsafe.Sizeof(v[0]), cacheLine, uintptr(k/d.round) * cacheLine}
}

// columnsAhead is the stream of a panel of columns from v[at] on: a line of each row, then the line right of it.
func (d *driver[T]) columnsAhead(v []T, at, ld int) stream {
	size := unsafe.Sizeof(v[0])
	return stream{uintptr(unsafe.Pointer(&v[0])) + uintptr(at)*size, uintptr(ld) * size, cacheLine}
}

// rowsOf returns h rows of a from row i on and kp columns from p on: in place if all MR are there and lie well in the cache,
// else copied to buf, with what it held before for the missing ones: their results are dropped.
func (d *driver[T]) rowsOf(a operand[T], i, h, p, kp int, buf []T) operand[T] {
	size := int(unsafe.Sizeof(a.v[0]))
	v := a.v[i*a.rs+p*a.ks:]
	if h == 1 {
		return operand[T]{v, 0, a.ks} // the same row MR times: nothing to copy
	}
	if a.ks != 1 {
		if h == d.mr {
			return operand[T]{v, a.rs, a.ks}
		}
		for q := range kp {
			for r := range h {
				buf[q*d.mr+r] = v[r*a.rs+q*a.ks]
			}
		}
		return operand[T]{buf, 1, d.mr}
	}
	if h == d.mr && !conflicts(a.rs*size) {
		return operand[T]{v, a.rs, 1}
	}
	for r := range h {
		copy(buf[r*kp:][:kp], v[r*a.rs:])
	}
	return operand[T]{buf, kp, 1}
}

// tile runs the micro-tile of h rows from row i on and of the panel packed from column j+q on; w columns of c are packed in all.
//
// The rows of a narrow c may lie one behind the other, with at least under elements below the tile. Then whole vectors are stored: what a row
// writes beyond its end the next one, stored after it, puts right, and what the last row writes there is put back. Masked loads and stores
// of 8 short rows take as long as 20 steps of k.
func (d *driver[T]) tile(ws *Workspace, sub, lower bool, i, h, j, q, w, kp int, a operand[T], packed []T, c []T, ldc, under int, ahead stream) {
	which := 0
	if sub {
		which = 1
	}
	cols := min(d.nr, w-q)
	below := i - (j + q) // rows of this tile under the diagonal's start
	if lower {
		if below+h <= 0 {
			return
		}
		cols = min(cols, below+h)
	}
	nv := (cols + d.lanes - 1) / d.lanes
	b, ct := &packed[q*kp], &c[i*ldc+j+q]
	if h == d.mr && cols == nv*d.lanes && (!lower || below+1 >= cols) {
		d.gemm[which][nv-1](kp, &a.v[0], a.rs, a.ks, b, d.nr, ct, ldc, ahead.next, int(ahead.step))
		return
	}
	if beyond := nv*d.lanes - cols; h == d.mr && beyond > 0 && under >= beyond {
		var keep [cacheLine / 4]T
		behind := c[(i+h)*ldc:][:beyond]
		copy(keep[:], behind)
		d.gemm[which][nv-1](kp, &a.v[0], a.rs, a.ks, b, d.nr, ct, ldc, ahead.next, int(ahead.step))
		copy(behind, keep[:])
		return
	}
	for r := range d.mr {
		width := cols
		switch {
		case r >= h:
			width = 0
		case lower:
			width = max(0, min(cols, below+r+1))
		}
		ws.width[r] = int64(width)
	}
	d.edge[which][nv-1](kp, &a.v[0], a.rs, a.ks, b, d.nr, ct, ldc, &ws.width[0])
}

// packT packs the transpose of w rows of b, as far as kp, into a panel: row p at dst[p*NR].
func (d *driver[T]) packT(w, kp int, b []T, ldb int, dst []T) {
	d.transposeIn(w, kp, b, ldb, dst[:d.nr*kp], d.nr)
}

// packN packs w columns of kp rows of b into a panel: row p at dst[p*NR].
func (d *driver[T]) packN(w, kp int, b []T, ldb int, dst []T) {
	if w == d.nr {
		d.copyRows(kp, (*byte)(unsafe.Pointer(&b[0])), ldb*int(unsafe.Sizeof(b[0])), (*byte)(unsafe.Pointer(&dst[0])))
		return
	}
	for p := range kp {
		copy(dst[p*d.nr:][:w], b[p*ldb:])
	}
}

// chunk is the columns of a matrix that go into a panel at a time: the lines of the panel that they fill, each from
// several groups of rows, then stay in L1.
const chunk = 64

// transposeIn sets panel[p*ps+i] = b[i*ldb+p] for i < w and p < k. Lanes from w on keep what they held.
func (d *driver[T]) transposeIn(w, k int, b []T, ldb int, panel []T, ps int) {
	whole := w / d.group * d.group
	for p := 0; p < k; p += chunk {
		kp := min(chunk, k-p)
		for i := 0; i < whole; i += d.group {
			d.in(kp, &b[i*ldb+p], ldb, &panel[p*ps+i], ps)
		}
	}
	for i := whole; i < w; i++ {
		for p, v := range b[i*ldb:][:k] {
			panel[p*ps+i] = v
		}
	}
}

// roundUp returns the least multiple of m that is not below n.
func roundUp(n, m int) int { return (n + m - 1) / m * m }
