package flow

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets memory grow to five times what is alive before it is collected, unless GOGC says
// otherwise: programs that are compiled and run by the thousand leave rubbish and little else.
//
// Three packages of tests do so, each by itself: a package for four lines would be more.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
