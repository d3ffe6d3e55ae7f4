package blas

// This file defines the products with one row or one column. Their matrix is read once, so it is
// not packed.

import "flow/kernels/vec/machine"

// byVector computes c = c ± a@op(b) for a c of one column or one row, if it is a product that has a
// kernel for that.
func (d *driver[T]) byVector(ws *Workspace, tb, sub bool, m, n, k int, a operand[T], b []T, ldb int, c []T, ldc int) bool {
	switch {
	case n == 1 && a.ks == 1 && m >= dotRows:
		d.columnOfDots(ws, tb, sub, m, k, a, b, ldb, c, ldc)
	case m == 1 && !tb && n >= d.lanes:
		d.rowOfSums(ws, sub, n, k, a, b, ldb, c)
	default:
		return false
	}
	return true
}

const dotRows = machine.DotRows

// columnOfDots is eight rows at a time by a column; the last ones may be rows that were taken
// before, whose sums are dropped.
func (d *driver[T]) columnOfDots(ws *Workspace, tb, sub bool, m, k int, a operand[T], b []T, ldb int, c []T, ldc int) {
	buf := scratch[T](ws, dotRows+k)
	sums, x := buf[:dotRows], buf[dotRows:]
	step := ldb
	if tb {
		step = 1
	}
	copyVector(x, b, step, sub)
	for i := 0; i < m; i += dotRows {
		from := min(i, m-dotRows)
		for r := range sums {
			sums[r] = c[(from+r)*ldc]
		}
		d.run(d.kernels.Dot, &call[T]{k: k, a: &a.v[from*a.rs], rs: a.rs, b: &x[0], c: &sums[0]})
		for r := i - from; r < dotRows; r++ {
			c[(from+r)*ldc] = sums[r]
		}
	}
}

// rowOfSums is the sum of rows of b, each times an element of a.
func (d *driver[T]) rowOfSums(ws *Workspace, sub bool, n, k int, a operand[T], b []T, ldb int, c []T) {
	wide := roundUp(n, d.lanes)
	p := newTallPair(k, a.v, 1, 1, 1, b, ldb, n, wide)
	buf := scratch[T](ws, wide+k+p.spare()+leastDepth*(1+wide))
	sums, x := buf[:wide], buf[wide:wide+k]
	copyVector(x, a.v, a.ks, sub)
	p = newTallPair(k, x, 1, 1, 1, b, ldb, n, wide)
	copy(sums, c[:n])
	d.clearLanes(sums, 1, n, wide)
	d.fewByTall(&p, sums, wide, buf[wide+k:])
	copy(c[:n], sums)
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
