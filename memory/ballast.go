//go:build !race

package memory

// ballast is bytes of the Go heap that are never touched, so no memory is behind them. Matrices are
// outside the Go heap, which would otherwise be a few megabytes: the garbage of a few loop executions
// would trigger a collection, 30 times a second in a program with rounds of 2 ms, each a quarter of a
// core for 5 ms. The ballast lets tens of megabytes of garbage accumulate first. Sparse matrices are on
// the heap. With 32 MiB, a rank of connected components of web-NotreDame collected three times in 0.2 s
// and had 3,000 page faults more. With 128 MiB the process was 30 % larger, with 96 MiB 7 %, and
// programs on dense matrices are as large with each of them (2026-11).
const ballast = 96 << 20
