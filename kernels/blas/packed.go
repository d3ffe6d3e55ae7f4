package blas

// This file defines products of many blocks of rows by one right factor, which is packed once: for
// blocks so small that packing anew for each would count, and so many workers that each would do
// it.
//
//	for MR rows of a:                              their row of c stays in L1
//	    for a block of k (maxDepth):
//	        for each panel of b, NR columns wide: micro-tile of c = c ± rows of a @ panel
//
// All of b should stay in L2: the panels stream from there once for every MR rows.

// packAll packs op(b), k x n, into the memory of ws: the panels of each block of k in slots one
// behind the other, all of one size.
func (d *driver[T]) packAll(ws *Workspace, tb bool, n, k int, b []T, ldb int) []T {
	cols, depth := roundUp(n, d.nr), evenly(max(k, 1), d.maxDepth)
	packed := scratch[T](ws, cols*roundUp(k, depth))
	for p := 0; p < k; p += depth {
		kp := min(depth, k-p)
		for q := 0; q < n; q += d.nr {
			to := packed[p*cols+q*depth:]
			if tb {
				d.packT(min(d.nr, n-q), kp, b[q*ldb+p:], ldb, to)
			} else {
				d.packN(min(d.nr, n-q), kp, b[p*ldb+q:], ldb, to)
			}
		}
	}
	return packed
}

// gemmPacked computes c = c ± a@op(b) with what packAll has made of b. A c that is longer than its
// shape may be written to behind its end.
func (d *driver[T]) gemmPacked(ws *Workspace, sub bool, m, n, k int, a []T, lda int, packed []T, c []T, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	cols, depth := roundUp(n, d.nr), evenly(k, d.maxDepth)
	x := product[T]{driver: d, ws: ws, sub: sub, m: m, n: n, k: k, a: operand[T]{a, lda, 1}, c: c, ldc: ldc, w: n, size: depth * d.nr, slots: cols / d.nr,
		compact: ldc == n && n < d.nr, behind: len(c) - m*ldc, rows: scratch[T](ws, depth*d.mr)}
	for i := 0; i < m; i += d.mr {
		for x.p = 0; x.p < k; x.p += depth {
			x.kp = min(depth, k-x.p)
			x.panels = packed[x.p*cols:]
			rows := d.rowsOf(x.a, i, min(d.mr, m-i), x.p, x.kp, x.rows)
			x.ahead = d.rowsAhead(a, (i+d.mr)*lda+x.p, lda, x.kp)
			for q := range x.slots {
				if q == d.asking() {
					x.ahead.step = 0 // the next MR rows are on their way
				}
				x.tile(i, q, rows)
				x.ahead.next += x.ahead.skip
			}
		}
	}
}
