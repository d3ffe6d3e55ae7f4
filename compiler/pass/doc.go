// Package pass holds the compiler's passes, one file each. A pass takes a graph to a
// graph with the same outputs bit for bit, or, for the canonical ones, makes the form
// that defines the outputs; which is which, and the order, says pipeline.go above.
package pass
