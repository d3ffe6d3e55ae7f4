package interp

// This file holds the state of reductions whose order counts. Contributions to a place come in the order of
// the points.

import "flow/kernels/vec"

// chains is the state of Chain. free is set for integers, which wrap: any order gives their chain.
type chains[T vec.Number] struct {
	*kind[T]
	free bool
	fuse func(a, b, c T) T
	acc  []T
	some []bool // a place has contributions
}

func (s *chains[T]) reset(places int) {
	s.acc, s.some = room(s.acc, places), room(s.some, places)
	clear(s.acc)
	clear(s.some)
}

func (s *chains[T]) add(at []int, x, y *slab) {
	a, b := *s.of(x), *s.of(y)
	for k, place := range at {
		s.acc[place] = s.fuse(a[k], b[k], s.acc[place])
		s.some[place] = true
	}
}

func (s *chains[T]) all(place int, x, y *slab, n int) {
	a, b := *s.of(x), *s.of(y)
	for k := range n {
		s.acc[place] = s.fuse(a[k], b[k], s.acc[place])
	}
	s.some[place] = s.some[place] || n > 0
}

// merge takes over the places that another state alone has contributions to. Two parts of one chain
// of floats cannot be merged.
func (s *chains[T]) merge(o state) {
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

func (s *chains[T]) result(dst *slab, from, n int) { copy((*s.of(dst))[:n], s.acc[from:]) }
