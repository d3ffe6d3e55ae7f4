package compiler_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets memory grow to five times what is alive before it is collected, unless GOGC says
// otherwise: every program leaves rubbish and little else, and a quarter of the tests' time went into
// marking tables and the grammar again.
//
// Three packages of tests do so, each by itself: a package for four lines would be more.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
