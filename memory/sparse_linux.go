package memory

import (
	"syscall"
	"unsafe"
)

// Sparse returns n zero bytes, whole pages outside of the Go heap. The system gives memory for a page
// when it is first touched, so a large part of them may never take any. Bound does not know them.
// Unmap gives them back.
func Sparse(n int) ([]byte, error) {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, &Error{Need: float64(n), Have: Room()}
	}
	return b, nil
}

// Discard gives back the memory of the pages from the first to the last that begin and end in b, a part
// of what Sparse returned. They hold zeros until they are written again.
func Discard(b []byte) {
	if len(b) == 0 {
		return
	}
	page := syscall.Getpagesize()
	over := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	if n := (len(b) - over) / page * page; n > 0 {
		_ = syscall.Madvise(b[over:over+n], syscall.MADV_DONTNEED) // it would only take longer to get the memory back
	}
}

// Unmap gives back what Sparse returned.
func Unmap(b []byte) { _ = syscall.Munmap(b) }
