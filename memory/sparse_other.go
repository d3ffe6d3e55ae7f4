//go:build !linux

package memory

// Sparse returns n zero bytes of the Go heap, which has no memory that is never touched.
func Sparse(n int) ([]byte, error) { return Make[byte](n) }

// Discard cannot give back a part.
func Discard([]byte) {}

// Unmap leaves b to the collector.
func Unmap([]byte) {}
