//go:build !linux

package local

import (
	"errors"
	"unsafe"
)

// mapMemory takes zero memory from the Go heap; the collector does not look into it.
func mapMemory(n int) ([]byte, error) {
	b := make([]byte, n+pageSize)
	over := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % pageSize)
	return b[pageSize-over : pageSize-over+n : pageSize-over+n], nil
}

// unmapMemory leaves b to the collector.
func unmapMemory([]byte) error { return nil }

// discardMemory cannot give back a part.
func discardMemory([]byte) error { return errors.ErrUnsupported }
