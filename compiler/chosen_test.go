package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/compiler/nodes"
	"flow/ir"
)

// This file tests reductions of the rows that a mask chooses.

// choosing draws a program that reduces chosen rows of a matrix of few columns, in the body of a parfor
// too. Masks may choose no row, and the matrix may have what sums to nothing: -0, inf and nan.
func choosing(rng *rand.Rand) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	n, m := 1+rng.IntN(40), 1+rng.IntN(4)
	x := pick("X", "f32(X)", "i64(X * 9)", "X > 0.1", "ifelse(X > 0.4, inf, X)", "ifelse(X > 0.3, nan, X)", "X * 0 * -1", "ifelse(X > 0.3, 1e300, -X * 1e-300)")
	b := &strings.Builder{}
	fmt.Fprintf(b, "X = rand(%d, %d, seed = %d) - 0.5\nx = materialize(%s)\nc = rand(%d, 1, seed = %d)\n", n, m, rng.IntN(99), x, n, rng.IntN(99))
	reduced := func(mask string) string {
		by := pick("", "col")
		word := by + pick("sum", "norm", "count", "any", "all", "mean")
		return fmt.Sprintf("%s(f(x[%s, :]))", word, mask)
	}
	fmt.Fprintf(b, "fn f(y) = y\nemit %s\n", reduced(fmt.Sprintf("c > %.1f", 1.1*rng.Float64())))
	fmt.Fprintf(b, "R = parfor k in 0..%d { %s }\n", 1+rng.IntN(9), strings.ReplaceAll(reduced("c > k * 0.2"), "f(x", "f(X"))
	fmt.Fprintf(b, "emit R\nemit x[c > %.1f, :].rows\nemit mean(X[c < 0.5, 0])\n", rng.Float64())
	if rng.IntN(2) == 0 { // effects of a branch, some of what may fail
		fmt.Fprintf(b, "S = c * t(c)\nif sum(c) > %d {\n  emit max(sqrt(c) * 2)\n  emit sum(3 // i64(c * %d))\n  emit trace(S)\n} else {\n  emit argmin(X)\n}\n", n/2, 1+rng.IntN(40))
	}
	return b.String()
}

// TestChosenRowsAreNotStored: such programs have the bytes of the definition in every way to run
// them, and no chosen rows.
func TestChosenRowsAreNotStored(t *testing.T) {
	table := tinyTable(t)
	stored, left := 0, 0
	for seed := range uint64(200) {
		text := choosing(rand.New(rand.NewPCG(seed, 47)))
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatal(err, text)
		}
		nodes.Everywhere(r.Plan.Graph, func(g *ir.Graph) *ir.Graph {
			for _, n := range g.Nodes {
				if n.Op.Name == "pick.rows" {
					stored++
				}
			}
			return g
		})
		if strings.Contains(text, "mean(f(x[") && !strings.Contains(text, "materialize(X)") {
			left++ // of other types than f64 a mean reads what is chosen
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {1, 2, []string{"reduce-chosen"}, false, "SS"},
			{2, 2, nil, false, "GSS"}, {3, 1, []string{"average-chosen"}, false, "TSS"}}).some(seed).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if stored > left {
		t.Errorf("%d chosen matrices are stored, of which %d may be", stored, left)
	}
}

// TestWideChosenRowsAreStored: a mask of a wide matrix may choose few rows, and then all rows take
// longer.
func TestWideChosenRowsAreStored(t *testing.T) {
	for cols, want := range map[int]bool{4: false, 5: true} {
		text := fmt.Sprintf("X = rand(9, %d, seed = 1)\nemit colsum(X[X[:, 0] > 0.5, :])", cols)
		r, err := compiledOnce(tinyTable(t), text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(r.Plan.Graph.String(), "pick.rows"); got != want {
			t.Errorf("%d columns: chosen rows are stored: %v", cols, got)
		}
	}
}

// grouping draws a program whose parfors take the rows of a matrix where a column equals their index.
func grouping(rng *rand.Rand) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	b := &strings.Builder{}
	n, k := 2+rng.IntN(120), 32+rng.IntN(9)
	fmt.Fprintf(b, "X = rand(%d, 3, seed = %d)\nx = X[:, 1]\ng0 = randint(%d, 1, %d, %d, seed = %d)\n", n, rng.IntN(99), n, rng.IntN(9)-4, 6+rng.IntN(40), rng.IntN(99))
	far := []int{0, 0, 0, -1 << 53, 1<<53 - 42}[rng.IntN(5)] // f64 has every second integer beyond 2^53
	fmt.Fprintf(b, "g = g0 + %d\nh = reverse(g)\n", far)
	for range 3 {
		groups := [2]string{pick("g == j", "j == g", "g - 2 == j", "g[argsort(x)] == j", "i64(9 * x) == j"), pick("g == j", "g == j", "g == i", "h == j")}
		rows := pick("sort(x[GROUP])", "cumsum(x[GROUP]) ^ 2", "X[GROUP, :] @ [1, 2, 3]", "rowsum(X[GROUP, :])", "x[GROUP]", "rbind(x[GROUP], x[GROUP])")
		value := pick("sum(ROWS)", "count(ROWS > 0.3)", "norm(ROWS) + count(GROUP)", "max(rbind(ROWS, [[0.5]])) - count(GROUP)", "sum(ROWS) - count(OTHER)", "sum(ROWS) * sum(x[OTHER])")
		value = strings.ReplaceAll(strings.ReplaceAll(value, "ROWS", rows), "GROUP", groups[0])
		lo, outer := far+rng.IntN(7)-3, pick("", "", "", "", "i in 0..2, ", "i in 0..33, ")
		if outer == "" {
			groups[1] = strings.ReplaceAll(groups[1], "i", "j")
		}
		value = strings.ReplaceAll(value, "OTHER", groups[1])
		value = "s = " + value + pick("", "", "; assert s < 9 or count(g == j) < 4, \"many\"") + "; s"
		fmt.Fprintf(b, "emit parfor %sj in %d..%d { %s }\n", outer, lo, lo+k, value)
	}
	return b.String()
}

// TestTablesOfGroups: sums, means and counts of the groups of an index have the bytes of the definition
// in every way to run them, on ranks that share the rows too.
func TestTablesOfGroups(t *testing.T) {
	table, tables := tinyTable(t), 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 54))
		pick := func(of ...string) string { return of[rng.IntN(len(of))] }
		n, k := 40+rng.IntN(500), 4+rng.IntN(25)
		b := &strings.Builder{}
		fmt.Fprintf(b, "g = randint(%d, 1, %d, %d, seed = %d)\nh = g %% 3\n", n, rng.IntN(7)-3, k+2+rng.IntN(5), rng.IntN(99))
		fmt.Fprintf(b, "f = randint(%d, 1, 0, 30, seed = %d) / 2\nx = rbind(rand(%d, 1, seed = 3) - 0.5, [[%s]])\n", n, rng.IntN(99), n-1, pick("nan", "inf", "-0.0", "1e300", "0.1"))
		fmt.Fprintf(b, "y = %s\n", pick("x + 1", "exp(x)", "x * 1e300", "randn(n, 1, seed = 4)", "i64(1e18 * randn(n, 1, seed = 4))"))
		masks := []string{"g == j", "j == f", "g == j and h == i", "g == j and x > 0", "h == i and x < 0.2 and f == j"}
		sums := []string{"sum((MASK) * y)", "sum(x * f64(MASK) * x)", "sum(ifelse(MASK, y, 0))", "mean(y[MASK])", "sum(exp(x[MASK]) * y[MASK])", "count(MASK)", "sum((MASK) * (g == j))",
			"max(y[MASK])", "min(exp(x[MASK]) - y[MASK])", "max(ifelse(MASK, y, -0.5))", "min(ifelse(MASK, y, 3))", "y[MASK].rows", "sum((x[MASK] - mean(x[MASK])) ^ 2)",
			"sum(x[MASK] * y[MASK].rows - sum(x[MASK]) / count(MASK))", "stddev(x[MASK])", "stddev(y[MASK])", "var(h[MASK])", "var(exp(x[MASK]) * 2)"}
		for range 2 {
			value := strings.ReplaceAll(pick(sums...), "MASK", pick(masks...)) + pick(" + ", " / ") + strings.ReplaceAll(pick(sums...), "MASK", pick(masks...))
			index := fmt.Sprintf("j in %s", pick(fmt.Sprintf("0..%d", k), fmt.Sprintf("-2..%d by 2", 2*k), fmt.Sprintf("%d..=0 by -1", k)))
			if strings.Contains(value, "i)") || strings.Contains(value, "== i") {
				index = pick("i in 0..3, "+index, index+", i in 0..2")
			}
			fmt.Fprintf(b, "emit parfor %s { %s }\n", index, value)
		}
		text := strings.ReplaceAll(b.String(), "randn(n,", fmt.Sprintf("randn(%d,", n))
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		tables += strings.Count(r.Plan.Graph.String(), "group.")
		all := runs{{1, 2, nil, true, "SS"}, {2, 1, nil, false, ""}, {3, 2, nil, true, "GSS"}, {2, 2, []string{"simplify"}, true, "TSS"}, {3, 1, nil, false, ""}}
		if _, err := all.some(seed).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if tables < 200 {
		t.Errorf("%d tables are made", tables)
	}
}

// TestOddGroups: parfors that almost take groups of rows, and groups with odd columns, have the bytes
// and failures of the definition.
func TestOddGroups(t *testing.T) {
	table := tinyTable(t)
	columns := "x = rand(300, 1, seed = 2) - 0.5\ng = randint(300, 1, 0, 22, seed = 1)\nh = reverse(g)\nX = cbind(x, x + 1, g)\nd = g % 3\none = x[1..2, :] + 1\nc = count(x > 0.4)\n"
	for i, bodies := range [][]string{
		{"sum(x[g == j] * j)", "sum((x * j)[g == j])", "sum(ifelse(g == j, x * j, 0))", "sum((g == j) * (x * j))"}, // the index is in the terms
		{"sum(x[g < j]) + count(g >= j)", "sum(x[d + j == j])", "sum((g == j) + x) - sum((g == j) - x)", "sum(ifelse(d > 1, x > j, false))", "sum(ifelse(d == 1, x, 0)) + j"},
		{"sum(ifelse(g + j == c, x, 0))", "sum(ifelse(g == j, 1.5, 0))", "sum(ifelse((x > 0) == j, x, 0))", "sum((g == j) * one)", "sum(ifelse(g == j and one > 1, x, 0))", "sum(ifelse(one == j, x, 0))"},
		{"mean((9223372036854775807 - d)[g == j])", "sum(X[g == j, :]) + count(x[g == j])", "mean((g == j) * x) + mean(g == j)", "sum(f32(x)[g == j]) + f32(count(f32(x)[g == j]))", "sum(2 * (g == j))", "sum(((g == j) * d) * x) + sum((f64(g == j) * d) * x)"},
		{"sum(60 // g[g == j and g > 0])"},                                // would fail in a row outside of the groups
		{"sum(x[g == j] * x[h == j])"},                                    // two groups
		{"sum((g == j) * (g != g[299, 0]) * rbind(x[0..299, :], [nan]))"}, // nan in the group, where the filter is false
	} {
		text := columns
		for _, body := range bodies {
			text += "emit t(parfor j in 0..24 { " + body + " })\n"
		}
		if _, err := (runs{{1, 2, nil, false, "SS"}}).differ(table, text); err != nil {
			t.Errorf("%d: %v\nin\n%s", i, err, text)
		}
	}
	for i, text := range []string{
		"emit t(parfor j in LOW..HIGH { sum(x[f == j]) + count(-f == -j) })\nemit t(parfor j in -LOW..-HIGH by -1 { count(f == -j) })",
		"F = f64(g) * 1125899906842625.0\nemit t(parfor j in 0..24750000000000000 by 1125899906842625 { sum(x[F == j]) })",
		"emit all parfor i in -5..22, j in -5..i { sum(x[g == i]) + count(g == j) }",
		"Y = X[:, colsum(X) > 0]\nemit t(parfor j in 0..300 { sum(ifelse(d == j - 7, Y, 0)) + max(ifelse(g == j - 7, Y, 0)) })\nemit t(parfor j in 0..300 { sum(cumsum(Y[g == j - 7 and x > 0, 0])) })", // the run tells the columns
		"emit t(parfor j in 0..300 { sum(ifelse(d == 7 - j, x, 5)) + sum(ifelse(g == j + d, x, 0)) + count(g == j + 0 and one > 1) })",
		"y = x[x > 0]\nk = 0 * g[x > 0] + 7\nemit t(parfor j in 0..300 { max(ifelse(k == j, -y, 5.0)) + min(ifelse(d - d == j, x + 1, -9.0)) })",
		"emit t(parfor j in 0..300 { sum(sort(x[(x > 0) == (j % 2 == 0)])) + sum(rowmax(ifelse(g == j + 0, x, 0.0))) + max(ifelse(g == j + 0, x, x + 1)) + max(ifelse(g == j + 0, x, -9.0)) + sum(sort(x[g > j])) + sum(sort((x * (one * j))[g == j + 0])) })",
		"emit t(parfor j in 0..300 { assert j > 5, \"first\"; sum(sort(x[60 // g == j + 0])) })",
		"emit t(parfor j in 0..300 { sum(sort((j // (g - 21))[g == j + 0 and g < 21])) })",
	} {
		text = columns + "f = f64(g) + LOW\n" + text
		text = strings.NewReplacer("LOW", "9007199254740980", "HIGH", "9007199254741010").Replace(text)
		if _, err := (runs{{1, 2, nil, false, "SS"}}).differ(table, text); err != nil {
			t.Errorf("%d: %v\nin\n%s", i, err, text)
		}
	}
}

// TestRowsOfGroups runs programs of grouping in several ways: all give the bytes of the definition,
// and rows come from an order of all rows.
func TestRowsOfGroups(t *testing.T) {
	table := tinyTable(t)
	ordered := 0
	for seed := range uint64(80) {
		text := grouping(rand.New(rand.NewPCG(seed, 53)))
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		ordered += strings.Count(r.Plan.Graph.String(), "order.below(")
		all := runs{{1, 1, nil, false, ""}, {1, 3, []string{"segments"}, true, "FAC2"}, {1, 2, []string{"simplify"}, false, "SS"},
			{2, 2, nil, false, "GSS"}, {3, 1, nil, false, "TSS"}}
		if _, err := all.some(seed).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if ordered < 50 {
		t.Errorf("%d columns are ordered", ordered)
	}
	g := "g = randint(200, 1, 0, 40, seed = 1)\ny = randn(260, 1, seed = 2)\nx = y[y > -9]\nids = unique(g)\n"
	for i, text := range []string{
		g + "emit parfor j in 0..600 { sum(x[g == j]) }", // masks of another length fail
		g + "emit parfor j in 0..60 { sum(sort(x[g == j])) }",
		g + "emit parfor j in 0..ids.rows { max(x[g == ids[j, 0]]) }",
		g + "emit parfor j in 0..200 { sum(sort(x[g == g[j, 0] and g % 3 > 0])) }",
		"g = randint(90, 1, 0, 9, seed = 1)\nx = rand(90, 1, seed = 2)\nemit t(parfor j in 0..40 { z = x[g == j and x > 0.5]; sum(sort(z)) + z.rows })",
		"g = randint(0, 1, 0, 25, seed = 85)\ny = randn(0, 1, seed = 22)\nemit t(parfor j in 0..600 { sum(y[g == j and j % 2 == 0]) })",
		"X = randn(90, 3, seed = 1)\ng = randint(90, 1, 0, 9, seed = 2)\nemit t(parfor j in 0..600 { sum(ifelse(X > 0 and g == j, X, 0)) })",
		"X = randn(90, 3, seed = 1)\ng = randint(90, 3, 0, 9, seed = 2)\nemit t(parfor j in 0..600 { sum(ifelse(g == j, X, 0)) + count(g == j) })", // no column tells the groups
	} {
		if _, err := (runs{{1, 2, nil, false, "SS"}, {2, 1, nil, false, ""}}).some(uint64(i)).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}

// TestFromHowManyGroups: rows are ordered where masks would compare many elements, and where no loop
// reduces the rows under their mask.
func TestFromHowManyGroups(t *testing.T) {
	const whole, floats = "randint(%d, 1, 0, %d, seed = 2)", "floor(rand(%d, 1, seed = 2) * %d)"
	table := tinyTable(t)
	for _, c := range []struct {
		rows, groups int
		key, of      string
		want         bool
	}{
		{2_000_000, 32, whole, "norm(y)", true}, {2_000_000, 31, whole, "norm(y)", false}, {20_000, 100, whole, "norm(y)", false},
		{20_000, 300, whole, "norm(y)", true}, {20_000, 40, whole, "median(y)", true}, {20_000, 24, whole, "median(y)", false},
		{2_000_000, 100, floats, "norm(y)", false}, {2_000_000, 128, floats, "norm(y)", true},
	} {
		text := fmt.Sprintf("x = rand(%d, 1, seed = 1)\nk = %s\nemit parfor g in 0..%d { y = x[k == g]; %s }", c.rows, fmt.Sprintf(c.key, c.rows, c.groups), c.groups, c.of)
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatalf("%v\nin\n%s", err, text)
		}
		if is := strings.Contains(r.Plan.Graph.String(), "order.below("); is != c.want {
			t.Errorf("%d rows, %d groups by %s, %s: ordered %v", c.rows, c.groups, c.key, c.of, is)
		}
	}
}
