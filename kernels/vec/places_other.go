//go:build !amd64

package vec

// This file stands in for places_amd64.go where there is no assembly.

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
