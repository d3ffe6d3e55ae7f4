package compiler_test

// These tests run programs on ranks whose operators need the rows in order: running reductions,
// quantiles and sorts.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/compiler"
	"flow/compiler/nodes"
	"flow/ir/plan"
	"flow/runtime/dist/transport/mem"
)

var orderPrograms = []spreadProgram{
	{"running sums of floats", `X = randn(61, 3, seed = 1)
Z = ifelse(rand(61, 3, seed = 2) < 0.03, inf, X)
emit cumsum(X * 1e3)
emit colsum(cumsum(X) / 61)
emit cumprod(X)[-3.., :]
emit cumsum(Z - 1)
emit f64(cumsum(f32(X)))`, 5, 0},
	{"running extremes and integers", `X = randn(53, 2, seed = 3)
Z = ifelse(X > 2, nan, ifelse(abs(X) < 0.1, -0.0, X))
emit cummax(X + 1)
emit cummin(Z)
K = i64(10 * X)
emit cumsum(K)
emit cumprod(2 * K + 1)
emit cumsum(X > 0)
emit cummax(X > 1.5)
emit max(cummax(X) - X)`, 6, 0},
	{"a running sum of one column, by panels", `x = rand(40, 1, seed = 5) - 0.5
emit t(x) @ x
c = cumsum(x)
emit max(c)
emit t(c) @ x`, 3, 0},
	{"running sums in rounds", `iterate x = rand(24, 2, seed = 5), k = 0 until k == 3 {
  y = cumsum(x - colmean(x))
  next x = 0.5 * (y + cummax(y))
  next k = k + 1
}
emit x`, 2, 0},
	{"quantiles", `X = randn(57, 3, seed = 1)
Y = ifelse(abs(X) < 0.3, 0.0, ifelse(X > 1, inf, ifelse(X < -1, -0.0, X)))
emit median(2 * X)
emit quantile(Y + 0, 0.3)
emit quantile(Y - 1, 1)
emit quantile(f32(Y), 0)
emit median(i64(10 * X))
emit quantile(X > 0, 0.9)
emit median(ifelse(X > 2, nan, X))
emit colmedian(X * 3)
emit colquantile(Y + 1, 0.75)
emit colmedian(cbind(i64(7 * X), i64(X)))
emit colquantile(ifelse(X[:, 0..2] > 1.9, nan, X[:, 0..2]), 0.2)
emit colmedian(f32(Y) + 1)`, 36, 0},
	{"quantiles in rounds", `X = randn(64, 2, seed = 3)
iterate s = 0.0, k = 0 until k == 3 {
  next s = median(abs(X - s) + 1)
  next k = k + 1
}
emit s
emit colmedian(X - s)`, 6, 0},
	{"sorted rows", `X = randn(61, 3, seed = 1)
Y = ifelse(abs(X) < 0.3, 0.0, ifelse(X > 1, nan, ifelse(X < -1, -0.0, X)))
emit sort(2 * X)
emit sort(X[:, 1])
emit sort(Y + 0, by = 1)
emit sort(Y + 0, by = -1, desc = true)
emit colsum(sort(f32(Y)[:, 0..2], desc = true))
emit t(argsort(i64(2 * X)))
emit argsort(X[:, 0] > 0, desc = true)`, 49, 0},
	{"rows that are sorted and read otherwise", `X = 2 * randn(50, 2, seed = 1)
emit sort(X)
emit t(argsort(X, by = 1))
emit X
emit sort(X, desc = true)
emit X[1.., :] - X[0..-1, :]`, 21, 0},
	{"what is made of sorted rows", `X = randn(61, 3, seed = 1)
p = argsort(X[:, 2] * 3)
emit p * 3
emit sort(i64(X > 0) - 1)[3..50, :]
emit sort(ones(61, 1) * X[0, 0])
s = sort(X[:, 0] + 1)
emit max(abs(s[1.., :] - s[0..-1, :]))
emit cumsum(s)`, 28, 0},
	{"rows that are sorted already, by panels", `x = seq(0, 64) * 1.5
emit t(x) @ x
emit sort(x)
emit sort(x, desc = true)
emit t(argsort(x, desc = true))
s = sort(rand(64, 1, seed = 2))
emit t(s) @ x`, 28, 0},
	{"sorted in rounds, and in a branch", `iterate x = randn(30, 2, seed = 5), k = 0 until k == 3 {
  y = sort(x * 2, by = 1)
  next x = (y - x) / 3
  next k = k + 1
}
emit x
s = if sum(x) > 100 { x } else { sort(x, desc = true) }
emit argsort(s) * k
emit s`, 1, 0},
	{"ranks of numbers", `X = randn(61, 2, seed = 1)
x = ifelse(abs(X[:, 0]) < 0.3, 0.0, ifelse(X[:, 1] > 1, nan, ifelse(X[:, 0] < -1, -0.0, X[:, 0])))
emit t(argsort(argsort(x + 0)))
r = argsort(argsort(f32(x), desc = true))
emit sum(r * X[:, 1]) + r[1, 0]
emit t(argsort(argsort(i64(2 * X))) + argsort(argsort(X, by = 1)))
iterate y = X[:, 1], k = 0 until k == 3 {
  next y = f64(argsort(argsort(floor(3 * y)))) - y
  next k = k + 1
}
emit y`, 20, 0},
	{"different elements", `X = randn(67, 2, seed = 4)
x = ifelse(X[:, 0] > 1.2, nan, ifelse(abs(X[:, 0]) < 0.4, -0.0, ifelse(X[:, 1] > 0, floor(3 * X[:, 0]), X[:, 0])))
emit nunique(x)
emit t(unique(x + 0))
u = unique(i64(floor(4 * X[:, 1])))
emit u.rows
emit sum(u) + nunique(i64(floor(3 * X[:, 1])))
emit unique(X[:, 0] > 0)
emit unique(f32(x))
emit nunique(fill(2.5, 67, 1) * X[0, 0])
emit unique(ifelse(seq(0, 67) > 65, seq(0, 67), 0 - 9223372036854775807 - 1))
emit nunique(ifelse(seq(0, 67) > 64, seq(0, 67), 0 - 9223372036854775807 - 1))
emit nunique(X)
iterate y = X[:, 0], k = 0 until k == 3 {
  next y = y - nunique(floor(y)) + sum(unique(floor(y)))
  next k = k + 1
}
emit y[3, 0]`, 30, 6},
	{"elements of several columns", `X = round(randn(23, 4, seed = 9)) + 0
Y = ifelse(X > 1, nan, ifelse(X < 0, -0.0 * X, f64(X)))
emit t(unique(Y))
emit nunique(Y) + nunique(i64(X))
emit t(unique(f32(X) + 0.5))
emit nunique(Y[:, 1..3])
emit t(unique(i64(X)[2..21, :]))
emit colnunique(Y)
emit colnunique(X > 0)
emit colprod(i64(X) + 3)
emit colprod(X * 0.75 + 1)
iterate Z = Y, k = 0 until k == 3 {
  next Z = ifelse(Z > k, Z - colnunique(Z), Z + nunique(Z) * 0.5)
  next k = k + 1
}
emit t(unique(Z))`, 30, 3},
	{"places of what is chosen", `x = randn(64, 1, seed = 9)
at = cumsum(x > 0.5) - 1
emit at[63, 0]
emit colsum(onehot(max(at, 0), 64) * x)`, 1, 0},
}

// TestEndsOfSortsOnRanks: of a sort of which only rows near one end are read, each rank sends as many
// of its own. Equal rows keep their order.
func TestEndsOfSortsOnRanks(t *testing.T) {
	for _, p := range []struct {
		text  string
		bytes int // of the rows and their numbers that each rank sends each other one
	}{
		{"x = floor(9 * rand(3000, 1, seed = 1)) / 2\nemit t(argsort(x)[0..7])", 7 * (8 + 8)},
		{"x = floor(9 * rand(3000, 1, seed = 2)) / 2\nemit t(argsort(x, desc = true)[1..4])\n", 4 * (8 + 8)},
		{"x = ifelse(rand(3000, 2, seed = 3) > 0.999, nan, round(randn(3000, 2, seed = 4)))\nemit sort(x, by = -1)[-5.., :]", 5 * 16},
		{"x = round(randn(3001, 2, seed = 5))\nemit t(argsort(x, by = 1, desc = true)[-6..-1])", 6 * (8 + 8)},
		{"x = i64(20 * rand(3001, 2, seed = 6))\ns = sort(x, desc = true)\nemit s[3, 1] + s[0, 0]\nemit s[1..3, 1]", 4 * 16},
		{`x = floor(9 * rand(3000, 1, seed = 1)) / 2
iterate w = x, c = 0.0, k = 0 until k == 4 {
  s = sort(w, desc = true)
  next w = ifelse(w > s[3, 0], w * 0.9 - s[1, 0] / 8, w)
  next c = c + s[0, 0]
  next k = k + 1
}
emit c`, 4 * 4 * 8},
	} {
		for _, ranks := range []int{2, 3, 5} {
			r, err := compileTiny(tinyTable(t), p.text, ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := plan.Summarise(r.Plan, nil, 1).Bytes, int64(ranks*(ranks-1)*p.bytes); got != want {
				t.Errorf("%s, %d ranks: %d bytes are sent, not %d\n%s", p.text, ranks, got, want, r.Plan.Graph)
			}
			want := evaluated("the meaning", r.Program)
			if out, err := runOver(mem.New(ranks, slowTransports[0]), r, 1); err != nil || want.err != nil || out != want.out {
				t.Errorf("%s, %d ranks: %v, by definition %v, %s", p.text, ranks, err, want.err, difference(want.out, out))
			}
		}
	}
}

// TestEndsOfSortsOfPanels: where ranks share whole panels, the last rank may have one row. It cannot
// send three, so the ranks do not share the ends.
func TestEndsOfSortsOfPanels(t *testing.T) {
	const text = "x = rand(33, 1, seed = 1)\ny = cbind(floor(9 * x), x)\nemit sort(y)[0..3, :]\nemit t(argsort(y)[-3..])\nemit t(y) @ (y + 1)"
	sizes := nodes.Sizes{Block: 16, Panel: 16, Spread: 1}
	r, ds := compiler.Compile(t.Context(), "p.flow", []byte(text), compiler.Options{Table: tinyTable(t), Ranks: 3, Disable: apart, Verify: true, Sizes: sizes})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	want := evaluated("the meaning", r.Program)
	if out, err := runOver(mem.New(3, slowTransports[0]), r, 1); err != nil || want.err != nil || out != want.out {
		t.Errorf("%v, by definition %v, %s", err, want.err, difference(want.out, out))
	}
}

func TestSpreadOrders(t *testing.T) { spreadAlike(t, orderPrograms) }

// Rows in order are sent as predicted: of running reductions only rows at the ends of windows.
func TestOrderMessages(t *testing.T) {
	for _, c := range []struct {
		program string
		bytes   func(ranks int) int // sent of rows that are not printed
	}{
		{"emit colmax(cumsum(2 * rand(60, 3, seed = 1)))", func(ranks int) int { return 3 * 8 * (ranks - 1) }},
		{"emit colmax(cummax(2 * rand(60, 3, seed = 1)))", func(ranks int) int { return 3 * 8 * ranks * (ranks - 1) }},
	} {
		p := spreadProgram{name: c.program, text: c.program}
		sendsAsPredicted(t, []spreadProgram{p})
		for _, ranks := range []int{2, 3, 5, 16} {
			r, err := compileTiny(tinyTable(t), p.text, ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			states := ranks * (ranks - 1) * 3 * 8 // of colmax
			if got, want := plan.Summarise(r.Plan, nil, 1).Bytes, int64(states+c.bytes(ranks)); got != want {
				t.Errorf("%s, %d ranks: %d bytes are sent, not %d", c.program, ranks, got, want)
			}
		}
	}
}

// Matrices of no rows, of one, of fewer than ranks and of a few more, with ties and numbers that are
// none.
func TestOrdersOfFewRows(t *testing.T) {
	shared := 0
	for at, rows := range []int{0, 1, 2, 4, 16, 17, 33} {
		text := fmt.Sprintf(`X = randn(%d, 2, seed = 1)
Y = ifelse(X > 1, nan, ifelse(X > 0.6, inf, ifelse(abs(X) < 0.3, -0.0, ifelse(X < -1, 0.0, round(X)))))
K = seq(0, %[1]d) * 7 %% 3
emit cumsum(Y + 0)
emit cumprod(f32(X))
emit cummin(1 - Y)
emit cumsum(K + 1)
emit sort(Y + 0, by = 1)
emit sort(f32(Y) * 2, desc = true)
emit t(argsort(K + 0))
emit t(argsort(K * 2, desc = true))
emit cor(X)
`, rows)
		if rows > 0 {
			text += "emit median(Y)\nemit quantile(X * 2, 0.7)\nemit colmedian(f32(X) + 1)\nemit median(K + 1)"
		}
		for k, ranks := range []int{2, 3, 5, 16} {
			if !everyRun && (at+k)%2 > 0 {
				continue
			}
			shared += alikeOnce(t, spreadProgram{name: fmt.Sprint(rows, " rows"), text: text}, ranks, rows)
		}
	}
	if shared < 500 {
		t.Errorf("%d nodes are shared", shared)
	}
}

// Quantiles of drawn columns, in rounds too: with ties, with numbers that are none, in order already.
func TestDrawnQuantiles(t *testing.T) {
	columns := []string{"randn(N, M, seed = S)", "floor(3 * randn(N, M, seed = S))", "fill(-0.0, N, M) * rand(N, M, seed = S)", "fill(2.5, N, M)", "seq(0, N) * 1.5 - 99",
		"seq(0, N) * -1.5", "ifelse(rand(N, M, seed = S) > 0.97, nan, randn(N, M, seed = 7))", "ifelse(randn(N, M, seed = S) > 0.3, inf, randn(N, M, seed = 8))",
		"ifelse(randn(N, M, seed = S) > -0.3, -inf, 0.0)", "1 + 1e-12 * rand(N, M, seed = S)", "i64(9 * randn(N, M, seed = S))", "i64(1e15 * randn(N, M, seed = S))",
		"f32(randn(N, M, seed = S))", "rbind(rand(N - 1, M, seed = S), fill(-5.0, 1, M))", "rand(N, M, seed = S) > 0.4", "1 / (seq(0, N) - 3)"}
	r := rand.New(rand.NewPCG(91, 92))
	draws := 12
	if everyRun {
		draws = 120
	}
	for k := range draws {
		fill := strings.NewReplacer("N", fmt.Sprint([]int{4, 40, 3000, 700}[k%4]), "M", fmt.Sprint(1+r.IntN(3)), "S", fmt.Sprint(k))
		p := spreadProgram{name: fmt.Sprint("program ", k)}
		for i := range 3 {
			p.text += fill.Replace(fmt.Sprintf("x%d = %s\n", i, columns[(3*k+i)%len(columns)]))
			for _, f := range []string{"median(x%d)", "quantile(x%d, %v)", "colmedian(x%d)", "colquantile(x%d, %v)"} {
				if strings.Contains(f, "%v") {
					p.text += fmt.Sprintf("emit "+f+"\n", i, float64(r.IntN(21))/20)
				} else {
					p.text += fmt.Sprintf("emit "+f+"\n", i)
				}
			}
		}
		p.text += "iterate y = f64(x0) times 3 {\n  next y = 0.5 * y - median(y) + colquantile(y, 0.9)\n}\nemit median(y)\nemit colmedian(f32(y))"
		alikeOnce(t, p, []int{2, 3, 5}[k%3], k)
		if k%6 == 0 {
			sendsAsPredicted(t, []spreadProgram{p})
		}
	}
}

// orderFailures fail in rows of one rank, before and after ranks need those of others in order.
var orderFailures = []string{
	`x = rand(40, 1, seed = 1)
emit 1
emit sort(1 // i64(8 - 10 * x))`,
	`k = seq(0, 40)
emit cumsum(1 // (k - 33))`,
	`x = 2 * rand(40, 1, seed = 1)
s = sort(x)
assert max(s) < 1, "large"
emit median(s)`,
	`k = 3 * seq(0, 40)
emit median(7 // (k - 99) + k)
emit argsort(k)`,
}

func TestOrdersFailAsDefined(t *testing.T) {
	failsAsDefined(t, orderFailures, sharedIn, orderPrograms[0].text)
}

// Ranks that share rows order all of them together only if all are read, or if the part that is read
// takes each of them longer. Both have the bytes of the definition.
func TestPartsOfSortsOnRanks(t *testing.T) {
	table := tinyTable(t)
	compile := func(text string, ranks int, sizes nodes.Sizes) *compiler.Result {
		t.Helper()
		c, ds := compiler.Compile(t.Context(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: ranks, Verify: true, Sizes: sizes})
		if ds.HasErrors() {
			t.Fatalf("%v\nin\n%s", ds, text)
		}
		return c
	}
	check := func(text string, ranks int) string {
		t.Helper()
		c := compile(text, ranks, nodes.Sizes{Block: 16, Panel: 8, Spread: 4})
		want := evaluated("the meaning", c.Program)
		for _, o := range []outcome{evaluated("the plan", c.Plan.Graph), scheduled(c, 2, "GSS")} {
			if o.failed != want.failed || o.out != want.out {
				t.Errorf("%d ranks: %s gives %v\n%s\nin\n%s", ranks, o.how, o.err, difference(want.out, o.out), text)
			}
		}
		return c.Plan.Graph.String()
	}
	x := "x = (randn(2000, 1, seed = 1) + 1) ^ 2\n"
	for _, ranks := range []int{2, 3} {
		few, all := check(x+"emit argsort(x, desc = true)[0..3]", ranks), check(x+"emit sum(argsort(x) * x)", ranks)
		if !strings.Contains(few, "argsort.part") || strings.Contains(few, "argsort.own") {
			t.Errorf("%d ranks put all rows in order to print three:\n%s", ranks, few)
		}
		if strings.Contains(all, "argsort.part") || !strings.Contains(all, "argsort.own") {
			t.Errorf("%d ranks do not share a sort of which all is read:\n%s", ranks, all)
		}
		large := compile(strings.Replace(x, "2000", "9000000", 1)+"emit sort(x)[i64(max(x)), 0]", ranks, nodes.Sizes{}).Plan.Graph.String() // 72 MB
		if !strings.Contains(large, "sort.own") {
			t.Errorf("%d ranks get all of a large matrix for a row of a sort:\n%s", ranks, large)
		}
		for seed := range uint64(6) {
			check(ordering(rand.New(rand.NewPCG(seed, 44))), ranks)
		}
	}
}

// TestGathersOfTurnedViews: a transpose of a transpose of some columns is a view of what each rank has,
// and a gather needs memory without gaps.
func TestGathersOfTurnedViews(t *testing.T) {
	text := "x = abs(randn(9, 8, seed = 19)) * rand(9, 8, seed = 3)\ny = t(t(x[:, 2..-1]))\nemit y\nemit y[3, :] + t(x[2..7, 1])"
	for _, ranks := range []int{2, 3} {
		r, err := compileTiny(tinyTable(t), text, ranks, false, append([]string{"undo-twice"}, apart...))
		if err != nil {
			t.Fatal(err)
		}
		want := evaluated("the meaning", r.Program)
		if out, err := runOver(mem.New(ranks, slowTransports[0]), r, 1); err != nil || want.err != nil || out != want.out {
			t.Errorf("%d ranks: %v, by definition %v, %s", ranks, err, want.err, difference(want.out, out))
		}
	}
}
