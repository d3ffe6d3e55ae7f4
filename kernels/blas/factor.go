package blas

// This file defines the drivers of trsm and potrf. Both work on packed panels whose lanes are rows
// of the matrix, so that substitution down a column runs on full vectors; a panel is transposed in
// once and out once.

import (
	"unsafe"

	"flow/kernels/vec/machine"
)

// trsmAll computes b = b @ inverse(t(l)). Beyond maxOrder it goes by halves, with gemm between: the
// chains of the right half are continued by the columns of the left half first, as the definition
// has it.
func (d *driver[T]) trsmAll(ws *Workspace, m, n int, l []T, ldl int, b []T, ldb int) {
	if m == 0 || n == 0 {
		return
	}
	if n > d.maxOrder {
		h := roundUp(n/2, d.nr)
		d.trsmAll(ws, m, h, l, ldl, b, ldb)
		d.gemmAll(ws, true, true, false, m, n-h, h, operand[T]{b, ldb, 1}, l[h*ldl:], ldl, b[h:], ldb)
		d.trsmAll(ws, m, n-h, l[h*ldl+h:], ldl, b[h:], ldb)
		return
	}
	order, inPlace := roundUp(n, d.mr), n/d.mr*d.mr // rows of l that are read where they are
	if conflicts(ldl * int(unsafe.Sizeof(l[0]))) {
		inPlace = 0
	}
	triangle := d.blockStart(order) - d.blockStart(inPlace)
	buf := scratch[T](ws, triangle+order*d.nr)
	d.packTriangle(inPlace, n, l, ldl, buf)
	panel := buf[triangle:]
	for i := 0; i < m; i += d.nr {
		w := min(d.nr, m-i)
		d.transposeIn(w, n, b[i*ldb:], ldb, panel, d.nr)
		d.clearLanes(panel, n, w, roundUp(w, d.lanes))
		clear(panel[n*d.nr : order*d.nr])
		nv := (w + d.lanes - 1) / d.lanes
		ahead := d.rowsAhead(b, (i+w)*ldb, ldb, n) // the next panel, all of it
		end := ahead.next + uintptr(min(d.nr, m-i-w)*n)*unsafe.Sizeof(b[0])
		for j := 0; j < order; j += d.mr {
			if ahead.next >= end {
				ahead.step = 0
			}
			rows, rs := l[j*ldl:], ldl
			if j >= inPlace {
				rows, rs = buf[d.blockStart(j)-d.blockStart(inPlace):], j+d.mr
			}
			d.run(d.kernels.Solve[nv-1], &call[T]{k: j, a: &rows[0], rs: rs, ks: 1, b: &panel[0], bs: d.nr, next: ahead.next, step: int(ahead.step)})
			ahead.next += uintptr(j/machine.Round) * ahead.step
		}
		d.transposeOut(w, n, panel, d.nr, b[i*ldb:], ldb)
	}
}

// clearLanes sets lanes from up to to of k rows of a panel to zero. They are solved along with the
// others and dropped; what was there by chance could grow subnormal, and slow.
func (d *driver[T]) clearLanes(panel []T, k, from, to int) {
	if from == to {
		return
	}
	for p := range k {
		clear(panel[p*d.nr+from : p*d.nr+to])
	}
}

// blockStart returns where rows j.. (a multiple of MR) of a packed triangle start: block after
// block of MR rows, each row as long as its block's last.
func (d *driver[T]) blockStart(j int) int {
	q := j / d.mr
	return d.mr * d.mr * q * (q + 1) / 2
}

// packTriangle copies rows from.. (a multiple of MR) of the lower triangle l of order n to dst,
// with ones on the diagonal of rows beyond n.
func (d *driver[T]) packTriangle(from, n int, l []T, ldl int, dst []T) {
	for j := from; j < n; j += d.mr {
		rs := j + d.mr
		block := dst[d.blockStart(j)-d.blockStart(from):][:d.mr*rs]
		if rs > n {
			clear(block)
		}
		for r := range d.mr {
			if j+r < n {
				copy(block[r*rs:], l[(j+r)*ldl:][:j+r+1])
			} else {
				block[r*rs+j+r] = 1
			}
		}
	}
}

// transposeOut is the inverse of transposeIn: b[i*ldb+p] = panel[p*ps+i] for i < w and p < k.
func (d *driver[T]) transposeOut(w, k int, panel []T, ps int, b []T, ldb int) {
	i := 0
	for ; i+d.group <= w; i += d.group {
		d.run(d.kernels.Out, &call[T]{k: k, src: &panel[i], ss: ps, dst: &b[i*ldb], cs: ldb})
	}
	for ; i < w; i++ {
		row := b[i*ldb:][:k]
		for p := range row {
			row[p] = panel[p*ps+i]
		}
	}
}

// potrfAll factors a in place.
func (d *driver[T]) potrfAll(ws *Workspace, n int, a []T, lda int) (minor int) {
	if n <= d.maxOrder {
		return d.potrfBlock(ws, n, a, lda)
	}
	h := roundUp(n/2, d.nr)
	if minor := d.potrfAll(ws, h, a, lda); minor != 0 {
		return minor
	}
	for i := range h {
		clear(a[i*lda+h : i*lda+n])
	}
	below, rest := a[h*lda:], a[h*lda+h:]
	d.trsmAll(ws, n-h, h, a, lda, below, lda)
	d.gemmAll(ws, true, true, true, n-h, n-h, h, operand[T]{below, lda, 1}, below, lda, rest, lda)
	if minor := d.potrfAll(ws, n-h, rest, lda); minor != 0 {
		return h + minor
	}
	return 0
}

// potrfBlock factors a matrix that fits the cache. Panel q holds rows q*NR.. of a, transposed, as
// far as the diagonal:
//
//	for MR columns at a time:
//	    the panel with the diagonal block: update, factor the block into diag, solve the lanes below it
//	    every panel below: update and solve in one kernel, with the diagonal panel as its triangle
//
// Lanes above the diagonal hold values of no meaning; nothing reads them, as lanes are independent.
func (d *driver[T]) potrfBlock(ws *Workspace, n int, a []T, lda int) (minor int) {
	if n == 0 {
		return 0
	}
	order := roundUp(n, d.mr)
	panels := (n + d.nr - 1) / d.nr
	start := func(q int) int { return d.nr * d.nr * q * (q + 1) / 2 }
	buf := scratch[T](ws, start(panels)+d.mr*d.mr)
	diag := buf[start(panels):]
	here := uintptr(unsafe.Pointer(&diag[0]))                  // nothing to ask memory for
	depth := func(q int) int { return min(order, (q+1)*d.nr) } // rows of panel q
	width := func(q int) int { return min(d.nr, n-q*d.nr) }
	for q := range panels {
		panel := buf[start(q):]
		d.transposeIn(width(q), min(n, depth(q)), a[q*d.nr*lda:], lda, panel, d.nr)
		if q == panels-1 { // rows beyond n are those of the identity
			d.clearLanes(panel, n, width(q), d.nr)
			clear(panel[n*d.nr : order*d.nr])
			for j := n; j < order; j++ {
				panel[j*d.nr+j-q*d.nr] = 1
			}
		}
	}
	for j := 0; j < order; j += d.mr {
		q, at := j/d.nr, j%d.nr
		home := buf[start(q):]
		lane := at / d.lanes * d.lanes // vectors left of the block are done
		vectors := (roundUp(width(q), d.mr) - lane + d.lanes - 1) / d.lanes
		d.run(d.kernels.Gemm[1][vectors-1], &call[T]{k: j, a: &home[at], rs: 1, ks: d.nr, b: &home[lane], bs: d.nr, c: &home[j*d.nr+lane], cs: d.nr, next: here})
		factor := call[T]{dst: &diag[0], src: &home[j*d.nr+at], ss: d.nr}
		d.run(d.kernels.Potf, &factor)
		if bad := factor.result; bad != 0 && j+bad <= n {
			row := a[(j+bad-1)*lda:]
			for k := range j {
				row[k] = home[k*d.nr+at+bad-1]
			}
			for k := range d.mr * bad { // the block, updated by the columns before it
				diag[k] = home[(j+k%d.mr)*d.nr+at+k/d.mr]
			}
			plainPotrf(ws, bad, diag, d.mr)
			copy(row[j:], diag[(bad-1)*d.mr:][:bad-1])
			return j + bad
		}
		lane = (at + d.mr) / d.lanes * d.lanes
		if vectors = (width(q) - lane + d.lanes - 1) / d.lanes; vectors > 0 {
			d.run(d.kernels.Solve[vectors-1], &call[T]{a: &diag[0], rs: 1, ks: d.mr, b: &home[j*d.nr+lane], bs: d.nr, next: here})
		}
		for r := range d.mr {
			copy(home[(j+r)*d.nr+at:][:d.mr], diag[r*d.mr:])
		}
		for p := q + 1; p < panels; p++ {
			nv := (width(p) + d.lanes - 1) / d.lanes
			d.run(d.kernels.Solve[nv-1], &call[T]{k: j, a: &home[at], rs: 1, ks: d.nr, b: &buf[start(p)], bs: d.nr, next: here})
		}
	}
	for q := range panels {
		rows := a[q*d.nr*lda:]
		d.transposeOut(width(q), min(n, depth(q)), buf[start(q):], d.nr, rows, lda)
		for r := range width(q) {
			clear(rows[r*lda+q*d.nr+r+1 : r*lda+n])
		}
	}
	return 0
}
