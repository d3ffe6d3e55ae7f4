//go:build race

package memory

// ballast is empty, because the race detector records every allocated byte.
const ballast = 0
