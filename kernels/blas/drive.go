package blas

// This file defines the drivers of gemm and syrk: they cut the operands into blocks for the caches,
// pack b and hand micro-tiles to the machine code. Cuts change no bit (see the package comment), so
// they are free to follow the cache.
//
//	for a block of columns of c and a block of k (maxDepth, maxArea):
//	    pack b into panels, NR columns wide: row p at p*NR
//	    for MR rows of a:                                      they stay in L1; the next ones come meanwhile
//	        for each panel: tile of c = c ± rows of a @ panel  the panel streams from L2

import (
	"unsafe"

	"flow/kernels/vec/machine"
)

// driver is the machine code of one instruction set and element type with its sizes.
type driver[T element] struct {
	kernels *machine.Tiles
	on      machine.Set

	mr, lanes int // rows of a micro-tile; elements of a vector
	nr        int // columns of the widest micro-tile: three vectors
	group     int // rows that the kernels In and Out take

	maxDepth int // k of a block: MR rows of a and a row of c's tiles then stay in L1
	maxArea  int // elements of a packed block of b: it then takes half of an L2 of 1 MiB
	maxOrder int // trsm and potrf beyond this order go by halves
}

// call is the words of a call of a kernel (machine.Tiles).
type call[T element] struct {
	k      int
	a      *T
	rs, ks int
	b      *T
	bs     int
	c      *T
	cs     int
	next   uintptr
	step   int
	width  *uint64
	src    *T
	ss     int
	dst    *T
	result int
}

func (d *driver[T]) run(k *machine.Kernel, args *call[T]) { k.Call(d.on, unsafe.Pointer(args)) }

// width returns the argument of an edge kernel that touches the first n elements of a row: a mask of
// bits, or the address of one.
func (d *driver[T]) width(n int) uint64 {
	if d.on == machine.AVX512 {
		return 1<<n - 1
	}
	return machine.StripMask(n * int(unsafe.Sizeof(*new(T))))
}

// conflicts reports that rows so far apart fall into the same few sets of L1 and push each other out.
func conflicts(bytes int) bool { return bytes%4096 == 0 || bytes%4096 == 64 || bytes%4096 == 4096-64 }

// operand is a matrix with a stride in each direction, so that a transposed one needs no copy.
type operand[T element] struct {
	v      []T
	rs, ks int
}

// gemmAll computes c = c ± a@op(b), or its lower triangle (lower; m == n). b is n x k where tb is true.
func (d *driver[T]) gemmAll(ws *Workspace, tb, sub, lower bool, m, n, k int, a operand[T], b []T, ldb int, c []T, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if !lower && d.byVector(ws, tb, sub, m, n, k, a, b, ldb, c, ldc) {
		return
	}
	depth, cols := d.block(n, k)
	buf := scratch[T](ws, depth*(d.mr+cols))
	x := product[T]{driver: d, ws: ws, sub: sub, lower: lower, m: m, a: a, c: c, ldc: ldc, compact: !lower && ldc == n && n < d.nr,
		rows: buf, panels: buf[depth*d.mr:]}
	for ; x.j < n; x.j += cols {
		x.w = min(cols, n-x.j)
		for x.p = 0; x.p < k; x.p += depth {
			x.kp = min(depth, k-x.p)
			from := x.p*ldb + x.j
			if tb {
				from = x.j*ldb + x.p
			}
			d.pack(tb, x.w, x.kp, b[from:], ldb, x.panels)
			top := 0
			if lower {
				top = x.j // rows above see only columns right of the diagonal
			}
			for i := top; i < m; i += d.mr {
				x.line(i)
			}
		}
	}
}

// product is a running gemm or syrk, at the block of w columns of c from j on and of kp terms from
// p on.
type product[T element] struct {
	*driver[T]
	ws         *Workspace
	sub, lower bool
	compact    bool // the rows of c lie one behind the other: see tile
	behind     int  // elements of c's memory that lie behind it
	m          int
	a          operand[T]
	c          []T
	ldc        int

	j, w, p, kp  int
	rows, panels []T // room for MR rows of a; the packed panels of the block
	ahead        stream
}

// line runs the micro-tiles of up to MR rows from row i on, for one panel after the other. The first
// micro-tiles ask for the next MR rows.
func (x *product[T]) line(i int) {
	rows := x.rowsOf(x.a, i, min(x.mr, x.m-i), x.p, x.kp, x.rows)
	x.ahead = stream{next: uintptr(unsafe.Pointer(&x.a.v[0]))}
	if x.a.ks == 1 {
		x.ahead = x.rowsAhead(x.a.v, (i+x.mr)*x.a.rs+x.p, x.a.rs, x.kp)
	}
	for q := range (x.w + x.nr - 1) / x.nr {
		if q == x.asking() {
			x.ahead.step = 0 // the next MR rows are on their way
		}
		x.tile(i, q, rows)
		x.ahead.next += x.ahead.skip
	}
}

// block returns the depth and the columns of the packed blocks of b: cuts of even size within the
// bounds.
func (d *driver[T]) block(n, k int) (depth, cols int) {
	depth = evenly(k, d.maxDepth)
	most := max(d.maxArea/depth/d.nr, 1) * d.nr
	return depth, roundUp(evenly(n, most), d.nr)
}

// evenly cuts n into as few parts of at most limit as there can be and returns the size of all but
// the last.
func evenly(n, limit int) int {
	parts := (n + limit - 1) / limit
	return (n + parts - 1) / parts
}

// stream is what a micro-tile asks memory for meanwhile: k/round lines from next on, step bytes
// apart; the tile after it goes on skip bytes further. Addresses are numbers here, as they may lie
// beyond the matrix: asking there does no harm.
type stream struct {
	next       uintptr
	step, skip uintptr
}

// asking is the number of micro-tiles that it takes to ask for MR rows as long as their k.
func (d *driver[T]) asking() int {
	var zero T
	return max(1, d.mr*int(unsafe.Sizeof(zero))*machine.Round/cacheLine)
}

// rowsAhead is the stream of whole rows that lie one behind the other from v[at] on; rows with gaps
// are left to the hardware.
func (d *driver[T]) rowsAhead(v []T, at, ld, k int) stream {
	base := uintptr(unsafe.Pointer(&v[0]))
	if ld != k {
		return stream{next: base}
	}
	return stream{base + uintptr(at)*unsafe.Sizeof(v[0]), cacheLine, uintptr(k/machine.Round) * cacheLine}
}

// rowsOf returns h rows of a from row i on and kp columns from p on: in place if all MR are there
// and lie well in the cache, else copied to buf, with what it held before for the missing ones:
// their results are dropped.
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

// tile runs the micro-tile of up to MR rows from row i on and of panel q of the block.
//
// The rows of a narrow c may lie one behind the other, with at least under elements below the tile.
// Then whole vectors are stored: what a row writes beyond its end the next one, stored after it,
// puts right, and what the last row writes there is put back. Masked loads and stores of 8 short
// rows take as long as 20 steps of k.
func (x *product[T]) tile(i, q int, a operand[T]) {
	d := x.driver
	which := 0
	if x.sub {
		which = 1
	}
	h := min(d.mr, x.m-i)
	column := x.j + q*d.nr
	cols := min(d.nr, x.w-q*d.nr)
	below := i - column // rows of this tile under the diagonal's start
	if x.lower {
		if below+h <= 0 {
			return
		}
		cols = min(cols, below+h)
	}
	nv := (cols + d.lanes - 1) / d.lanes
	to := call[T]{k: x.kp, a: &a.v[0], rs: a.rs, ks: a.ks, b: &x.panels[q*d.nr*x.kp], bs: d.nr, c: &x.c[i*x.ldc+column], cs: x.ldc, next: x.ahead.next, step: int(x.ahead.step)}
	if h == d.mr && cols == nv*d.lanes && (!x.lower || below+1 >= cols) {
		d.run(d.kernels.Gemm[which][nv-1], &to)
		return
	}
	under := 0
	if x.compact {
		under = (x.m-i-d.mr)*x.ldc + x.behind
	}
	if beyond := nv*d.lanes - cols; h == d.mr && beyond > 0 && under >= beyond {
		var keep [cacheLine / 4]T
		behind := x.c[(i+h)*x.ldc:][:beyond]
		copy(keep[:], behind)
		d.run(d.kernels.Gemm[which][nv-1], &to)
		copy(behind, keep[:])
		return
	}
	for r := range d.mr {
		width := cols
		switch {
		case r >= h:
			width = 0
		case x.lower:
			width = max(0, min(cols, below+r+1))
		}
		x.ws.width[r] = d.width(width)
	}
	to.width = &x.ws.width[0]
	d.run(d.kernels.Edge[which][nv-1], &to)
}

// pack packs op(b), of n columns and k rows, into panels one behind the other. b is n x k if tb is
// true.
func (d *driver[T]) pack(tb bool, n, k int, b []T, ldb int, panels []T) {
	for q := 0; q < n; q += d.nr {
		w, to := min(d.nr, n-q), panels[q*k:][:d.nr*k]
		if tb {
			d.transposeIn(w, k, b[q*ldb:], ldb, to, d.nr)
		} else {
			d.packN(w, k, b[q:], ldb, to)
		}
	}
}

// packN packs w columns of kp rows of b into a panel: row p at dst[p*NR].
func (d *driver[T]) packN(w, kp int, b []T, ldb int, dst []T) {
	if w == d.nr {
		d.run(d.kernels.CopyRows, &call[T]{k: kp, src: &b[0], ss: ldb, dst: &dst[0]})
		return
	}
	for p := range kp {
		copy(dst[p*d.nr:][:w], b[p*ldb:])
	}
}

// chunk is the columns of a matrix that go into a panel at a time: the lines of the panel that they
// fill, each from several groups of rows, then stay in L1.
const chunk = 64

// transposeIn sets panel[p*ps+i] = b[i*ldb+p] for i < w and p < k. Lanes from w on keep what they held.
func (d *driver[T]) transposeIn(w, k int, b []T, ldb int, panel []T, ps int) {
	whole := w / d.group * d.group
	for p := 0; p < k; p += chunk {
		kp := min(chunk, k-p)
		for i := 0; i < whole; i += d.group {
			d.run(d.kernels.In, &call[T]{k: kp, src: &b[i*ldb+p], ss: ldb, dst: &panel[p*ps+i], cs: ps})
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
