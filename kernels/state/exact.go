package state

// This file holds the states of exact sums and of what is made of them.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

// sums holds an exact sum for each place. A sum is a few floats while these represent it exactly,
// and a superaccumulator from then on.
type sums struct {
	parts []exact.Parts
	long  []*exact.Sum
	idle  []*exact.Sum
	work  exact.Sum
	place int // where Add adds
}

func (a *sums) reset(places int) {
	for _, l := range a.long {
		if l != nil {
			a.idle = append(a.idle, l)
		}
	}
	a.parts, a.long = dense.Resized(a.parts, places), dense.Resized(a.long, places)
	clear(a.parts)
	clear(a.long)
}

// Add adds x to the sum of a.place.
func (a *sums) Add(x float64) { a.add(a.place, x) }

func (a *sums) add(place int, x float64) {
	if x != 0 && (a.long[place] != nil || !a.parts[place].Add(x)) {
		a.lengthen(place).Add(x)
	}
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
	for _, t := range &a.parts[place].Term {
		l.Add(t)
	}
	a.long[place] = l
	return l
}

// addAll adds numbers, or their squares, to the sum of a place.
func (a *sums) addAll(place int, x []float64, squares bool) {
	if p, ok := exact.PartsOf(x, squares); ok {
		a.addTerms(place, &p.Term)
		return
	}
	to := a.long[place] // where numbers are too far apart once, they mostly are again
	if to == nil {
		to = &a.work
		to.Reset()
	}
	if squares {
		to.AddSquares(x)
	} else {
		to.AddSlice(x)
	}
	if to == &a.work {
		a.addWork(place)
	}
}

func (a *sums) addTerms(place int, terms *[3]float64) {
	for _, t := range terms {
		a.add(place, t)
	}
}

// addWork adds a.work to the sum of a place.
func (a *sums) addWork(place int) {
	var terms [3]float64
	if whole, ok := a.work.Expand(&terms); whole && ok && !math.IsInf(terms[0], 0) {
		a.addTerms(place, &terms)
	} else { // a sum beyond all numbers is not infinite yet
		a.lengthen(place).Merge(&a.work)
	}
}

// short returns the parts of the sum of a place. ok is false if it is a superaccumulator.
func (a *sums) short(place int) (p *exact.Parts, ok bool) {
	return &a.parts[place], a.long[place] == nil
}

// total writes the sum of a place to a.work.
func (a *sums) total(place int) *exact.Sum {
	a.work.Reset()
	if p, ok := a.short(place); ok {
		for _, t := range &p.Term {
			a.work.Add(t)
		}
	} else {
		a.work.Merge(a.long[place])
	}
	return &a.work
}

func (a *sums) round(place int) float64 {
	if p, ok := a.short(place); ok {
		if x, ok := p.Round(); ok {
			return x
		}
	}
	return a.total(place).Round()
}

func (a *sums) round32(place int) float32 {
	if p, ok := a.short(place); ok {
		if x, ok := p.Round32(); ok {
			return x
		}
	}
	return a.total(place).Round32()
}

// merge adds the sums of o. If o has more places than a, place k of o is added to place k modulo
// the number of places of a.
func (a *sums) merge(o *sums) {
	place := 0
	for k := range o.parts {
		switch p, ok := o.short(k); {
		case ok && a.long[place] == nil && a.parts[place] == exact.Parts{}: // as at the end of a lone worker
			a.parts[place] = *p
		case ok:
			a.addTerms(place, &p.Term)
		default:
			a.lengthen(place).Merge(o.long[k])
		}
		if place++; place == len(a.parts) {
			place = 0
		}
	}
}

// Exact is the state of Sum, Mean, Norm, Var and Stddev. Contributions are of type elem. Its parts are
// exact sums: of the numbers, except for Norm, and then of their squares, for Norm, Var and Stddev.
// Integers whose squares are summed count as floats.
type Exact struct {
	class   loop.Class
	elem    types.Elem
	sum     sums
	squares sums
	n       []int64
	wide    []float64 // room for contributions as floats
}

func (s *Exact) squared() bool {
	return s.class == loop.Norm || s.class == loop.Var || s.class == loop.Stddev
}

// part returns part k, and whether it is the sum of squares; nil: there is none.
func (s *Exact) part(k int) (a *sums, squares bool) {
	switch {
	case k == 0 && s.class != loop.Norm:
		return &s.sum, false
	case k == 0 || k == 1 && s.class != loop.Norm && s.squared():
		return &s.squares, true
	}
	return nil, false
}

// eachPart calls f with each part and its number.
func (s *Exact) eachPart(f func(k int, a *sums)) {
	for k := range 2 {
		if a, _ := s.part(k); a != nil {
			f(k, a)
		}
	}
}

// Reset makes room for so many places and empties them.
func (s *Exact) Reset(places int) {
	s.n = dense.Resized(s.n, places)
	clear(s.n)
	s.eachPart(func(_ int, a *sums) { a.reset(places) })
}

func (s *Exact) one(place int, x float64) {
	if s.class != loop.Norm {
		s.sum.add(place, x)
	}
	if s.squared() {
		h, l := exact.Square(x)
		s.squares.add(place, h)
		s.squares.add(place, l)
	}
}

// Add contributes lanes to places.
func (s *Exact) Add(at []int, x, _ *dense.Slab) {
	for k, place := range at {
		s.n[place]++
		switch {
		case s.elem == types.F64:
			s.one(place, x.F64[k])
		case s.elem == types.F32:
			s.one(place, float64(x.F32[k]))
		case s.elem == types.Bool:
			s.one(place, float64(x.Bool[k]))
		case s.squared():
			s.one(place, float64(x.I64[k]))
		default:
			s.one(place, float64(x.I64[k]>>32)*(1<<32)) // each half is a float
			s.one(place, float64(x.I64[k]&(1<<32-1)))
		}
	}
}

// All contributes n lanes to a place.
func (s *Exact) All(place int, x, _ *dense.Slab, n int) {
	s.n[place] += int64(n)
	s.AllTo(0, place, x, n)
	if a, _ := s.part(1); a != nil {
		s.AllTo(1, place, x, n)
	}
}

// chunk is how many contributions are converted at a time: about as many as are summed without a
// superaccumulator.
const chunk = 256

// AllTo contributes n lanes to one part of a place. The place does not count them.
func (s *Exact) AllTo(part, place int, x *dense.Slab, n int) {
	a, squares := s.part(part)
	switch {
	case s.elem == types.F64:
		a.addAll(place, x.F64[:n], squares)
		return
	case s.elem == types.Bool: // a truth is its own square
		a.add(place, float64(vec.CountTrue(x.Bool[:n])))
		return
	case s.elem == types.I64 && !s.squared(): // f64 may not hold them
		a.lengthen(place).AddInts(x.I64[:n])
		return
	case s.elem == types.F32 && n > chunk:
		if a.work.Reset(); squares {
			a.work.AddSquares32(x.F32[:n])
		} else {
			a.work.AddSlice32(x.F32[:n])
		}
		a.addWork(place)
		return
	}
	for from := 0; from < n; from += chunk {
		s.wide = dense.Resized(s.wide, min(chunk, n-from))
		if s.elem == types.F32 {
			vec.Convert(s.wide, x.F32[from:][:len(s.wide)])
		} else {
			vec.Convert(s.wide, x.I64[from:][:len(s.wide)])
		}
		a.addAll(place, s.wide, squares)
	}
}

// AddStates adds n states of st, from number first on, to the first n places. words holds a word of
// all states before the next word. It adds in the same order, because additions to one place wait
// for one another.
func (s *Exact) AddStates(st *loop.State, words []uint64, states, first, n int) {
	plane := func(k int) []uint64 { return words[k*states+first:][:n] }
	s.eachPart(func(_ int, a *sums) {
		from, some := st.Words(a == &s.squares)
		for k := from; k < from+some; k++ {
			for place, w := range plane(k) {
				a.add(place, math.Float64frombits(w))
			}
		}
	})
	if k := st.Count(); k >= 0 {
		for place, w := range plane(k) {
			s.n[place] += int64(w)
		}
	}
}

// Adder returns an adder to a part of a place. It is valid until the next call.
func (s *Exact) Adder(part, place int) loop.Adder {
	a, _ := s.part(part)
	a.place = place
	return a
}

// MergePart adds the only part of another state to a part of this one. If the other state has a
// multiple of the places of this one, its place k is added to place k modulo the number of places
// of this one.
func (s *Exact) MergePart(part int, o *Exact) {
	a, _ := s.part(part)
	b, _ := o.part(0)
	a.merge(b)
}

// Count is the number of contributions to a place, which the caller may change.
func (s *Exact) Count(place int) *int64 { return &s.n[place] }

// Merge adds what another state has.
func (s *Exact) Merge(o State) {
	p := o.(*Exact)
	for k, n := range p.n {
		s.n[k] += n
	}
	s.eachPart(func(k int, a *sums) {
		b, _ := p.part(k)
		a.merge(b)
	})
}

// Result writes the results of n places, in float32 for contributions of float32 and else in float64.
func (s *Exact) Result(dst *dense.Slab, from, n int) {
	for k := range n {
		place := from + k
		var v float64
		switch narrow := s.elem == types.F32; {
		case s.class == loop.Norm:
			v = math.Sqrt(s.squares.round(place))
		case s.squared():
			sum, ok := s.sum.short(place)
			squares, both := s.squares.short(place)
			if n := int(s.n[place]); ok && both && n > 0 {
				if v, ok = exact.Variance(sum, squares, n, narrow && s.class == loop.Var); ok {
					if s.class == loop.Stddev {
						v = math.Sqrt(v)
					}
					break
				}
			}
			v = exact.Reduced(s.class, s.sum.total(place), s.squares.total(place), int(s.n[place]), narrow)
		case s.class == loop.Sum && narrow:
			v = float64(s.sum.round32(place))
		default:
			if v = s.sum.round(place); s.class == loop.Mean {
				v /= float64(s.n[place])
			}
		}
		if s.elem == types.F32 {
			dst.F32[k] = float32(v)
		} else {
			dst.F64[k] = v
		}
	}
}

// accumulator returns the words of part k in acc.
func accumulator(acc *value.Dense, k int) []int64 { return acc.I64[k*exact.Words:][:exact.Words] }

// Put writes a place to an accumulator.
func (s *Exact) Put(acc *value.Dense, place int) {
	s.eachPart(func(k int, a *sums) { a.total(place).PutWords(accumulator(acc, k)) })
}

// Take adds an accumulator to a place.
func (s *Exact) Take(place int, acc *value.Dense) {
	s.eachPart(func(k int, a *sums) {
		x := exact.FromWords(accumulator(acc, k))
		a.lengthen(place).Merge(&x)
	})
}
