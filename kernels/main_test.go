package kernels

import (
	"os"
	"runtime/debug"
	"testing"
)

// everyCase: random cases are as many as make soak demands. Else they are a third as many, and of
// products of shapes, sizes and rows a part is tried.
var everyCase = os.Getenv("FLOW_SOAK") != ""

// cases returns how many of n random cases are tried.
func cases(n int) int {
	if everyCase {
		return n
	}
	return n / 3
}

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
