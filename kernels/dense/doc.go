// Package dense holds views of dense matrices for kernels.
//
//	Grid  a matrix as a slice of Go elements, for code that is generic over its element type
//	Slab  a vector whose element type only the run knows, for code that switches on it
//
// Both share the memory of the matrix. The package knows no operator: kernels of all families
// import it.
package dense
