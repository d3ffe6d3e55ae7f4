package compiler_test

// These tests run programs with tables on ranks: generators, reductions of columns, sums by key and
// products over rows, of more than one panel.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/plan"
	"flow/runtime/dist/transport/mem"
)

var tablePrograms = []spreadProgram{
	{"columns of generators", `X = randn(60, 3, seed = 1) + 0.5 * rand(60, 3, seed = 2)
emit colsum(X)
emit colmean(X)
emit colnorm(X)
emit colvar(X)
emit colstddev(X)
emit colmin(X)
emit colmax(X)
emit colcount(X > 0)
emit colsum(i64(X * 10))
emit colmean(i64(X * 10))`, 3, 0},
	{"columns of numbers of all sizes", `x = seq(0, 64)
X = cbind(10.0 ^ (x * 4 - 120), -10.0 ^ (x * 4 - 120), f64(x % 7 - 3) * 1e300, ifelse(x == 40, nan, 1.0))
emit colsum(X)
emit colvar(X)
emit colmin(X)
emit colmean(ifelse(x > 60, inf, x) + X)`, 2, 0},
	{"tables that are larger than their codes", `a = randint(60, 1, 0, 23, seed = 1)
b = randint(60, 1, 0, 19, seed = 2)
w = rand(60, 1, seed = 3) - 0.5
C = ctable(a, b, 23, 19)
emit colsum(C * 2)
emit rowmax(C)
D = ctable(a, b, weights = w, n = 20, m = 17, crop = true)
emit sum(D)
emit t(D @ rand(17, 1, seed = 4))
emit sum(ctable(a, b, weights = f32(w), n = 23, m = 19) ^ 2)
iterate x = w, k = 0 until k == 3 {
  S = ctable(a, b, weights = x * k, n = 23, m = 19)
  next x = x / 2 + max(rowsum(S)) / 9
  next k = k + 1
}
emit sum(x)`, 9, 0},
	{"products by panels", `X = rand(67, 3, seed = 3)
y = rand(67, 2, seed = 4) - 0.5
emit t(X) @ X
emit t(X) @ (X @ (t(X) @ y))
w = solve(t(X) @ X, t(X) @ y)
emit w
emit sum((y - X @ w) ^ 2)`, 4, 0},
	{"products of too few panels for all", `X = rand(13, 3, seed = 3)
y = rand(13, 2, seed = 4) - 0.5
emit t(X) @ X
emit t(X) @ y
emit t(X[0..7, :] * 2) @ (y[3..10, :] + 1)
emit t(f32(X * 3)) @ f32(y * 3)
iterate W = rand(3, 2, seed = 5) times 4 {
  H = tanh(X @ W)
  next W = W - 0.1 * (t(X) @ (H - y))
}
emit W
emit t(cbind(X[:, 0], y[:, 0])) @ cbind(y[:, 1], y[:, 0] * 2)`, 9, 0},
	{"columns of products by panels", `X = rand(67, 5, seed = 3)
y = rand(67, 2, seed = 4) - 0.5
emit colsum(t(X) @ y)
emit rowsum(t(sqrt(X)) @ y)
emit colmax(t(X) @ y)`, 5, 0},
	{"elementwise operators between transposes", `X = rand(67, 5, seed = 3)
emit colsum(t(tanh(t(X) * 2 + 1)))
emit colmax(t((t(X) - rowmean(t(X))) ^ 2))
emit colsum(t(abs(sqrt(t(X)) + exp(t(X) - rowmax(t(X))) * 2)))`, 5, 0},
	{"products of f32 and of integers", `X = f32(rand(53, 4, seed = 3))
emit t(X) @ X
K = i64(10 * rand(53, 4, seed = 5))
emit t(K) @ K
emit t(X * X) @ f32(K)`, 2, 0},
	{"sums by key", `X = rand(71, 3, seed = 1)
k = i64(floor(5 * rand(71, 1, seed = 2)))
H = onehot(k, 5)
emit t(H) @ X
emit colsum(H)
emit sum(H[:, 2] * X[:, 1])
emit t(H) @ ifelse(X > 0.99, inf, X)`, 3, 0},
	{"means of clusters, in rounds", `X = rand(90, 4, seed = 3)
iterate C = X[0..3, :], move = inf, rounds = 0 until move < 1e-9 or rounds >= 8 {
  a = rowargmin(t(rowsum(C ^ 2)) - 2 * X @ t(C))
  H = onehot(a, 3)
  size = t(colsum(H))
  C1 = ifelse(size > 0, (t(H) @ X) / max(size, 1), C)
  next C = C1
  next move = max(abs(C1 - C))
  next rounds = rounds + 1
}
emit C
emit rounds
emit sum((X - onehot(rowargmin(t(rowsum(C ^ 2)) - 2 * X @ t(C)), 3) @ C) ^ 2)`, 4, 0},
	{"factors, in rounds", `V = rand(40, 2, seed = 1) @ rand(2, 4, seed = 2) + 0.01 * rand(40, 4, seed = 3)
iterate W = rand(40, 2, seed = 4), H = rand(2, 4, seed = 5) times 4 {
  H1 = H * (t(W) @ V) / (t(W) @ W @ H)
  next H = H1
  next W = W * (V @ t(H1)) / (W @ (H1 @ t(H1)))
}
emit norm(V - W @ H)
emit W
emit H`, 1, 0},
	{"gradients of wide rows, in rounds", `X = cbind(ones(50, 1), randn(50, 17, seed = 1))
y = f64(X[:, 3] > 0.2)
iterate w = zeros(18, 1), k = 0 until k == 4 {
  p = sigmoid(X @ w)
  next w = w - 0.1 * (t(X) @ (p - y)) / 50
  next k = k + 1
}
emit w
emit mean(f64((X @ w > 0) == (y > 0.5)))`, 3, 0},
	{"softmax of narrow rows, in rounds", `X = randn(64, 5, seed = 1)
Y = onehot(rowargmax(X @ randn(5, 3, seed = 2)), 3)
iterate B = zeros(5, 3), l = inf times 3 {
  S = X @ B
  E = exp(S - rowmax(S))
  P = E / rowsum(E)
  next B = B - 0.05 * (t(X) @ (P - Y))
  next l = -sum(log(rowsum(P * Y)))
}
emit B
emit l`, 3, 0},
	{"slices and borders of tables", `T = synth_linear(55, 4, noise = 0.5, seed = 7)
X = T[:, 0..4]
y = T[:, 4]
Z = cbind(ones(55, 1), (X - colmean(X)) / colstddev(X))
emit t(Z) @ y
emit Z[0..3, :]
emit Z[-2.., 1]
emit sum(rbind(Z, Z[0, :]))
emit colsum(Z[5..50, :])
emit max(abs(Z[1.., :] - Z[0..-1, :]))`, 3, 0},
	{"a branch between tables", `n = 48
A = rand(n, 2, seed = 1)
B = if sum(A) > 40 { A * 2 } else { A + 1 }
emit colsum(B)
C = ifelse(rowsum(B) > 2, 1.0, B)
emit colmax(C)
emit t(C) @ B`, 3, 0},
	{"covariances and eigenvalues", `X = randn(45, 3, seed = 1) @ randn(3, 4, seed = 2)
Z = (X - colmean(X)) / colstddev(X)
C = cov(Z, sample = true)
emit C
emit eigvals(C)
emit colvar(Z @ C)`, 3, 0},
	{"asserts on columns", `X = rand(50, 3, seed = 1)
assert min(colstddev(X)) > 0, "a column is constant"
A = t(X) @ X
assert A[0, 0] > 0
emit A
emit 1 / colmax(X)`, 2, 0},
	{"one panel and a rest of one row", `X = rand(9, 3, seed = 1)
emit t(X) @ X
Y = rand(17, 3, seed = 1)
emit t(Y) @ Y
emit colsum(Y) + colmean(X)`, 1, 0},
	{"counts of pairs", `a = i64(floor(5 * rand(71, 1, seed = 1)))
b = floor(3 * rand(71, 1, seed = 2))
C = ctable(a, b, n = 5, m = 4)
emit C
emit rowsum(C) / sum(C)
emit ctable(a, b)`, 3, 0},
	{"sums of whole numbers by pairs", `a = i64(floor(5 * rand(71, 1, seed = 1)))
b = floor(3 * rand(71, 1, seed = 2))
w = i64(9e18 * (rand(71, 1, seed = 3) - 0.5))
emit ctable(a, b, weights = w, n = 5, m = 4)
emit ctable(a - 1, b, weights = w > 0, n = 3, m = 3, crop = true)
emit ctable(a - 2, b - 1, n = 2, m = 2, crop = true)
iterate s = ctable(a, b, weights = w, n = 5, m = 3), k = 0 times 3 {
  next s = s + ctable((a + k) % 5, b, weights = w // 7, n = 5, m = 3)
  next k = k + 1
}
emit s
emit ctable(a, b, weights = f64(w), n = 5, m = 4)
emit ctable(a, b, weights = w)`, 7, 0},
	{"sums of fractions by pairs, in the order of rows", `a = i64(floor(5 * rand(71, 1, seed = 1)))
b = floor(3 * rand(71, 1, seed = 2))
x = rand(71, 1, seed = 3) - 0.5
w = ifelse(x > 0.3, 1e17, ifelse(x < -0.3, -1e17, ifelse(abs(x) < 0.02, -0.0, x)))
emit ctable(a, b, weights = w, n = 5, m = 4)
emit ctable(a - 1, b, weights = f32(x), n = 3, m = 3, crop = true)
emit ctable(a, b, weights = ifelse(x > 0.45, inf, ifelse(x > 0.44, nan, x)), n = 5, m = 3)
S = ctable(a, b, weights = w, n = 5, m = 4, sparse = true)
emit S
emit dense(ctable(a - 1, b, weights = f32(w), n = 4, m = 4, crop = true, sparse = true)) * 2
emit ctable(a, b, weights = i64(100 * x), n = 5, m = 4, sparse = true)
iterate s = ctable(a, b, weights = x, n = 5, m = 3), k = 0 times 3 {
  next s = s * 0.5 + ctable((a + k) % 5, b, weights = x * sum(s), n = 5, m = 3)
  next k = k + 1
}
emit s
emit ctable(a[0..3, :], b[0..3, :], weights = w[0..3, :], n = 5, m = 4)
emit ctable(a[0..1, :], b[0..1, :], weights = w[0..1, :], n = 5, m = 4)`, 20, 2},
	{"sums by code of what is stored", `k = i64(floor(7 * rand(61, 1, seed = 1)))
X = (rand(61, 3, seed = 2) - 0.5) * ifelse(rand(61, 3, seed = 4) < 0.1, 1e17, 1)
H = onehot(k, 7, sparse = true)
emit t(H) @ X
emit t(H) @ ifelse(X > 0.45, inf, X[:, 0])
iterate C = zeros(7, 2), r = 0.0 until r == 3 {
  next C = 0.5 * C + t(onehot((k + i64(r)) % 7, 7, sparse = true)) @ (X[:, 0..2] + r)
  next r = r + 1
}
emit C`, 8, 0},
}

func TestSpreadTables(t *testing.T) { spreadAlike(t, tablePrograms) }

// tableFailures fail in rows of one rank or of several.
var tableFailures = []string{
	`X = rand(60, 2, seed = 1)
k = i64(floor(6 * rand(60, 1, seed = 2)))
emit 1
emit t(onehot(k, 5)) @ X`,
	`k = seq(0, 60)
x = materialize(ifelse(k == 50, nan, ifelse(k == 3, 99.0, k % 7)))
emit 1
emit t(colsum(onehot(i64(x), 9)))`,
	`k = seq(0, 60)
x = materialize(ifelse(k == 44, inf, ifelse(k == 9, -1.0, k % 7)))
emit 1
emit t(onehot(i64(x), 9)) @ cbind(x, x)`,
	`k = seq(0, 60)
x = materialize(ifelse(k == 55, inf, ifelse(k == 2, 5.0, 0.1 * (k % 7))))
iterate s = zeros(9, 1), r = 1.0 until r > 5 {
  next s = s + t(colsum(onehot(i64(ifelse(r > 2, x, 1) * r), 9)))
  next r = r + 1
}
emit s`,
	`a = i64(floor(6 * rand(60, 1, seed = 1)))
b = i64(floor(4 * rand(60, 1, seed = 2)))
emit 1
emit ctable(b, a, n = 3, m = 5)`,
	`a = seq(0, 60)
emit 1
emit ctable(ifelse(a == 50, -1, a % 5), ifelse(a == 4, -1, a % 3), weights = a, n = 5, m = 3)`,
	`a = seq(0, 60)
emit 1
emit ctable(ifelse(a == 50, 0.5, a % 5), ifelse(a == 14, nan, a % 3), weights = a, n = 3, m = 2, crop = true)`,
	`a = seq(0, 60) - 50 * (seq(0, 60) > 50)
emit 1
emit ctable(ifelse(a == 41, -1, a), a * 2, n = 60, m = 60)`,
	`a = seq(0, 60)
emit 1
emit ctable(ifelse(a == 50, -1, a % 5), ifelse(a == 14, 9, a % 3), weights = 0.1 * a, n = 5, m = 3)
emit sum(ctable(ifelse(a == 40, 7, a % 5), a % 3, weights = 0.1 * a, n = 5, m = 3, sparse = true))`,
	`a = seq(0, 60)
emit sum(ctable(ifelse(a == 44, 7, a % 5), ifelse(a == 5, -1, a % 3), weights = 0.1 * a, n = 5, m = 3, sparse = true))`,
	`a = seq(0, 60)
emit t(onehot(ifelse(a == 59, 9, ifelse(a == 31, 8, a % 5)), 7, sparse = true)) @ cbind(0.1 * a, a)`,
	`k = seq(0, 40)
emit 1
emit reshape(cbind(7 // (k - 33), 9 // (k - 34)), 20, 4) + 1
emit reverse(7 // (k - 3)) * 2`,
	`k = seq(0, 41)
emit reverse(materialize(7 // ((k - 33) * (k - 4)))) * 2`,
	`k = seq(0, 40)
X = 1.0 * k
emit colsum(cbind(X, X))
emit colsum(i64(cbind(7 // (k - 33), k)))`,
	`X = rand(60, 2, seed = 1)
iterate C = X[0..2, :], r = 0 until r == 5 {
  a = i64(floor(rowsum(X) + r))
  H = onehot(a, 4)
  next C = (t(H) @ X)[0..2, :] + t(colsum(H))[0..2, :]
  next r = r + 1
}
emit C`,
	`X = rand(50, 3, seed = 1)
emit colmean(X)
assert max(colmax(X)) < 0.5, "large"
emit t(X) @ X`,
	`X = rand(64, 3, seed = 1)
iterate w = zeros(3, 1), r = 0 until r == 6 {
  g = t(X) @ (X @ w - X[:, 0])
  assert norm(w) < 0.1, "far"
  next w = w - 0.01 * g
  next r = r + 1
}
emit w`,
	`a = randint(60, 1, 0, 23, seed = 1)
emit 1
emit rowsum(ctable(a, a, 22, 40))`,
}

func TestTablesFailAsDefined(t *testing.T) {
	failsAsDefined(t, tableFailures, sharedIn, tablePrograms[0].text)
}

// TestTablesLargerThanTheirCodes: ranks send codes and weights, and no table.
func TestTablesLargerThanTheirCodes(t *testing.T) {
	for _, table := range []string{"ctable(a, b, 230, 190)", "ctable(a, b, weights = w, n = 230, m = 190)", "ctable(a, b, weights = f32(w), n = 230, m = 190)"} {
		text := "a = randint(60, 1, 0, 230, seed = 1)\nb = randint(60, 1, 0, 190, seed = 2)\nw = rand(60, 1, seed = 3) - 0.5\nemit max(" + table + ")"
		for _, ranks := range []int{2, 3, 5} {
			r, err := compileTiny(tinyTable(t), text, ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			if got, most := plan.Summarise(r.Plan, nil, 1).Bytes, int64((ranks-1)*(3*60+ranks)*8); got > most {
				t.Errorf("%s, %d ranks: %d bytes are sent, not at most %d\n%s", table, ranks, got, most, r.Plan.Graph)
			}
			want := evaluated("the meaning", r.Program)
			if out, err := runOver(mem.New(ranks, slowTransports[0]), r, 1); err != nil || want.err != nil || out != want.out {
				t.Errorf("%s, %d ranks: %v, by definition %v, %s", table, ranks, err, want.err, difference(want.out, out))
			}
		}
	}
}

// The programs that tableOf draws print the same on ranks.
func TestDrawnTables(t *testing.T) {
	shared := 0
	draws := 150
	if testing.Short() {
		draws = 30
	}
	for seed := range draws {
		text := tableOf(rand.New(rand.NewPCG(uint64(seed), 51)))
		program := spreadProgram{name: fmt.Sprintf("drawn %d:\n%s", seed, text), text: text}
		shared += alikeOnce(t, program, 2+seed%4, seed)
		if t.Failed() {
			return
		}
	}
	if shared < draws {
		t.Errorf("%d nodes of %d programs are shared", shared, draws)
	}
}

// alikeOnce is spreadAlike on so many ranks over one transport. It returns how many nodes are shared.
func alikeOnce(t *testing.T, p spreadProgram, ranks, seed int) int {
	t.Helper()
	table := tinyTable(t)
	c, err := compileTiny(table, p.text, ranks, false, apart)
	if err != nil {
		t.Fatal(err)
	}
	want := evaluated("the meaning", c.Program)
	out, err := runOver(mem.New(ranks, slowTransports[seed%len(slowTransports)]), c, 1+seed%2)
	if want.failed != (err != nil) || out != want.out || want.failed && !alike(err, want.err) {
		t.Errorf("%s\n%d ranks: %v, by definition %v, %s", p.name, ranks, err, want.err, difference(want.out, out))
	}
	return sharedIn(c.Plan.Graph)
}

// drawnTable draws the statements of a program. Its tables have one number of rows, and its small
// matrices one number of columns.
type drawnTable struct {
	*rand.Rand
	lines  []string
	rows   int
	tables []string // rows x 3
	small  []string // 3 x 3
	ints   []string // rows x 1 of 0..3
	n      int
}

// tableOf draws a program.
func tableOf(r *rand.Rand) string {
	d := &drawnTable{Rand: r, rows: 12 + r.IntN(80)}
	d.line("A0 = rand(%d, 3, seed = %d)", d.rows, r.IntN(1000))
	d.line("A1 = randn(%d, 3, seed = %d)", d.rows, r.IntN(1000))
	d.line("k0 = i64(floor(4 * rand(%d, 1, seed = %d)))", d.rows, r.IntN(1000))
	d.line("S0 = rand(3, 3, seed = %d)", r.IntN(1000))
	d.tables, d.small, d.ints = []string{"A0", "A1"}, []string{"S0"}, []string{"k0"}
	for range 3 + r.IntN(6) {
		d.statement("")
	}
	if r.IntN(2) == 0 {
		d.loop()
	}
	if r.IntN(8) == 0 {
		d.line("assert colmax(%s)[0, 0] < %d.5, \"large\"", d.table(), r.IntN(3))
	}
	for _, x := range d.small {
		d.line("emit %s", x)
	}
	d.line("emit sum(%s)", d.table())
	d.line("emit colsum(onehot(%s, %d))", d.key(), 4-r.IntN(10)/9)
	return strings.Join(d.lines, "\n")
}

func (d *drawnTable) line(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *drawnTable) table() string { return d.tables[d.IntN(len(d.tables))] }
func (d *drawnTable) part() string  { return d.small[d.IntN(len(d.small))] }
func (d *drawnTable) key() string   { return d.ints[d.IntN(len(d.ints))] }

// chosen draws rows of a table that the run chooses, seldom none.
func (d *drawnTable) chosen() string {
	return fmt.Sprintf("%s[%s %s %d, :]", d.table(), d.key(), []string{"<", ">", "==", "!="}[d.IntN(4)], 1+d.IntN(2))
}

// statement draws one, whose lines begin with indent.
func (d *drawnTable) statement(indent string) {
	d.n++
	name, chosen := fmt.Sprint("v", d.n), d.chosen()
	switch d.IntN(3) {
	case 0:
		forms := []string{
			fmt.Sprintf("%s - colmean(%s)", d.table(), d.table()),
			fmt.Sprintf("(%s @ %s) / 3", d.table(), d.part()),
			fmt.Sprintf("%s + 0.5 * %s @ %s", d.table(), d.table(), d.part()),
			fmt.Sprintf("exp(-abs(%s)) / (1 + rowsum(abs(%s)))", d.table(), d.table()),
			fmt.Sprintf("cbind(%s[:, 1..], rowmax(%s))", d.table(), d.table()),
			fmt.Sprintf("rbind(%s[-2.., :], %s[0..-2, :])", d.table(), d.table()),
			fmt.Sprintf("ifelse(%s > 0.5, %s, 0.25)", d.table(), d.table()),
			fmt.Sprintf("onehot(%s, 4) @ rbind(%s, %s[0, :])", d.key(), d.part(), d.part()),
			fmt.Sprintf("cumsum(%s) / %d", d.table(), d.rows),
			fmt.Sprintf("reverse(%s)", d.table()),
			fmt.Sprintf("sort(%s, by = %d, desc = %v)", d.table(), d.IntN(3), d.IntN(2) == 0),
			fmt.Sprintf("cummax(%s) - cummin(%s)", d.table(), d.table()),
			fmt.Sprintf("if sum(%s) > 1 { %s } else { -%s }", d.part(), d.table(), d.table()),
		}
		d.line("%s%s = %s", indent, name, forms[d.IntN(len(forms))])
		d.tables = append(d.tables, name)
	case 1:
		forms := []string{
			fmt.Sprintf("t(%s) @ %s / %d", d.table(), d.table(), d.rows),
			fmt.Sprintf("t(colmax(%s)) - colmin(%s)", d.table(), d.table()),
			fmt.Sprintf("(t(onehot(%s, 4)) @ %s)[0..3, :] / %d", d.key(), d.table(), d.rows),
			fmt.Sprintf("0.1 * t(colsum(%s)) @ colvar(%s)", d.table(), d.table()),
			fmt.Sprintf("%s[%d..%d, :]", d.table(), d.rows/2, d.rows/2+3),
			fmt.Sprintf("%s + norm(%s) * eye(3)", d.part(), d.table()),
			fmt.Sprintf("cov(%s)", d.table()),
			fmt.Sprintf("t(colmedian(%s)) @ colquantile(%s, 0.%d)", d.table(), d.table(), d.IntN(10)),
			fmt.Sprintf("%s + median(%s)", d.part(), d.table()),
			fmt.Sprintf("0.1 * t(colsum(%s)) @ colmean(%s)", chosen, d.chosen()),
			fmt.Sprintf("t(%s) @ (%s * 2 + %s[0, :]) / %d", chosen, chosen, d.part(), d.rows),
			fmt.Sprintf("t(colmean(%s[%s[:, 1] > 0.1, :] - colmean(%s))) + %s", chosen, chosen, chosen, d.part()),
			fmt.Sprintf("%s * nrow(%s) + mean(sort(%s)[0..1, :])", d.part(), chosen, chosen),
			fmt.Sprintf("(t(%s) @ %s[:, 0] + max(%s)) * %s", chosen, chosen, d.chosen(), d.part()),
			fmt.Sprintf("t(colmean(cbind(%s[:, 1..], rowmax(%s)))) + %s", chosen, chosen, d.part()),
			fmt.Sprintf("t(f64(colcount(onehot(%s, 3 + 1)[:, 0..3]))) * %s", d.key(), d.part()),
		}
		d.line("%s%s = %s", indent, name, forms[d.IntN(len(forms))])
		d.small = append(d.small, name)
	default:
		forms := []string{
			fmt.Sprintf("rowargmax(%s @ cbind(%s, %s[:, 0]))", d.table(), d.part(), d.part()),
			fmt.Sprintf("i64(%s[:, 1] > %s[:, 2])", d.table(), d.table()),
			fmt.Sprintf("(%s + 1) %% 4", d.key()),
			fmt.Sprintf("argsort(%s) %% 4", d.key()),
			fmt.Sprintf("cumsum(%s) %% 4", d.key()),
		}
		d.line("%s%s = %s", indent, name, forms[d.IntN(len(forms))])
		d.ints = append(d.ints, name)
	}
}

// loop draws an iterate that carries a small matrix and a table.
func (d *drawnTable) loop() {
	x, s, from, small := fmt.Sprint("X", d.n), fmt.Sprint("M", d.n), d.table(), d.part()
	tables, parts, ints := d.tables, d.small, d.ints
	d.line("iterate %s = %s, %s = %s, r = 0 until r == %d {", x, from, s, small, 1+d.IntN(3))
	d.tables, d.small = append(tables[:len(tables):len(tables)], x), append(parts[:len(parts):len(parts)], s)
	for range 1 + d.IntN(4) {
		d.statement("  ")
	}
	d.line("  next %s = %s * 0.5", x, d.tables[len(d.tables)-1])
	d.line("  next %s = %s * 0.5", s, d.small[len(d.small)-1])
	d.line("  next r = r + 1\n}")
	d.tables, d.small, d.ints = append(tables, x), append(parts, s), ints
}

// If one rank alone reads a matrix whose rows ranks share, the rows are sent to that rank alone, and
// once.
func TestRowsForOneRank(t *testing.T) {
	p := spreadProgram{name: "rows for one rank", text: `X = 2 * rand(40, 3, seed = 1)
emit X
emit X[3..17, :]
emit colsum(X)`}
	sendsAsPredicted(t, []spreadProgram{{name: "an element", text: "X = 2 * rand(40, 3, seed = 1)\nemit X[-1, 1]\nemit colsum(X) * X[3, 2]"}})
	sendsAsPredicted(t, []spreadProgram{p})
	for _, ranks := range []int{2, 5} {
		c, err := compileTiny(tinyTable(t), p.text, ranks, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		states := int64(ranks * (ranks - 1) * 3 * 69 * 8)
		if got, want := plan.Summarise(c.Plan, nil, 1).Bytes-states, int64(8*3*(40-40/ranks)); got != want {
			t.Errorf("%d ranks: %d bytes of rows are sent, not %d", ranks, got, want)
		}
	}
}
