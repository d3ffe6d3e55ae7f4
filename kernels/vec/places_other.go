//go:build !amd64

package vec

// This file stands in for places_amd64.go where there is no assembly.

// TallyF64 is Tally.
func TallyF64(count []int64, x []float64) { Tally(count, x) }

// TallyF32 is Tally.
func TallyF32(count []int32, x []float32) { Tally(count, x) }

// TallyI64 is Tally.
func TallyI64(count []int64, x []int64) { Tally(count, x) }

// IndexF64 is Index.
func IndexF64(x []float64, v float64) int { return Index(x, v) }

// IndexF32 is Index.
func IndexF32(x []float32, v float32) int { return Index(x, v) }

// IndexI64 is Index.
func IndexI64(x []int64, v int64) int { return Index(x, v) }

// MinI64 is the elementwise minimum.
func MinI64(dst, a, b []int64) { Min(dst, a, b) }

// MaxI64 is the elementwise maximum.
func MaxI64(dst, a, b []int64) { Max(dst, a, b) }

// F64OfF32 is dst = a as float64.
func F64OfF32(dst []float64, a []float32) {
	for i, v := range a[:len(dst)] {
		dst[i] = float64(v)
	}
}
