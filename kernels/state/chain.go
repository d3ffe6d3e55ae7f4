package state

// This file holds the state of reductions whose order counts. Contributions to a place come in the order of
// the points.

import (
	"flow/kernels/dense"
	"flow/kernels/vec"
)

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
