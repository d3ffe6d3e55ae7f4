package blas

// This file defines the set on gonum's BLAS, for CPUs whose FMA would be emulated. Results do not
// follow the chain.
//
// gonum's gemm starts goroutines from four blocks of 64 x 64 on; every call here stays below. Its other
// routines are unblocked: syrk, trsm and potrf are built on gemm here instead.

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

const (
	gonumRows = 64  // rows of one gemm call: one of gonum's blocks
	gonumCols = 192 // columns of one: three blocks, one below the number that goes parallel
)

// gonumSet is the set on gonum.
func gonumSet() *Set { return &Set{"gonum", false, gonumKernels[float64](), gonumKernels[float32]()} }

func gonumKernels[T element]() Kernels[T] {
	return Kernels[T]{
		Gemm: func(_ *Workspace, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
			gonumGemm(blas.NoTrans, transposed(tb), sub, m, n, k, a, lda, b, ldb, c, ldc)
		},
		GemmTN: func(_ *Workspace, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
			gonumGemm(blas.Trans, blas.NoTrans, sub, m, n, k, a, lda, b, ldb, c, ldc)
		},
		Syrk: gonumSyrk[T], Trsm: gonumTrsm[T], Potrf: gonumPotrf[T],
	}.WithTall()
}

func transposed(tb bool) blas.Transpose {
	if tb {
		return blas.Trans
	}
	return blas.NoTrans
}

// block returns x from row i on, or from column i on where x is used transposed.
func block[T element](x []T, t blas.Transpose, i, ld int) []T {
	if t == blas.Trans {
		return x[i:]
	}
	return x[i*ld:]
}

// gonumGemm computes c = c ± op(a)@op(b) block by block.
func gonumGemm[T element](ta, tb blas.Transpose, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	if n == 0 || k == 0 {
		return
	}
	alpha := T(1)
	if sub {
		alpha = -1
	}
	for i := 0; i < m; i += gonumRows {
		rows := min(gonumRows, m-i)
		ai := block(a, ta, i, lda)
		for j := 0; j < n; j += gonumCols {
			cols := min(gonumCols, n-j)
			bj := block(b, transposed(tb == blas.NoTrans), j, ldb)
			switch c := any(c[i*ldc+j:]).(type) {
			case []float64:
				gonum.Implementation{}.Dgemm(ta, tb, rows, cols, k, float64(alpha), any(ai).([]float64), lda, any(bj).([]float64), ldb, 1, c, ldc)
			case []float32:
				gonum.Implementation{}.Sgemm(ta, tb, rows, cols, k, float32(alpha), any(ai).([]float32), lda, any(bj).([]float32), ldb, 1, c, ldc)
			}
		}
	}
}

// gonumSyrk takes diagonal blocks to gonum's syrk and the rest to gemm.
func gonumSyrk[T element](_ *Workspace, sub bool, n, k int, a []T, lda int, c []T, ldc int) {
	if k == 0 {
		return
	}
	alpha := T(1)
	if sub {
		alpha = -1
	}
	for i := 0; i < n; i += gonumRows {
		rows := min(gonumRows, n-i)
		ai := a[i*lda:]
		gonumGemm(blas.NoTrans, blas.Trans, sub, rows, i, k, ai, lda, a, lda, c[i*ldc:], ldc)
		switch c := any(c[i*ldc+i:]).(type) {
		case []float64:
			gonum.Implementation{}.Dsyrk(blas.Lower, blas.NoTrans, rows, k, float64(alpha), any(ai).([]float64), lda, 1, c, ldc)
		case []float32:
			gonum.Implementation{}.Ssyrk(blas.Lower, blas.NoTrans, rows, k, float32(alpha), any(ai).([]float32), lda, 1, c, ldc)
		}
	}
}

// gonumTrsm solves block column by block column, each after a gemm with those before it.
func gonumTrsm[T element](_ *Workspace, m, n int, l []T, ldl int, b []T, ldb int) {
	if m == 0 {
		return
	}
	for j := 0; j < n; j += gonumRows {
		cols := min(gonumRows, n-j)
		gonumGemm(blas.NoTrans, blas.Trans, true, m, cols, j, b, ldb, l[j*ldl:], ldl, b[j:], ldb)
		switch b := any(b[j:]).(type) {
		case []float64:
			gonum.Implementation{}.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, m, cols, 1, any(l[j*ldl+j:]).([]float64), ldl, b, ldb)
		case []float32:
			gonum.Implementation{}.Strsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, m, cols, 1, any(l[j*ldl+j:]).([]float32), ldl, b, ldb)
		}
	}
}

// gonumPotrf factors diagonal blocks by the textbook loop (gonum has no potrf in single precision)
// and leaves the rest to syrk, gemm and trsm.
func gonumPotrf[T element](ws *Workspace, n int, a []T, lda int) (minor int) {
	for j := 0; j < n; j += gonumRows {
		cols := min(gonumRows, n-j)
		d := a[j*lda+j:]
		gonumSyrk(ws, true, cols, j, a[j*lda:], lda, d, lda)
		if bad := unfusedPotrf(cols, d, lda); bad != 0 {
			return j + bad
		}
		for i := range cols {
			clear(a[(j+i)*lda+j+cols : (j+i)*lda+n])
		}
		if rest := n - j - cols; rest > 0 {
			below := a[(j+cols)*lda:]
			gonumGemm(blas.NoTrans, blas.Trans, true, rest, cols, j, below, lda, a[j*lda:], lda, below[j:], lda)
			gonumTrsm(ws, rest, cols, d, lda, below[j:], lda)
		}
	}
	return 0
}

// unfusedPotrf is the textbook loop with a product and a sum rounded each for itself.
func unfusedPotrf[T element](n int, a []T, lda int) (minor int) {
	for i := range n {
		row := a[i*lda:][:n]
		for j := range i + 1 {
			other := a[j*lda:][:j]
			s := row[j]
			for p, v := range other {
				s -= T(row[p] * v)
			}
			if j < i {
				row[j] = s / a[j*lda+j]
				continue
			}
			if !(s > 0) {
				return i + 1
			}
			row[i] = T(math.Sqrt(float64(s)))
		}
		clear(row[i+1:])
	}
	return 0
}
