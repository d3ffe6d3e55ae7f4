// Package value defines the data on edges: scalars, dense row-major matrices and sparse ones. A
// matrix is in pointer-free memory, so the collector does not scan it and a message is sent from it
// without a copy.
//
// The package does not know who lends memory: New takes it from the heap, Over uses bytes that a
// pool lent.
package value
