package schedule

import "math/bits"

// This file defines RAND and the generator of the seeded techniques. Word n is a function of seed
// and n, so each process finds the same sequence from a step counter.

// word returns output n of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
func word(seed uint64, n int) uint64 {
	z := seed + (uint64(n)+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// newRAND draws uniformly from N/(100P) to N/(2P), without floating point.
func newRAND(p Params) (Calculator, error) {
	lo := max(1, p.N/(100*p.P))
	hi := max(lo, p.N/(2*p.P))
	return newPrefix(p, func(a at) int {
		u := word(p.Seed, a.step) >> 32
		top, low := bits.Mul64(u, uint64(hi-lo+1))
		return lo + int(top<<32|low>>32)
	}), nil
}
