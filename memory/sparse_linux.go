package memory

import (
	"syscall"
	"unsafe"
)

// Sparse returns n > 0 zero bytes, in whole pages outside of the Go heap. A page takes memory from when
// it is first touched until Discard. Bound does not count these pages. Unmap gives them back. Sparse
// fails without address space for them.
func Sparse(n int) ([]byte, error) {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, &Error{Need: float64(n), Have: Room()}
	}
	return b, nil
}

// Discard gives back the memory of the pages that lie in b as a whole. b is a part of what Sparse
// returned. The pages hold zeros until they are written again.
func Discard(b []byte) {
	if len(b) == 0 {
		return
	}
	page := syscall.Getpagesize()
	over := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	if n := (len(b) - over) / page * page; n > 0 {
		_ = syscall.Madvise(b[over:over+n], syscall.MADV_DONTNEED) // after a failure the pages keep their memory until Unmap
	}
}

// Unmap gives back what Sparse returned.
func Unmap(b []byte) { _ = syscall.Munmap(b) }
