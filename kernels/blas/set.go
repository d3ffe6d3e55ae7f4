package blas

// This file defines the contract of a kernel set.

import "unsafe"

// Set is one interchangeable set of tile kernels.
type Set struct {
	// Name is the word Select takes: "avx512", "avx2", "portable", "gonum" or "openblas".
	Name string
	// Chain reports that results follow the FMA chain of the package comment bit for bit.
	Chain bool
	F64   Kernels[float64]
	F32   Kernels[float32]
}

// Kernels is the kernels of a set for one type of elements. All matrices are row-major with a leading
// dimension (stride in elements). The kernels are safe for concurrent use; each call runs on the
// calling goroutine only and takes its scratch from ws, which must not be used by two calls at once.
type Kernels[T float32 | float64 | int64] struct {
	// Gemm computes c = c + a@b (tb false, b is k x n) or c + a@t(b) (tb true, b is n x k); sub:
	// minus. a is m x k, c is m x n.
	Gemm func(ws *Workspace, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)
	// GemmTN computes c = c + t(a)@b, a being k x m and b k x n; sub: minus.
	GemmTN func(ws *Workspace, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)
	// Syrk computes the lower triangle of c = c + a@t(a), a being n x k; sub: minus. The strict
	// upper triangle of c is left untouched.
	Syrk func(ws *Workspace, sub bool, n, k int, a []T, lda int, c []T, ldc int)
	// Trsm computes b (m x n) = b @ inverse(t(l)) in place, l being n x n and lower; above its
	// diagonal l is not read.
	Trsm func(ws *Workspace, m, n int, l []T, ldl int, b []T, ldb int)
	// Potrf reads only the lower triangle of the n x n matrix a. It replaces a by its lower
	// Cholesky factor; the strict upper triangle becomes zero. It returns 0, or the 1-based order
	// of the first leading minor that is not positive definite (pivot <= 0 or NaN). Then a holds
	// that row of the factor left of the diagonal; its other contents are unspecified.
	Potrf func(ws *Workspace, n int, a []T, lda int) (minor int)

	// Tall computes rows i0..i1-1 of c = c + t(a)@b of matrices with many rows and few columns, a being
	// k x i1 or wider and b k x n; lower: no more than the elements on and below the diagonal need be
	// there. c is padded: i1 rounded up to TallRows rows and n to TallCols columns of it are memory that
	// is written, with rubbish outside c itself.
	Tall func(ws *Workspace, lower bool, i0, i1, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)

	// Pack and GemmPacked are what a set may offer beside: a right factor that is packed once, for
	// products of many blocks of rows, on any number of workers. They are nil in other sets.
	//
	// Pack is op(b), k x n, as GemmPacked takes it, in the memory of ws: until the next use of that.
	Pack func(ws *Workspace, tb bool, n, k int, b []T, ldb int) []T
	// GemmPacked is Gemm by a packed factor. A c that is longer than its shape may be written
	// to behind its end: with TallCols elements there, narrow matrices without gaps between their
	// rows are faster.
	GemmPacked func(ws *Workspace, sub bool, m, n, k int, a []T, lda int, packed []T, c []T, ldc int)
}

// WithTall returns kernels whose Tall is GemmTN, for those that have none of their own.
func (k Kernels[T]) WithTall() Kernels[T] {
	k.Tall = func(ws *Workspace, _ bool, i0, i1, n, inner int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
		k.GemmTN(ws, false, i1-i0, n, inner, a[i0:], lda, b, ldb, c[i0*ldc:], ldc)
	}
	return k
}

// The padding of the result of Tall: multiples of every micro-tile's rows and vectors.
const (
	TallRows = 8
	TallCols = 16
)

// Workspace is the packing scratch of one worker. The zero value is ready; it grows on demand, is
// reused and never shrinks. It must not be used by two calls at once.
type Workspace struct {
	f64   []float64
	f32   []float32
	width [8]uint64 // see driver.width, by row
}

// element is what the kernels compute in.
type element interface{ float32 | float64 }

// cacheLine is the alignment of scratch in bytes: a vector load that straddles two lines costs two.
const cacheLine = 64

// scratch returns n elements of ws, aligned to a cache line, with unspecified contents. A later
// call hands out the same memory again, so a kernel asks once and cuts what it gets.
func scratch[T element](ws *Workspace, n int) []T {
	var zero T
	if unsafe.Sizeof(zero) == 8 {
		ws.f64 = grown(ws.f64, n)
		return any(ws.f64[:n]).([]T)
	}
	ws.f32 = grown(ws.f32, n)
	return any(ws.f32[:n]).([]T)
}

// grown returns buf, or a larger aligned one. Growth doubles, so that a worker which meets ever
// larger tiles allocates a handful of times.
func grown[T element](buf []T, n int) []T {
	if len(buf) >= n {
		return buf
	}
	var zero T
	size := int(unsafe.Sizeof(zero))
	pad := cacheLine / size
	n = max(n, 2*len(buf))
	buf = make([]T, n+pad)
	skip := 0
	if off := int(uintptr(unsafe.Pointer(&buf[0])) % cacheLine); off != 0 {
		skip = (cacheLine - off) / size
	}
	return buf[skip : skip+n]
}
