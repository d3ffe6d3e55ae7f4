//go:build linux && amd64

package amd64

import (
	"testing"

	"flow/ir/loop"
)

// TestFoldsNoDivisionByZero: a division of constants by zero, which a check before it excludes, has
// code.
func TestFoldsNoDivisionByZero(t *testing.T) {
	for _, operation := range []string{"idiv", "mod"} {
		n, err := loop.Parse(`
nest(%0: i64[]) (i: 0..%0.rows) {
  v0 = i64 7
  v1 = i64 0
  v2 = ne v1, v1
  check 3 v2
  v3 = `+operation+` v0, v1
  store out0[i, 0] v3
} : (i64[%0.rows, 1])`, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range []*target{avx512, avx2} {
			if _, err := Compile(target.name, n, make([]Layout, 1), make([]Layout, 1), loop.FastLevels, Schedule{}); err != nil {
				t.Errorf("%s on %s: %v", operation, target.name, err)
			}
		}
	}
}
