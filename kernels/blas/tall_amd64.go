package blas

// This file defines the product of two tall matrices, t(a)@b with few columns on both sides. Both lie in memory as the micro-kernel reads
// them, rows of the summed dimension one behind the other, so nothing is packed:
//
//	for tallDepth bytes of rows of a and b:        they stay in L1, or in L2 where they are wide
//	    for MR columns of a:
//	        for NR columns of b: micro-tile of c
//
// A micro-tile at an edge computes with what lies behind the row, and its results go to the padding of c.

import "unsafe"

// tallDepth is how many bytes of a and b are gone over at a time: with the tile of c they fit into an L1 of 32 KiB, and the steps
// of k are enough to hide the load and store of c.
const tallDepth = 20 << 10

// leastDepth is the least number of rows, for wide matrices: then they come from L2.
const leastDepth = 48

// tallAll computes rows i0..i1-1 of c += t(a)@b, for k rows of a and b; lower: the elements on and below the diagonal, and maybe
// more. c is padded: see TallRows and TallCols.
func (d *driver[T]) tallAll(ws *Workspace, lower bool, i0, i1, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	if i1 <= i0 || n == 0 || k == 0 {
		return
	}
	// Rows of which a micro-tile reads nothing behind the end of the memory.
	safe := min(k, within(cap(a)-roundUp(i1, d.mr), lda), within(cap(b)-roundUp(n, d.lanes), ldb))
	a, b = a[:cap(a)], b[:cap(b)]
	var zero T
	depth := max(leastDepth, tallDepth/(int(unsafe.Sizeof(zero))*(i1-i0+n)))
	for p := 0; p < safe; p += depth {
		d.tallBlock(lower, i0, i1, n, min(depth, safe-p), a[p*lda:], lda, b[p*ldb:], ldb, c, ldc)
	}
	if safe == k {
		return
	}
	wa, wb := roundUp(i1, d.mr), roundUp(n, d.lanes)
	depth = min(k-safe, leastDepth)
	buf := scratch[T](ws, depth*(wa+wb))
	at, bt := buf[:depth*wa], buf[depth*wa:]
	for p := safe; p < k; p += depth {
		kp := min(depth, k-p)
		for q := range kp {
			copy(at[q*wa:], a[(p+q)*lda:][:i1])
			copy(bt[q*wb:], b[(p+q)*ldb:][:n])
		}
		d.tallBlock(lower, i0, i1, n, kp, at, wa, bt, wb, c, ldc)
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
	ahead.step, ahead.skip = cacheLine, uintptr(k/d.round)*cacheLine
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
			d.gemm[0][nv-1](k, &a[i], 1, lda, &b[j], ldb, &c[i*ldc+j], ldc, ahead.next, int(ahead.step))
			ahead.next += ahead.skip
		}
	}
}
