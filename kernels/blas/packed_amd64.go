package blas

// This file defines products of many blocks of rows by one right factor, which is packed once: for blocks so small that packing anew for
// each would count, and so many workers that each would do it.
//
//	for MR rows of a:                              their row of c stays in L1
//	    for a block of k (maxDepth):
//	        for each panel of b, NR columns wide: micro-tile of c = c ± rows of a @ panel
//
// All of b should stay in L2: the panels stream from there once for every MR rows.

// packAll packs op(b), k x n, into the memory of ws: blocks of depth rows one behind the other, each as gemmAll has it.
func (d *driver[T]) packAll(ws *Workspace, tb bool, n, k int, b []T, ldb int) []T {
	cols, depth := roundUp(n, d.nr), evenly(max(k, 1), d.maxDepth)
	packed := scratch[T](ws, cols*k)
	for p := 0; p < k; p += depth {
		kp := min(depth, k-p)
		for q := 0; q < n; q += d.nr {
			to := packed[p*cols+q*kp:]
			if tb {
				d.packT(min(d.nr, n-q), kp, b[q*ldb+p:], ldb, to)
			} else {
				d.packN(min(d.nr, n-q), kp, b[p*ldb+q:], ldb, to)
			}
		}
	}
	return packed
}

// gemmPacked computes c = c ± a@op(b) with what packAll has made of b. A c that is longer than its shape may be written to behind its end.
func (d *driver[T]) gemmPacked(ws *Workspace, sub bool, m, n, k int, a []T, lda int, packed []T, c []T, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	cols, depth := roundUp(n, d.nr), evenly(k, d.maxDepth)
	buf := scratch[T](ws, depth*d.mr)
	compact := ldc == n && n < d.nr
	under := 0 // elements of c under the tile: see tile
	for i := 0; i < m; i += d.mr {
		h := min(d.mr, m-i)
		if compact {
			under = len(c) - (i+h)*ldc
		}
		for p := 0; p < k; p += depth {
			kp := min(depth, k-p)
			rows := d.rowsOf(operand[T]{a, lda, 1}, i, h, p, kp, buf)
			ahead := d.rowsAhead(a, (i+d.mr)*lda+p, lda, kp)
			for q := 0; q < n; q += d.nr {
				if q == d.asking()*d.nr {
					ahead.step = 0 // the next MR rows are on their way
				}
				d.tile(ws, sub, false, i, h, 0, q, n, kp, rows, packed[p*cols:], c, ldc, under, ahead)
				ahead.next += ahead.skip
			}
		}
	}
}

func (s *simd) PackF64(ws *Workspace, tb bool, n, k int, b []float64, ldb int) []float64 {
	return s.d.packAll(ws, tb, n, k, b, ldb)
}

func (s *simd) PackF32(ws *Workspace, tb bool, n, k int, b []float32, ldb int) []float32 {
	return s.s.packAll(ws, tb, n, k, b, ldb)
}

func (s *simd) GemmPackedF64(ws *Workspace, sub bool, m, n, k int, a []float64, lda int, packed []float64, c []float64, ldc int) {
	s.d.gemmPacked(ws, sub, m, n, k, a, lda, packed, c, ldc)
}

func (s *simd) GemmPackedF32(ws *Workspace, sub bool, m, n, k int, a []float32, lda int, packed []float32, c []float32, ldc int) {
	s.s.gemmPacked(ws, sub, m, n, k, a, lda, packed, c, ldc)
}
