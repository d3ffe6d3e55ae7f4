// Package machine holds the loops of packages vec and blas that processors run as vectors: sums without
// rounding errors, extremes, searches, rows of sparse matrices, and tiles of dense ones (tile.go). Each
// is written by a Go function, once for AVX2 and AVX-512, and becomes machine code when it is first
// called. Compiled loops (kernels/loop) run all that has a text; these are loops that have none, and
// those that the Go of package vec and package exact calls on a slice.
//
// A writer uses virtual registers, and operands in the order of the Go assembler: the destination
// last. emit.go gives each a register of the processor. No register is ever spilled: a loop that
// needs too many is a bug, which a test finds on every machine, for both sets.
package machine
