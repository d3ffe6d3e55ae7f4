// Package linalg has the rows of dense linear algebra: products, factorisations, solves and
// triangles on a kernel set of package blas, eigenvalues and singular values on package spectrum.
//
// Products inside of chains and pipes are in package kernels, as the engine of chains runs them.
package linalg
