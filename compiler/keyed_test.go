package compiler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"flow/compiler"
	"flow/ir"
	"flow/ir/op"
	"flow/kernels"
	"flow/stdlib"
)

// This file tests random reductions by key: counts and sums of rows by a code that is computed of
// the rows, with codes that may be none, and numbers that may not be finite.

// keying draws such programs on a matrix X, a column y of numbers in 0 to 1 and a column c of
// codes 0 to 3.
type keying struct{ rng *rand.Rand }

func (k keying) of(list ...string) string { return list[k.rng.IntN(len(list))] }

// code is a column of codes; most are 0 to 3.
func (k keying) code() string {
	return k.of("i64(4 * y)", "i64(4 * y ^ 2)", "c", "(c + 1) % 4", "3 - c", "max(c - 1, 0)", "floor(4 * y)", "i64(2 * y) * 2 + c // 2",
		"i64(y > 0.5)", "y > 0.25", "bin(y, 0.0, 1.0, 4)", "bin(y, 0.25 * seq(1, 4))", "max(bin(y, seq(0, 4) / 3.0) - 1, 0)",
		"bin(y, [0.1, 0.15, 0.9])", "bin(y, [0.1, 0.1, 0.15], closed = \"right\")", "bin(X[:, 1], sort(M[:, 0]))",
		"rowargmin(X @ t(M) - t(rowsum(M ^ 2)))", "rowargmax(abs(X[:, 0..1] - 0.5) + y)", "rowargmin(X @ M[0..3, 0..2])", "rowargmin(cbind(rowsum(abs(X - M[0, :])), rowsum(abs(X - M[1, :])), y * 2))", "take(i64(3 * M[:, 0]), c)",
		"ifelse(y < 0.3, 2, c)", "i64(5 * y)", "c - (y > 0.99)", "y * 3")
}

// term is the rows that are added.
func (k keying) term() string {
	return k.of("X", "y", "X * y", "exp(-X)", "X - y", "X[:, 0]", "take(M, c)", "X - take(M, c)", "1 / (X - 0.5)", "log(y - 0.01)", "X @ M[0..3, :]", "cbind(y, X, f64(c))", "f64(c)", "X ^ 2 * 1e300 * 1e10")
}

func (k keying) program() string {
	var b strings.Builder
	n := []int{37, 8, 61}[k.rng.IntN(3)]
	fmt.Fprintf(&b, "X = materialize(rand(%[1]d, 3, seed = %[2]d))\ny = materialize(rand(%[1]d, 1, seed = %[3]d))\nc = materialize(i64(4 * rand(%[1]d, 1, seed = %[4]d)))\nM = materialize(rand(4, 3, seed = 9))\n",
		n, k.rng.IntN(100), k.rng.IntN(100), k.rng.IntN(100))
	fmt.Fprintf(&b, "a = %s\nH = onehot(a, 4%s)\n", k.code(), k.of("", "", ", sparse = true"))
	switch k.rng.IntN(8) {
	case 6:
		fmt.Fprintf(&b, "emit ctable(a, %s, n = 4, m = 5)\nemit sum(a)\n", k.code())
	case 7:
		fmt.Fprintf(&b, "emit colsum(onehot(a[y > 0.3], 4%s))\n", k.of("", ", sparse = true"))
	case 0:
		fmt.Fprintf(&b, "emit colsum(H)\n")
	case 1:
		fmt.Fprintf(&b, "emit t(H) @ (%s)\n", k.term())
	case 2:
		fmt.Fprintf(&b, "emit (t(H) @ (%s)) / t(colsum(H))\nemit sum(a)\n", k.term())
	case 3:
		fmt.Fprintf(&b, "x = %s\ns = t(H) @ x\nemit s\nemit t(H) @ (x * x)\nemit colsum(H)\nemit take(s, c) - x\n", k.term())
	case 4:
		fmt.Fprintf(&b, "emit colsum(H)\n")
		fmt.Fprintf(&b, "emit histogram_of(%s, [0, 0.25, 0.5, 1])\n", k.of("y", "X", "y * 1.5 - 0.2", "X @ t(M[0..2, :])"))
	default:
		fmt.Fprintf(&b, "emit t(H) @ y\niterate m = M times 3 {\n  k = rowargmin(t(rowsum(m ^ 2)) - 2 * X @ t(m))\n  G = onehot(k, 4)\n  next m = (t(G) @ X) / t(max(colsum(G), 1))\n}\nemit m\n")
	}
	return b.String()
}

// codes is a program that reads a matrix of codes in all ways but sums by code: in products with it, in
// elementwise operators and reductions, and in loops.
func (k keying) codes() string {
	var b strings.Builder
	n := []int{37, 8, 61}[k.rng.IntN(3)]
	fmt.Fprintf(&b, "X = materialize(rand(%[1]d, 3, seed = %[2]d))\ny = materialize(rand(%[1]d, 1, seed = %[3]d))\nc = materialize(i64(4 * rand(%[1]d, 1, seed = %[4]d)))\nM = materialize(rand(4, 3, seed = 9))\n",
		n, k.rng.IntN(100), k.rng.IntN(100), k.rng.IntN(100))
	special := k.of("", "", "replace(floor(3 * (%s)), 1, inf)", "floor(3 * (%s)) * -0.0", "-floor(2 * (%s))", "floor(2 * (%s))", "1 / floor(1.1 * (%s))")
	if special == "" {
		special = "%s"
	}
	fmt.Fprintf(&b, "w = "+special+"\nZ = "+special+"\n", "M[:, 0]", "X * -1 + 0.5")
	if k.rng.IntN(4) == 0 {
		fmt.Fprintf(&b, "emit i64(log(y - 0.01))\n")
	}
	fmt.Fprintf(&b, "H = onehot(%s, 4%s)\n", k.code(), k.of("", "", "", ", sparse = true"))
	for range 1 + k.rng.IntN(3) {
		b.WriteString("emit " + k.of("H @ w", "H @ M", "colsum(H)", "H[2, 1]", "Z - H @ M", "Z + H @ M", "t(M) @ t(H)", "t(Z) - t(M) @ t(H)", "rowsum(H)", "sum(H)", "sum(t(H) @ X)", "rowsum(H * (X @ t(M)))",
			"colmax(ifelse(H > 0, y, -inf))", "colsum(H * y)", "H == 1", "H * y + H", "max(H @ w, y)", "H", "H[0..2, :]", "t(H) @ H", "H @ M * (H @ (M + 1))",
			"t(H) @ (y - H @ w)", "take(X, argsort(argsort(y, desc = true)))", "parfor j in 0..3 { sum((X[:, j] - H @ M[:, j]) ^ 2) }") + "\n")
	}
	if k.rng.IntN(2) == 0 {
		fmt.Fprintf(&b, "iterate p = w times 6 {\n  next p = %s\n}\nemit y - H @ p\n", k.of("t(H) @ (y - H @ p) / (1 + t(colsum(H)))", "t(colsum(H * (y - H @ p))) / 10",
			"t(colmax(ifelse(H > 0, y - H @ p, -1)))", "if sum(p) > 1 { t(H) @ (y - H @ p) / 9 } else { p + t(colsum(H)) }"))
	}
	return b.String()
}

// TestCodesReadOtherwise compares such programs with their definition.
func TestCodesReadOtherwise(t *testing.T) {
	table := tinyTable(t)
	made := 0
	for seed := range uint64(90) {
		text := keying{rand.New(rand.NewPCG(seed, 43))}.codes()
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatal(err, text)
		}
		if strings.Contains(r.Plan.Graph.String(), "onehot.take(") {
			made++
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, []string{"codes"}, true, "FAC2"}, {1, 2, []string{"simplify"}, false, "SS"}, {2, 2, nil, false, "GSS"}, {3, 1, []string{"fold-groups"}, false, "TSS"}}).some(seed).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if made < 30 {
		t.Errorf("%d of 90 plans take rows by code", made)
	}
}

// TestKeyed compares the programs with their definition: on one worker, on several, on ranks, and
// without the pass.
func TestKeyed(t *testing.T) {
	table := tinyTable(t)
	sound, grouped, began := 0, 0, kernels.LoopsBegun()
	for seed := range uint64(300) {
		text := keying{rand.New(rand.NewPCG(seed, 41))}.program()
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Log(err, text)
			continue
		}
		sound++
		if byKeyInBodies(r.Plan.Graph) {
			grouped++
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {1, 2, []string{"keys"}, false, "SS"}, {2, 2, nil, false, "GSS"}, {3, 1, []string{"hoist"}, false, "TSS"}}).some(seed).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if sound < 300 || grouped < 120 || kernels.LoopsBegun()-began < 200 {
		t.Errorf("%d of 300 programs compile, %d have reductions by key in loops, %d loops have run", sound, grouped, kernels.LoopsBegun()-began)
	}
}

// byKeyInBodies reports a reduction by key in a task with others.
func byKeyInBodies(g *ir.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n ir.Node) bool {
		if n.Region == nil {
			return false
		}
		inner := slices.ContainsFunc(n.Region.Graph.Nodes, func(n ir.Node) bool { return n.Op.Keyed != nil })
		return inner && n.Op.Control == op.NoControl || byKeyInBodies(n.Region.Graph)
	})
}

// TestLargeCodes: a matrix of codes is not built, however large it would be, where it is multiplied,
// where elementwise operators and reductions read it, and in loops.
func TestLargeCodes(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"emit sum((t(H) @ x ^ 2) / t(colsum(H)) - (t(H) @ x) ^ 2)\n", "m = (t(H) @ x) / t(colsum(H))\nemit sum((x - H @ m) ^ 2)\n",
		"emit sum(colsum(H * x) / colsum(H)) + mean(t(x) @ H)\n", "emit sum(colmax(ifelse(H > 0, x, -inf)) - colmin(ifelse(H > 0, x, inf)))\n",
		"iterate p = zeros(k, 1) times 9 {\n  next p = t(H) @ (x - H @ p)\n}\nemit sum(x - H @ p)\n", "emit sum(t(H) @ x)\nemit sum(H) + mean(rowsum(H @ rand(k, 3)))\n"} {
		text := "n = 10_000_000\nk = 400\na = materialize(i64(k * rand(n, 1, seed = 1)))\nx = materialize(rand(n, 1, seed = 2))\nH = onehot(a, k)\n" + of
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if plan := r.Plan.Graph.String(); strings.Contains(plan, "[10000000,400]") || r.Plan.Graph.Len() > 60 {
			t.Errorf("%s: the plan is\n%.4000s", of, plan)
		}
	}
}

// ctable counts two columns of codes in the loop that makes the codes. The column sums of onehot of
// rows that a mask chooses are computed without the matrix of onehot.
func TestCodesAreCountedWhereTheyAreMade(t *testing.T) {
	table := tinyTable(t)
	for text, absent := range map[string][]string{ // programs, and operators that are no nodes of their plans
		"x = materialize(rand(5000, 1, seed = 1))\nemit ctable(i64(5 * x), i64(7 * x ^ 2), n = 5, m = 7)\n":                                       {"= ctable("},
		"x = materialize(rand(5000, 1, seed = 1))\nemit ctable(i64(5 * x), zeros(5000, 1), n = 5, m = 1)\n":                                       {"= ctable(", "= map("},
		"x = materialize(rand(5000, 1, seed = 1))\nemit colsum(onehot(i64(9 * x[x > 0.5]) - 4, 5))\n":                                             {"= onehot("},
		"x = materialize(rand(5000, 1, seed = 1))\nemit ctable(i64(5 * x), i64(7.1 * x), n = 5, m = 7)\n":                                         {"= ctable("},
		"x = materialize(rand(5000, 1, seed = 1))\nemit t(onehot(i64(5 * x), 5)) @ onehot(i64(7 * x ^ 2), 7)\n":                                   {"= onehot("},
		"x = materialize(rand(5000, 1, seed = 1))\nemit t(onehot(5 * x // 1, 5, sparse = true)) @ onehot(i64(7 * x), 7)\n":                        {"= onehot("},
		"x = materialize(rand(5000, 1, seed = 1))\nA = onehot(i64(5 * x), 5, sparse = true)\nemit t(A) @ onehot(i64(7 * x), 7, sparse = true)\n":  {"= onehot("},
		"x = materialize(rand(5000, 1, seed = 1))\nA = onehot(i64(5 * x), 5)\nemit t(A) @ A - 1\nemit t(A) @ x\n":                                 {"= onehot("},
		"x = materialize(rand(5000, 1, seed = 1))\nA = onehot(i64(5 * x), 5)\nemit 1\nemit t(onehot(i64(7.01 * x), 7)) @ A\nemit A[0..2, :]\n":    {"= matmul"},
		"x = materialize(rand(5000, 1, seed = 1))\nA = onehot(i64(5.01 * x), 5)\nemit 1\nemit t(onehot(i64(7.01 * x), 7)) @ A\nassert x[0] < 0\n": {"= onehot("},
		"x = materialize(rand(5000, 1, seed = 1))\nH = onehot(i64(5.01 * x), 5)\ny = i64(log(x - 1))\nemit t(H) @ x\nemit y\n":                    {"= onehot("},
		"x = materialize(rand(5000, 1, seed = 1))\nemit \"a\"\nemit colsum(onehot(i64(9 * x[x > 0.5]) - 4, 4))\nemit 1\n":                         {"= onehot("},

		// what cannot fail is a member although something that can fail follows it
		"k = materialize(i64(9 * rand(5000, 1, seed = 1)))\nemit histogram_of(f64(k), seq(0, 10))\n":                                                   {"= f64(", "= bin.within("},
		"k = materialize(i64(9 * rand(5000, 1, seed = 1)))\nq = 1.5 * k\nassert sum(k) > 0\nemit colsum(onehot(max(bin(q, [0, k[0, 0], 3]), 0), 3))\n": {"= mul(", "= bin.within("},
		"k = materialize(i64(9 * rand(5000, 1, seed = 1)))\nq = 1.5 * k\nassert sum(k) < 0\nemit colsum(onehot(max(bin(q, [0, 1, 3]), 0), 2))\n":       {"= mul("},
	} {
		c, err := compileTiny(table, text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(c.Plan.Graph.String(), "\n") {
			for _, word := range absent {
				if !strings.HasPrefix(line, " ") && strings.Contains(line, word) {
					t.Errorf("%s: the plan has %s", text, line)
				}
			}
		}
		rs := runs{{1, 1, nil, false, ""}, {1, 3, nil, false, "SS"}, {1, 2, []string{"keys"}, false, ""},
			{1, 2, []string{"fold-groups"}, false, ""}, {2, 2, nil, false, ""}, {3, 1, nil, false, ""}}
		if _, err := rs.differ(table, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
