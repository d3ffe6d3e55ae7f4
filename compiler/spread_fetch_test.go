package compiler_test

// These tests bring a rank only those rows of a matrix that its entries of a sparse one touch.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/compiler"
	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/runtime/dist"
	"flow/stdlib"
)

// fetchPrograms have at least so many gathers with lists.
var fetchPrograms = []spreadProgram{
	{"a vector, a matrix and truths", `S = rand_sparse(40, 40, density = 0.05, seed = 3)
G = rand_graph(40, 60, seed = 2)
iterate x = rand(40, 1, seed = 5), Y = rand(40, 3, seed = 6), r = seq(0, 40) == 7, k = 0 until k == 4 {
  next x = S @ x + x / 2
  next Y = S @ Y + Y
  next r = r or semiring(G, r, "or and")
  next k = k + 1
}
emit x
emit Y
emit r`, 0, 1},
	{"a matrix that is made in an outer loop", `S = rand_sparse(30, 30, density = 0.1, seed = 3)
iterate x = rand(30, 1, seed = 5), j = 0 until j == 3 {
  A = t(S) * (j + 1.0) + S
  iterate y = x, k = 0 until k == 3 {
    next y = A @ y / 4
    next k = k + 1
  }
  next x = y + S @ x
  next j = j + 1
}
emit x`, 0, 2},
	{"a loop in a branch, and a condition that reads", `S = rand_sparse(30, 30, density = 0.1, seed = 3)
iterate x = rand(30, 1, seed = 5), j = 0 until j == 4 or sum(S @ x) > 1e9 {
  y = if j % 2 == 0 {
    iterate z = x * 2, k = 0 until k == 3 {
      next z = S @ z + 1
      next k = k + 1
    }
    z
  } else { x + 1 }
  next x = y / 3
  next j = j + 1
}
emit x`, 0, 1},
	{"what is read by lists, and as a whole", `S = rand_sparse(30, 30, density = 0.1, seed = 3)
T = rand_sparse(30, 30, density = 0.1, seed = 4)
iterate x = rand(30, 1, seed = 5), u = rand(30, 1, seed = 6), v = rand(30, 1, seed = 7), k = 0 until k == 4 {
  next x = S @ x + T @ x
  next u = S @ u + parfor i in 0..30 { u[29 - i, 0] }
  next v = parfor i in 0..30 { v[29 - i, 0] + v[max(i - 1, 0), 0] } + S @ v
  next k = k + 1
}
emit x
emit u
emit v`, 0, 0},
	{"shapes that differ, and wide elements", `S = rand_sparse(30, 18, density = 0.2, seed = 3)
R = sparse(i64(9 * rand(18, 30, seed = 4)) // 7)
iterate x = seq(0, 18), y = rand(30, 2, seed = 2), k = 0 until k == 5 {
  next x = (R @ (S @ x > 3)) % 100
  next y = S @ (R @ y) / 50
  next k = k + 1
}
emit x
emit y`, 0, 1},
	{"rows of which all are touched, and none", `S = sparse(ones(24, 24)) / 24
E = rand_graph(24, 0, seed = 1)
iterate x = rand(24, 1, seed = 5), y = seq(0, 24), k = 0 until k == 4 {
  next x = S @ x + 1
  next y = max(y, rowmax(E * t(y))) + E @ y
  next k = k + 1
}
emit x
emit y`, 0, 2},
	{"the same matrix by lists, and by numbers in an inner loop", `S = rand_sparse(40, 40, density = 0.1, seed = 3)
iterate x = rand(40, 1, seed = 5), j = 0 until j == 4 {
  y = S @ x / 3
  iterate s = zeros(3, 1), k = 0 until k == 3 {
    next s = s / 2 + take(x, (seq(0, 3) * 11 + k * 5 + j) % 40)
    next k = k + 1
  }
  next x = y + sum(s) / 9
  next j = j + 1
}
emit x`, 0, 1},
	{"rows of a sparse factor", `G = rand_graph(60, 50, seed = 4)
S = rand_sparse(60, 60, density = 0.02, seed = 7)
I = eye_sparse(60) * 2
B = G @ G
P = (S * seq(1, 61)) @ t(S)
Q = f32(S) @ f32(I)
iterate x = rand(60, 1, seed = 5), k = 0 until k == 3 {
  next k = k + 1
  next x = B @ x / 9 + P @ x + f64(Q @ f32(x))
}
emit x
emit B
emit P
emit Q`, 0, 4},
}

// numberedPrograms read rows whose numbers the run computes. They have at least so many gathers with
// lists.
var numberedPrograms = []spreadProgram{
	{"few rows, some of them twice", `A = rand(60, 3, seed = 1)
B = A * 2 + 1
i = (seq(0, 9) * 41) % 7
emit take(B, i)
emit sum(i)
emit colsum(B)`, 1, 1},
	{"rows of a table that does not change, whose numbers do not wait for a round", `A = parfor i in 0..60 { rand(1, 3, seed = i) }
iterate s = zeros(4, 3), k = 0 until k == 6 {
  next s = s / 2 + take(A, (seq(0, 4) * 17 + k * 29) % 60)
  next k = k + 1
}
emit s
emit colsum(A)`, 1, 0},
	{"rows that a round chooses", `A = rand(50, 4, seed = 1)
iterate c = A[0..6, :], k = 0 until k == 5 {
  d = parfor i in 0..50 { sum(A[i, :]) * (k + 1) - sum(c) }
  next c = take(A, argsort(abs(d))[0..6, :])
  next k = k + 1
}
emit c
emit colsum(A * 2)`, 1, 1},
	{"a carried matrix by a permutation", `p = argsort(rand(48, 1, seed = 4))
iterate x = rand(48, 2, seed = 1), k = 0 until k == 4 {
  y = parfor i in 0..48 { x[i, :] * 0.5 + k }
  next x = y + take(y, p) * 0.25
  next k = k + 1
}
emit x`, 1, 1},
	{"loops in loops, and integers", `A = parfor i in 0..40 { t([i * i % 23, i * 7 % 31]) }
iterate s = zeros(3, 2), j = 0 until j == 3 {
  iterate u = s, k = 0 until k == 3 {
    next u = u / 2 + take(A, (seq(0, 3) * 11 + k * 5 + j) % 40)
    next k = k + 1
  }
  next s = u + 1
  next j = j + 1
}
emit s
emit colsum(A)`, 1, 1},
	{"rows by numbers, and all rows", `iterate x = rand(40, 2, seed = 1), k = 0 until k == 3 {
  y = parfor i in 0..40 { x[i, :] * 0.5 + k }
  z = take(y, (seq(0, 40) * 7 + k) % 40)
  next x = z + parfor i in 0..40 { y[39 - i, :] }
  next k = k + 1
}
emit x`, 1, 0},
}

// Rows whose numbers the run computes are brought by lists.
func TestNumberedRows(t *testing.T) {
	spreadAlike(t, numberedProgramsOf(0))
	for _, p := range numberedPrograms {
		c, err := compileTiny(tinyTable(t), p.text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		if n := fetchesIn(c.Plan.Graph); n < p.collects {
			t.Errorf("%s: %d gathers with lists, not %d", p.name, n, p.collects)
		}
	}
}

// Rows of several matrices that one column numbers have the same lists.
func TestListsOfNumberedRows(t *testing.T) {
	text := "A = rand(60, 1, seed = 1)\nB = A * 2 - rand(60, 3, seed = 2)\np = argsort(A - B[:, 1])\nemit colsum(take(A, p)[3.., :])\nemit colsum(take(B, p)[9.., :])\nemit sum(B[p, 2] * A)"
	spreadAlike(t, []spreadProgram{{"two matrices", text, 1, 0}})
	c, err := compileTiny(tinyTable(t), text, 3, false, apart)
	if err != nil {
		t.Fatal(err)
	}
	lists := 0
	for i := range c.Plan.Graph.Nodes {
		if c.Plan.Graph.Nodes[i].Op.Name == "sp.touched" {
			lists++
		}
	}
	if n := fetchesIn(c.Plan.Graph); lists != 1 || n < 3 { // one of the sort
		t.Errorf("%d lists for %d gathers with lists in\n%s", lists, n, c.Plan.Graph)
	}
}

// numberedProgramsOf is numberedPrograms with so many sparse matrices that are brought together.
func numberedProgramsOf(collects int) (list []spreadProgram) {
	for _, p := range numberedPrograms {
		p.collects = collects
		list = append(list, p)
	}
	return list
}

// A number outside the table fails as defined, on whichever rank it is read.
func TestNumberedRowsFail(t *testing.T) {
	failsAsDefined(t, []string{
		"A = parfor i in 0..60 { rand(1, 3, seed = i) }\niterate s = zeros(4, 3), k = 0 until k == 9 {\n  next s = s + take(A, seq(0, 4) * 17 + 2 * k)\n  next k = k + 1\n}\nemit s\nemit colsum(A)",
		"iterate x = rand(40, 2, seed = 1), k = 0 until k == 9 {\n  y = parfor i in 0..40 { x[i, :] * 0.5 + k }\n  next x = take(y, seq(0, 40) - (k // 5))\n  next k = k + 1\n}\nemit x",
	}, sharedIn, fetchPrograms[1].text)
	failsAsDefined(t, []string{
		"p = argsort(rand(40, 1, seed = 3))\niterate x = rand(40, 2, seed = 1), k = 0 until k == 9 {\n  y = parfor i in 0..40 { x[i, :] * 0.5 + k }\n  next x = take(y, p - (k // 5))\n  next k = k + 1\n}\nemit x",
	}, fetchesIn, fetchPrograms[1].text)
}

// fetchesIn counts the gathers with lists in g and its regions.
func fetchesIn(g *ir.Graph) (n int) { return gathersWith(g, plan.Fetch) }

// gathersWith counts the gathers in g and its regions that have an attribute.
func gathersWith(g *ir.Graph, attr string) (n int) {
	for i := range g.Nodes {
		if g.Nodes[i].Attrs.Int(attr) > 0 {
			n++
		}
		for r := g.Nodes[i].Region; r != nil; r = r.Next {
			n += gathersWith(r.Graph, attr)
		}
	}
	return n
}

// Rows stay where they arrive if nothing else brings rows of the same matrix: packed says of how many
// gathers of fetchPrograms.
func TestPackedRows(t *testing.T) {
	for k, packed := range []int{3, 2, 2, 0, 4, 2, 0, 1} {
		c, err := compileTiny(tinyTable(t), fetchPrograms[k].text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		if n := gathersWith(c.Plan.Graph, plan.Packed); n != packed {
			t.Errorf("%s: %d of %d gathers with lists keep rows where they arrive, not %d", fetchPrograms[k].name, n, fetchesIn(c.Plan.Graph), packed)
		}
	}
}

// Columns of a matrix are renumbered where ranks need some rows of each other, and not where they send
// all rows to their places.
func TestPackedWhereSomeRowsArrive(t *testing.T) {
	for _, x := range []struct {
		density string
		packed  int
	}{{"0.001", 1}, {"0.01", 0}} {
		text := "S = rand_sparse(2000, 2000, density = " + x.density + ", seed = 3)\niterate Y = rand(2000, 3, seed = 6) times 20 {\n  next Y = S @ Y / 9 + Y\n}\nemit Y"
		c, ds := compiler.Compile(t.Context(), "x.flow", []byte(text), compiler.Options{Table: tinyTable(t), Ranks: 2, Verify: true, Sizes: nodes.Sizes{Spread: 64}})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if n, fetches := gathersWith(c.Plan.Graph, plan.Packed), fetchesIn(c.Plan.Graph); n != x.packed || fetches == 0 {
			t.Errorf("density %s: %d of %d gathers with lists keep rows where they arrive, not %d", x.density, n, fetches, x.packed)
		}
	}
}

func TestFetch(t *testing.T) {
	spreadAlike(t, fetchPrograms)
	for _, p := range fetchPrograms {
		c, err := compileTiny(tinyTable(t), p.text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		if n := fetchesIn(c.Plan.Graph); n < p.collects {
			t.Errorf("%s: %d gathers with lists, not %d", p.name, n, p.collects)
		}
	}
}

// If one rank alone reads a sparse matrix whose rows ranks share, it gets the rows of the others. The
// others get only the lengths of rows.
func TestSparseMatrixForOneRank(t *testing.T) {
	const text = "S = rand_sparse(90, 90, density = 0.5, seed = 3)\niterate x = rand(90, 1, seed = 5), k = 0 until k == 2 {\n  next x = S @ x\n  next k = k + 1\n}\nemit sum(x)\n"
	sent := func(more string) (bytes int64) {
		c, err := compileTiny(tinyTable(t), text+more, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		report, err := dist.RunInProcess(context.Background(), c.Plan, 1, func(int) dist.Options { return dist.Options{Env: &printer{}} })
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Ranks {
			bytes += r.BytesSent
		}
		return bytes
	}
	if got, want := sent("emit S\nemit S as \"again\"")-sent(""), int64(60*45*(4+8)+6*30*4); got != want {
		t.Errorf("%d bytes are sent, not %d", got, want)
	}
}

// A round brings a rank the rows that its entries touch and that it does not have, no others.
func TestFetchBytes(t *testing.T) {
	const text = `S = sparse(parfor i in 0..60, j in 0..60 { if abs(i - j) == 1 { 0.5 } else { 0.0 } })
iterate x = rand(60, 2, seed = 5), k = 0 until k == %d {
  next x = S @ x
  next k = k + 1
}
emit sum(x)`
	sent := func(rounds int) (messages, bytes int64) {
		c, err := compileTiny(tinyTable(t), fmt.Sprintf(text, rounds), 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		if fetchesIn(c.Plan.Graph) != 1 {
			t.Fatal("no gather with lists")
		}
		report, err := dist.RunInProcess(context.Background(), c.Plan, 1, func(int) dist.Options { return dist.Options{Env: &printer{}} })
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Ranks {
			messages, bytes = messages+r.MessagesSent, bytes+r.BytesSent
		}
		return messages, bytes
	}
	m4, b4 := sent(4) // transfers for a round that does not follow, too
	m14, b14 := sent(14)
	if m14-m4 != 10*4 || b14-b4 != 10*4*2*8 {
		t.Errorf("10 rounds send %d messages of %d bytes", m14-m4, b14-b4)
	}
}

// fetchFailures fail while rows of lists are on their way: some ranks get further than others.
var fetchFailures = []string{
	`S = rand_graph(30, 40, seed = 3)
emit 1
iterate x = seq(0, 30), k = 0 until k == 9 {
  y = (S @ x) % 1000
  next x = parfor i in 0..30 {
    iterate w = 0.0 times (30 - i) * 100 { next w = w * 0.5 + 1 }
    at = if i < 12 { 5 } else { 7 - i // 15 }
    y[i, 0] + i64(w) * 0 + 1 // (at - k)
  }
  next k = k + 1
}
emit x`,
	`S = rand_sparse(24, 24, density = 0.1, seed = 3)
iterate x = rand(24, 2, seed = 1), j = 0 until j == 4 {
  A = t(S) + S * (j + 1)
  iterate y = x, k = 0 until k == 3 {
    z = parfor i in 0..24 { y[i, 0] * 0 + 1 // (i // 23 * 7 + 8 - 3 * j - k) }
    next y = A @ (y + z) / 9
    next k = k + 1
  }
  next x = y
  next j = j + 1
}
emit x`,
}

func TestFetchFails(t *testing.T) {
	failsAsDefined(t, fetchFailures, fetchesIn, fetchPrograms[1].text)
}

func TestFetchDrawn(t *testing.T) {
	table := tinyTable(t)
	lists := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 83))
		pick := func(forms ...string) string { return forms[rng.IntN(len(forms))] }
		n := 6 + rng.IntN(30)
		text := fmt.Sprintf(`S = rand_sparse(%d, %d, density = %s, seed = %d)
T = t(S) %s
iterate x = rand(%d, %d, seed = 5), k = 0 until k == %d {
  next x = %s
  next k = k + 1
}
emit x
emit sum(x)
`, n, n, pick("0.02", "0.1", "0.5"), 1+seed, pick("* 2", "+ S", "- S / 2"), n, 1, 2+rng.IntN(4),
			pick("T @ x / 3 + 0.25", `min(semiring(T, x, "min +"), 9) / 5`, "rowmax(T * t(x)) / 2 + 0.5", "T @ (S @ x) / 7 + rowmin(T)", "T @ (x - mean(x)) + S @ x / 5",
				"rowsum(T * t(x)) / 4 + x / 2"))
		c, err := compiledOnce(table, text, 3, false, apart)
		if err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		lists += fetchesIn(c.Plan.Graph)
		if _, err := (runs{{3, 1, apart, false, ""}, {2, 2, nil, true, "FAC2"}, {5, 1, []string{"hoist", "keep", "rounds"}, false, "SS"}}).some(uint64(seed)).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if lists < 20 {
		t.Errorf("only %d gathers with lists", lists)
	}
}

// Each rank makes its own rows of a random matrix that loops read by rows, and sends none of them.
func TestRandomMatricesByRows(t *testing.T) {
	programs := []spreadProgram{{"constructors", `S = rand_sparse(31, 17, density = 0.2, seed = 3)
T = rand_sparse(17, 31, density = 0.3, seed = 4)
G = rand_graph(31, 70, seed = 8)
I = eye_sparse(31)
iterate x = rand(31, 1, seed = 5), c = seq(0, 31), k = 0 until k == 4 {
  next x = S @ (T @ x) / 7 + I @ x
  next c = max(c, rowmax(G * t(c)))
  next k = k + 1
}
emit x
emit c
emit nnz(G)
emit S
emit rowsum(I)`, 0, 0},
		{"of which some are read as a whole, and in loops and branches", `S = rand_sparse(20, 20, density = 0.1, seed = 3)
iterate x = rand(20, 1, seed = 5), k = 0 until k == 4 {
  R = rand_sparse(20, 20, density = 0.1, seed = 9)
  y = if k % 2 == 0 { eye_sparse(20) @ x } else { x / 2 }
  next x = S @ y + R @ x
  next k = k + 1
}
emit x
emit colsum(S)
emit S @ S`, 0, 0}}
	spreadAlike(t, programs)
	c, err := compileTiny(tinyTable(t), programs[0].text, 3, false, apart)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Plan.Graph.Nodes {
		if n := &c.Plan.Graph.Nodes[i]; n.Op.ByRows && n.Attrs.Int(plan.SharedRows) == 0 {
			t.Errorf("one rank makes all of %s", c.Plan.Graph.Line(ir.ID(i)))
		}
	}
}

// PageRank on ranks sends at most 1.05 times the bytes that the partition needs, in a whole run: the
// links that change their rank when the matrix is turned, in each round the rows of r that a rank's
// links touch, and at the end all of r to the rank that sorts it.
func TestPageRankBytes(t *testing.T) {
	const pages, rounds = 20000, 80
	const graph = "L = rand_graph(20000, 120000, seed = 1)\n"
	const text = graph + `A = t(L)
links = rowsum(L)
iterate r = fill(1.0 / 20000, 20000, 1), k = 0 until k >= 80 {
  lost = sum(r * (links == 0))
  next r = 0.85 * (A @ (r / max(links, 1)) + lost / 20000) + 0.15 / 20000
  next k = k + 1
}
emit argsort(r, desc = true)[0..3, :]`
	table := tinyTable(t)
	compiled := func(text string, ranks int) *compiler.Result {
		c, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: ranks, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return c
	}
	_, links, _ := strings.Cut(ran(compiled(graph+"emit all f64(L)", 1), 1).out, "\n")
	for _, ranks := range []int{2, 3, 5} {
		owner := func(row int) int { return ((row+1)*ranks - 1) / pages }
		need, touched := 0, map[[2]int]bool{}
		for line := range strings.Lines(links) {
			var from, to int
			if _, err := fmt.Sscan(line, &from, &to); err != nil {
				t.Fatal(err)
			}
			if owner(from) != owner(to) {
				need += 4
				touched[[2]int{owner(to), from}] = true
			}
		}
		_, first := op.Window(0, ranks, pages)
		need += 8*rounds*len(touched) + 8*(pages-first)
		report, err := dist.RunInProcess(context.Background(), compiled(text, ranks).Plan, 1, func(int) dist.Options { return dist.Options{Env: &printer{}} })
		if err != nil {
			t.Fatal(err)
		}
		sent := int64(0)
		for _, r := range report.Ranks {
			sent += r.BytesSent
		}
		t.Logf("%d ranks send %.3f of the %d bytes that they need", ranks, float64(sent)/float64(need), need)
		if float64(sent) > 1.05*float64(need) {
			t.Errorf("%d ranks send %d bytes, and need %d", ranks, sent, need)
		}
	}
}

// Ranks share stencils of slices by rows, outside of loops as well: a slice of a matrix takes no time.
func TestStencilsByRows(t *testing.T) {
	const text = "A = rand(1000, 1000, seed = 1)\nH = sum([for i in 0..25 => A[:, 20*i..20*i+500]])\nemit mean(H ^ 2)\nemit max(colsum(H))"
	c, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: tinyTable(t), Ranks: 3, Std: stdlib.Files})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	if c.Plan.Shares != "by rows" {
		t.Errorf("ranks share %s", c.Plan.Shares)
	}
}
