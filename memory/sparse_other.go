//go:build !linux

package memory

// Sparse returns n zero bytes of the Go heap, which take memory at once. It fails if there is none.
func Sparse(n int) ([]byte, error) { return Make[byte](n) }

// Discard does nothing: the heap cannot give back a part of b.
func Discard([]byte) {}

// Unmap leaves b to the collector.
func Unmap([]byte) {}
