package blas

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Products by one column and one row are the chain in every set that follows it, at sizes around
// those of the kernels, with strides.
func TestVectors(t *testing.T) {
	want := portable()
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		return x
	}
	single := func(x []float64) []float32 {
		y := make([]float32, len(x))
		for i, v := range x {
			y[i] = float32(v)
		}
		return y
	}
	var ws Workspace
	for _, set := range sets() {
		if !set.Chain {
			continue
		}
		for range 400 {
			m, k := 1+r.IntN(40), 1+r.IntN(150)
			if r.IntN(10) == 0 { // several calls of many rows
				m, k = 1+r.IntN(3*dotElements/4), 1+r.IntN(4)
			}
			lda, ldx, ldc := k+r.IntN(3), 1+r.IntN(3), 1+r.IntN(3)
			tb, sub := r.IntN(2) == 0, r.IntN(2) == 0
			a, x, c := random(m*lda), random(k*ldx), random(m*ldc)
			c2 := slices.Clone(c)
			if tb {
				ldx = k
			}
			set.F64.Gemm(&ws, tb, sub, m, 1, k, a, lda, x, ldx, c, ldc)
			want.F64.Gemm(&ws, tb, sub, m, 1, k, a, lda, x, ldx, c2, ldc)
			f, f2 := single(c2), single(c2)
			set.F32.Gemm(&ws, tb, sub, m, 1, k, single(a), lda, single(x), ldx, f, ldc)
			want.F32.Gemm(&ws, tb, sub, m, 1, k, single(a), lda, single(x), ldx, f2, ldc)
			if !slices.Equal(c, c2) || !slices.Equal(f, f2) {
				t.Fatalf("%s: %d x %d by a column, tb %v, sub %v: other bits", set.Name, m, k, tb, sub)
			}
			// A row times a, and a column turned times a.
			row, row2 := random(k), []float64(nil)
			row2 = slices.Clone(row)
			y := random(m)
			set.F64.Gemm(&ws, false, sub, 1, k, m, y, m, a, lda, row, k)
			want.F64.Gemm(&ws, false, sub, 1, k, m, y, m, a, lda, row2, k)
			set.F64.GemmTN(&ws, sub, 1, k, m, c, ldc, a, lda, row, k)
			want.F64.GemmTN(&ws, sub, 1, k, m, c2, ldc, a, lda, row2, k)
			f, f2 = single(row2), single(row2)
			set.F32.GemmTN(&ws, sub, 1, k, m, single(c), ldc, single(a), lda, f, k)
			want.F32.GemmTN(&ws, sub, 1, k, m, single(c2), ldc, single(a), lda, f2, k)
			if !slices.Equal(row, row2) || !slices.Equal(f, f2) {
				t.Fatalf("%s: a row by %d x %d, sub %v: other bits", set.Name, m, k, sub)
			}
		}
	}
}
