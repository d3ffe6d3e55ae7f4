package memory

import "syscall"

// rlimitNproc is RLIMIT_NPROC, which package syscall does not name; mips and sparc have another
// number.
const rlimitNproc = 6

// adviseHuge asks the system to back size bytes at an address, which are whole huge pages, with huge pages. A
// kernel without them refuses, which is harmless.
func adviseHuge(at, size uintptr) {
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, at, size, syscall.MADV_HUGEPAGE)
}
