package types

import (
	"math"
	"math/bits"
)

// MaxSide is the most rows, columns, and elements of a dense matrix: their bytes are an int.
const MaxSide = 1<<60 - 1

// Possible reports a type whose matrices may exist: no dimension is negative, but for Unknown, or beyond MaxSide, and a
// dense matrix has no more than MaxSide elements, a sparse one no more than an int counts.
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

// Plus is a + b of sizes, neither negative, or the greatest int if there is none: no Type with it is Possible.
func Plus(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Times is a b of sizes, neither negative, or the greatest int if there is none: no Type with it is Possible.
func Times(a, b int) int {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low <= math.MaxInt {
		return int(low)
	}
	return math.MaxInt
}
