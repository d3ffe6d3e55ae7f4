//go:build !race

package memory

// ballast is bytes of the Go heap that are never touched, so no memory is behind them. Matrices are
// outside the Go heap, which would otherwise be a few megabytes: the garbage of a few loop
// executions would trigger a collection, 30 times a second in a program with rounds of 2 ms, each a
// quarter of a core for 5 ms. The ballast lets tens of megabytes of garbage accumulate first.
const ballast = 32 << 20
