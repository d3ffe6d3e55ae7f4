package interp

// This file holds the states of reductions whose order counts. Contributions to a place come in the
// order of the points.

import (
	"flow/ir/loop"
	"flow/kernels/vec"
)

// tree combines numbers neighbour with neighbour, and the results again, while they come. Level k
// holds what 2^k numbers gave, if it is taken.
type tree[T vec.Number] struct {
	level []T
	taken uint64
}

func (t *tree[T]) reset() { t.level, t.taken = t.level[:0], 0 }

func (t *tree[T]) put(x T, op func(a, b T) T) {
	for k := 0; ; k++ {
		if k == len(t.level) {
			t.level = append(t.level, x)
			t.taken |= 1 << k
			return
		}
		if t.taken&(1<<k) == 0 {
			t.level[k] = x
			t.taken |= 1 << k
			return
		}
		x = op(t.level[k], x)
		t.taken &^= 1 << k
	}
}

// result is what all numbers give with a last one. What has no neighbour waits for the next level.
func (t *tree[T]) result(last T, op func(a, b T) T) T {
	for k, x := range t.level {
		if t.taken&(1<<k) != 0 {
			last = op(x, last)
		}
	}
	return last
}

func sum[T vec.Number](a, b T) T    { return a + b }
func product[T vec.Float](a, b T) T { return a * b }

// chains is the state of Chain and Panels. free is set for integers, which wrap: any order gives their chain.
type chains[T vec.Number] struct {
	*kind[T]
	panels bool
	free   bool
	fuse   func(a, b, c T) T
	acc    []T
	n      []int64 // contributions of the panel that is open
	done   []tree[T]
}

func (s *chains[T]) reset(places int) {
	s.acc = room(s.acc, places)
	s.n = room(s.n, places)
	clear(s.acc)
	clear(s.n)
	if s.panels {
		s.done = room(s.done, places)
		for k := range s.done {
			s.done[k].reset()
		}
	}
}

func (s *chains[T]) one(place int, a, b T) {
	if s.panels && s.n[place] == loop.PanelTerms {
		s.done[place].put(s.acc[place], sum)
		s.acc[place], s.n[place] = 0, 0
	}
	s.n[place]++
	s.acc[place] = s.fuse(a, b, s.acc[place])
}

func (s *chains[T]) add(at []int, x, y *slab) {
	a, b := *s.of(x), *s.of(y)
	for k, place := range at {
		s.one(place, a[k], b[k])
	}
}

func (s *chains[T]) all(place int, x, y *slab, n int) {
	a, b := *s.of(x), *s.of(y)
	for k := range n {
		s.one(place, a[k], b[k])
	}
}

// merge takes over the places that another state alone has contributions to. Two parts of one chain
// of floats cannot be merged.
func (s *chains[T]) merge(o state) {
	p := o.(*chains[T])
	for k, n := range p.n {
		switch {
		case n == 0:
		case s.free:
			s.acc[k] += p.acc[k]
		case s.n[k] != 0:
			panic("BUG: two workers contributed to one element of a result whose order counts")
		default:
			s.acc[k], s.n[k] = p.acc[k], n
			if s.panels {
				s.done[k], p.done[k] = p.done[k], s.done[k]
			}
		}
	}
}

func (s *chains[T]) result(dst *slab, from, n int) {
	out := *s.of(dst)
	for k := range n {
		out[k] = s.acc[from+k]
		if s.panels {
			out[k] = s.done[from+k].result(out[k], sum)
		}
	}
}

// runs is the state of Product on floats: see loop.Product.
type runs[T vec.Float] struct {
	*kind[T]
	run  [][]T // the chains of the run that is open
	n    []int // its contributions
	done []tree[T]
}

func (s *runs[T]) reset(places int) {
	s.run, s.n, s.done = room(s.run, places), room(s.n, places), room(s.done, places)
	clear(s.n)
	for k := range s.run {
		s.run[k] = s.run[k][:0]
		s.done[k].reset()
	}
}

func (s *runs[T]) one(place int, x T) {
	if s.n[place] == loop.PanelTerms {
		s.done[place].put(s.close(place), product)
		s.run[place], s.n[place] = s.run[place][:0], 0
	}
	if k := s.n[place]; k < loop.ProductChains {
		s.run[place] = append(s.run[place], x)
	} else {
		s.run[place][k%loop.ProductChains] *= x
	}
	s.n[place]++
}

// close is the product of the chains of a run, by halves. A chain without contributions is 1, and a
// product by it changes nothing but which nan a nan is.
func (s *runs[T]) close(place int) T {
	if s.n[place] == 0 {
		return 1
	}
	c := s.run[place]
	for half := loop.ProductChains / 2; half > 0; half /= 2 {
		for k := half; k < len(c); k++ {
			c[k-half] *= c[k]
		}
		c = c[:min(half, len(c))]
	}
	return c[0]
}

func (s *runs[T]) add(at []int, x, _ *slab) {
	v := *s.of(x)
	for k, place := range at {
		s.one(place, v[k])
	}
}

func (s *runs[T]) all(place int, x, _ *slab, n int) {
	for _, v := range (*s.of(x))[:n] {
		s.one(place, v)
	}
}

// merge takes over the places that another state alone has contributions to.
func (s *runs[T]) merge(o state) {
	p := o.(*runs[T])
	for k, n := range p.n {
		switch {
		case n == 0:
		case s.n[k] != 0:
			panic("BUG: two workers contributed to one element of a result whose order counts")
		default:
			s.n[k] = n
			s.run[k], p.run[k] = p.run[k], s.run[k]
			s.done[k], p.done[k] = p.done[k], s.done[k]
		}
	}
}

func (s *runs[T]) result(dst *slab, from, n int) {
	out := *s.of(dst)
	for k := range n {
		out[k] = s.done[from+k].result(s.close(from+k), product)
	}
}
