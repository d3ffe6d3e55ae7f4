package compiler_test

import (
	"strings"
	"testing"
)

// What a loop or branch hands over outlives what it was taken from: a window of a captured matrix
// is a copy then, though elsewhere it may be a view.
func TestWindowsThatAreHandedOver(t *testing.T) {
	table := tinyTable(t)
	for _, text := range []string{
		`
v0 = f32(randn(2, 1, seed = 98))
iterate v6 = f32(zeros(1, 1)) times i64(sum(ones(3, 1))) { next v6 = (t(v0) @ v0)[0, :] }
v9 = t(v6) @ t(v0)
emit relu(v9)
`, `
A = exp(rand(4, 3, seed = 1))
iterate x = zeros(2, 3) times i64(sum(ones(3, 1))) { next x = A[1..3, :] }
B = rbind(x, x)
emit x + 1
emit B
`, `
A = exp(rand(4, 3, seed = 1))
x = if sum(A) > 0 { A[1..3, :] } else { zeros(2, 3) }
B = rbind(x, x)
emit x + 1
emit B
`, `
A = exp(rand(4, 3, seed = 1))
w = A[1..3, :]
x = if sum(A) > 0 { w } else { zeros(2, 3) }
B = rbind(x, x)
emit x + 1
emit B
`, `
A = exp(rand(4, 3, seed = 1))
w = A[1..3, :]
iterate x = zeros(2, 3) times i64(sum(ones(3, 1))) { next x = w }
B = rbind(x, x)
emit x + 1
emit B
`, `
A = exp(rand(4, 3, seed = 1))
w = A[1..3, :]
iterate x = zeros(2, 3) times i64(sum(ones(3, 1))) {
  iterate y = w times i64(sum(x) * 0) { next y = y + 1 }
  next x = y
}
B = rbind(x, x)
emit x + 1
emit B
`, `
A = exp(rand(4, 3, seed = 1))
w = A[1..3, :]
x = if sum(A) > 0 { if sum(A) > 1 { w } else { 2 * w } } else { zeros(2, 3) }
B = rbind(x, x)
emit x + 1
emit B
`,
	} {
		plain := runs{{1, 1, nil, false, ""}}[0]
		for _, ranks := range []int{1, 2, 3} {
			for _, disable := range [][]string{nil, {"partition", "drop-move"}, {"fuse"}} {
				with := plain
				with.ranks, with.disable = ranks, disable
				if _, err := (runs{plain, with}).differ(table, text); err != nil {
					t.Errorf("%v\nin%s", err, text)
				}
			}
		}
	}
}

// A loop whose rounds are made in blocks may begin with a matrix whose size only the run knows: then it
// carries the whole.
func TestBlocksAfterASizeOfTheRun(t *testing.T) {
	text := "X = rand(40, 12, seed = 48)\nk = count(X < 0)\niterate u = X[:, k..12] times 2 with (unroll = 0) {\n  next u = exp(X @ t(X)) @ X\n}\nemit u\n"
	if o, err := (runs{{1, 2, nil, true, ""}, {2, 1, nil, false, ""}, {3, 1, []string{"simplify"}, false, ""}}).differ(tinyTable(t), text); err != nil || o.failed {
		t.Errorf("%v, failed: %v", err, o.failed)
	}
}

// A loop carries blocks in place of a matrix, so what comes behind the matrix has another number
// among its results. Two values of one type would change places in silence.
func TestResultsBehindBlocks(t *testing.T) {
	table, rs := tinyTable(t), runs{{1, 2, []string{"rounds"}, true, ""}, {3, 1, []string{"by-rows", "rounds"}, false, ""}}
	text := `
iterate A = rand(8, 8, seed = 1), p = ones(4, 4), q = zeros(4, 4) times 6 {
  next A = A * 0.5 + t(A)
  next p = q * 0.5
  next q = p + A[0..4, 4..8]
}
emit A
emit p
emit q
`
	c, err := compileTiny(table, text, 1, true, []string{"rounds"})
	if err != nil || !strings.Contains(c.Plan.Graph.String(), "{carry=6") {
		t.Fatalf("no loop carries four blocks and two matrices (%v)", err)
	}
	if _, err := rs.differ(table, text); err != nil {
		t.Error(err)
	}
}
