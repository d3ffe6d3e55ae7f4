//go:build !amd64

package vec

// This file stands in for bools_amd64.go where there is no assembly.

// EqF64 is dst = a == b.
func EqF64(dst []uint8, a, b []float64) { Eq(dst, a, b) }

// EqI64 is dst = a == b.
func EqI64(dst []uint8, a, b []int64) { Eq(dst, a, b) }

// NeF64 is dst = a != b; NaN differs from everything.
func NeF64(dst []uint8, a, b []float64) { Ne(dst, a, b) }

// NeI64 is dst = a != b.
func NeI64(dst []uint8, a, b []int64) { Ne(dst, a, b) }

// LtF64 is dst = a < b.
func LtF64(dst []uint8, a, b []float64) { Lt(dst, a, b) }

// LtI64 is dst = a < b.
func LtI64(dst []uint8, a, b []int64) { Lt(dst, a, b) }

// LeF64 is dst = a <= b.
func LeF64(dst []uint8, a, b []float64) { Le(dst, a, b) }

// LeI64 is dst = a <= b.
func LeI64(dst []uint8, a, b []int64) { Le(dst, a, b) }

// AddI64 is dst = a + b.
func AddI64(dst, a, b []int64) { Add(dst, a, b) }

// SubI64 is dst = a - b.
func SubI64(dst, a, b []int64) { Sub(dst, a, b) }

// MulI64 is dst = a * b.
func MulI64(dst, a, b []int64) { Mul(dst, a, b) }

// F64OfI64 is dst = a as float64, rounded to nearest even.
func F64OfI64(dst []float64, a []int64) { Convert(dst, a) }

// select64 selects nothing here.
func select64(dst []uint64, c []uint8, a, b []uint64) (n int) { return 0 }
