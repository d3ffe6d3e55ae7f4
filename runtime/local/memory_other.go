//go:build !linux

package local

import (
	"errors"
	"unsafe"

	"flow/memory"
)

// mapMemory takes zero memory from the Go heap; the collector does not look into it.
func mapMemory(n int) ([]byte, error) {
	b, err := memory.Make[byte](n + pageSize)
	if err != nil {
		return nil, err
	}
	over := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % pageSize)
	return b[pageSize-over : pageSize-over+n : pageSize-over+n], nil
}

// mapSparse is mapMemory: the heap has no memory that is never touched.
func mapSparse(n int) ([]byte, error) { return mapMemory(n) }

// unmapMemory leaves b to the collector.
func unmapMemory([]byte) error { return nil }

// discardMemory cannot give back a part.
func discardMemory([]byte) error { return errors.ErrUnsupported }

func mapSmall(n int) ([]byte, error) { return mapMemory(n) }
