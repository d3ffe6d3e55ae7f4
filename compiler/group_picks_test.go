package compiler_test

import (
	"strings"
	"testing"
)

// Rows at computed positions join the loop that reads each of them at its own index, or that reduces
// them or all elements. They stay apart if the loop reads only some, or if something else that may fail
// lies between. Bytes and failures are
// those of the definition.
func TestRowsAtNumbersJoinLoops(t *testing.T) {
	const data = "x = materialize(rand(70, 1, seed = 1))\nX = materialize(rand(70, 3, seed = 2))\n" +
		"k = materialize(i64(139 * rand(90, 1, seed = 3)) - 70)\nbad = materialize(i64(72 * rand(900, 1, seed = 4)))\n"
	for _, p := range []struct {
		text   string
		stored int // how many selections of rows are nodes of their own
		fails  bool
	}{
		{"emit sqrt(x[k]) + 1", 0, false},
		{"emit 2 * X[k, :] - 1", 0, false},
		{"emit x[(7 * k) % 70] * 3 - k", 0, false},
		{"emit take(x, abs(k) % 70) + x[k]", 0, false},
		{"emit 2 * X[k, :] + x[k]", 2, false}, // a group holds one of two that may fail
		{"emit t(x[k][-1.. by -1] + 1)", 1, false},
		{"iterate s = 0 * x[k], r = 0 times 9 { next s = s / 2 + x[(k + r) % 70]; next r = r + 1 }\nemit s", 0, false},
		{"emit sum(2 * x[k] * x[abs(k) % 70])", 0, false}, // a reduction reads all of them
		{"emit any(x[k] > 0.5)", 0, false},
		{"emit argmax(x[k] + 1)", 0, false},
		{"emit any(x[bad] >= 0)", 0, true}, // also one that the first element decides
		{"emit rowsum(X[k, :] * X[abs(k) % 70, :])\nemit rowargmax(take(X, abs(k) % 70))", 0, false},
		{"emit sqrt(rowsum((X[k[abs(k) % 90], :] - X[k, :])^2)) + rowmax(X[k, :])", 0, false},
		{"emit colsum(X[k, :] * x[k])", 0, false},
		{"l = materialize(k[0..70])\nemit rowsum(X[l, :] * 2)", 0, false},                            // as many rows as X has
		{"l = materialize(k[0..70])\nemit rowsum(X[l, :] * X)", 1, false},                            // one argument is no row and a table
		{"l = materialize(k[0..70])\nZ = X / rowsum(X)\nemit rowsum(Z[l, :] * rowmax(Z))", 0, false}, // all of Z comes first
		{"p = materialize(argsort(x))\nemit colsum(X[p, :][p, :] * 2)", 1, false},
		{"D = X[k, :] - X[abs(k) % 70, :]\nemit colsum(D)\nemit argmax(D)", 1, false}, // rows with a place have no loop
		{"y = X[k, :]\nemit y\nemit rowsum(y * 2)", 1, false},                         // it is read before the reduction
		{"emit rowsum(X[bad, :] * 2)", 0, true},
		{"emit rowsum(X[k // (k - k[3]), :] * 2)\nemit rowmax(X[bad, :])", 0, true},
		{"emit 2 * x[bad] + 1", 0, true},
		{"emit \"before\"\nemit sqrt(x[bad]) + 1", 0, true},
		{"emit (2 * x[bad] + 1)[0..5]", 1, true}, // a position that is not read fails, too
		{"a = x[bad]\nb = k // (k - k[3])\nemit 2 * a + 1\nemit b", 1, true},
		{"a = x[bad]\nb = k // (k - k[3])\nassert sum(b) > 0\nemit 2 * a + 1", 1, true},
	} {
		c, err := compileTiny(tinyTable(t), data+p.text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		stored := 0
		for _, line := range strings.Split(c.Plan.Graph.String(), "\n") {
			if !strings.HasPrefix(line, " ") && (strings.Contains(line, "= pick.rows(") || strings.Contains(line, "= take(")) {
				stored++
			}
		}
		if stored != p.stored {
			t.Errorf("%s: %d selections of rows are stored, want %d\n%s", p.text, stored, p.stored, c.Plan.Graph)
		}
		var rs runs
		for _, technique := range []string{"", "SS", "FAC2"} {
			rs = append(rs, runs{{1, 1, nil, false, technique}, {1, 3, nil, false, technique},
				{1, 2, []string{"group"}, false, technique}}...)
		}
		rs = append(rs, runs{{2, 2, nil, false, ""}, {3, 1, nil, false, ""}}...)
		if o, err := rs.differ(tinyTable(t), data+p.text); err != nil || o.failed != p.fails {
			t.Errorf("%s: %v, fails: %v, want %v", p.text, err, o.failed, p.fails)
		}
	}
}
