package blas

// This file defines the decompositions that iterate: eigenvalues of symmetric matrices and singular values, by
// gonum's LAPACK. Workspaces are the least that LAPACK accepts, which makes it take its unblocked forms: they run on
// the calling goroutine and their bits depend on the input alone, on every machine of one architecture. (Blocked
// forms would be up to twice as fast from n of some hundreds on, on goroutines that the runtime does not know of.)

import (
	gonumblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

// SymmetricEigen puts the eigenvalues of the symmetric n x n matrix a, in ascending order, into w, of length n. a is
// row-major without gaps and finite; its lower triangle is read. With vectors its columns become the eigenvectors,
// of length 1 and any sign; without, it is overwritten. ok is false if the iteration did not converge.
func SymmetricEigen(vectors bool, n int, a, w []float64) (ok bool) {
	if n == 0 {
		return true
	}
	job := lapack.EVNone
	if vectors {
		job = lapack.EVCompute
	}
	work := make([]float64, 3*n)
	return gonum.Implementation{}.Dsyev(job, gonumblas.Lower, n, a, n, w, work, len(work))
}

// SVD decomposes the m x n matrix a, row-major without gaps and finite, which is overwritten. s, of length k = min(m, n),
// gets the singular values in descending order; u (m x k) and vt (k x n), unless both are nil, the singular vectors of
// any sign as the columns of u and the rows of vt. ok is false if the iteration did not converge.
func SVD(m, n int, a, s, u, vt []float64) (ok bool) {
	k := min(m, n)
	if k == 0 {
		return true
	}
	job := lapack.SVDNone
	if u != nil {
		job = lapack.SVDStore
	}
	work := make([]float64, max(5*k, 3*k+max(m, n)))
	return gonum.Implementation{}.Dgesvd(job, job, m, n, a, n, s, u, k, vt, n, work, len(work))
}
