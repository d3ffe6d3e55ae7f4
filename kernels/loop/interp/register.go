package interp

// This file defines registers, and what is done to them whatever the type of their elements is.

import (
	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/vec"
)

// slab is a register: the elements of the lanes, in the field of their type.
type slab = dense.Slab

// access is what can be done with registers and memory of one element type. Memory is a Dense of
// which only the elements count: places are offsets.
type access interface {
	fresh(n int) slab
	copy(dst, src *slab, n int)
	// fill sets n elements to the first of src.
	fill(dst, src *slab, n int)
	setWord(dst *slab, w loop.Word)
	word(src *slab, k int) loop.Word
	// collect is dst[k] = src[at[k]]. Places ascend, so the registers may be the same.
	collect(dst, src *slab, at []int)
	// scatter is dst[at[k]] = src[k].
	scatter(dst, src *slab, at []int)
	// view makes dst the n elements of memory from place at on.
	view(dst *slab, d *value.Dense, at, n int)
	// load reads every step-th element from place at on.
	load(dst *slab, d *value.Dense, at, step, n int)
	// gather reads the elements at these places.
	gather(dst *slab, d *value.Dense, at []int)
	// look reads the words of a table.
	look(dst *slab, d *value.Dense, at []int64)
	store(d *value.Dense, at, step int, src *slab, n int)
	storeAt(d *value.Dense, at []int, src *slab)
	// differs is the first of n lanes whose element is not the one at its place, all nans being
	// one; -1: none.
	differs(d *value.Dense, at, step int, src *slab, n int) int
	differsAt(d *value.Dense, at []int, src *slab) int
}

// kind is the access to elements of type T.
type kind[T vec.Element] struct {
	of   func(s *slab) *[]T
	mem  func(d *value.Dense) []T
	to   func(x T) loop.Word
	from func(w loop.Word) T
}

var (
	f64s = kind[float64]{
		func(s *slab) *[]float64 { return &s.F64 },
		func(d *value.Dense) []float64 { return d.F64 },
		f64Word, wordF64,
	}
	f32s = kind[float32]{
		func(s *slab) *[]float32 { return &s.F32 },
		func(d *value.Dense) []float32 { return d.F32 },
		f32Word, wordF32,
	}
	i64s = kind[int64]{
		func(s *slab) *[]int64 { return &s.I64 },
		func(d *value.Dense) []int64 { return d.I64 },
		func(x int64) loop.Word { return loop.Word(x) }, func(w loop.Word) int64 { return int64(w) },
	}
	bools = kind[uint8]{
		func(s *slab) *[]uint8 { return &s.Bool },
		func(d *value.Dense) []uint8 { return d.Bool },
		func(x uint8) loop.Word { return loop.Word(x) }, func(w loop.Word) uint8 { return uint8(w) },
	}
)

// accessTo is the access to elements of e.
func accessTo(e types.Elem) access {
	switch e {
	case types.F64:
		return &f64s
	case types.F32:
		return &f32s
	case types.I64:
		return &i64s
	}
	return &bools
}

func (a *kind[T]) fresh(n int) (s slab) {
	*a.of(&s) = make([]T, n)
	return s
}

func (a *kind[T]) copy(dst, src *slab, n int) { copy((*a.of(dst))[:n], (*a.of(src))[:n]) }

func (a *kind[T]) fill(dst, src *slab, n int) { vec.Fill((*a.of(dst))[:n], (*a.of(src))[0]) }

func (a *kind[T]) setWord(dst *slab, w loop.Word) { (*a.of(dst))[0] = a.from(w) }

func (a *kind[T]) word(src *slab, k int) loop.Word { return a.to((*a.of(src))[k]) }

func (a *kind[T]) collect(dst, src *slab, at []int) {
	d, s := (*a.of(dst))[:len(at)], *a.of(src)
	for k, i := range at {
		d[k] = s[i]
	}
}

func (a *kind[T]) scatter(dst, src *slab, at []int) {
	d, s := *a.of(dst), (*a.of(src))[:len(at)]
	for k, i := range at {
		d[i] = s[k]
	}
}

func (a *kind[T]) view(dst *slab, d *value.Dense, at, n int) { *a.of(dst) = a.mem(d)[at : at+n : at+n] }

func (a *kind[T]) load(dst *slab, d *value.Dense, at, step, n int) {
	x, m := (*a.of(dst))[:n], a.mem(d)
	switch step {
	case 0:
		vec.Fill(x, m[at])
	case 1:
		copy(x, m[at:at+n])
	default:
		for k := range x {
			x[k] = m[at]
			at += step
		}
	}
}

func (a *kind[T]) gather(dst *slab, d *value.Dense, at []int) {
	x, m := (*a.of(dst))[:len(at)], a.mem(d)
	for k, i := range at {
		x[k] = m[i]
	}
}

func (a *kind[T]) look(dst *slab, d *value.Dense, at []int64) {
	x, m := (*a.of(dst))[:len(at)], a.mem(d)
	for k, i := range at {
		x[k] = m[i]
	}
}

func (a *kind[T]) store(d *value.Dense, at, step int, src *slab, n int) {
	x, m := (*a.of(src))[:n], a.mem(d)
	if step == 1 {
		copy(m[at:at+n], x)
		return
	}
	for _, v := range x {
		m[at] = v
		at += step
	}
}

func (a *kind[T]) storeAt(d *value.Dense, at []int, src *slab) {
	x, m := (*a.of(src))[:len(at)], a.mem(d)
	for k, i := range at {
		m[i] = x[k]
	}
}

func (a *kind[T]) differs(d *value.Dense, at, step int, src *slab, n int) int {
	m := a.mem(d)
	for k, x := range (*a.of(src))[:n] {
		if y := m[at+k*step]; a.to(x) != a.to(y) && (x == x || y == y) {
			return k
		}
	}
	return -1
}

func (a *kind[T]) differsAt(d *value.Dense, at []int, src *slab) int {
	m, x := a.mem(d), *a.of(src)
	for k, i := range at {
		if y := m[i]; a.to(x[k]) != a.to(y) && (x[k] == x[k] || y == y) {
			return k
		}
	}
	return -1
}

// kindOf is how a register holds its elements.
type kindOf uint8

const (
	empty   kindOf = iota
	uniform        // one element for all lanes
	ramp           // an integer that grows by a step from lane to lane
	varying        // an element for each lane
)

// register holds the value of a statement for the active lanes.
type register struct {
	kind  kindOf
	owned bool // s is from the pool
	elem  types.Elem
	s     *slab // an element for each lane if varying, else one element
	by    int64 // the step of a ramp
	// wide has an element for each of the first filled lanes of a uniform register or a ramp.
	wide   *slab
	filled int
	cell   *slab // room for one element
	view   *slab // elements in memory of another owner
}

// frame holds the registers of a body.
type frame struct {
	body *body
	regs []register
}

// frameOf returns the frame of a body. It makes the frame at the first call.
func (w *Worker) frameOf(b *body) *frame {
	if f := w.frames[b.number]; f != nil {
		return f
	}
	f, slabs := &frame{body: b, regs: make([]register, len(b.elems))}, make([]slab, 2*len(b.elems))
	for k := range f.regs {
		x := &f.regs[k]
		x.elem, x.cell, x.view = b.elems[k], &slabs[2*k], &slabs[2*k+1]
		*x.cell = accessTo(x.elem).fresh(1)
	}
	for _, c := range b.consts {
		x := &f.regs[c.reg]
		accessTo(x.elem).setWord(x.cell, c.word)
		x.kind, x.s = uniform, x.cell
	}
	w.frames[b.number] = f
	return f
}

// take returns memory for the lanes of a batch from the pool. give returns it to the pool.
func (w *Worker) take(e types.Elem) *slab {
	p := &w.pool[e]
	if n := len(*p); n > 0 {
		s := (*p)[n-1]
		*p = (*p)[:n-1]
		return s
	}
	s := accessTo(e).fresh(w.most)
	return &s
}

func (w *Worker) give(e types.Elem, s *slab) { w.pool[e] = append(w.pool[e], s) }

// empty returns the memory of a register to the pool.
func (w *Worker) empty(x *register) {
	if x.owned {
		w.give(x.elem, x.s)
		x.owned = false
	}
	if x.wide != nil {
		w.give(x.elem, x.wide)
		x.wide = nil
	}
	x.kind, x.filled = empty, 0
}

// set makes register r one of this kind and returns the memory for its elements.
func (w *Worker) set(r int, kind kindOf) *slab {
	x := &w.regs[r]
	w.empty(x)
	if x.kind = kind; kind == varying {
		x.s, x.owned = w.take(x.elem), true
	} else {
		x.s = x.cell
	}
	return x.s
}

// number sets register r to an integer. ramp sets it to one that grows by a step.
func (w *Worker) number(r int, i int64) { w.set(r, uniform).I64[0] = i }

func (w *Worker) ramp(r int, first, by int64) {
	w.set(r, ramp).I64[0] = first
	w.regs[r].by = by
}

// show makes register to a view of the elements of from.
func (w *Worker) show(to, from *register) {
	w.empty(to)
	to.kind, to.by = from.kind, from.by
	if from.kind == varying {
		*to.view = *from.s
		to.s = to.view
		return
	}
	accessTo(to.elem).copy(to.cell, from.cell, 1)
	to.s = to.cell
}

// hand copies the elements of a register to another one. If last, no statement reads from afterwards, and
// hand moves its memory.
func (w *Worker) hand(to, from *register, last bool) {
	if to == from {
		return
	}
	w.empty(to)
	to.kind, to.by = from.kind, from.by
	switch {
	case from.kind != varying:
		accessTo(to.elem).copy(to.cell, from.cell, 1)
		to.s = to.cell
		return
	case last && from.owned:
		to.s, to.owned = from.s, true
		from.owned = false
	default:
		to.s, to.owned = w.take(to.elem), true
		accessTo(to.elem).copy(to.s, from.s, w.n)
	}
	if last {
		w.empty(from)
	}
}

// lanes returns the elements of a register, one for each active lane.
func (w *Worker) lanes(r int) *slab {
	x := &w.regs[r]
	if x.kind == varying {
		return x.s
	}
	if x.filled >= w.n {
		return x.wide
	}
	if x.wide == nil {
		x.wide = w.take(x.elem)
	}
	if x.filled = w.n; x.kind == ramp {
		i := x.cell.I64[0]
		for k := range x.wide.I64[:w.n] {
			x.wide.I64[k] = i
			i += x.by
		}
	} else {
		accessTo(x.elem).fill(x.wide, x.cell, w.n)
	}
	return x.wide
}

// gather keeps the listed lanes of a register. The list ascends.
func (w *Worker) gather(r int, list []int) {
	x := &w.regs[r]
	if x.kind < ramp {
		return
	}
	from := w.lanes(r)
	to := from
	if !x.owned && x.kind == varying {
		to = w.take(x.elem)
	}
	accessTo(x.elem).collect(to, from, list)
	if x.kind == ramp {
		x.wide, x.filled = nil, 0
	}
	x.kind, x.s, x.owned = varying, to, true
}
