package blas

// This file defines the contract of a kernel set and chooses one by name.

import (
	"fmt"
	"strings"
)

// Set is one interchangeable set of tile kernels. All matrices are row-major with a leading
// dimension (stride in elements). It is safe for concurrent use; each call runs on the calling
// goroutine only and takes its scratch from ws, which must not be used by two calls at once.
type Set interface {
	// Name is the word Select takes: "avx512", "avx2", "portable", "gonum" or "openblas".
	Name() string
	// Chain reports that results follow the FMA chain of the package comment bit for bit.
	Chain() bool

	// GemmF64 computes c = c + a@b (tb false, b is k x n) or c + a@t(b) (tb true, b is n x k); sub:
	// minus. a is m x k, c is m x n.
	GemmF64(ws *Workspace, tb bool, sub bool, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int)
	// GemmTNF64 computes c = c + t(a)@b, a being k x m and b k x n; sub: minus.
	GemmTNF64(ws *Workspace, sub bool, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int)
	// SyrkF64 computes the lower triangle of c = c + a@t(a), a being n x k; sub: minus. The strict
	// upper triangle of c is left untouched.
	SyrkF64(ws *Workspace, sub bool, n, k int, a []float64, lda int, c []float64, ldc int)
	// TrsmF64 computes b (m x n) = b @ inverse(t(l)) in place, l being n x n and lower; above its
	// diagonal l is not read.
	TrsmF64(ws *Workspace, m, n int, l []float64, ldl int, b []float64, ldb int)
	// PotrfF64 replaces the n x n matrix a, of which only the lower triangle is read, by its lower
	// Cholesky factor; the strict upper triangle becomes zero. It returns 0, or the 1-based order
	// of the first leading minor that is not positive definite (pivot <= 0 or NaN). Then a holds
	// that row of the factor left of the diagonal; its other contents are unspecified.
	PotrfF64(ws *Workspace, n int, a []float64, lda int) (minor int)

	// GemmF32 is GemmF64 in single precision.
	GemmF32(ws *Workspace, tb bool, sub bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int)
	// GemmTNF32 is GemmTNF64 in single precision.
	GemmTNF32(ws *Workspace, sub bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int)
	// SyrkF32 is SyrkF64 in single precision.
	SyrkF32(ws *Workspace, sub bool, n, k int, a []float32, lda int, c []float32, ldc int)
	// TrsmF32 is TrsmF64 in single precision.
	TrsmF32(ws *Workspace, m, n int, l []float32, ldl int, b []float32, ldb int)
	// PotrfF32 is PotrfF64 in single precision.
	PotrfF32(ws *Workspace, n int, a []float32, lda int) (minor int)
}

// Tall is what a set may offer beside the contract: t(a)@b of matrices with many rows and few
// columns, without packing.
type Tall interface {
	// TallF64 computes rows i0..i1-1 of c = c + t(a)@b, a being k x i1 or wider and b k x n; lower:
	// no more than the elements on and below the diagonal need be there. c is padded: i1 rounded up
	// to TallRows rows and n to TallCols columns of it are memory that is written, with rubbish
	// outside c itself.
	TallF64(ws *Workspace, lower bool, i0, i1, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int)
	// TallF32 is TallF64 in single precision.
	TallF32(ws *Workspace, lower bool, i0, i1, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int)
}

// Packing is what a set may offer beside the contract: a right factor that is packed once, for
// products of many blocks of rows, on any number of workers.
type Packing interface {
	// PackF64 is op(b), k x n, as GemmPackedF64 takes it, in the memory of ws: until the next use
	// of that.
	PackF64(ws *Workspace, tb bool, n, k int, b []float64, ldb int) []float64
	// GemmPackedF64 is GemmF64 by a packed factor. A c that is longer than its shape may be written
	// to behind its end: with TallCols elements there, narrow matrices without gaps between their
	// rows are faster.
	GemmPackedF64(ws *Workspace, sub bool, m, n, k int, a []float64, lda int, packed []float64, c []float64, ldc int)
	// PackF32 is PackF64 in single precision.
	PackF32(ws *Workspace, tb bool, n, k int, b []float32, ldb int) []float32
	// GemmPackedF32 is GemmPackedF64 in single precision.
	GemmPackedF32(ws *Workspace, sub bool, m, n, k int, a []float32, lda int, packed []float32, c []float32, ldc int)
}

// The padding of a Tall's result: multiples of every micro-tile's rows and vectors.
const (
	TallRows = 8
	TallCols = 16
)

// sets lists what this machine and this build offer, best first. The optional set stands last, so
// that building with it changes no bit of a program that does not ask for it by name.
func sets() []Set {
	list := assembly()
	if hardwareFMA() {
		list = append(list, portable{}, gonumSet{})
	} else {
		// Emulated FMA is slower by a factor of 50: the chain gives way to a program that finishes.
		list = append(list, gonumSet{}, portable{})
	}
	return append(list, optional()...)
}

// Names lists the sets available on this machine and in this build, best first.
func Names() []string {
	var names []string
	for _, s := range sets() {
		names = append(names, s.Name())
	}
	return names
}

// Select returns the set of that name; "" and "auto" mean the best one for this CPU. The error for
// a name that is not available lists those that are.
func Select(name string) (Set, error) {
	list := sets()
	if name == "" || name == "auto" {
		return list[0], nil
	}
	for _, s := range list {
		if s.Name() == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no kernel set %q here; available: %s", name, strings.Join(Names(), ", "))
}
