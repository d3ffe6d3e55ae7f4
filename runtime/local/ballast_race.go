//go:build race

package local

// ballast is none: the race detector writes down every byte that is allocated.
const ballast = 0
