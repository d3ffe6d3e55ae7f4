package interp

// This file defines the states of reductions, and those that hold nothing but a number.

import (
	"fmt"
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/kernels/vec"
)

// state is a reduction class with many places, each of which takes contributions of one or two
// values.
type state interface {
	// reset makes room for so many places and empties them.
	reset(places int)
	// add contributes the values of lane k to place at[k], in ascending order of k.
	add(at []int, x, y *slab)
	// all contributes the values of n lanes to one place, in order.
	all(place int, x, y *slab, n int)
	// merge adds the contributions that another state has, place by place.
	merge(o state)
	// result writes the results of n places.
	result(dst *slab, from, n int)
}

// newState makes the state of a class for contributions whose first value is of type e.
func newState(class loop.Class, e types.Elem) state {
	switch class {
	case loop.Sum, loop.Mean, loop.Norm, loop.Var, loop.Stddev:
		if class == loop.Sum && e == types.I64 {
			return words(0, vec.Add, func(a, b int64) int64 { return a + b })
		}
		return &exactState{class: class, elem: e}
	case loop.Least:
		switch e {
		case types.F64:
			return numbers(&f64s, math.Inf(1), vec.Min, func(a, b float64) float64 { return min(a, b) })
		case types.F32:
			return numbers(&f32s, float32(math.Inf(1)), vec.Min, func(a, b float32) float32 { return min(a, b) })
		case types.I64:
			return words(math.MaxInt64, vec.Min, func(a, b int64) int64 { return min(a, b) })
		}
		return numbers(&bools, 1, vec.And, func(a, b uint8) uint8 { return a & b })
	case loop.Greatest:
		switch e {
		case types.F64:
			return numbers(&f64s, math.Inf(-1), vec.Max, func(a, b float64) float64 { return max(a, b) })
		case types.F32:
			return numbers(&f32s, float32(math.Inf(-1)), vec.Max, func(a, b float32) float32 { return max(a, b) })
		case types.I64:
			return words(math.MinInt64, vec.Max, func(a, b int64) int64 { return max(a, b) })
		}
		return numbers(&bools, 0, vec.Or, func(a, b uint8) uint8 { return a | b })
	case loop.Any:
		return numbers(&bools, 0, vec.Or, func(a, b uint8) uint8 { return a | b })
	case loop.All:
		return numbers(&bools, 1, vec.And, func(a, b uint8) uint8 { return a & b })
	case loop.Count:
		return &count{}
	case loop.ArgLeast, loop.ArgGreatest:
		return argState(class, e)
	case loop.Chain:
		switch e {
		case types.I64:
			return &chains[int64]{kind: &i64s, free: true, fuse: func(a, b, c int64) int64 { return a*b + c }}
		case types.F32:
			return &chains[float32]{kind: &f32s, fuse: loop.FMA32}
		}
		return &chains[float64]{kind: &f64s, fuse: fma}
	case loop.Product:
		return words(1, vec.Mul, func(a, b int64) int64 { return a * b })
	}
	panic(&Unsupported{fmt.Sprintf("the reduction class %s", class.Info().Name)})
}

// number is a state that one operation combines with a contribution.
type number[T vec.Element] struct {
	*kind[T]
	start   T
	loop    func(dst, a, b []T)
	combine func(a, b T) T
	acc     []T
}

func numbers[T vec.Element](k *kind[T], start T, loop func(dst, a, b []T), combine func(a, b T) T) state {
	return &number[T]{kind: k, start: start, loop: loop, combine: combine}
}

func words(start int64, loop func(dst, a, b []int64), combine func(a, b int64) int64) state {
	return numbers(&i64s, start, loop, combine)
}

// room is a slice of n elements, in the memory of old if there is enough.
func room[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	return old[:n]
}

func (s *number[T]) reset(places int) {
	s.acc = room(s.acc, places)
	vec.Fill(s.acc, s.start)
}

func (s *number[T]) add(at []int, x, _ *slab) {
	v := (*s.of(x))[:len(at)]
	for k, i := range at {
		s.acc[i] = s.combine(s.acc[i], v[k])
	}
}

func (s *number[T]) all(place int, x, _ *slab, n int) {
	acc := s.acc[place]
	for _, v := range (*s.of(x))[:n] {
		acc = s.combine(acc, v)
	}
	s.acc[place] = acc
}

func (s *number[T]) merge(o state) { s.loop(s.acc, s.acc, o.(*number[T]).acc) }

func (s *number[T]) result(dst *slab, from, n int) { copy((*s.of(dst))[:n], s.acc[from:]) }

// count counts the bools that are true.
type count struct{ acc []int64 }

func (s *count) reset(places int) {
	s.acc = room(s.acc, places)
	clear(s.acc)
}

func (s *count) add(at []int, x, _ *slab) {
	for k, i := range at {
		s.acc[i] += int64(x.b[k])
	}
}

func (s *count) all(place int, x, _ *slab, n int) { s.acc[place] += vec.CountTrue(x.b[:n]) }

func (s *count) merge(o state) { vec.Add(s.acc, s.acc, o.(*count).acc) }

func (s *count) result(dst *slab, from, n int) { copy(dst.i64[:n], s.acc[from:]) }

// arg is the state of ArgLeast and ArgGreatest: the value ahead of all others, and its index, -1 of
// none.
type arg[T vec.Number] struct {
	*kind[T]
	greatest bool
	best     []T
	index    []int64
}

func argState(class loop.Class, e types.Elem) state {
	greatest := class == loop.ArgGreatest
	switch e {
	case types.F64:
		return &arg[float64]{kind: &f64s, greatest: greatest}
	case types.F32:
		return &arg[float32]{kind: &f32s, greatest: greatest}
	}
	return &arg[int64]{kind: &i64s, greatest: greatest}
}

func (s *arg[T]) reset(places int) {
	s.best, s.index = room(s.best, places), room(s.index, places)
	vec.Fill(s.index, -1)
}

// ahead reports that a wins over b, whatever their indices are: a nan wins over every number.
func (s *arg[T]) ahead(a, b T) bool {
	if a != a || b != b {
		return a != a && b == b
	}
	if s.greatest {
		return b < a
	}
	return a < b
}

func (s *arg[T]) one(place int, x T, index int64) {
	if s.index[place] < 0 || s.ahead(x, s.best[place]) || !s.ahead(s.best[place], x) && index < s.index[place] {
		s.best[place], s.index[place] = x, index
	}
}

func (s *arg[T]) add(at []int, x, y *slab) {
	v := *s.of(x)
	for k, i := range at {
		s.one(i, v[k], y.i64[k])
	}
}

func (s *arg[T]) all(place int, x, y *slab, n int) {
	for k, v := range (*s.of(x))[:n] {
		s.one(place, v, y.i64[k])
	}
}

func (s *arg[T]) merge(o state) {
	p := o.(*arg[T])
	for k, i := range p.index {
		if i >= 0 {
			s.one(k, p.best[k], i)
		}
	}
}

func (s *arg[T]) result(dst *slab, from, n int) { copy(dst.i64[:n], s.index[from:]) }
