//go:build !race

package blas

// raced reports a build with the race detector: see race_test.go.
const raced = false
