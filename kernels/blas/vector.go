package blas

// This file defines the products with one row or one column. Their matrix is read once, so it is
// not packed.

import "flow/kernels/vec/machine"

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

// columnOfDots is eight rows at a time by a column; the last ones may be rows that were taken
// before, whose sums are dropped.
func (d *driver[T]) columnOfDots(ws *Workspace, step int, sub bool, m, k int, a operand[T], b []T, c []T, ldc int) {
	buf := scratch[T](ws, dotRows+k)
	sums, x := buf[:dotRows], buf[dotRows:]
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
