//go:build race

package local

// ballast is empty, because the race detector records every allocated byte.
const ballast = 0
