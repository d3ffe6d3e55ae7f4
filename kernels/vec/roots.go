package vec

// This file finds the numbers whose square roots are the hardest to round: forces.go tries them.

import (
	"math"
	"math/bits"
)

// hardRoots are the numbers of 1 <= x < 4 whose roots are nearest to the middle between two
// numbers: x - m^2 is at most most units of 2^-106 for a middle m, and so the root's distance from
// m at most most 2^-107 / x of it. (Roots of other numbers are these by powers of two.) With m = k
// 2^-53 those are the odd k for which k^2 plus that difference is a multiple of 2^54, which are
// found bit by bit.
func hardRoots(most int) (x []float64) {
	const low = 1<<54 - 1
	for d := -most; d <= most; d++ {
		square := -uint64(d) // k^2 but for a multiple of 2^54
		if square%8 != 1 {   // that of no odd number
			continue
		}
		root := uint64(1)
		for i := 3; i < 54; i++ {
			if (root*root-square)>>i&1 != 0 {
				root += 1 << (i - 1)
			}
		}
		for _, k := range []uint64{root & low, -root & low, (root + 1<<53) & low, (1<<53 - root) & low} {
			if k < 1<<53 {
				continue
			}
			high, below := bits.Mul64(k, k)
			below, carry := bits.Add64(below, uint64(d), 0)
			high += uint64(int64(d)>>63) + carry
			if v := high<<10 | below>>54; v < 1<<53 || v < 1<<54 && v%2 == 0 {
				x = append(x, math.Ldexp(float64(v), -52))
			}
		}
	}
	return x
}
