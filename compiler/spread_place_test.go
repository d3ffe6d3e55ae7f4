package compiler_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"flow/compiler"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/kernels"
	"flow/memory"
	"flow/runtime/dist/transport/mem"
	"flow/stdlib"
)

// placedPrograms ask for places. %s is one of them.
var placedPrograms = []string{
	`y = parfor i in 0..40 with (place = %s) { i * i + 1 }
emit sum(y)
emit parfor i in 0..40 { y[39 - i, 0] + 7 // (i - 50) }`,
	`iterate a = seq(0, 41), k = 0 until k == 3 with (place = %s) {
  b = parfor i in 0..41 { a[i, 0] + a[40 - i, 0] * k }
  assert sum(b) != 5, "five"
  next a = b + 1
  next k = k + 1
}
emit a
emit colsum(a)`,
	`iterate a = seq(0, 41) * 1.0 times 5 {
  b = parfor i in 0..41 with (place = %s) { (a[i, 0] + a[40 - i, 0]) / 2 }
  next a = b
}
emit sum(a)`,
	`chan L = tiles(rand_spd(12, seed = 4), 4, part = "lower") with (place = %s)
for k in 0..3 {
  L[k,k] <- potrf(L[k,k])
  for i in k+1..3 { L[i,k] <- trsm(L[k,k], L[i,k]) }
  for i in k+1..3, j in k+1..=i { L[i,j] <- L[i,j] - L[i,k] @ t(L[j,k]) }
}
emit untile(L)
emit sum(untile(L))
assert L[0,0][0,0] > 0`,
	`chan c: grid[5] of f64[4,3] with (place = %s)
for i in 0..5 { c[i] <- rand(4, 3, seed = i + 1) * 2 }
for i in 1..5 { c[i] <- c[i] + c[i - 1] / 3 }
emit untile(c)
emit parfor i in 0..20 { i + c[4][0, 0] }`,
	`x = rand(9, 9, seed = 3)
chan d[i in 0..3, j in 0..=i]: f64 = if j == 0 { x[i, j] } else { d[i, j - 1] + d[i - 1, j - 1] } with (place = %s)
emit d[2, 2]`,
}

// TestPlaces compares programs in all places with their definition, and the messages that plans
// predict with those sent.
func TestPlaces(t *testing.T) {
	for _, p := range placedPrograms {
		places := []string{"rows", "replicated", "one"}
		if strings.HasPrefix(p, "chan") || strings.Contains(p, "\nchan") {
			places = append(places, "cols", "cyclic2d")
		}
		list := make([]spreadProgram, len(places))
		for i, place := range places {
			list[i] = spreadProgram{name: place + " in " + p, text: fmt.Sprintf(p, place)}
		}
		spreadAlike(t, list)
		if !strings.Contains(p, "until") {
			sendsAsPredicted(t, list)
		}
	}
}

// A loop with a place is not unrolled on one rank, either. Unrolled, it would not compute a first
// value that no round reads, and such a value would fail only on several ranks.
func TestPlacedLoopsStayLoops(t *testing.T) {
	const text = `iterate a = 7 // seq(0, 41), k = 0 times 3 with (place = rows) {
  next a = k + parfor i in 0..41 { i }
  next k = k + 1
}
emit a`
	for _, ranks := range []int{1, 2} {
		c, err := compileTiny(tinyTable(t), text, ranks, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o := evaluated("the program", c.Program); o.err == nil {
			t.Errorf("%d ranks: the first value does not fail, and prints %q", ranks, o.out)
		}
	}
}

// TestPlacesAreTaken reads where values lie that would be elsewhere without a word: rows of little work
// under the limits of real runs, others under none.
func TestPlacesAreTaken(t *testing.T) {
	where := func(k int, place string) (list []string) {
		o := compiler.Options{Table: tinyTable(t), Ranks: 3, Std: stdlib.Files}
		if place != "rows" {
			o.Sizes, o.Disable = tinySizes, apart
		}
		r, ds := compiler.Compile(t.Context(), "p.flow", []byte(fmt.Sprintf(placedPrograms[k], place)), o)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		for _, l := range plan.Layouts(r.Plan) {
			list = append(list, l.Op+" "+l.Where)
		}
		return list
	}
	for _, c := range []struct {
		program     int
		place, want string
	}{
		{0, "rows", "parfor rows"}, {0, "replicated", "parfor replicated"}, {0, "one", "parfor rank 0"},
		{1, "rows", "part rows\npart partial"}, {1, "replicated", "part replicated"}, {1, "one", "part rank 0"},
		{2, "rows", "parfor rows"}, {2, "replicated", "parfor rank 0"}, {2, "one", "parfor rank 0"},
		{3, "rows", "trsm ranks 1 2"}, {3, "cols", "trsm ranks 0 1"}, {3, "one", "trsm rank 0"}, {3, "replicated", "trsm replicated"},
	} {
		if got := where(c.program, c.place); !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("program %d, place = %s: %s", c.program, c.place, strings.Join(got, ", "))
		}
	}
	// A plan of one process that rank 0 runs gives the same reason.
	r, ds := compiler.Compile(t.Context(), "p.flow", []byte(fmt.Sprintf(placedPrograms[1], "one")), compiler.Options{Table: tinyTable(t), Ranks: 3, Std: stdlib.Files})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	if list := plan.Layouts(r.Plan); !slices.ContainsFunc(list, func(l plan.Layout) bool { return l.Where == "rank 0" && l.Why == "the program says so" }) {
		t.Errorf("nothing lies on rank 0 because the program says so: %+v", list)
	}
}

// groupMedians has points whose work follows from the number of rows that may be chosen.
const groupMedians = `g = randint(%[1]d, 1, 0, 12, seed = 2)
iterate x = rand(%[1]d, 1, seed = 1) times 8 {
  next x = x * 0.9 + 0.01 * sum(parfor j in 0..12 { median(x[g == j, :]) })
}
emit sum(x)`

// Ranks share what is worth it, by the sizes of a program as it is.
func TestSharedByWork(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "edges.txt.gz") // one rank reads it
	packed, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	edges := gzip.NewWriter(packed)
	for i := range 120_000 {
		fmt.Fprintln(edges, i%60_000, i*7%59_999)
	}
	if err := errors.Join(edges.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		fmt.Sprintf("A = f64(read_graph(%q))\nemit nnz(A @ A)", file):                                                                                true,
		"emit parfor b in 0..40 { median(parfor i in 0..5000 { sin(f64(b * i)) }) }":                                                                 true, // few points of much work
		"emit parfor b in 0..40 { sin(f64(b)) }":                                                                                                     false,
		"A = rand(2000, 2000, seed = 1)\nx = rand(2000, 1, seed = 2)\ny = (A @ x - diag(A) * x) / diag(A)\nemit norm(A @ y - y)":                     true,
		"A = rand(2000, 2000, seed = 1) + eye(2000)\nemit sum(lower(A) - upper(A))":                                                                  true,
		"iterate A = rand(1000, 1000, seed = 1), k = 0 times 9 { next A = A - A[:, k] * A[k, :]\nnext k = k + 1 }\nemit sum(A)":                      true,
		"iterate A = rand(40, 40, seed = 1), k = 0 times 9 { next A = sort(A - A[:, k] * A[k, :], 0)\nnext k = k + 1 }\nemit sum(A)":                 false,
		"iterate G = rand_sparse(3000, 3000, density = 0.01, seed = 1), k = 0 times 9 { next G = (G @ G) * (G > 0.5)\nnext k = k + 1 }\nemit nnz(G)": true,
		"iterate G = rand_sparse(30000, 30000, density = 1e-7, seed = 1), k = 0 times 9 { next G = max(G, t(G)) * 2\nnext k = k + 1 }\nemit nnz(G)":  false, // few entries
		"emit mean(max(rowmean(rowcumsum(0.1 * randn(100000, 24, seed = 1))), 0))":                                                                   true,
		"iterate C = rand(3000, 500, seed = 1), B = rand(500, 500, seed = 2) times 9 { next C = C @ B / 250\nnext B = B }\nemit sum(C)":              true,
		fmt.Sprintf(groupMedians, 300_000): true,
		fmt.Sprintf(groupMedians, 300):     false,
	} {
		r, ds := compiler.Compile(t.Context(), "p.flow", []byte(text), compiler.Options{Table: table, Ranks: 3})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if n := sharedIn(r.Plan.Graph); n > 0 != want {
			t.Errorf("ranks share the rows of %d nodes of\n%s", n, text)
		}
		for _, x := range r.Plan.Gathers() {
			if x.Type.IsDense() && x.Type.Count() > 999_999 && x.Whole() {
				t.Errorf("ranks send all of a %v in\n%s", x.Type, text)
			}
		}
	}
}

// If ranks share nothing of a program, rank 0 runs all of it, with the loops of one rank.
func TestAloneAsOnOneRank(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	const text = `w = randint(60, 1, 10, 5000, seed = 14)
iterate best = zeros(20001, 1), k = 0 times 60 {
  i = seq(0, 20001)
  from = max(i - w[k, 0], 0)
  next best = ifelse(i >= w[k, 0], max(best, take(best, from) + k), best)
  next k = k + 1
}
emit max(best)`
	var plans [2]*compiler.Result
	for k, ranks := range []int{1, 2} {
		r, ds := compiler.Compile(t.Context(), "p.flow", []byte(text), compiler.Options{Table: table, Ranks: ranks})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		plans[k] = r
	}
	on := plans[1].Plan
	if one, got := plans[0].Plan.Graph.String(), on.Graph.String(); one != got {
		t.Errorf("on two ranks the program is\n%s\nand on one\n%s", got, one)
	}
	if len(on.Owner) != on.Graph.Len() || slices.ContainsFunc(on.Owner, func(r int32) bool { return r != 0 }) {
		t.Errorf("the ranks of its nodes are %v", on.Owner)
	}
	if one, got := ran(plans[0], 1), ran(plans[1], 1); one.err != nil || got.err != nil || one.out != got.out {
		t.Errorf("two ranks print %q, %v, and one %q, %v", got.out, got.err, one.out, one.err)
	}
}

// Where sharing by rows gains little, blocks are taken only if their plan is not predicted to be much
// slower.
func TestRowsOrBlocks(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	const square = "A = rand(1000, 1000, seed = 1)\nB = t(A) + A\nemit sum(B @ A)\nemit B[0..2, 0..2]"
	for _, c := range []struct {
		text, shares string
		limit        int64
	}{
		{square, "by rows", 0},
		{square, "by rows", 40 << 20},
		{square, "in blocks: by rows their values take more", 27 << 20},
		{"U = materialize(rand(1000, 10000, seed = 1))\nemit sum(materialize(colmax(abs(cumsum(ifelse(U < 0.5, -1.0, 1.0))))))", "by rows", 0}, // one fused loop
		// a matrix of nearly a block, which blocks of a power of two of rows would cut
		{"iterate S = randn(20000, 3, seed = 1) + t([1, 1, 20]) times 200 { next S = S + 0.01 * S * (S[:, 1] - S[:, 0]) }\nemit colmean(S)", "by rows", 0},
		{"X = materialize(rand(6000, 6000, seed = 1))\nY = materialize(t(X))\nemit Y[1, 2]", "by rows", 0},
	} {
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(c.text), compiler.Options{Table: table, Ranks: 3, Std: stdlib.Files, Memory: memory.Limit{Bytes: c.limit, By: "this test"}})
		if ds.HasErrors() || !strings.HasPrefix(r.Plan.Shares, c.shares) {
			t.Errorf("%v, matrices are shared %q, wanted %q\nin\n%s", ds, r.Plan.Shares, c.shares, c.text)
		}
	}
}

// No transpose brings the rows of a table together.
func TestTransposesStay(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	const tables = "X = rand(99001, 300, seed = 1)\nY = rand(99001, 20, seed = 2)\n"
	for _, text := range []string{
		"emit colsum(t(X) @ Y)",
		"emit rowsum(t(exp(X)) @ Y)",
		"emit colsum(t(tanh(t(Y) * 2 + 1)))",
		"emit colmax(t((t(Y) - rowmean(t(Y))) ^ 2))",
		"emit trace(t(X[:, 0..20]) @ Y)",
		"emit sum(t(roll(t(X), 3)) * t(rbind(t(X[:, 1..]), t(X[:, 0]))))",
		"emit sum(t(cumsum(t(X))) + t(cummax(t(X))))",
		"emit colsum(t(take(t(X), seq(0, 600) // 2)))",
		"emit sum(t(t(X)[[2, 0, -1], :]) ^ 2)",
	} {
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(tables+text), compiler.Options{Table: table, Ranks: 3, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds, text)
		}
		if r.Plan.Shares != "by rows" {
			t.Fatalf("matrices are shared %q in\n%s", r.Plan.Shares, text)
		}
		for _, l := range plan.Layouts(r.Plan) {
			if strings.Contains(l.Type, "99001") && l.Bytes > 0 {
				t.Errorf("%v bytes of %s %s are sent in\n%s", l.Bytes, l.Op, l.Type, text)
			}
		}
	}
}

// Each turned or transposed tile of rearranged is read on one rank. It is made there, so one message
// brings a tile to both readers of a rank.
const rearranged = `T = tiles(rand(12, 12, seed = 4), 3)
S = tiles(rand(12, 1, seed = 5), 3)
chan V[i in 0..4, j in 0..4] = reverse(T[3-i,3-j], by = "both")
chan W[i in 0..4, j in 0..4] = t(T[3-i,3-j])
chan Y[i in 0..4, j in 0..1] = sum(for k in 0..4 => V[i,k] @ S[k,j])
chan Z[i in 0..4, j in 0..1] = sum(for k in 0..4 => W[i,k] @ Y[k,j])
emit untile(Z)`

func TestRearrangedWhereRead(t *testing.T) {
	list := []spreadProgram{{name: "turned tiles", text: rearranged}}
	spreadAlike(t, list)
	sendsAsPredicted(t, list)
	for _, ranks := range []int{2, 3, 5} {
		c, err := compileTiny(tinyTable(t), rearranged, ranks, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		made := 0
		for _, l := range plan.Layouts(c.Plan) {
			if l.Op == "reverse" || l.Op == "t" {
				if made++; l.Messages > 0 {
					t.Errorf("%d ranks: %d messages bring results of %s to their readers", ranks, l.Messages, l.Op)
				}
			}
		}
		if made == 0 {
			t.Errorf("%d ranks: no tile is turned", ranks)
		}
	}
}

// Tiles of a tall matrix that is cut otherwise for a product are laid out where the rows are, so only
// what reaches over the boundaries of ranks is sent.
const laidTiles = `A = rand(60, 4, seed = 4)
G = t(A) @ A
chan Q = tiles(A, 5)
for i in 0..Q.rows { Q[i,0] <- Q[i,0] @ G }
emit colsum(untile(Q))
emit G`

func TestLaidWhereTheRowsAre(t *testing.T) {
	list := []spreadProgram{{name: "laid tiles", text: laidTiles}}
	spreadAlike(t, list)
	sendsAsPredicted(t, list)
	for _, ranks := range []int{2, 3, 5} {
		c, err := compileTiny(tinyTable(t), laidTiles, ranks, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		laid := 0
		for _, l := range plan.Layouts(c.Plan) {
			switch l.Op {
			case "rand":
				if most := float64((ranks - 1) * 4 * 4 * 8); l.Bytes > most {
					t.Errorf("%d ranks: %v bytes of rows are sent, and %v reach over boundaries", ranks, l.Bytes, most)
				}
			case "lay":
				if laid += l.Pieces; l.Bytes > 0 {
					t.Errorf("%d ranks: %v bytes of tiles are sent", ranks, l.Bytes)
				}
			}
		}
		if laid < 12 {
			t.Errorf("%d ranks: %d tiles are laid out", ranks, laid)
		}
	}
}

// A rank makes no constant and no matrix of zeros or the like that nothing of it reads.
func TestNothingIsMadeUnread(t *testing.T) {
	table := tinyTable(t)
	for _, text := range []string{
		"X = rand(60, 4, seed = 1)\niterate w = zeros(4, 1) times 5 { next w = w + t(X) @ (X @ w - 1) / 60 }\nemit w",
		"k = seq(0, 60)\nemit sum(k * rand(60, 1, seed = 1) + 2)\nemit k[3..5, :]",
		rearranged,
	} {
		for _, ranks := range []int{2, 3, 5} {
			c, err := compileTiny(table, text, ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			g := c.Plan.Graph
			uses, some := g.Uses(), false
			for id, n := range g.All() {
				if n.Op.Role == op.Constant || n.Op.Shard.Kind == op.ShardGenerate {
					if some = true; uses[id] == 0 {
						t.Errorf("%d ranks: rank %d makes a %s that nothing reads, in\n%s", ranks, c.Plan.Owner[id], n.Op.Name, text)
					}
				}
			}
			if !some {
				t.Errorf("%d ranks: nothing is made of nothing in\n%s", ranks, text)
			}
		}
	}
}

// tiledRounds is a factorisation in tiles in each round. The verbs are how the loop ends, what a round
// factors, and the matrix that it carries on.
const tiledRounds = `M = rand_spd(24, seed = 4)
iterate A = M, s = 0.0, k = 0 %s {
  chan L = tiles(%s, 6, part = "lower")
  for c in 0..4 {
    L[c,c] <- potrf(L[c,c])
    for i in c+1..4 { L[i,c] <- trsm(L[c,c], L[i,c]) }
    for i in c+1..4, j in c+1..=i { L[i,j] <- L[i,j] - L[i,c] @ t(L[j,c]) }
  }
  next s = s + sum(untile(L))
  next A = %s
  next k = k + 1
}
emit s
emit A`

// Each rank makes the tiles of a round that it has, and others read them.
func TestTilesOfRounds(t *testing.T) {
	list := []spreadProgram{
		{name: "times", text: fmt.Sprintf(tiledRounds, "times 9", "A", "A * 1.5")},
		{name: "placed", text: strings.Replace(fmt.Sprintf(tiledRounds, "times 9", "A", "A * 1.5"), `"lower")`, `"lower") with (place = rows)`, 1)},
		{name: "until", text: fmt.Sprintf(tiledRounds, "until s > 1000", "A * (k + 1)", "A")},
		{name: "carried factors", text: fmt.Sprintf(tiledRounds, "times 9", "A", "untile(L) @ t(untile(L))")},
		{name: "a branch", text: fmt.Sprintf(tiledRounds, "times 9", "if sum(A) > 900 { A } else { cholesky(A, tile = 8) @ t(cholesky(2 * A, tile = 5)) + 100 * eye(24) }", "A * 1.1")},
		{name: "whole matrices", text: `iterate s = rand(20, 3, seed = 1), k = 0 times 7 {
  a = cholesky(rand_spd(20, seed = 3 * k))
  b = cholesky(rand_spd(20, seed = 3 * k + 1))
  c = cholesky(rand_spd(20, seed = 3 * k + 2))
  next s = (a @ s + b @ s + t(c) @ s) / 20
  next k = k + 1
}
emit s`},
	}
	spreadAlike(t, list)
	sendsAsPredicted(t, []spreadProgram{list[0], list[3], list[5]})
	for _, p := range list {
		c, err := compileTiny(tinyTable(t), p.text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		for rank := range 3 {
			if !strings.Contains(c.Plan.Graph.String(), fmt.Sprintf("owner=%d", 1+rank)) {
				t.Errorf("%s: rank %d makes no tile of\n%s", p.name, rank, c.Plan.Graph)
			}
		}
	}
	text := fmt.Sprintf(tiledRounds, "times 9", "A - ifelse(k == 6, 900.0, 0.0)", "A")
	c, err := compileTiny(tinyTable(t), text, 3, false, apart)
	if err != nil {
		t.Fatal(err)
	}
	for k, o := range slowTransports {
		if _, err := runOver(mem.New(3, o), c, 1+k%2); err == nil || !strings.Contains(err.Error(), "not positive definite") {
			t.Errorf("transport %d: %v", k, err)
		}
	}
}

// Ranks share the work of a round in tiles evenly, repeat little of it, and send tiles to the ranks
// that read them: those with other tiles of the row or column, and those that add up its rows.
func TestTilesOfRoundsAreShared(t *testing.T) {
	text := strings.NewReplacer("(24,", "(1536,", ", 6,", ", 192,", "0..4", "0..8", "+1..4", "+1..8").Replace(fmt.Sprintf(tiledRounds, "times 30", "A", "A * 1.001"))
	const tile = 8 * 192 * 192
	projected := `iterate A = randn(1536, 1152, seed = 3), s = 0.0 times 30 {
  chan Q = tiles(A, 192)
  chan R: grid[6, 6] of f64[192, 192]
  for k in 0..6 {
    R[k,k] <- potrf(sum(for i in 0..8 => t(Q[i,k]) @ Q[i,k]))
    for i in 0..8 { Q[i,k] <- trsm(R[k,k], Q[i,k]) }
    for j in k+1..6 {
      R[k,j] <- sum(for i in 0..8 => t(Q[i,k]) @ Q[i,j])
      for i in 0..8 { Q[i,j] <- Q[i,j] - Q[i,k] @ R[k,j] }
    }
  }
  next s = s + sum(untile(Q))
  next A = A * 1.001
}
emit s`
	for _, ranks := range []int{2, 3} {
		bytes := 0.0
		for _, x := range plan.Layouts(compiledFor(t, projected, ranks).Plan) {
			if bytes += x.Bytes; x.Op == "trsm" && !strings.HasPrefix(x.Where, "ranks 0") {
				t.Errorf("%d ranks: %s lies on %s", ranks, x.Op, x.Where)
			}
		}
		if most := float64(31 * (48 + 21) * tile * (ranks - 1)); bytes > most {
			t.Errorf("%d ranks send %v bytes of a decomposition by projections, not %v", ranks, bytes, most)
		}
		sent, messages := 0.0, 0.0
		for _, x := range plan.Layouts(compiledFor(t, text, ranks).Plan) {
			one := strings.HasPrefix(x.Where, "ranks 0")
			if (x.Op == "potrf" || x.Op == "trsm" || x.Op == "gemm" || x.Op == "syrk") && !one || x.Op == "lay" && x.Where != "rows" {
				t.Errorf("%d ranks: %s lies on %s", ranks, x.Op, x.Where)
			}
			if x.Rounds > 1 {
				sent, messages = sent+x.Bytes, messages+float64(x.Messages)
			}
		}
		if most := float64(30 * 36 * tile * (ranks - 1)); sent > most {
			t.Errorf("%d ranks send %v bytes, and all tiles to all ranks are %v", ranks, sent, most)
		}
		if most := 30 * (36*2 + 3) * float64(ranks-1) * 1.1; messages > most { // an empty one for each tile, and states
			t.Errorf("%d ranks send %v messages, not %v", ranks, messages, most)
		}
	}
}

// Ranks share the rows of a system that is solved from the right: as a whole, and in a factorisation
// by slices in each round.
func TestSolvesByRows(t *testing.T) {
	blocked := `fn trail(X, b) {
  P = trsm(potrf(X[0..b, 0..b]), X[b..X.rows, 0..b])
  (P, X[b..X.rows, b..X.rows] - P @ t(P))
}
iterate A = rand_spd(%[1]d, seed = 7), s = 0.0 times 9 {
  P, X = trail(A, %[2]d)
  Q, Y = trail(X, %[2]d)
  next s = s + sum(P) + sum(Q) + sum(potrf(Y))
  next A = A * 1.001
}
emit s`
	list := []spreadProgram{
		{"lower", "L = potrf(rand_spd(6, seed = 1))\nemit trsm(L, rand(70, 6, seed = 2))\nemit sum(trsm(L, rand(23, 6, seed = 3) + 1))", 3, 0},
		{"upper", "U = upper(rand(6, 6, seed = 1)) + 4 * eye(6)\nX = trsm_upper(U, rand(29, 6, seed = 2))\nemit X\nemit colsum(X * 2)", 3, 0},
		{"f32", "L = f32(potrf(rand_spd(6, seed = 1)))\nemit trsm(L, f32(rand(70, 6, seed = 2)))", 1, 0},
		{name: "slices", text: fmt.Sprintf(blocked, 24, 8), shares: 4},
	}
	spreadAlike(t, list)
	sendsAsPredicted(t, []spreadProgram{list[0], list[3]})
	for _, text := range []string{fmt.Sprintf(blocked, 1536, 384), "L = potrf(rand_spd(300, seed = 1))\nemit sum(trsm(L, rand(20000, 300, seed = 2)))"} {
		for _, x := range plan.Layouts(compiledFor(t, text, 3).Plan) {
			if x.Op == "trsm" && x.Where != "rows" && x.Pieces == 1 {
				t.Errorf("%s lies on %s in\n%s", x.Op, x.Where, text)
			}
		}
	}
}
