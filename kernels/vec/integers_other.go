//go:build !amd64

package vec

// This file stands in for integers_amd64.go where there is no assembly.

// AddI64 is dst = a + b.
func AddI64(dst, a, b []int64) { Add(dst, a, b) }

// MulI64 is dst = a * b.
func MulI64(dst, a, b []int64) { Mul(dst, a, b) }

// F64OfI64 is dst = a as float64, rounded to nearest even.
func F64OfI64(dst []float64, a []int64) { Convert(dst, a) }
