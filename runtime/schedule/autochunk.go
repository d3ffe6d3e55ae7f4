package schedule

import (
	"math"
	"math/bits"
)

// This file defines AUTO_CHUNK, the expert's fixed size: between N/P and 1 at the golden ratio of
// the exponents.

func newAutoChunk(p Params) (Calculator, error) { return newFixed(p, autoChunk(p.N, p.P)), nil }

// autoChunk returns N div (2^(m+1) P) with m = int(0.618 log2(N div P)), or 1 if N < P.
func autoChunk(n, p int) int {
	q := n / p
	if q == 0 {
		return 1
	}
	log := math.Log2(float64(q))
	if q&(q-1) == 0 {
		// exact for powers of two, independent of the library
		log = float64(bits.TrailingZeros(uint(q)))
	}
	return max(1, n/(p<<(int(0.618*log)+1)))
}
