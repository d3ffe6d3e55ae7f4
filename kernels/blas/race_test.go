//go:build race

package blas

// raced reports a build with the race detector: it watches no machine code and slows the loops that
// check it 20 times.
const raced = true
