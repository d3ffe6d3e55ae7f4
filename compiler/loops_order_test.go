package compiler_test

import (
	"fmt"
	"testing"

	"flow/ir"
	"flow/ir/op"
)

// TestOrderOfSomeRows: a body puts up to 64 rows in order as part of its loop: nan last, -0 equal to 0,
// equal rows as they were.
func TestOrderOfSomeRows(t *testing.T) {
	table := tinyTable(t)
	for _, n := range []int{16, 17, 31, 64} {
		for _, x := range []string{
			"replace(replace(f64(i64(3 * randn(37, %d, seed = 1))), 2, nan), 0, -0.0) * ifelse(rand(37, %[1]d, seed = 4) < 0.5, 1, -1)",
			"ifelse(rand(37, %d, seed = 1) < 0.2, inf, ifelse(rand(37, %[1]d, seed = 1) < 0.4, nan, -inf))",
			"f32(replace(i64(5 * rand(37, %d, seed = 1)), 1, nan))", "i64(9 * randn(37, %d, seed = 1))", "rand(37, %d, seed = 1) < 0.5",
		} {
			for _, body := range []string{"sort(x)", "sort(x, desc = true)", "argsort(x)", "argsort(x, desc = true)", "argsort(argsort(x))", "sort(cbind(reverse(x), x), by = 1)[:, 1]"} {
				text := fmt.Sprintf("X = materialize("+x+")\nemit parfor i in 0..37 { x = t(X[i, :])\n t(%s) }\n", n, body)
				if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, false, "FAC2"}}).differ(table, text); err != nil {
					t.Errorf("%v\nin\n%s", err, text)
				}
				if body == "sort(cbind(reverse(x), x), by = 1)[:, 1]" { // rows of two columns are sorted by a call
					continue
				}
				c, err := compileTiny(table, text, 1, false, nil)
				if err != nil {
					t.Fatal(err)
				}
				g := c.Plan.Graph
				for i := range g.Nodes {
					if node := &g.Nodes[i]; node.Op.Role == op.Points {
						call := &op.Call{Def: node.Op, Attrs: node.Attrs, Type: g.Type(ir.ID(i))}
						if err := node.Enter(call); err != nil {
							t.Fatal(err)
						}
						if list, why := node.Op.Nests(call, nil); len(list) != 1 || why != "" {
							t.Errorf("%d loops, because of %q:\n%s", len(list), why, text)
						}
					}
				}
			}
		}
	}
}
