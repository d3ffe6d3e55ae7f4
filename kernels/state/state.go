package state

// This file defines the states of reductions, and those that hold nothing but a number.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/vec"
)

// State is what a reduction has at each of its places. A contribution to a place is one or two values.
// A State is not safe for concurrent use.
type State interface {
	// Reset makes room for so many places and empties them.
	Reset(places int)
	// Add contributes the values of lane k to place at[k], in ascending order of k.
	Add(at []int, x, y *dense.Slab)
	// All contributes the values of n lanes to one place, in order.
	All(place int, x, y *dense.Slab, n int)
	// Merge adds the contributions that another state has, place by place.
	Merge(o State)
	// Result writes the results of n places.
	Result(dst *dense.Slab, from, n int)
}

// Accumulating is a state whose places can leave it as accumulators: a row of words for exact sums,
// else one element.
type Accumulating interface {
	State
	// Put writes a place to the accumulator acc, Take adds an accumulator to a place.
	Put(acc *value.Dense, place int)
	Take(place int, acc *value.Dense)
}

// Joining is an Accumulating whose accumulators are one element. Join adds one, JoinAll one to each
// place.
type Joining interface {
	Accumulating
	Join(place int, v value.Scalar)
	JoinAll(v *dense.Slab)
}

// Placing is the state of ArgLeast and ArgGreatest. An accumulator has two integers: a key that orders
// as the values do (arg.key), and the index. The index is -1 if there is no element.
type Placing interface {
	Accumulating
	// Wins reports whether v, element number index, is ahead of what a place has. Offer contributes it.
	Wins(place int, v value.Scalar, index int64) bool
	Offer(place int, v value.Scalar, index int64)
}

// New makes the state of a class for contributions whose first value is of type e. It returns nil for a
// class that has no state here.
func New(class loop.Class, e types.Elem) State {
	switch class {
	case loop.Sum, loop.Mean, loop.Norm, loop.Var, loop.Stddev:
		if class == loop.Sum && e == types.I64 {
			return added()
		}
		return &Exact{class: class, elem: e}
	case loop.Least, loop.Greatest:
		least := class == loop.Least
		return dense.ForElem(e, extremes[float64], extremes[float32], extremes[int64], extremes[uint8])(beyond(e, least), least)
	case loop.Any:
		return extremes[uint8](value.Bool(false), false)
	case loop.All:
		return extremes[uint8](value.Bool(true), true)
	case loop.Count:
		return &count{*added()}
	case loop.ArgLeast, loop.ArgGreatest:
		greatest := class == loop.ArgGreatest
		switch e {
		case types.F64:
			return &arg[float64]{greatest: greatest}
		case types.F32:
			return &arg[float32]{greatest: greatest}
		}
		return &arg[int64]{greatest: greatest}
	case loop.Chain:
		switch e {
		case types.I64:
			return &chains[int64]{free: true, fuse: func(a, b, c int64) int64 { return a*b + c }}
		case types.F32:
			return &chains[float32]{fuse: loop.FMA32}
		}
		// math.FMA itself, as a value, is the routine for processors without the instruction.
		return &chains[float64]{fuse: func(a, b, c float64) float64 { return math.FMA(a, b, c) }}
	case loop.Product:
		return &number[int64]{start: 1, combine: func(a, b int64) int64 { return a * b }}
	}
	return nil
}

// number is a state that one operation combines with a contribution.
type number[T vec.Element] struct {
	start   T
	combine func(a, b T) T
	acc     []T
}

func added() *number[int64] {
	return &number[int64]{combine: func(a, b int64) int64 { return a + b }}
}

// extremes is the state of a least or greatest element, which begins with start. The least of truths is
// whether all are true, the greatest whether any is.
func extremes[T vec.Element](start value.Scalar, least bool) State {
	if least {
		return &number[T]{start: scalar[T](start), combine: func(a, b T) T { return min(a, b) }}
	}
	return &number[T]{start: scalar[T](start), combine: func(a, b T) T { return max(a, b) }}
}

// beyond is a number of e that no other is above, if least, or below.
func beyond(e types.Elem, least bool) value.Scalar {
	switch {
	case e.IsFloat() && least:
		return value.Scalar{Elem: e, F: math.Inf(1)}
	case e.IsFloat():
		return value.Scalar{Elem: e, F: math.Inf(-1)}
	case e == types.Bool:
		return value.Bool(least)
	case least:
		return value.I64(math.MaxInt64)
	}
	return value.I64(math.MinInt64)
}

// scalar is v as an element of memory.
func scalar[T vec.Element](v value.Scalar) T {
	if v.Elem.IsFloat() {
		return T(v.F)
	}
	return T(v.I)
}

func (s *number[T]) Reset(places int) {
	s.acc = dense.Resized(s.acc, places)
	vec.Fill(s.acc, s.start)
}

func (s *number[T]) Add(at []int, x, _ *dense.Slab) {
	v := (*dense.Part[T](x))[:len(at)]
	for k, i := range at {
		s.acc[i] = s.combine(s.acc[i], v[k])
	}
}

func (s *number[T]) All(place int, x, _ *dense.Slab, n int) {
	acc := s.acc[place]
	for _, v := range (*dense.Part[T](x))[:n] {
		acc = s.combine(acc, v)
	}
	s.acc[place] = acc
}

func (s *number[T]) Merge(o State) { s.joinAll(o.(*number[T]).acc) }

func (s *number[T]) joinAll(with []T) {
	for k, v := range with {
		s.acc[k] = s.combine(s.acc[k], v)
	}
}

func (s *number[T]) Result(dst *dense.Slab, from, n int) {
	copy((*dense.Part[T](dst))[:n], s.acc[from:])
}

func (s *number[T]) Join(place int, v value.Scalar) {
	s.acc[place] = s.combine(s.acc[place], scalar[T](v))
}

func (s *number[T]) JoinAll(v *dense.Slab) { s.joinAll((*dense.Part[T](v))[:len(s.acc)]) }

func (s *number[T]) Put(acc *value.Dense, place int) { (*dense.Cells[T](acc))[0] = s.acc[place] }

func (s *number[T]) Take(place int, acc *value.Dense) { s.Join(place, acc.At(0, 0)) }

// count counts the bools that are true.
type count struct{ number[int64] }

func (s *count) Add(at []int, x, _ *dense.Slab) {
	for k, i := range at {
		s.acc[i] += int64(x.Bool[k])
	}
}

func (s *count) All(place int, x, _ *dense.Slab, n int) { s.acc[place] += vec.CountTrue(x.Bool[:n]) }

func (s *count) Merge(o State) { s.number.Merge(&o.(*count).number) }

// arg is the state of ArgLeast and ArgGreatest: the value ahead of all others, and its index, -1 of
// none.
type arg[T vec.Number] struct {
	greatest bool
	best     []T
	index    []int64
}

func (s *arg[T]) Reset(places int) {
	s.best, s.index = dense.Resized(s.best, places), dense.Resized(s.index, places)
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

func (s *arg[T]) wins(place int, x T, index int64) bool {
	return s.index[place] < 0 || s.ahead(x, s.best[place]) || !s.ahead(s.best[place], x) && index < s.index[place]
}

func (s *arg[T]) one(place int, x T, index int64) {
	if s.wins(place, x, index) {
		s.best[place], s.index[place] = x, index
	}
}

func (s *arg[T]) Wins(place int, v value.Scalar, index int64) bool {
	return s.wins(place, scalar[T](v), index)
}

func (s *arg[T]) Offer(place int, v value.Scalar, index int64) { s.one(place, scalar[T](v), index) }

func (s *arg[T]) Add(at []int, x, y *dense.Slab) {
	v := *dense.Part[T](x)
	for k, i := range at {
		s.one(i, v[k], y.I64[k])
	}
}

func (s *arg[T]) All(place int, x, y *dense.Slab, n int) {
	for k, v := range (*dense.Part[T](x))[:n] {
		s.one(place, v, y.I64[k])
	}
}

func (s *arg[T]) Merge(o State) {
	p := o.(*arg[T])
	for k, i := range p.index {
		if i >= 0 {
			s.one(k, p.best[k], i)
		}
	}
}

// key maps the value of a place to an integer. Keys compare as the values do: -0 equals 0, and nan is
// ahead of all others.
func (s *arg[T]) key(place int) int64 {
	x := s.best[place]
	if x != x {
		return scalar[int64](beyond(types.I64, s.greatest))
	}
	if T(1)/2 == 0 {
		return int64(x)
	}
	bits := int64(math.Float64bits(float64(x)))
	if x < 0 {
		return bits ^ math.MaxInt64
	}
	return bits & math.MaxInt64 // -0 equals 0
}

func (s *arg[T]) Put(acc *value.Dense, place int) {
	acc.I64[0], acc.I64[1] = s.key(place), s.index[place]
}

// Take adds an accumulator to a state of integers, because keys are integers for any element type.
func (s *arg[T]) Take(place int, acc *value.Dense) {
	if acc.I64[1] >= 0 {
		s.one(place, T(acc.I64[0]), acc.I64[1])
	}
}

func (s *arg[T]) Result(dst *dense.Slab, from, n int) { copy(dst.I64[:n], s.index[from:]) }

// chains is the state of Chain. free is set for integers, which wrap: any order gives their chain.
type chains[T vec.Number] struct {
	free bool
	fuse func(a, b, c T) T
	acc  []T
	some []bool // a place has contributions
}

func (s *chains[T]) Reset(places int) {
	s.acc, s.some = dense.Resized(s.acc, places), dense.Resized(s.some, places)
	clear(s.acc)
	clear(s.some)
}

func (s *chains[T]) Add(at []int, x, y *dense.Slab) {
	a, b := *dense.Part[T](x), *dense.Part[T](y)
	for k, place := range at {
		s.acc[place] = s.fuse(a[k], b[k], s.acc[place])
		s.some[place] = true
	}
}

func (s *chains[T]) All(place int, x, y *dense.Slab, n int) {
	a, b := *dense.Part[T](x), *dense.Part[T](y)
	for k := range n {
		s.acc[place] = s.fuse(a[k], b[k], s.acc[place])
	}
	s.some[place] = s.some[place] || n > 0
}

// Merge takes over the places that another state alone has contributions to. Two parts of one chain
// of floats cannot be merged.
func (s *chains[T]) Merge(o State) {
	p := o.(*chains[T])
	for k, some := range p.some {
		switch {
		case !some:
		case s.free:
			s.acc[k] += p.acc[k]
		case s.some[k]:
			panic("BUG: two workers contributed to one element of a result whose order counts")
		default:
			s.acc[k], s.some[k] = p.acc[k], true
		}
	}
}

func (s *chains[T]) Result(dst *dense.Slab, from, n int) {
	copy((*dense.Part[T](dst))[:n], s.acc[from:])
}
