package blas

// This file defines the drivers of gemm and syrk: they cut the operands into blocks for the caches,
// pack b and hand micro-tiles to the machine code. Cuts change no bit (see the package comment), so
// they are free to follow the cache.
//
//	for a block of columns of c and a block of k (maxDepth, maxArea):
//	    for each panel of b, NR columns wide, packed: row p at p*NR
//	        micro-tiles of some rows of a                                  they pack the next panel meanwhile
//	    for MR rows of a, the rest:                                        they stay in L1; the next ones come meanwhile
//	        for each panel: micro-tile of c = c ± rows of a @ panel        the panel streams from L2

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
	lead      int // groups of MR rows that go through the panels while b is being packed, at most maxLead: enough to pack a panel
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

// packs reports that there are kernels that pack.
func (d *driver[T]) packs() bool { return d.on == machine.AVX512 }

// width returns the argument of an edge kernel that touches the first n elements of a row: a mask of bits,
// or the address of one.
func (d *driver[T]) width(n int) uint64 {
	if d.on == machine.AVX512 {
		return 1<<n - 1
	}
	return machine.StripMask(n * int(unsafe.Sizeof(*new(T))))
}

const packRound, packColumns = machine.PackRound, machine.PackColumns

// conflicts reports that rows so far apart fall into the same few sets of L1 and push each other out.
func conflicts(bytes int) bool { return bytes%4096 == 0 || bytes%4096 == 64 || bytes%4096 == 4096-64 }

// operand is a matrix with a stride in each direction, so that a transposed one needs no copy.
type operand[T element] struct {
	v      []T
	rs, ks int
}

// maxLead bounds driver.lead.
const maxLead = 8

// gemmAll computes c = c ± a@op(b), or its lower triangle (lower; m == n). b is n x k where tb is true.
func (d *driver[T]) gemmAll(ws *Workspace, tb, sub, lower bool, m, n, k int, a operand[T], b []T, ldb int, c []T, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if !lower && d.byVector(ws, tb, sub, m, n, k, a, b, ldb, c, ldc) {
		return
	}
	depth, cols := d.block(n, k)
	size := depth * d.nr
	buf := scratch[T](ws, depth*d.lead*d.mr+size*(cols/d.nr+1))
	x := product[T]{driver: d, ws: ws, tb: tb, sub: sub, lower: lower, m: m, n: n, k: k, a: a, b: b, ldb: ldb, c: c, ldc: ldc,
		compact: !lower && ldc == n && n < d.nr, size: size, slots: cols/d.nr + 1, rows: buf, panels: buf[depth*d.lead*d.mr:]}
	x.start(x.packingOf(0, 0, min(depth, k)), 0)
	x.askFirst()
	x.finish()
	for j := 0; j < n; j += cols {
		for p := 0; p < k; p += depth {
			x.j, x.w, x.p, x.kp = j, min(cols, n-j), p, min(depth, k-p)
			after := packing[T]{}
			if p+depth < k {
				after = x.packingOf(j, p+depth, min(depth, k-p-depth))
			} else if j+cols < n {
				after = x.packingOf(j+cols, 0, min(depth, k))
			}
			x.block(after)
		}
	}
}

// product is a running gemm or syrk, at the block of w columns of c from j on and of kp terms from
// p on. The packed panels of b are slots of a ring with one more than a block takes, so that the
// first panel of the next block is packed while this one is still read.
type product[T element] struct {
	*driver[T]
	ws             *Workspace
	tb, sub, lower bool
	compact        bool // the rows of c lie one behind the other: see tile
	behind         int  // elements of c's memory that lie behind it
	m, n, k        int
	a              operand[T]
	b              []T
	ldb            int
	c              []T
	ldc            int

	j, w, p, kp  int
	rows, panels []T
	size, slots  int // elements of a slot; their number
	first        int // the slot of the block's first panel
	next         packing[T]
	ahead        stream
}

// packing is a panel of b that is being packed: w columns of op(b), k deep, of which done rows are
// there.
type packing[T element] struct {
	src, dst   []T
	w, k, done int
}

// askFirst asks for what is read before anything is asked for meanwhile: the first panel of b and
// the rows of a that go through it. The tiles of a factorization are seldom in L2 when their turn
// comes; waiting for these took 2 % of a product.
func (x *product[T]) askFirst() {
	if y := &x.next; x.tb {
		x.askRows(y.src, y.w, x.ldb, y.k)
	}
	if x.a.ks == 1 {
		from, to := x.leading()
		x.askRows(x.a.v[from*x.a.rs:], to-from, x.a.rs, x.next.k)
	}
}

// packingOf is the panel whose first element is row p and column j of op(b), to be put into the
// slot after those that are packed.
func (x *product[T]) packingOf(j, p, kp int) packing[T] {
	if x.tb {
		return packing[T]{src: x.b[j*x.ldb+p:], w: min(x.nr, x.n-j), k: kp}
	}
	return packing[T]{src: x.b[p*x.ldb+j:], w: min(x.nr, x.n-j), k: kp}
}

// start makes the panel in slot t (modulo their number) the next one.
func (x *product[T]) start(next packing[T], t int) {
	next.dst = x.slot(t)
	x.next = next
}

func (x *product[T]) slot(t int) []T { return x.panels[(x.first+t)%x.slots*x.size:][:x.size] }

// finish packs what is missing of the next panel.
func (x *product[T]) finish() {
	y := &x.next
	if y.done == y.k {
		return
	}
	dst := y.dst[y.done*x.nr:]
	if x.tb {
		x.packT(y.w, y.k-y.done, y.src[y.done:], x.ldb, dst)
	} else {
		x.packN(y.w, y.k-y.done, y.src[y.done*x.ldb:], x.ldb, dst)
	}
	y.done = y.k
}

// panelAhead is the stream of the next panel of b, unless it is packed meanwhile.
func (x *product[T]) panelAhead() stream {
	switch src := x.next.src; {
	case src == nil || x.packs():
		return stream{next: uintptr(unsafe.Pointer(&x.a.v[0]))}
	case x.tb:
		return x.rowsAhead(src, 0, x.ldb, x.kp)
	default:
		size := unsafe.Sizeof(src[0])
		return stream{uintptr(unsafe.Pointer(&src[0])), uintptr(x.ldb) * size, cacheLine} // a line of each row
	}
}

// block runs the micro-tiles of a block whose first panel is packed. Behind its last panel comes
// the panel after.
//
// The first rows of a (of a triangle the last ones, whose tiles are whole) go through one panel
// after another, and the next panel is packed meanwhile; the other rows go through all of them.
func (x *product[T]) block(after packing[T]) {
	d := x.driver
	top := 0
	if x.lower {
		top = x.j // rows above see only columns right of the diagonal
	}
	from, _ := x.leading()
	var group [maxLead]operand[T]
	groups := 0
	for ; groups < d.lead && from+groups*d.mr < x.m; groups++ {
		i := from + groups*d.mr
		group[groups] = d.rowsOf(x.a, i, min(d.mr, x.m-i), x.p, x.kp, x.rows[groups*d.mr*x.kp:])
	}
	panels := (x.w + d.nr - 1) / d.nr
	for q := range panels {
		next := after
		if q+1 < panels {
			next = x.packingOf(x.j+(q+1)*d.nr, x.p, x.kp)
		}
		x.start(next, q+1)
		x.ahead = x.panelAhead()
		for g := range groups {
			x.tile(from+g*d.mr, q, group[g])
			x.ahead.next += x.ahead.skip
		}
		x.finish()
	}
	for i := top; i < x.m; i += d.mr {
		if i == from {
			if i += groups * d.mr; i >= x.m {
				break
			}
		}
		ap := d.rowsOf(x.a, i, min(d.mr, x.m-i), x.p, x.kp, x.rows)
		x.ahead = stream{next: uintptr(unsafe.Pointer(&x.a.v[0]))}
		if x.a.ks == 1 {
			x.ahead = d.rowsAhead(x.a.v, (i+d.mr)*x.a.rs+x.p, x.a.rs, x.kp)
		}
		for q := range panels {
			if q == d.asking() {
				x.ahead.step = 0 // the next MR rows are on their way
			}
			x.tile(i, q, ap)
			x.ahead.next += x.ahead.skip
		}
	}
	x.first = (x.first + panels) % x.slots
}

// leading is the rows of a that go panel by panel.
func (x *product[T]) leading() (from, to int) {
	size := x.lead * x.mr
	if x.lower {
		from = max(x.j, x.j+(x.m-x.j)/x.mr*x.mr-size)
	}
	return from, min(x.m, from+size)
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

// askRows asks for n rows of k elements at once, into L2.
func (d *driver[T]) askRows(v []T, n, ld, k int) {
	bytes := k * int(unsafe.Sizeof(v[0]))
	if ld == k {
		n, bytes = 1, n*bytes
	}
	for i := range n {
		d.run(machine.AskLines, &call[T]{k: (bytes + cacheLine - 1) / cacheLine, next: uintptr(unsafe.Pointer(&v[i*ld])), step: cacheLine})
	}
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
	to := call[T]{k: x.kp, a: &a.v[0], rs: a.rs, ks: a.ks, b: &x.slot(q)[0], bs: d.nr, c: &x.c[i*x.ldc+column], cs: x.ldc, next: x.ahead.next, step: int(x.ahead.step)}
	if h == d.mr && cols == nv*d.lanes && (!x.lower || below+1 >= cols) {
		if cols == d.nr && a.ks == 1 && x.packable() {
			x.tileAndPack(which, &to)
			return
		}
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

// packable reports that a packing kernel can take the next panel further during one micro-tile.
func (x *product[T]) packable() bool {
	y := &x.next
	n := x.kp / packRound * packColumns
	return x.packs() && n > 0 && y.w == x.nr && y.done+n <= y.k
}

// tileAndPack runs a whole micro-tile and packs a part of the next panel.
func (x *product[T]) tileAndPack(which int, to *call[T]) {
	y := &x.next
	kernel, at := x.kernels.Packing[which][0], y.done
	if !x.tb {
		kernel, at = x.kernels.Packing[which][1], y.done*x.ldb
	}
	to.src, to.ss, to.dst = &y.src[at], x.ldb, &y.dst[y.done*x.nr]
	x.run(kernel, to)
	y.done += x.kp / packRound * packColumns
}

// packT packs the transpose of w rows of b, as far as kp, into a panel: row p at dst[p*NR].
func (d *driver[T]) packT(w, kp int, b []T, ldb int, dst []T) {
	d.transposeIn(w, kp, b, ldb, dst[:d.nr*kp], d.nr)
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
