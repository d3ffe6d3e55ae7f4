package exact

// This file ends reductions that are made of exact sums.

import (
	"math"

	"flow/ir/loop"
)

// Reduced returns the result of a sum, mean, norm, variance or standard deviation of n numbers, from their
// exact sum and that of their squares. A sum that the class does not need may be any. The result is rounded
// once before a root or a division: a sum to float32 and a variance to float32 if narrow.
func Reduced(c loop.Class, sum, squares *Sum, n int, narrow bool) float64 {
	switch c {
	case loop.Norm:
		return math.Sqrt(squares.Round())
	case loop.Mean:
		return sum.Round() / float64(n)
	case loop.Var:
		return VarianceOf(sum, squares, n, narrow)
	case loop.Stddev:
		return math.Sqrt(VarianceOf(sum, squares, n, false))
	}
	if narrow {
		return float64(sum.Round32())
	}
	return sum.Round()
}
