package local

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"flow/memory"
)

// hugePage is the size from which huge pages make sense on x86-64 and arm64.
const hugePage = 2 << 20

// mapMemory returns n bytes of zero memory, page-aligned, outside the Go heap.
func mapMemory(n int) ([]byte, error) { return mapWith(n, 0, n >= hugePage) }

// mapSmall is mapMemory for memory that is often touched in few places only. It has no huge pages. To
// clear one took 0.1 ms, and 5 ms where a virtual machine had given the memory back to its host.
func mapSmall(n int) ([]byte, error) { return mapWith(n, 0, false) }

// mapSparse is mapMemory for memory most of which is never touched: the system does not ask whether it
// has as much.
func mapSparse(n int) ([]byte, error) { return mapWith(n, unix.MAP_NORESERVE, n >= hugePage) }

func mapWith(n, flags int, huge bool) ([]byte, error) {
	at, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|flags)
	if err != nil {
		return nil, &memory.Error{Need: float64(n), Have: memory.Room()}
	}
	b := unsafe.Slice((*byte)(at), n)
	if huge {
		// One fault for 512 pages. A kernel without huge pages refuses the advice, which is
		// harmless.
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
	return b, nil
}

// unmapMemory gives back what mapMemory returned, or whole pages of it.
func unmapMemory(b []byte) error {
	return unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b)))
}

// discardMemory gives back the memory behind whole pages, which read as zero from now on.
func discardMemory(b []byte) error { return unix.Madvise(b, unix.MADV_DONTNEED) }
