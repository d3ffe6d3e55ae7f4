// Package value is the data that travels on edges: scalars, dense row-major
// matrices and sparse ones (frames and tokens of streams take their place beside them). A
// matrix lies in pointer-free memory, so that the collector does not scan
// it and a message can be sent from where it lies.
//
// The package does not know who lends memory: New takes it from the heap, Over
// lays a matrix over bytes that a pool lent.
package value
