package compiler_test

import (
	"fmt"
	"testing"

	"flow/ir"
	"flow/ir/op"
)

// TestUntil checks the range of a counter in rounds that a condition ends: whether a subscript is known
// to be within a matrix of ten rows, and that the loop gives what it gives without passes.
func TestUntil(t *testing.T) {
	table := tinyTable(t)
	for _, c := range []struct {
		from       int
		until      string
		step       int
		at         string
		mayFail    bool
		mayRunLong bool // the loop has no end, or a long one
	}{
		{0, "k == 10", 1, "k", false, false},
		{0, "10 == k", 1, "k", false, false},
		{0, "k >= 10", 1, "k", false, false},
		{0, "10 <= k", 1, "k", false, false},
		{0, "k > 9", 1, "k", false, false},
		{0, "9 < k", 1, "k", false, false},
		{0, "k > 10", 1, "k", true, false},
		{0, "k == 11", 1, "k", true, false},
		{0, "k >= 10", 3, "k", false, false},
		{0, "k > 9", 9, "k", false, false},
		{0, "k == 9", 3, "k", false, false},
		{0, "k == 10", 3, "k", true, true}, // it is never 10
		{0, "k < 10", 1, "k", true, false}, // no round, which is not worth to know
		{1, "k <= 0", 1, "k", true, true},
		{9, "k < 0", -1, "k", false, false},
		{9, "k == -1", -1, "k", false, false},
		{9, "0 > k", -2, "k", false, false},
		{9, "k <= -1", -3, "k", false, false},
		{10, "k < 0", -1, "k", true, false},
		{9, "k == 0", -1, "k - 1", false, false},
		{9, "k <= 0", -1, "k - 2", true, false}, // -1 counts from the end, but no rule knows it
		{0, "k == 10 or s > 1e9", 1, "k", false, false},
		{0, "s > 1e9 or k >= 10", 1, "k", false, false},
		{0, "k == 12 or (s > 1e9 or k >= 10)", 1, "k", false, false},
		{0, "k == 11 and s < 1e9", 1, "k", true, false},
		{0, "k != 0", 1, "k", true, false},
		{0, "k == m", 1, "k", false, false}, // m is the number of rows
		{0, "k == 2 * m", 1, "k", true, false},
		{0, "2 * k >= m", 1, "k", true, false}, // not followed
		{10, "k >= 10", 1, "k - 1", false, false},
	} {
		text := fmt.Sprintf("x = rand(10, 1, seed = 1)\nm = x.rows\niterate s = 0.0, k = %d until %s {\n  next s = s * 0.5 + x[%s]\n  next k = k + %d\n}\nemit s\n", c.from, c.until, c.at, c.step)
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, loops := r.Program, 0
		for id, n := range g.All() {
			if n.Op.Control == op.Iterate {
				if loops++; ir.MayFail(g, id) != c.mayFail {
					t.Errorf("from %d until %s by %d: x[%s] may fail is %v", c.from, c.until, c.step, c.at, !c.mayFail)
				}
			}
		}
		if loops != 1 {
			t.Errorf("%d loops in\n%s", loops, text)
		}
		if c.mayRunLong {
			continue
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"hoist", "rounds"}, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}
