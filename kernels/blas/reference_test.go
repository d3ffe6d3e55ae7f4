package blas

// This file defines what the kernels must compute: the obvious loops, sharing no code with the
// package. In single precision the FMA is exact arithmetic on big.Float, rounded once.

import (
	"math"
	"math/big"
)

func refFMA[T element](x, y, z T) T {
	switch x := any(x).(type) {
	case float64:
		return T(math.FMA(x, float64(y), float64(z)))
	case float32:
		return T(bigFMA(x, float32(y), float32(z)))
	}
	panic("BUG: not an element")
}

// bigFMA rounds the exact x*y+z once. Zeros and non-numbers, which big.Float cannot sign or hold,
// go by float64, where they are exact.
func bigFMA(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	s := p + float64(z)
	if s == 0 || math.IsInf(s, 0) || math.IsNaN(s) {
		return float32(s)
	}
	if e := s - p; p-(s-e)+(float64(z)-e) == 0 { // the error of the sum (Knuth): s is exact
		return float32(s)
	}
	// The exact sum lies between the neighbours of s, and rounding keeps order: where both round to one
	// number, so does all between them. That is so most often.
	below, above := float32(math.Nextafter(s, math.Inf(-1))), float32(math.Nextafter(s, math.Inf(1)))
	if below == above {
		return below
	}
	exact := new(big.Float).SetPrec(2000).SetFloat64(p)
	exact.Add(exact, new(big.Float).SetFloat64(float64(z)))
	r, _ := exact.Float32()
	return r
}

func refGemm[T element](ta, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	for i := range m {
		for j := range n {
			for p := range k {
				var x, y T
				if ta {
					x = a[p*lda+i]
				} else {
					x = a[i*lda+p]
				}
				if tb {
					y = b[j*ldb+p]
				} else {
					y = b[p*ldb+j]
				}
				if sub {
					x = -x
				}
				c[i*ldc+j] = refFMA(x, y, c[i*ldc+j])
			}
		}
	}
}

func refSyrk[T element](sub bool, n, k int, a []T, lda int, c []T, ldc int) {
	for i := range n {
		refGemm(false, true, sub, 1, i+1, k, a[i*lda:], lda, a, lda, c[i*ldc:], ldc)
	}
}

func refTrsm[T element](m, n int, l []T, ldl int, b []T, ldb int) {
	for i := range m {
		for j := range n {
			x := b[i*ldb+j]
			for k := range j {
				x = refFMA(-b[i*ldb+k], l[j*ldl+k], x)
			}
			b[i*ldb+j] = x / l[j*ldl+j]
		}
	}
}

func refPotrf[T element](n int, a []T, lda int) int {
	for j := range n {
		for i := j; i < n; i++ {
			x := a[i*lda+j]
			for k := range j {
				x = refFMA(-a[i*lda+k], a[j*lda+k], x)
			}
			if i > j {
				a[i*lda+j] = x / a[j*lda+j]
				continue
			}
			if !(x > 0) {
				return j + 1
			}
			a[j*lda+j] = T(math.Sqrt(float64(x)))
		}
		for i := range j {
			a[i*lda+j] = 0
		}
	}
	return 0
}
