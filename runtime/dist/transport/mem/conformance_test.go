package mem

import (
	"testing"
	"time"

	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/transporttest"
)

func TestConformance(t *testing.T) {
	transporttest.Run(t, func(n int) []transport.Comm { return New(n, Options{}) })
}

// TestConformanceUnbuffered has no send finish before its receive is posted, which
// MPI allows as well.
func TestConformanceUnbuffered(t *testing.T) {
	transporttest.Run(t, func(n int) []transport.Comm { return New(n, Options{EagerLimit: -1}) }, 2, 4)
}

func TestConformanceDelayed(t *testing.T) {
	transporttest.Run(t, func(n int) []transport.Comm {
		return New(n, Options{Faults: Faults{Seed: 11, MaxDelay: 300 * time.Microsecond}})
	}, 2, 4)
}
