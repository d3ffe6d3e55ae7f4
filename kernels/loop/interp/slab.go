package interp

// This file defines slabs, and operations on slabs and memory of any element type.

import (
	"math"

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

func f64Word(x float64) loop.Word { return math.Float64bits(x) }

func wordF64(w loop.Word) float64 { return math.Float64frombits(w) }

func f32Word(x float32) loop.Word { return loop.Word(math.Float32bits(x)) }

func wordF32(w loop.Word) float32 { return math.Float32frombits(uint32(w)) }
