//go:build !race

package local

// ballast is bytes of the Go heap that nobody touches, and so no memory is behind them. Matrices
// lie outside of that heap, which would be some megabytes otherwise: the garbage of a few
// executions of a loop would have it collected, 30 times a second in a program whose rounds take 2
// ms, each time at the cost of a quarter of a core for 5 ms. With it tens of megabytes of garbage
// come together first.
const ballast = 32 << 20
