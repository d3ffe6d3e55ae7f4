//go:build openblas && cgo

package blas

// This file defines the optional set on OpenBLAS. Results do not follow the chain.

import "flow/kernels/blas/openblas"

// openblasSet is the set on OpenBLAS.
type openblasSet struct{}

// optional lists the sets that a build tag adds: openblas, unless the library is a variant that
// cannot be used.
func optional() []Set {
	if !openblas.Ready() {
		return nil
	}
	return []Set{openblasSet{}}
}

// Libraries describes the C libraries that kernels of this build call, whether or not the set is
// offered.
func Libraries() []string {
	if !openblas.Ready() {
		return []string{openblas.Config() + " (not the pthread variant: not used)"}
	}
	return []string{openblas.Config() + " (one thread)"}
}

func (openblasSet) Name() string { return "openblas" }
func (openblasSet) Chain() bool  { return false }

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

func (openblasSet) GemmF64(_ *Workspace, tb, sub bool, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	if m != 0 && n != 0 && k != 0 {
		openblas.Dgemm(false, tb, m, n, k, factor[float64](sub), a, lda, b, ldb, c, ldc)
	}
}

func (openblasSet) GemmTNF64(_ *Workspace, sub bool, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	if m != 0 && n != 0 && k != 0 {
		openblas.Dgemm(true, false, m, n, k, factor[float64](sub), a, lda, b, ldb, c, ldc)
	}
}

func (openblasSet) SyrkF64(_ *Workspace, sub bool, n, k int, a []float64, lda int, c []float64, ldc int) {
	if n != 0 && k != 0 {
		openblas.Dsyrk(n, k, factor[float64](sub), a, lda, c, ldc)
	}
}

func (openblasSet) TrsmF64(_ *Workspace, m, n int, l []float64, ldl int, b []float64, ldb int) {
	if m != 0 && n != 0 {
		openblas.Dtrsm(m, n, l, ldl, b, ldb)
	}
}

func (openblasSet) PotrfF64(_ *Workspace, n int, a []float64, lda int) int {
	if n == 0 {
		return 0
	}
	return finish(openblas.Dpotrf(n, a, lda), n, a, lda)
}

func (openblasSet) GemmF32(_ *Workspace, tb, sub bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	if m != 0 && n != 0 && k != 0 {
		openblas.Sgemm(false, tb, m, n, k, factor[float32](sub), a, lda, b, ldb, c, ldc)
	}
}

func (openblasSet) GemmTNF32(_ *Workspace, sub bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	if m != 0 && n != 0 && k != 0 {
		openblas.Sgemm(true, false, m, n, k, factor[float32](sub), a, lda, b, ldb, c, ldc)
	}
}

func (openblasSet) SyrkF32(_ *Workspace, sub bool, n, k int, a []float32, lda int, c []float32, ldc int) {
	if n != 0 && k != 0 {
		openblas.Ssyrk(n, k, factor[float32](sub), a, lda, c, ldc)
	}
}

func (openblasSet) TrsmF32(_ *Workspace, m, n int, l []float32, ldl int, b []float32, ldb int) {
	if m != 0 && n != 0 {
		openblas.Strsm(m, n, l, ldl, b, ldb)
	}
}

func (openblasSet) PotrfF32(_ *Workspace, n int, a []float32, lda int) int {
	if n == 0 {
		return 0
	}
	return finish(openblas.Spotrf(n, a, lda), n, a, lda)
}
