package memory

import "syscall"

// rlimitNproc is RLIMIT_NPROC, which package syscall does not name; mips and sparc have another
// number.
const rlimitNproc = 6

// adviseHuge asks the system to back size bytes at an address, which are whole huge pages, with huge
// pages. A kernel without them refuses, which is harmless.
func adviseHuge(at, size uintptr) {
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, at, size, syscall.MADV_HUGEPAGE)
}

// populateWrite is MADV_POPULATE_WRITE, which package syscall does not name.
const populateWrite = 23

// populate backs size bytes at an address with memory, as writing to each page would, but changes
// nothing. It returns false if the system cannot do that: Linux before 5.14, or where no memory is
// left.
func populate(at, size uintptr) bool {
	_, _, err := syscall.Syscall(syscall.SYS_MADVISE, at, size, populateWrite)
	return err == 0
}
