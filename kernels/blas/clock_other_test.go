//go:build !linux

package blas

import "time"

var began = time.Now()

// threadTime is the time, where a thread's own is not at hand.
func threadTime() time.Duration { return time.Since(began) }
