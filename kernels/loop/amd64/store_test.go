package amd64

import (
	"testing"

	"flow/ir/loop"
)

// TestKeepingNests: a result keeps elements of an operand where the only store, outside inner loops,
// may hand on what was loaded at its place.
func TestKeepingNests(t *testing.T) {
	const head = "nest(%0: f64[], %1: f64[], %2: f64[], %3: i64[]) (i: 0..%0.rows, j: 0..%0.cols) {\n v0 = load %0[i, j]\n v1 = load %1[i, j]\n v2 = load %2[i, j]\n v3 = load %0[j, i]\n"
	for _, c := range []struct {
		text  string
		keeps bool
	}{
		{"v4 = min v0, v3\n store out0[i, j] v4", true},
		{"v4 = max v3, v1\n v5 = lt v3, v1\n v6 = select v5, v3, v4\n store out0[i, j] v6", true},
		{"v4 = lt v0, v1\n v5 = select v4, v3, v3\n store out0[i, j] v5", false},                                    // the condition alone reads it
		{"v4 = min v3, v3\n store out0[i, j] v4", false},                                                            // another place
		{"store out0[i, j] v0", false},                                                                              // a copy
		{"v4 = add v0, v1\n store out0[i, j] v4", false},                                                            // no choice
		{"v4 = min v0, v1\n v5 = min v4, v2\n store out0[i, j] v5", false},                                          // three operands
		{"v4 = min v0, v3\n store out0[i, j] v3\n store out0[i, j] v4", false},                                      // two stores
		{"for k: 0..3 {\n v4 = index k\n v5 = to_f64 v4\n v6 = min v0, v5\n store out0[i, j] v6\n next\n }", false}, // one in each round
	} {
		n, err := loop.Parse(head+" "+c.text+"\n} : (f64[%0.rows, %0.cols])", loop.Standard{})
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if Keeping(n) != c.keeps {
			t.Errorf("%s: keeps %v", c.text, !c.keeps)
		}
	}
}
