//go:build !amd64

package vec

// This file stands in for reduce_amd64.go where there is no assembly.

// LeastF64 is Least.
func LeastF64(x []float64) float64 { return Least(x) }

// GreatestF64 is Greatest.
func GreatestF64(x []float64) float64 { return Greatest(x) }

// LeastF32 is Least.
func LeastF32(x []float32) float32 { return Least(x) }

// GreatestF32 is Greatest.
func GreatestF32(x []float32) float32 { return Greatest(x) }

// LeastI64 is Least.
func LeastI64(x []int64) int64 { return Least(x) }

// GreatestI64 is Greatest.
func GreatestI64(x []int64) int64 { return Greatest(x) }

func countZeros[T Element](a []T) (done, zeros int) { return 0, 0 }
