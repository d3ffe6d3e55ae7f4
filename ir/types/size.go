package types

import (
	"math"
	"math/bits"
)

// MaxSide is the most rows, columns, and elements of a dense matrix, so that their bytes fit an
// int.
const MaxSide = 1<<60 - 1

// Possible reports whether matrices of a type may exist: no dimension is negative (except Unknown)
// or beyond MaxSide, a dense matrix has at most MaxSide elements, a sparse one at most an int.
func (t Type) Possible() bool {
	if !t.IsMatrix() {
		return true
	}
	for _, n := range [...]int{t.Rows, t.Cols} {
		if n < Unknown || n > MaxSide {
			return false
		}
	}
	n := Times(max(t.Rows, 0), max(t.Cols, 0))
	return n <= MaxSide || t.IsSparse() && n < math.MaxInt
}

// Plus returns a + b of nonnegative sizes, or the greatest int on overflow: no Type with it is
// Possible.
func Plus(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Times returns a b of nonnegative sizes, or the greatest int on overflow: no Type with it is
// Possible.
func Times(a, b int) int {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low <= math.MaxInt {
		return int(low)
	}
	return math.MaxInt
}
