package schedule

// This file defines STATIC: one block a worker, sizes as even as possible. The rounding matters:
// ceil(N/P) with a shorter last block leaves workers without work (N = 9, P = 8: 2 2 2 2 1),
// floor(N/P) makes one block too many.

// static gives the first r workers q+1 iterations and the others q, where q, r = divmod(N, P).
type static struct {
	loop
	q, r, count int
}

func newStatic(p Params) (Calculator, error) {
	s := &static{loop: loop{p}, q: p.N / p.P, r: p.N % p.P, count: min(p.N, p.P)}
	if p.MinChunk > s.q && p.MinChunk > 1 {
		return newFixed(p, p.MinChunk), nil
	}
	return s, nil
}

// Chunk returns block i.
func (s *static) Chunk(i int) (start, size int, ok bool) {
	if i >= s.count {
		return s.N, 0, false
	}
	start = i*s.q + min(i, s.r)
	if i < s.r {
		return start, s.q + 1, true
	}
	return start, s.q, true
}

// Err is nil.
func (s *static) Err() error { return nil }
