//go:build openblas && cgo

package blas

// This file defines the optional set on OpenBLAS. Results do not follow the chain.

import "flow/kernels/blas/openblas"

// optional lists the sets that a build tag adds: openblas, unless the library is a variant that
// cannot be used.
func optional() []*Set {
	if !openblas.Ready() {
		return nil
	}
	return []*Set{{"openblas", false,
		openblasKernels(openblas.Dgemm, openblas.Dsyrk, openblas.Dtrsm, openblas.Dpotrf),
		openblasKernels(openblas.Sgemm, openblas.Ssyrk, openblas.Strsm, openblas.Spotrf)}}
}

// Libraries describes the C libraries that kernels of this build call, whether or not the set is
// offered.
func Libraries() []string {
	if !openblas.Ready() {
		return []string{openblas.Config() + " (not the pthread variant: not used)"}
	}
	return []string{openblas.Config() + " (one thread)"}
}

// factor is that of the product.
func factor[T element](sub bool) T {
	if sub {
		return -1
	}
	return 1
}

// finish clears what a factor leaves above the diagonal. It returns info, or the order of the first
// leading minor whose pivot is not a number, which OpenBLAS does not report.
func finish[T element](info, n int, a []T, lda int) (minor int) {
	if info != 0 {
		return info
	}
	for i := range n {
		if x := a[i*lda+i]; x != x {
			return i + 1
		}
		clear(a[i*lda+i+1 : i*lda+n])
	}
	return 0
}

// openblasKernels returns the kernels of the set made of those of the library, which take no size of zero.
func openblasKernels[T element](gemm func(ta, tb bool, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, c []T, ldc int),
	syrk func(n, k int, alpha T, a []T, lda int, c []T, ldc int), trsm func(m, n int, l []T, ldl int, b []T, ldb int),
	potrf func(n int, a []T, lda int) (info int)) Kernels[T] {
	return Kernels[T]{
		Gemm: func(_ *Workspace, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
			if m != 0 && n != 0 && k != 0 {
				gemm(false, tb, m, n, k, factor[T](sub), a, lda, b, ldb, c, ldc)
			}
		},
		GemmTN: func(_ *Workspace, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
			if m != 0 && n != 0 && k != 0 {
				gemm(true, false, m, n, k, factor[T](sub), a, lda, b, ldb, c, ldc)
			}
		},
		Syrk: func(_ *Workspace, sub bool, n, k int, a []T, lda int, c []T, ldc int) {
			if n != 0 && k != 0 {
				syrk(n, k, factor[T](sub), a, lda, c, ldc)
			}
		},
		Trsm: func(_ *Workspace, m, n int, l []T, ldl int, b []T, ldb int) {
			if m != 0 && n != 0 {
				trsm(m, n, l, ldl, b, ldb)
			}
		},
		Potrf: func(_ *Workspace, n int, a []T, lda int) int {
			if n == 0 {
				return 0
			}
			return finish(potrf(n, a, lda), n, a, lda)
		},
	}.WithTall()
}
