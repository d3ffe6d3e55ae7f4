//go:build !amd64

package vec

// This file stands in for loops_amd64.go where there is no assembly.

// MulF64 is dst = a * b.
func MulF64(dst, a, b []float64) { Mul(dst, a, b) }

// MulF32 is dst = a * b.
func MulF32(dst, a, b []float32) { Mul(dst, a, b) }

// MinF64 is the elementwise minimum; NaN wins, and -0 is less than 0.
func MinF64(dst, a, b []float64) { Min(dst, a, b) }

// MaxF64 is the elementwise maximum; NaN wins, and 0 is greater than -0.
func MaxF64(dst, a, b []float64) { Max(dst, a, b) }

// MinF32 is the elementwise minimum; NaN wins, and -0 is less than 0.
func MinF32(dst, a, b []float32) { Min(dst, a, b) }

// MaxF32 is the elementwise maximum; NaN wins, and 0 is greater than -0.
func MaxF32(dst, a, b []float32) { Max(dst, a, b) }

// CascadeF64 sums nothing here: done is 0.
func CascadeF64(x []float64, squares bool, terms *Terms) (n, done int, ok bool) { return 0, 0, false }

// CascadeF32 sums nothing here: done is 0.
func CascadeF32(x []float32, squares bool, terms *Terms) (n, done int, ok bool) { return 0, 0, false }

// CascadeColumns sums nothing here: cols is 0.
func CascadeColumns(x []float64, ld, rows int, squares bool, terms *Terms) (cols, levels, done int, ok bool) {
	return 0, 0, 0, false
}

// uniformWhole makes nothing here.
func uniformWhole(dst []float64, z, d uint64) int { return 0 }

// TransposeF64 is Transpose.
func TransposeF64(dst []float64, ld int, src []float64, lds, rows, cols int) {
	Transpose(dst, ld, src, lds, rows, cols)
}
