//go:build !linux

package memory

// rlimitNproc is RLIMIT_NPROC of the BSDs, which package syscall does not name.
const rlimitNproc = 7

func adviseHuge(_, _ uintptr) {}

func populate(_, _ uintptr) bool { return false }
