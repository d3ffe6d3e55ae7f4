package compiler_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"flow/compiler"
	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/kernels"
	"flow/stdlib"
)

// TestRoundsAtPlacesOfPoints checks rounds whose parfors keep all elements except some rows,
// columns or elements at given numbers. Their loops go over these places alone, also where one such
// parfor reads another, or where a stored value may fail. No loop of a round is as long as the
// matrix.
func TestRoundsAtPlacesOfPoints(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	long := regexp.MustCompile(`for \w+: 0\.\.(\d{5}|170 \{\n(.* = .*\n)* +for)`)
	for _, text := range []string{
		// rotations of two rows, then of two columns
		`n = 170
k = randint(7, 2, 0, n, seed = 2)
iterate A = rand(n, n, seed = 1), i = 0 times 7 {
  p = k[i, 0]
  q = k[i, 1]
  s = A[p, q] + A[q, p]
  B = parfor r in 0..n, c in 0..n { if r == p { s * A[p, c] - A[q, c] } else { if r == q { s * A[q, c] + A[p, c] } else { A[r, c] } } }
  next A = parfor r in 0..n, c in 0..n { if c == p { B[r, p] - s * B[r, q] } else { if c == q { B[r, q] / 2 } else { B[r, c] } } }
  next i = i + 1
}
emit sum(A)
`,
		// a shuffle by swaps of a long column
		`n = 33_000
r = rand(n, 1, seed = 1)
iterate x = seq(0, n), i = n - 1 times 9 {
  j = i64(r[i] * (i + 1))
  next x = parfor k in 0..n { if k == i { x[j] } else { if k == j { x[i] } else { x[k] } } }
  next i = i - 1
}
emit sum(x * seq(0, n))
`,
		// what is stored fails in round 5
		`n = 33_000
iterate x = rand(n, 1, seed = 1), i = 0 times 9 {
  next x = parfor k in 0..n { if k == 3 * i { x[n - 5 + i] + 1 } else { x[k] } }
  next i = i + 1
}
emit sum(x)
`,
	} {
		list := roundsOf(t, table, text)
		for _, x := range list {
			if rounds, _, _ := strings.Cut(x, "\n  }\n"); long.MatchString(rounds) {
				t.Errorf("a round goes over the whole matrix:\n%s", x)
			}
		}
		if len(list) == 0 {
			t.Errorf("no loop has the rounds of\n%s", text)
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, text); err != nil {
			t.Error(err)
		}
	}
}

// TestDrawnElements checks that a point draws one number where it reads one of a matrix of random
// numbers, and that the plan counts no more. All numbers for each point would take hours.
func TestDrawnElements(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"n = 4000\nR = parfor p in 0..n { iterate x = 0.0, k = 0 times 10 { next x = x + randn(n, 1, seed = 3 * k)[p]; next k = k + 1 }; x }\nemit sum(R)\n",
		"n = 4000\nR = parfor p in 0..n { r = randn(n, 3, seed = p); r[n - 1 - p, 2] }\nemit sum(R)\n",
		"n = 4000\niterate x = zeros(n, 1), y = ones(n, 1), k = 0 times 10 { z = randn(n, 1, seed = k); next x = x + z; next y = y * z; next k = k + 1 }\nemit sum(x)\nemit sum(y)\nemit x[7]\n",
	} {
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files, Sizes: nodes.Sizes{Block: 64}})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		list := nestsOf(t, r.Plan.Graph, op.Points)
		for _, x := range list {
			if strings.Contains(x, "local ") || strings.Contains(x, "0..4000") {
				t.Errorf("a point draws more than it reads:\n%s", x)
			}
		}
		if len(list) == 0 {
			t.Errorf("no loop draws in\n%s", text)
		}
		for id, n := range r.Plan.Graph.All() {
			if n.Op.Role == op.Points {
				if inLanes, apart, _ := plan.BodyFlops(n.Region); inLanes+apart > 1e4 {
					t.Errorf("node %d takes %v operations a point, of\n%s", id, inLanes+apart, text)
				}
			}
		}
	}
}

// TestRoundsOfCheapPoints checks that a parfor with a few operations for each point of a long
// column is a stage, whose lanes are points, and not a part of a loop of one point.
func TestRoundsOfCheapPoints(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	text := `cap = 20_000
w = randint(9, 2, 1, 200, seed = 1)
iterate best = zeros(cap, 1), i = 0 times 9 {
  k = w[i, 0]
  v = w[i, 1]
  next best = parfor j in 0..cap { if j >= k { max(best[j, 0], best[j - k, 0] + v) } else { best[j, 0] } }
  next i = i + 1
}
emit sum(best)
`
	r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	stages := 0
	for _, x := range nestsOfRounds(t, r.Plan.Graph) {
		if strings.Contains(x, "for round:") {
			t.Errorf("a loop of one point:\n%s", x)
		}
		stages++
	}
	if stages == 0 {
		t.Error("no stages")
	}
	if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, text); err != nil {
		t.Error(err)
	}
}

// TestRoundsReadOneElement: a parfor of a round may fail at a point, and the round reads another of its
// elements alone, in a parfor or as a number. The round fails as the definition does.
func TestRoundsReadOneElement(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, read := range []string{"next x = parfor k in 0..n { if k == i + 1 { y[7] } else { x[k] } }", "s = y[5] + 1\nnext x = parfor k in 0..n { if k == i + 1 { s } else { x[k] } }"} {
		text := "n = 17_000\niterate x = rand(n, 1, seed = 1), i = 0 times 9 {\ny = parfor k in 0..n { if k == 3 * i { x[n - 5 + i] + 1 } else { x[k] } }\n" + read + "\nnext i = i + 1\n}\nemit sum(x)\n"
		if o, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, text); err != nil || !o.failed {
			t.Errorf("error %v, the definition fails: %v\nin\n%s", err, o.failed, text)
		}
	}
}

// TestRoundsOfLargePlaces checks which rounds that change a place of a large matrix are one task: those
// of few elements, however large the matrix is. The first number of each case is the rows, the second
// one the columns.
func TestRoundsOfLargePlaces(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	const chosen, points, across, element = "ifelse(seq(0, n) == i, T[i - 1, :] + 1, T)", "parfor r in 0..n, c in 0..m { if r == i { T[i - 1, c] + 1 } else { T[r, c] } }",
		"parfor r in 0..n, c in 0..m { if c == i { T[r, i - 1] + 1 } else { T[r, c] } }", "parfor r in 0..n, c in 0..m { if c == 0 and r == i { T[i - 1, 1] + 1 } else { T[r, c] } }"
	for _, c := range []struct {
		n, m int
		next string
		one  bool
	}{
		{1000, 4000, chosen, true},
		{1000, 5000, chosen, false},
		{5000, 4000, chosen, true}, // more than 2^24 elements
		{1000, 30_000, points, true},
		{1000, 40_000, points, false},
		{30_000, 1000, across, true},
		{40_000, 1000, across, false},
		{1000, 40_000, element, true},
		{60_000, 2000, element, false}, // more than 2^26
	} {
		text := fmt.Sprintf("n = %d\nm = %d\niterate T = zeros(n, m), i = 1 times 500 {\n  next T = %s\n  next i = i + 1\n}\nemit T[3, 1]\n", c.n, c.m, c.next)
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if one := slices.ContainsFunc(r.Plan.Graph.Nodes, func(n ir.Node) bool { return n.Op.Role == op.Rounds }); one != c.one {
			t.Errorf("the rounds of %d x %d are one task is %v:\n%s", c.n, c.m, one, text)
		}
	}
}

// roundsOf compiles a program and returns, of each loop of rounds that is one nest, the text from its
// rounds on.
func roundsOf(t *testing.T, table *op.Table, text string) (list []string) {
	t.Helper()
	r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, x := range nestsOfRounds(t, r.Plan.Graph) {
		if _, rounds, is := strings.Cut(x, "for round:"); is {
			list = append(list, rounds)
		}
	}
	return list
}

// nestsOfRounds returns the texts of the loops of all rounds of a plan.
func nestsOfRounds(t *testing.T, g *ir.Graph) []string { return nestsOf(t, g, op.Rounds) }

// nestsOf returns the texts of the loops of all nodes of a role.
func nestsOf(t *testing.T, g *ir.Graph, role op.Role) (texts []string) {
	t.Helper()
	for id, n := range g.All() {
		if n.Op.Role != role {
			continue
		}
		c := &op.Call{Def: n.Op, Attrs: n.Attrs, Type: g.Type(id)}
		if err := n.Enter(c); err != nil {
			t.Fatal(err)
		}
		nests, _ := n.Op.Nests(c, nil)
		for _, x := range nests {
			texts = append(texts, x.String())
		}
	}
	return texts
}
