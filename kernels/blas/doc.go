// Package blas holds the dense tile kernels gemm, syrk, trsm and potrf in f64 and f32, as
// interchangeable sets of one form.
//
//	Select("auto") -> Set -> F64.Gemm(ws, ...)     ws: one Workspace a worker
//	                   |
//	  avx512, avx2     |  drive.go, factor.go: packing, cache blocks, edges; the inner loops are
//	                   |  machine.Tiles (package vec/machine)
//	  portable         |  plain Go, math.FMA
//	  gonum, openblas  |  other people's kernels (no chain, see below)
//
// The FMA chain. Every element of a result is ONE chain of fused multiply-adds in ascending k that
// starts from the value accumulated into:
//
//	gemm, syrk: c = fma(±a[i][k], b[k][j], c)             k = 0, 1, 2, ...
//	trsm:       x = fma(-x[i][k], l[j][k], b[i][j])       k < j, then a true division by l[j][j]
//	potrf:      x = fma(-l[i][k], l[j][k], a[i][j])       k < j, then sqrt (i == j) or a true division by l[j][j]
//
// A set with Chain follows it bit for bit, for every shape. So cutting k, m or
// n into blocks, threads or ranks in any way changes no bit of the result, and neither does the
// choice among those sets. Signs of zeros are part of it; the payload of a NaN is not.
//
// Matrices are row-major slices with a leading dimension in elements (the distance between rows, at
// least the row length); the last row need not be followed by padding. Slices must not overlap
// unless they are the same operand. Sizes are positive or zero and arbitrary. A kernel runs on the
// calling goroutine, starts nothing and allocates only when the workspace grows. A slice that is
// too short for its shape is a caller's bug and panics.
//
// A product by one column or one row (tall.go) is the same chain, and packs nothing.
//
// Start reading at set.go, then portable.go for what is meant and drive.go for what is fast.
// The package knows neither tiles of a matrix nor tasks nor channels.
package blas
