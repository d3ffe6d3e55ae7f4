package interp

// This file holds the states of exact sums and of what is made of them.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/kernels/exact"
)

// sums are exact sums. A sum is s + t as long as t takes all rounding errors of s without one of
// its own (T. Ogita, S. Rump & S. Oishi, "Accurate sum and dot product", 2005). From then on it is
// a superaccumulator.
type sums struct {
	s, t []float64
	long []*exact.Sum
	idle []*exact.Sum
	work exact.Sum
}

func (a *sums) reset(places int) {
	for _, l := range a.long {
		if l != nil {
			a.idle = append(a.idle, l)
		}
	}
	a.s, a.t, a.long = room(a.s, places), room(a.t, places), room(a.long, places)
	clear(a.s)
	clear(a.t)
	clear(a.long)
}

func (a *sums) add(place int, x float64) {
	s, e := exact.TwoSum(a.s[place], x)
	t, f := exact.TwoSum(a.t[place], e)
	if f == 0 && a.long[place] == nil {
		a.s[place], a.t[place] = s, t
		return
	}
	a.lengthen(place).Add(x)
}

// lengthen is the superaccumulator of a place.
func (a *sums) lengthen(place int) *exact.Sum {
	if l := a.long[place]; l != nil {
		return l
	}
	var l *exact.Sum
	if n := len(a.idle); n > 0 {
		l, a.idle = a.idle[n-1], a.idle[:n-1]
		l.Reset()
	} else {
		l = new(exact.Sum)
	}
	l.Add(a.s[place])
	l.Add(a.t[place])
	a.long[place] = l
	return l
}

// fewTerms is the number of terms up to which they are added one by one.
const fewTerms = 16

// addAll adds n numbers of type e, or their squares, to the sum of a place.
func (a *sums) addAll(place int, x *slab, n int, e types.Elem, add func(*exact.Sum, []float64), add32 func(*exact.Sum, []float32)) {
	if a.work.Reset(); e == types.F64 {
		add(&a.work, x.f64[:n])
	} else {
		add32(&a.work, x.f32[:n])
	}
	var terms [3]float64
	if whole, ok := a.work.Expand(&terms); !whole || !ok || math.IsInf(terms[0], 0) { // a sum beyond all numbers is not infinite yet
		a.lengthen(place).Merge(&a.work)
		return
	}
	for _, x := range terms {
		a.add(place, x)
	}
}

// total writes the sum of a place to a.work.
func (a *sums) total(place int) *exact.Sum {
	a.work.Reset()
	if l := a.long[place]; l != nil {
		a.work.Merge(l)
	} else {
		a.work.Add(a.s[place])
		a.work.Add(a.t[place])
	}
	return &a.work
}

func (a *sums) round(place int) float64 {
	if l := a.long[place]; l != nil {
		return l.Round()
	}
	return a.s[place] + a.t[place]
}

func (a *sums) round32(place int) float32 {
	if a.long[place] == nil && a.t[place] == 0 {
		return float32(a.s[place])
	}
	return a.total(place).Round32()
}

func (a *sums) merge(o *sums) {
	for k := range a.s {
		if l := o.long[k]; l != nil {
			a.lengthen(k).Merge(l)
			continue
		}
		a.add(k, o.s[k])
		a.add(k, o.t[k])
	}
}

// exactState is the state of Sum, Mean, Norm, Var and Stddev. Contributions are of type elem.
type exactState struct {
	class   loop.Class
	elem    types.Elem
	sum     sums // of the numbers; empty for Norm
	squares sums // for Norm, Var and Stddev
	n       []int64
}

func (s *exactState) numbers() bool { return s.class != loop.Norm }
func (s *exactState) squared() bool {
	return s.class == loop.Norm || s.class == loop.Var || s.class == loop.Stddev
}

func (s *exactState) reset(places int) {
	s.n = room(s.n, places)
	clear(s.n)
	if s.numbers() {
		s.sum.reset(places)
	}
	if s.squared() {
		s.squares.reset(places)
	}
}

// halves is a 64-bit integer as the sum of two floats.
func halves(x int64) (high, low float64) { return float64(x>>32) * (1 << 32), float64(x & (1<<32 - 1)) }

func (s *exactState) one(place int, x float64) {
	if s.numbers() {
		s.sum.add(place, x)
	}
	if s.squared() {
		h, l := exact.Square(x)
		s.squares.add(place, h)
		s.squares.add(place, l)
	}
}

func (s *exactState) add(at []int, x, y *slab) {
	for k, place := range at {
		s.lane(place, x, k)
	}
}

// lane contributes the value of lane k.
func (s *exactState) lane(place int, x *slab, k int) {
	s.n[place]++
	switch s.elem {
	case types.F64:
		s.one(place, x.f64[k])
	case types.F32:
		s.one(place, float64(x.f32[k]))
	default:
		high, low := halves(x.i64[k])
		s.one(place, high)
		s.one(place, low)
	}
}

func (s *exactState) all(place int, x, y *slab, n int) {
	if n <= fewTerms || s.elem == types.I64 {
		for k := range n {
			s.lane(place, x, k)
		}
		return
	}
	s.n[place] += int64(n)
	if s.numbers() {
		s.sum.addAll(place, x, n, s.elem, (*exact.Sum).AddSlice, (*exact.Sum).AddSlice32)
	}
	if s.squared() {
		s.squares.addAll(place, x, n, s.elem, (*exact.Sum).AddSquares, (*exact.Sum).AddSquares32)
	}
}

func (s *exactState) merge(o state) {
	p := o.(*exactState)
	for k, n := range p.n {
		s.n[k] += n
	}
	if s.numbers() {
		s.sum.merge(&p.sum)
	}
	if s.squared() {
		s.squares.merge(&p.squares)
	}
}

func (s *exactState) result(dst *slab, from, n int) {
	for k := range n {
		place := from + k
		var v float64
		switch narrow := s.elem == types.F32; {
		case s.class == loop.Norm:
			v = math.Sqrt(s.squares.round(place))
		case s.squared():
			v = exact.Reduced(s.class, s.sum.total(place), s.squares.total(place), int(s.n[place]), narrow)
		case s.class == loop.Sum && narrow:
			v = float64(s.sum.round32(place))
		default:
			if v = s.sum.round(place); s.class == loop.Mean {
				v /= float64(s.n[place])
			}
		}
		if s.elem == types.F32 {
			dst.f32[k] = float32(v)
		} else {
			dst.f64[k] = v
		}
	}
}
