package exact

// This file sums short slices and columns without an accumulator, where it can prove that nothing was lost.
//
// Two error-free additions (D. Knuth, TAOCP 2, 4.2.2, theorem B) run in cascade: s takes the elements, t takes the
// rounding errors of s. The rounding errors of t are not kept, but watched: while all of them are zero, the real sum
// is s + t exactly, so that the float64 s + t is its correct rounding. An error that is not zero, a NaN (which is
// what overflow leaves behind) or an infinity sends the slice to the accumulator.

import (
	"math"
)

// shortest row that goes to the bins: above it t is likely to overflow its 53 bits and the bins are as fast.
const cascade = 1024

// twoSum is a + b as the rounded sum and its exact error.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	v := s - a
	return s, (a - (s - v)) + (b - v)
}

// inexact is not 0 if f is neither zero; it collects by or.
func inexact(f float64) uint64 { return math.Float64bits(f) << 1 }

// pair sums x as s + t, exactly if ok.
func pair(x []float64) (s, t float64, ok bool) {
	var e, f float64
	var bad uint64
	for _, v := range x {
		s, e = twoSum(s, v)
		t, f = twoSum(t, e)
		bad |= inexact(f)
	}
	return s, t, bad == 0 && !math.IsInf(s, 0) && s == s
}

// pairSquares sums the squares of x as s + t, exactly (in the sense of Square) if ok.
func pairSquares(x []float64) (s, t float64, ok bool) {
	var e, f float64
	var bad uint64
	for _, v := range x {
		h, l := Square(v)
		s, e = twoSum(s, h)
		t, f = twoSum(t, e)
		bad |= inexact(f)
		t, f = twoSum(t, l)
		bad |= inexact(f)
	}
	return s, t, bad == 0 && !math.IsInf(s, 0) && s == s
}

// Of is the float64 nearest to the exact sum of x.
func Of(x []float64) float64 {
	if len(x) <= cascade {
		if s, t, ok := pair(x); ok {
			return s + t
		}
	}
	var a Sum
	a.AddSlice(x)
	return a.Round()
}

// Of32 is the float32 nearest to the exact sum of x, rounded once.
func Of32(x []float64) float32 {
	if len(x) <= cascade {
		if s, t, ok := pair(x); ok && t == 0 {
			return float32(s)
		}
	}
	var a Sum
	a.AddSlice(x)
	return a.Round32()
}

// OfSquares is the float64 nearest to the sum of the squares of x.
func OfSquares(x []float64) float64 {
	if len(x) <= cascade {
		if s, t, ok := pairSquares(x); ok {
			return s + t
		}
	}
	var a Sum
	a.AddSquares(x)
	return a.Round()
}

// The largest block that AddColumns takes.
const (
	BlockRows = 128
	BlockCols = 64
)

// AddColumns adds column j of the rows x len(sums) block x, whose rows are ld elements apart, to sums[j]; or the
// squares of its elements. It panics for a block above BlockRows x BlockCols.
func AddColumns(sums []Sum, x []float64, ld, rows int, squares bool) {
	if rows > BlockRows || len(sums) > BlockCols {
		panic("BUG: block of columns too large")
	}
	var s, t [BlockCols]float64
	var bad [BlockCols]uint64
	n := len(sums)
	for i := range rows {
		row := x[i*ld : i*ld+n]
		if squares {
			for j, v := range row {
				h, l := Square(v)
				var e, f float64
				s[j], e = twoSum(s[j], h)
				t[j], f = twoSum(t[j], e)
				bad[j] |= inexact(f)
				t[j], f = twoSum(t[j], l)
				bad[j] |= inexact(f)
			}
			continue
		}
		for j, v := range row {
			var e, f float64
			s[j], e = twoSum(s[j], v)
			t[j], f = twoSum(t[j], e)
			bad[j] |= inexact(f)
		}
	}
	for j := range sums {
		if a := &sums[j]; bad[j] == 0 && s[j]-s[j] == 0 {
			a.Add(s[j])
			a.Add(t[j])
			continue
		}
		for i := range rows {
			if v := x[i*ld+j]; squares {
				h, l := Square(v)
				sums[j].Add(h)
				sums[j].Add(l)
			} else {
				sums[j].Add(v)
			}
		}
	}
}
