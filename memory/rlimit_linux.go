package memory

// rlimitNproc is RLIMIT_NPROC, which package syscall does not name; mips and sparc have another
// number.
const rlimitNproc = 6
