package memory

import "syscall"

// rlimitNproc is RLIMIT_NPROC, which package syscall does not name; mips and sparc have another
// number.
const rlimitNproc = 6

// adviseHuge asks the system to back b, which is whole huge pages, with huge pages. A kernel without them
// refuses, which is harmless.
func adviseHuge(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
