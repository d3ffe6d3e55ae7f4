package compiler_test

import (
	"strings"
	"testing"

	"flow/compiler/check"
)

// TestForeign calls what other languages have: Flow has none of it, and says what it has.
func TestForeign(t *testing.T) {
	for _, name := range check.ForeignNames() {
		for _, text := range []string{"emit " + name + "(1)", "emit " + name} {
			files, ds := diagnose(t, text)
			if len(ds) == 0 || ds[0].Code != "E116" || !strings.Contains(told(files, ds[0]), check.Foreign(name)) {
				t.Errorf("%s: %v", text, ds)
			}
		}
	}
}
