package compiler_test

// These tests run what reads rows of other ranks in a few columns of a matrix that ranks share by rows.

import (
	"fmt"
	"strings"
	"testing"

	"flow/compiler"
	"flow/compiler/nodes"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/kernels"
	"flow/runtime/dist/transport/mem"
)

// narrowPrograms bring columns together, and no matrix that they are columns of.
var narrowPrograms = []spreadProgram{
	{"a basis, by products with a dense matrix", `A = rand(13, 13, seed = 1)
iterate Q = cbind(rand(13, 1, seed = 2), zeros(13, 5)), k = 0 times 5 {
  w = A @ Q[:, k]
  v = w - Q @ (t(Q) @ w)
  next Q = ifelse(t(seq(0, 6)) == k + 1, v / norm(v), Q)
  next k = k + 1
}
emit Q`, 2, 0},
	{"a basis, by products with a sparse matrix", `S = sparse(parfor i in 0..24, j in 0..24 { if abs(i - j) < 3 { 0.5 } else { 0.0 } })
iterate Q = cbind(rand(24, 1, seed = 2), zeros(24, 5)), k = 0 times 5 {
  w = S @ Q[:, k] + Q[:, k]
  next Q = ifelse(t(seq(0, 6)) == k + 1, w / norm(w), Q)
  next k = k + 1
}
emit Q`, 2, 0},
	{"columns, for rows by number", `iterate X = rand(20, 6, seed = 1), k = 0 times 6 {
  c = X[:, 2..4]
  p = i64(7 * rowsum(c) + k) % 20
  next X = X * 0.5 + rowsum(take(c, p)) * 0.25
  next k = k + 1
}
emit X`, 2, 0},
	{"a column beside itself and in a loop over points", `iterate X = rand(17, 5, seed = 1), k = 0 times 6 {
  c = X[:, k % 5]
  a = parfor i in 0..17 { sum(c * X[i, 1]) + c[(i * 5) % 17, 0] }
  next X = (X + c) * 0.5 - a / 64
  next k = k + 1
}
emit X`, 2, 0},
	{"a column of columns", `iterate X = rand(16, 9, seed = 1), k = 0 times 6 {
  W = X[:, 1..5]
  c = W[:, 2]
  next X = X * 0.5 + (rowsum(W) + t(c) @ c) / 16 + sum(c[(k * 3) % 16, 0] * W)
  next k = k + 1
}
emit X`, 2, 0},
	{"of what is carried and of what is the same in all rounds", `F = rand(15, 6, seed = 3)
iterate X = rand(15, 6, seed = 1), k = 0 times 6 {
  next X = X * 0.5 + F[:, k] * t(X[0..6, 1]) + sum(F[:, 1] * F[k, 2])
  next k = k + 1
}
emit X
emit F`, 2, 0},
}

func TestColumnsAreSent(t *testing.T) {
	for _, p := range narrowPrograms {
		c, err := compileTiny(tinyTable(t), p.text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		if n := wholeGathers(c.Plan.Graph, 3, false); n > 0 {
			t.Errorf("%s: %d matrices are gathered whole in rounds", p.name, n)
		}
	}
	spreadAlike(t, narrowPrograms)
}

// TestColumnsInOrder: ranks give each other columns to find medians of so many that counts of their
// digits would be longer than the columns, and to count their distinct elements.
func TestColumnsInOrder(t *testing.T) {
	const some = "X = randn(211, 24, seed = 1)\nY = ifelse(X > 2.5, nan, ifelse(X < -1.5, -inf, X))\n"
	for text, want := range map[string]int{
		some + "emit colmedian(Y)\nemit colquantile(f32(Y) * 3, 0.3)\nemit colmedian(i64(X * 3))": 3,
		some + "emit colnunique(round(Y))\nemit colquantile(Y[:, 1..19], 1)":                      2,
		some + `iterate Z = Y, k = 0 until k == 3 {
  next Z = abs(Z - colmedian(Z)) + colquantile(Z, 0.9)
  next k = k + 1
}
emit colsum(Z)`: 2,
	} {
		known := meanings{}
		for _, ranks := range []int{2, 3, 5} {
			sizes := nodes.Sizes{Block: 16, Panel: 8, Spread: 4}
			c, ds := compiler.Compile(t.Context(), "x.flow", []byte(text), compiler.Options{Table: tinyTable(t), Ranks: ranks, Disable: apart, Verify: true, Sizes: sizes})
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			turned := 0
			for _, name := range []string{"rowmedian", "rowquantile", "rownunique", "rowprod"} {
				turned += strings.Count(c.Plan.Graph.String(), "= "+name+"(")
			}
			if turned != want {
				t.Errorf("%d ranks reduce the columns of %d matrices as rows, not of %d:\n%s", ranks, turned, want, c.Plan.Graph)
			}
			mean := known.of("the meaning", c.Program)
			if of := known.of("the plan", c.Plan.Graph); of.out != mean.out || of.failed || mean.failed {
				t.Errorf("%d ranks: by its definition the plan prints %s (%v)", ranks, difference(mean.out, of.out), of.err)
			}
			if out, err := runOver(mem.New(ranks, slowTransports[0]), c, 1); err != nil || out != mean.out {
				t.Errorf("%d ranks: %v, %s", ranks, err, difference(mean.out, out))
			}
		}
	}
}

func TestColumnMessages(t *testing.T) { sendsAsPredicted(t, narrowPrograms[:1]) }

// Products of few terms are shared by rows, however many columns they have; those of many are not.
func TestProductsOfFewTerms(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	const points = "X = rand(20000, 16, seed = 1)\nQ = rand(2000, 16, seed = 2)\n"
	for text, want := range map[string]string{
		points + "D = rowsum(Q ^ 2) + t(rowsum(X ^ 2)) - 2 * (Q @ t(X))\nemit sum(rowmin(D))":                               "by rows",
		points + "D = rowsum(Q ^ 2) + t(rowsum(X ^ 2)) - 2 * (Q @ t(X))\nemit sum(parfor i in 0..2000 { argmin(D[i, :]) })": "by rows",
		"A = rand(1500, 1500, seed = 1)\nB = rand(1500, 1500, seed = 2)\nemit sum(rowmin(materialize(A @ B)))":              "in blocks",
	} {
		r, ds := compiler.Compile(t.Context(), "p.flow", []byte(text), compiler.Options{Table: table, Ranks: 3})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if !strings.HasPrefix(r.Plan.Shares, want) {
			t.Errorf("matrices are shared %q in\n%s", r.Plan.Shares, text)
		}
	}
}

// Ranks share the columns of a product of few terms that has more columns than rows.
func TestWideProducts(t *testing.T) {
	const text = `A = rand(250, 40, seed = 1)
B = rand(250, 500, seed = 2)
C = t(A) @ B
emit sum(C)
emit C[3, 5] + C[39, 499]`
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for ranks := 2; ranks <= 3; ranks++ {
		r, ds := compiler.Compile(t.Context(), "p.flow", []byte(text), compiler.Options{Table: table, Ranks: ranks, Verify: true})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if want := fmt.Sprintf("{ranks=%d, shared=500, ta=true}", ranks); !strings.Contains(r.Plan.Graph.String(), want) {
			t.Errorf("no product has %s in\n%s", want, r.Plan.Graph)
		}
		want := meanings{}.of("the meaning", r.Program)
		if out, err := runOver(mem.New(ranks, mem.Options{}), r, 1); err != nil || out != want.out {
			t.Errorf("%d ranks: %v, %s", ranks, err, difference(want.out, out))
		}
	}
}

// turningPrograms read transposes of matrices that ranks share by rows.
var turningPrograms = []spreadProgram{
	{"a sum with a transpose", "X = rand(13, 13, seed = 1)\nY = X + t(X)\nemit Y\nemit colsum(Y ^ 2)", 4, 0},
	{"a round with a difference", `iterate X = rand(11, 11, seed = 1), k = 0 times 5 {
  S = X - t(X)
  next X = sqrt(abs(X + 0.1 * S)) - 0.5 * rowmean(X)
  next k = k + 1
}
emit X`, 4, 0},
	{"more rows than columns", "X = cumsum(rand(29, 7, seed = 1))\nY = t(X)\nemit rowcumsum(Y)\nemit rowmax(Y)\nemit t(X * 2)[3, :]", 4, 0},
	{"more columns than rows", "X = cumsum(rand(7, 29, seed = 1))\nY = t(X)\nemit cumprod(Y)\nemit colsum(Y)", 4, 0},
	{"a reduction with a transpose", "X = cumsum(rand(12, 12, seed = 1))\nemit sum((X - t(X)) ^ 2)\nemit rowsum(abs(X - t(X)))", 3, 0},
	{"of integers, of f32 and of bools", `A = cumsum(randint(9, 8, 0, 50, seed = 1))
B = cumsum(f32(rand(10, 10, seed = 2)))
C = cumsum(rand(10, 10, seed = 3)) > 2.5
emit cumsum(t(A))
emit B * t(B)
emit i64(C) - t(C)`, 4, 0},
	{"a transpose of a round, and what is outside", `F = cumsum(rand(10, 10, seed = 3))
iterate X = cumsum(rand(10, 10, seed = 1)) times 3 { next X = 0.5 * cumsum(t(X)) / 10 + t(F) }
emit X`, 3, 0},
	{"fewer columns than ranks", "X = cumsum(rand(20, 2, seed = 1))\nemit rowcumsum(t(X))[:, 19]", 1, 0},
}

func TestTransposesOfRows(t *testing.T) {
	for k, p := range turningPrograms {
		for _, ranks := range []int{2, 3, 5} {
			c, err := compileTiny(tinyTable(t), p.text, ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			if n := wholeGathers(c.Plan.Graph, 3, true); n > 0 && k < 2 {
				t.Errorf("%s: %d matrices are gathered whole", p.name, n)
			}
			if n := strings.Count(c.Plan.Graph.String(), "t.blocks("); (n == 0) != (k == len(turningPrograms)-1 && ranks > 2) {
				t.Errorf("%s, %d ranks: %d transposes are of rows that ranks share", p.name, ranks, n)
			}
		}
	}
	spreadAlike(t, turningPrograms)
}

func TestTransposeMessages(t *testing.T) { sendsAsPredicted(t, turningPrograms[:2]) }

// A loop over rows reduces columns of what it makes, also where ranks share the rows: a rank's result
// is a state.
func TestColumnsBesideRows(t *testing.T) {
	const text = `x = rand(30000, 1, seed = 1)
iterate m = [0.2, 0.8], k = 0 times 6 {
  D = exp(-(x - t(m)) ^ 2)
  R = D / rowsum(D)
  next m = t(colsum(R * x)) / t(colsum(R))
  next k = k + 1
}
emit m`
	r := compiledFor(t, text, 3)
	loops := map[string]int{}
	for i := range r.Plan.Graph.Nodes {
		if n := &r.Plan.Graph.Nodes[i]; n.Op.Control == op.Iterate {
			for _, m := range n.Region.Graph.Nodes {
				loops[m.Op.Name]++
			}
		}
	}
	if loops["byrows"] != 1 || loops["pipe"] != 0 {
		t.Errorf("%d loops over rows and %d pipes in\n%s", loops["byrows"], loops["pipe"], r.Plan.Graph)
	}
	want := meanings{}.of("the meaning", r.Program)
	if out, err := runOver(mem.New(3, mem.Options{}), r, 1); err != nil || out != want.out {
		t.Errorf("%v, %s", err, difference(want.out, out))
	}
}

// Ranks keep their rows of a network's layers, and send each other sums of a round alone.
func TestLayersStay(t *testing.T) {
	const text = `X = rand(8000, 32, seed = 1)
iterate W = rand(32, 64, seed = 2), V = rand(64, 10, seed = 3) times 80 {
  H = tanh(X @ W)
  G = tanh(H @ V)
  next V = V - t(H) @ G / 8000
  next W = W - t(X) @ ((G @ t(V)) * H) / 8000
}
emit sum(W) + sum(V)`
	r := compiledFor(t, text, 3)
	if bytes := plan.Summarise(r.Plan, nil, 1).Bytes; bytes > 60<<20 {
		t.Errorf("ranks send %d bytes in\n%s", bytes, r.Plan.Graph)
	}
}

// Ranks share a loop over rows whose only result is a sum, or sums of columns: they merge its states.
func TestOneStateOfRows(t *testing.T) {
	for _, last := range []string{"sum(log(rowsum(E)) + top)", "colsum(E / rowsum(E))", "max(E / rowsum(E))"} {
		const head = "X = randn(%d, 12, seed = 1)\nS = X @ rand(12, 3, seed = 2)\ntop = rowmax(S)\nE = exp(S - top)\nemit "
		c := compiledFor(t, fmt.Sprintf(head, 200000)+last, 3)
		loops := 0
		for i := range c.Plan.Graph.Nodes {
			if n := &c.Plan.Graph.Nodes[i]; n.Op.Name == "byrows" && n.Attrs.Int(plan.Shared) == 3 {
				loops++
			}
		}
		if loops != 1 {
			t.Errorf("%d loops are shared for %s in\n%s", loops, last, c.Plan.Graph)
		}
		spreadAlike(t, []spreadProgram{{last, fmt.Sprintf(head, 24) + last, 1, 0}})
	}
}

// TestProductsOfColumns: each rank multiplies the products of the ranks before it by its own rows.
func TestProductsOfColumns(t *testing.T) {
	spreadAlike(t, []spreadProgram{{"products of columns, in rounds", `X = rand(67, 3, seed = 3) + 0.5
emit colprod(X)
emit colprod(f32(X))
emit colprod(i64(X * 3) + 1)
emit colprod(ifelse(X > 1.45, nan, X))
iterate Y = X, s = 0.0 times 3 {
  next s = s / 2 + sum(colprod(Y)) + sum(colprod(Y > 0.1))
  next Y = Y * 0.99
}
emit s`, 20, 0}})
}

// wideStates have states of columns that ranks merge apart.
var wideStates = []spreadProgram{
	{"exact sums of columns, in rounds", `X = randn(23, 150, seed = 1) * 1e9
emit colsum(f32(X))
emit colvar(X)
emit colmean(ifelse(X > 2e9, inf, X))
iterate c = colsum(X) times 3 {
  next c = 0.5 * c - colmean(X - c)
}
emit c`, 14, 0},
	{"extremes and counts of columns", `X = randint(11, 70000, -9, 9, seed = 1)
w = t(seq(0, 70000)) % 1001
emit sum(w * colmin(X)) + sum(w * colmax(X))
emit sum(w * colsum(X)) + sum(w * colsum(bool(X % 3)))
emit sum(ifelse(colany(X == 7), w, 0)) + sum(ifelse(colall(X < 8), w, 0))`, 14, 0},
	{"sums of the columns of a sparse matrix", `S = sparse(parfor i in 0..30, j in 0..160 { if (i + j) % 3 == 0 { 0.1 * i - j } else { 0.0 } })
iterate c = colsum(S) times 2 {
  next c = colsum(S * 2) - 0.5 * c
}
emit c`, 4, 0},
}

// Ranks merge and round large states of columns apart, so a state goes to one rank and not to all.
func TestStatesOfColumns(t *testing.T) {
	for _, p := range wideStates {
		for ranks := 2; ranks <= 3; ranks++ {
			c, err := compileTiny(tinyTable(t), p.text, ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			turned := 0
			for g, id := range nodes.NodesIn(c.Plan.Graph, nodes.IsControl) {
				switch n := &g.Nodes[id]; {
				case n.Attrs.Bool("turned") && n.Attrs.Int(plan.Shared) == ranks:
					turned++
				case n.Attrs.Int(plan.Stacked) > 0 && g.Type(id).Rows >= 150 && n.Attrs.Int(plan.Shared) != ranks:
					t.Errorf("%s: %d ranks all merge states of %v", p.name, ranks, g.Type(id))
				}
			}
			if turned == 0 {
				t.Errorf("%s: %d ranks share no results", p.name, ranks)
			}
		}
	}
	spreadAlike(t, wideStates)
}

func TestStatesOfColumnsMessages(t *testing.T) { sendsAsPredicted(t, wideStates[:1]) }
