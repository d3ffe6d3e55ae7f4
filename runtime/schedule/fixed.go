package schedule

// This file defines the calculator of techniques whose chunks all have one size.

// fixed hands out chunks of one size. The last is what is left.
type fixed struct {
	loop
	size  int
	count int
}

func newFixed(p Params, size int) *fixed {
	size = max(size, p.MinChunk, 1)
	return &fixed{loop: loop{p}, size: size, count: ceilDiv(p.N, size)}
}

// Chunk returns i*size and what of size is left there.
func (f *fixed) Chunk(i int) (start, size int, ok bool) {
	if i >= f.count {
		return f.N, 0, false
	}
	start = i * f.size
	return start, min(f.size, f.N-start), true
}

// Err returns nil: a size fits every loop.
func (f *fixed) Err() error { return nil }
