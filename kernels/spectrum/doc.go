// Package spectrum computes eigenvalues and eigenvectors of symmetric matrices, and singular values
// and vectors, in f64 on the tile kernels of package blas.
//
//	symmetric a --reflectors--> tridiagonal --divide and conquer--> eigenvectors of that --reflectors--> eigenvectors of a
//	a --QR if tall--> r --reflectors--> bidiagonal --divide and conquer--> its singular vectors --reflectors--> those of a
//
// All work of third order is gemm, and of the work of second order all that reads the matrix: sums
// of its rows, each element one chain of fused multiply-adds in ascending order (blas.Kernels.Tall).
// What is left is loops over one vector in plain Go, in which no product is contracted with a sum
// unless math.FMA says so. So the bits of a result depend on the matrix alone: not on the threads, nor
// on which of the sets that follow the chain computes.
//
// A computation is a Machine, which says what can be done at once in passes: its owner shares out
// the slots of a pass among workers, or runs them itself.
//
// Vectors are rows here, of matrices called qt, ut, vt: rows lie in one piece, and columns would be
// strides apart. A reflector is kept as a vector v of length sqrt(2), I - v t(v), so that no factor
// stands beside it; zeros are the reflector that does nothing.
//
// Start reading at machine.go, then tridiagonal.go. The package knows neither the operators nor the
// engine.
package spectrum
