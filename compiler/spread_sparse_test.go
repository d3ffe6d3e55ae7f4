package compiler_test

// These tests share the rows of sparse matrices among ranks.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// sparsePrograms bring entries together in at least so many places.
var sparsePrograms = []spreadProgram{
	{"labels", `U = rand_graph(50, 60, seed = 4)
G = U or t(U)
iterate c = seq(1, 51), moved = 1 until moved == 0 {
  u = max(c, rowmax(G * t(c)))
  next moved = count(u != c)
  next c = u
}
emit sum(c)
emit nunique(c)
emit nnz(G)`, 0, 1},
	{"shares of a page", `L = rand_graph(40, 150, seed = 2)
A = t(L)
links = rowsum(L)
iterate r = fill(0.025, 40, 1) times 5 {
  lost = sum(r * (links == 0))
  p = parfor i in 0..40 { r[i, 0] / max(links[i, 0], 1) }
  next r = 0.85 * (A @ p + lost / 40) + 0.15 / 40
}
emit r
emit sum(r)`, 0, 1},
	{"values and shapes", `S = rand_sparse(30, 21, density = 0.2, seed = 3)
T = t(S) * 3 - 1.5 * t(S)
K = sparse(i64(9 * rand(21, 30, seed = 4)) - 4)
M = T * K
P = S @ M
iterate x = rand(30, 1, seed = 5), k = 0 until k == 3 {
  y = M @ x
  next x = P @ x / (1 + sum(abs(y))) + S @ y
  next k = k + 1
}
emit x
emit sum(M)
emit P`, 0, 1},
	{"nothing stored, and one row", `E = rand_graph(12, 0, seed = 1)
F = t(E) or E
S = sparse([[0, 1, 0, 0, 2, 0, 0]])
D = t(S) @ S
R = rowsum(F)
iterate x = rand(12, 1, seed = 5), y = rand(7, 1, seed = 6), k = 0 until k == 3 {
  next x = x + R + F @ x
  next y = y + D @ y
  next k = k + 1
}
emit x
emit y`, 0, 1},
	{"turned in every round", `S = rand_sparse(20, 20, density = 0.15, seed = 3)
iterate A = S, x = rand(20, 1, seed = 5) times 24 {
  y = A @ x
  next x = parfor i in 0..20 { y[i, 0] / (1 + abs(y[19 - i, 0])) }
  next A = t(A) / 2 + S
}
emit x
emit A`, 0, 2},
	{"shortest ways, and a column that is stretched", `W = rand_sparse(35, 35, density = 0.1, seed = 8)
V = t(W) * seq(1, 36)
iterate d = 100.0 * (seq(0, 35) > 0), k = 0 until k == 6 {
  next d = min(d, semiring(V, d, "min +"))
  next k = k + 1
}
emit d
emit rowmin(V)`, 0, 1},
	{"what is kept from round to round", `U = rand_graph(40, 90, seed = 4)
G = t(U)
iterate d = ifelse(seq(0, 40) == 0, 0.0, 1e9), moved = 1 until moved == 0 {
  n = min(d, semiring(G * 1.0, d, "min +"))
  next moved = count(n != d)
  next d = n
}
emit d`, 0, 1},
	{"a whole matrix is needed as well", `U = rand_graph(25, 70, seed = 4)
G = U and t(U) or U
B = G @ G
x = parfor i in 0..25 { i * 2 }
iterate c = x, k = 0 until k == 2 {
  next c = B @ c + G @ x
  next k = k + 1
}
emit c
emit colsum(G)
emit B[3, 4]`, 0, 1},
	{"products outside of loops, and what reduces them", `E = rand_graph(60, 200, seed = 3)
G = E or t(E)
closed = (G @ G) * G
emit sum(closed) / 6
emit t(rowsum(closed))
emit max(rowcount(G @ G))
V = rand_sparse(60, 60, density = 0.05, seed = 4) - rand_sparse(60, 60, density = 0.03, seed = 5)
P = V @ V * 0.1 / 0.3
emit sum(P)
emit mean(P) + norm(P)
emit min(P) + max(P - 1.0 * V)
emit nnz(P) + count(G @ G)
emit any(P)
emit all(P)
emit sum(f32(P))
emit norm(P / 0.0 * G)`, 15, 3},
	{"documents and words", `doc = i64(floor(23 * rand(300, 1, seed = 1)))
word = i64(floor(31 * rand(300, 1, seed = 2) ^ 2))
C = ctable(doc, word, n = 23, m = 31, sparse = true)
tf = f64(C)
df = colcount(tf)
W = tf * log(23 / max(df, 1))
U = W / sqrt(rowsum(W * W))
emit dense(U @ t(U[2..9, :]))
emit colsum(C)
emit colmax(W - 0.1 * tf) + colmean(W)
emit nnz(C)
emit C[1..12, 3..20]
emit sum(C)`, 8, 5},
	{"a product that is nearly full", `B = bool(rand_sparse(40, 40, density = 0.3, seed = 8))
U = B @ B
emit rowsum(U)
emit max(U)
A = rand_sparse(40, 40, density = 0.4, seed = 9)
emit sum(A @ A)`, 5, 2},
	{"a column of a matrix that ranks share, times entries", `Q = rand_sparse(23, 23, density = 0.3, seed = 3)
x = rand(23, 3, seed = 5)
iterate a = x, d = x[:, 0], k = 0 times 3 {
  next a = a / 2 - t(colsum(Q * (Q @ a)[:, 1])) / 9
  next d = t(colmax(Q * a[:, 0])) + Q @ d
  next k = k + 1
}
emit a
emit d`, 0, 1},
	{"a parfor reads a whole one", `S = rand_sparse(50, 40, density = 0.1, seed = 4)
x = rand(40, 1, seed = 5)
emit parfor i in 0..50 { sum(S @ (x * i)) + nnz(S) + dense(S)[i, 3] }`, 1, 0},
	{"of matrices that ranks share", `P = rand(31, 2, seed = 1)
D = rowsum(P ^ 2) - 2 * P @ t(P) + t(rowsum(P ^ 2))
N = sparse(D < 0.1)
W = sparse(ifelse(D < 0.3, D, 0))
emit rowsum(N)
emit N @ P
emit W
emit nnz(sparse(i64(10 * D) % 3))
emit sparse(f32(D[3..20, :] * (D[3..20, :] > 0.5)))
emit sum(N[1..30, :])
emit t(W) @ P
emit colsum(cbind(W, sparse(zeros(31, 2)), W * 2)[:, 20..60])
emit rowsum(lower(W) - upper(W, strict = true))
iterate x = P times 3 { next x = cbind(lower(W), upper(W)) @ rbind(x, x) + sparse(x * (x > 0.5)) @ ones(2, 2) }
emit x`, 0, 1},
	{"a row by a matrix, in rounds", `L = rand_graph(40, 150, seed = 2)
P = L / max(rowsum(L), 1)
iterate p = fill(0.025, 1, 40), k = 0 until k == 4 {
  next p = 0.85 * (p @ P) + 0.00375
  next k = k + 1
}
emit p
emit sum(p @ L)`, 8, 1},
}

// termPrograms have products t(a) @ b of a sparse a with many rows, whose terms ranks add one after the
// other.
var termPrograms = []spreadProgram{
	{"outside of a loop, f32", `S = f32(rand_sparse(90, 9, density = 0.2, seed = 1))
Y = f32(rand(90, 3, seed = 2))
emit t(S) @ Y
emit t(t(Y) @ S)`, 1, 0},
	{"a subspace", `S = rand_sparse(80, 24, density = 0.1, seed = 1)
iterate Y = rand(80, 5, seed = 2) times 4 {
  B = t(S) @ Y
  Z = S @ B
  next Y = Z / norm(Z)
}
emit Y`, 1, 0},
	{"a row in rounds", `S = rand_sparse(70, 31, density = 0.1, seed = 1)
iterate v = rand(1, 31, seed = 2), k = 0 until k == 3 {
  z = t(S @ t(v)) @ S
  next v = z / norm(z)
  next k = k + 1
}
emit v`, 1, 0},
	{"integers, and rows and columns without entries", `S = sparse(i64(rand(60, 12, seed = 1) > 0.9) * i64(seq(0, 60) % 7 > 3) * t(i64(seq(0, 12) % 5 > 0)) * 9000000000000000000)
iterate x = i64(10 * rand(60, 2, seed = 2)) times 3 { next x = x + S @ (t(S) @ x) }
emit x`, 1, 0},
	{"a loop in a loop, and a branch", `S = rand_sparse(64, 10, density = 0.3, seed = 1) * (1 - 2 * (seq(0, 64) % 3 == 0))
iterate b = zeros(10, 2), k = 0 times 2 {
  r = S @ b - 1
  iterate d = t(S) @ r, j = 0 until j == 2 {
    next d = d + t(S) @ (S @ d) / 9
    next j = j + 1
  }
  next b = if k == 0 { b - d } else { b - 0.5 * t(S) @ (S @ d) }
  next k = k + 1
}
emit b`, 1, 0},
	{"factors of ratings", `V = rand_sparse(60, 14, density = 0.2, seed = 1)
iterate W = rand(60, 3, seed = 2), H = rand(3, 14, seed = 3) times 3 {
  H1 = H * (t(W) @ V) / (t(W) @ W @ H)
  next H = H1
  next W = W * (V @ t(H1)) / (W @ (H1 @ t(H1)))
}
emit W
emit H`, 1, 0},
	{"a transpose that is read as well, and infinite elements", `S = rand_sparse(40, 8, density = 0.3, seed = 1) / (seq(0, 40) % 13)
T = t(S)
iterate x = rand(40, 2, seed = 2), s = zeros(8, 1) times 3 {
  y = T @ x
  next s = s + rowsum(T) + T @ (S @ s)
  next x = S @ y
}
emit x
emit s
emit T`, 1, 0},
	{"a matrix of this round", `S = rand_sparse(50, 8, density = 0.3, seed = 1)
iterate x = rand(50, 2, seed = 2), k = 1 times 3 {
  A = S * x[:, 0]
  next x = A @ (t(A) @ x)
  next k = k + 1
}
emit x`, 1, 0},
}

// chainsIn counts the nodes of g and its regions that add terms of sparse matrices to what another
// rank has begun.
func chainsIn(table *op.Table, g *ir.Graph) (n int) {
	for g, id := range nodes.NodesIn(g, nodes.IsControl) {
		if g.Nodes[id].Op == table.Must(table.Must("sp.matmul").Shard.Chain) && len(g.In(id)) > 2 {
			n++
		}
	}
	return n
}

func TestSpreadTerms(t *testing.T) {
	spreadAlike(t, termPrograms)
	table := tinyTable(t)
	for _, p := range termPrograms {
		c, err := compileTiny(table, p.text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		if chainsIn(table, c.Plan.Graph) == 0 {
			t.Errorf("%s: ranks add no terms one after the other", p.name)
		}
	}
}

// Ranks send a few results, and neither the rows of the dense factor nor a transpose.
func TestTermsSendResults(t *testing.T) {
	for _, text := range []string{
		"S = rand_sparse(60_000, 400, density = 0.01, seed = 1)\niterate Y = rand(60_000, 8, seed = 2) times 10 {\n  Z = S @ (t(S) @ Y)\n  next Y = Z / norm(Z)\n}\nemit sum(Y)",
		"S = rand_sparse(60_000, 400, density = 0.01, seed = 1)\niterate Y = rand(60_000, 8, seed = 2) times 10 {\n  Z = S @ t(t(Y) @ S)\n  next Y = Z / norm(Z)\n}\nemit sum(Y)",
	} {
		c := compiledFor(t, text, 3)
		bytes := 0.0
		for _, l := range plan.Layouts(c.Plan) {
			bytes += float64(l.Bytes)
		}
		if results := 10.0 * 400 * 8 * 8; bytes > 6*results { // two ranks send them on, and two get them
			t.Errorf("ranks send %.0f bytes for results of %.0f in\n%s", bytes, results, text)
		}
	}
}

// Products with transposes of sparse matrices with more rows than columns, by definition and as ranks
// compute them.
func TestTermsDrawn(t *testing.T) {
	table := tinyTable(t)
	chains := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 83))
		pick := func(forms ...string) string { return forms[rng.IntN(len(forms))] }
		n := 2 + rng.IntN(70)
		m := 1 + rng.IntN(max(1, n/2))
		kind := pick("f64", "f64", "f32", "i64")
		s := pick("rand_sparse(n, m, density = 0.2, seed = %d) * 9", "9 * rand_sparse(n, m, density = 0.5, seed = %d)", "sparse(rand(n, m, seed = %d) > 0.8)",
			"rand_sparse(n, m, density = 0.3, seed = %d) * (4 * seq(0, n) > n)", "rand_sparse(n, m, density = 0.3, seed = %d) * (2 * seq(0, n) < n)")
		x := pick("9 * rand(n, w, seed = 5)", "3 / (seq(0, n) % 11 + 1) * rand(1, w, seed = 6)")
		product := pick("t(S) @ x", "t(t(x) @ S)", "t(S) @ (x * 2)", "t(S * 2) @ x", "t(S) @ x[:, 0]")
		text := fmt.Sprintf("n = %d\nm = %d\nw = %d\nS = %s(%s)\nx = %s(%s)\nemit %s\niterate y = x, k = 0 %s\n  z = %s\n  next y = (S @ z)[:, 0] * %s(ones(1, w)) + y\n  next k = k + 1\n}\nemit y\n",
			n, m, []int{1, 2, 3, 9, 17}[rng.IntN(5)], kind, fmt.Sprintf(s, 1+seed), kind, x, product, pick("times 3 {", "until k > 1 {"), strings.ReplaceAll(product, "x", "y"), kind)
		c, err := compiledOnce(table, text, 3, false, apart)
		if err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		if _, err := (runs{{3, 1, apart, false, ""}, {2, 2, nil, true, "FAC2"}, {5, 1, []string{"hoist", "keep", "rounds"}, false, "SS"}, {4, 2, apart, false, ""}}).some(seed).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
		if chainsIn(table, c.Plan.Graph) > 0 {
			chains++
		}
	}
	if chains < 30 {
		t.Errorf("ranks add terms one after the other in only %d of 60 programs", chains)
	}
}

// collectsIn counts the gathers of sparse matrices in g and its regions.
func collectsIn(g *ir.Graph) (n int) {
	for i := range g.Nodes {
		if plan.IsGather(&g.Nodes[i]) && g.Type(ir.ID(i)).IsSparse() {
			n++
		}
		for r := g.Nodes[i].Region; r != nil; r = r.Next {
			n += collectsIn(r.Graph)
		}
	}
	return n
}

func TestSpreadSparse(t *testing.T) { spreadAlike(t, sparsePrograms) }

func TestSpreadSparseMessages(t *testing.T) {
	sendsAsPredicted(t, []spreadProgram{sparsePrograms[1], sparsePrograms[4]}) // rounds of a known number
}

// sparseFailures fail while entries are on their way.
var sparseFailures = []string{
	`S = rand_sparse(20, 20, density = 0.15, seed = 3)
emit 1
iterate A = S, x = seq(0, 20), k = 0 until k == 7 {
  y = parfor i in 0..20 {
    iterate w = 0.0 times (20 - i) * 100 { next w = w * 0.5 + 1 }
    at = if i < 7 { 4 } else { 6 - i // 12 }
    i64(w) * 0 + x[i, 0] + 1 // (at - k)
  }
  next x = y
  next A = t(A) * 2 + S * (1 + A @ y)
  next k = k + 1
}
emit x
emit sum(A)`,
	`a = i64(floor(23 * rand(200, 1, seed = 1)))
b = i64(floor(31 * rand(200, 1, seed = 2)))
emit 1
emit colsum(t(ctable(a, b, n = 22, m = 30, sparse = true)) * 2)`,
	`U = rand_graph(30, 90, seed = 3)
G = U or t(U)
y = parfor i in 0..30 { 7 // (i - 19) }
iterate x = y, k = 0 until k == 3 {
  next x = G @ x
  next k = k + 1
}
emit sum(x)`,
}

func TestSpreadSparseFails(t *testing.T) {
	failsAsDefined(t, sparseFailures, collectsIn, sparsePrograms[4].text)
}

// sparseLoopsAgree draws a loop over what is made of a sparse matrix and its transpose, and compares
// what it prints by definition and as ranks run it. It reports one whose entries ranks bring together.
func sparseLoopsAgree(t *testing.T, table *op.Table, seed uint64) bool {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 79))
	pick := func(forms ...string) string { return forms[rng.IntN(len(forms))] }
	n := 1 + rng.IntN(24)
	s := pick("rand_sparse(n, n, density = 0.3, seed = %d)", "rand_graph(n, 2 * n, seed = %d) * 0.5", "sparse(i64(9 * rand(n, n, seed = %d)) - 4)", "rand_graph(n, 3 * n, seed = %d)")
	made := pick("t(S)", "max(S * 1.5, t(S) - 0.5 * S)", "S * t(S) * 2", "t(S) @ S / 4", "0.5 * t(S * seq(1, n + 1))", "t(t(S) * t(seq(1, n + 1))) / 3 - S * 0.25",
		"S - t(S) / 3")
	step := pick("T @ x / 3 + 0.25", `min(semiring(T * 1.0, x, "min +"), 9) / 5`, "rowmax(T * t(x)) / 2 + 0.5", "(T @ x + rowsum(S)) / 9", "T @ (S @ x) / 7 + rowmin(T)", "parfor i in 0..n { x[n - 1 - i, 0] / 2 } + S @ x / 5")
	stop := pick("times 3 with (unroll = 0) {", "times 2 {", "until k > 1 {")
	text := fmt.Sprintf("n = %d\nS = %s\nT = %s\niterate x = rand(n, 1, seed = 5), k = 0 %s\n  next x = %s\n  next k = k + 1\n}\nemit x\nemit %s\n",
		n, fmt.Sprintf(s, 1+seed%1000), made, stop, step, pick("T", "nnz(T)", "rowsum(T)", "colsum(S)", "sum(x)"))
	c, err := compiledOnce(table, text, 3, false, apart)
	if err != nil {
		t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		return false
	}
	if _, err := (runs{{3, 1, apart, false, ""}, {2, 2, nil, true, "FAC2"}, {5, 1, []string{"hoist", "keep", "rounds"}, false, "SS"}}).some(seed).differ(table, text); err != nil {
		t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
	}
	return collectsIn(c.Plan.Graph) > 0
}

func TestSpreadSparseDrawn(t *testing.T) {
	table := tinyTable(t)
	together := 0
	for seed := range uint64(60) {
		if sparseLoopsAgree(t, table, seed) {
			together++
		}
	}
	if together < 15 {
		t.Errorf("ranks bring entries together in only %d of 60 programs", together)
	}
}
