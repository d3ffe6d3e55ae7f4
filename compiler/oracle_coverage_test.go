package compiler_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"flow/compiler"
	"flow/compiler/nodes"
	"flow/compiler/rule"
	"flow/ir"
	"flow/ir/op"
	"flow/stdlib"
)

// This file tests the generator of random programs: what it draws provokes every pass and every
// exact rule, so that the oracle compares programs with and without each of them.

// coverage counts in how many programs each pass changes the graph, and each rule applies.
type coverage struct {
	table         *op.Table
	passes, rules map[string]int
}

// compile compiles a program and counts; ranks above 1 cut matrices.
func (c *coverage) compile(text string, ranks int) error {
	seen := map[string]bool{}
	var before *ir.Graph
	shown := ""
	o := compiler.Options{Table: c.table, Ranks: ranks, Sizes: tinySizes, Std: stdlib.Files}
	if strings.Contains(text, "read(") {
		o.Sizes.Part = 64 // as if memory were scarce
	}
	o.Dump = func(p string, g *ir.Graph) {
		after := g.String()
		if p == "simplify" {
			c.applied(before, seen)
		}
		if before == nil {
			seen["contract"] = strings.Contains(after, "= gemm(") || strings.Contains(after, "ta=true") || strings.Contains(after, "tb=true")
		}
		seen[p] = seen[p] || after != shown
		before, shown = g, after
	}
	r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), o)
	if ds.HasErrors() {
		return fmt.Errorf("%v", ds)
	}
	seen["order"] = slices.Max(r.Plan.Prio) > 0
	seen["by-rows"] = choosesRows(r, text, o)
	for name, fired := range seen {
		if rest, ok := strings.CutPrefix(name, "rule "); ok && fired {
			c.rules[rest]++
		} else if fired {
			c.passes[name]++
		}
	}
	return nil
}

// applied notes the rules that simplify applies to a graph and what lies in it.
func (c *coverage) applied(g *ir.Graph, seen map[string]bool) {
	rules := rule.New(c.table, rule.Exact, nil)
	nodes.Everywhere(g, func(g *ir.Graph) *ir.Graph {
		out, _ := rules.Simplify(g)
		return out
	})
	for name, n := range rules.Fired {
		seen["rule "+name] = n > 0
	}
}

var oraclePrograms = flag.Int("oracle.programs", 100, "of how many random programs at least it is counted what passes and rules do")

// mostPrograms is how many programs may be drawn until each pass and rule has had its turn.
const mostPrograms = 500

// TestOracleProvokes prints how many programs each pass changes and each rule applies to; none may
// be spared.
func TestOracleProvokes(t *testing.T) {
	c := &coverage{table: tinyTable(t), passes: map[string]int{}, rules: map[string]int{}}
	drawn, file := 0, filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(file, []byte(strings.Repeat("1,2\n", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	for ; drawn < *oraclePrograms || drawn < mostPrograms && len(c.spared()) > 0; drawn++ {
		seed := uint64(drawn + 1)
		rng := rand.New(rand.NewPCG(seed, 1))
		text := newProgram(rng, c.table, 6+rng.IntN(20)).text()
		if drawn%20 == 19 {
			text = stencil(rng)
		}
		if drawn%20 == 9 {
			text = keying{rng}.program()
		}
		if drawn%20 == 4 {
			text = squaring(rng)
		}
		if drawn%20 == 14 {
			text = turning(rng)
		}
		if drawn%20 == 1 {
			text = crossing(rng)
		}
		if drawn%20 == 12 {
			text = keying{rng}.codes()
		}
		if drawn%20 == 17 {
			text = ordering(rng)
		}
		if drawn%20 == 7 {
			text = choosing(rng)
		}
		if drawn%20 == 15 {
			text = grouping(rng)
		}
		if drawn%20 == 2 {
			text = diagonals(rng)
		}
		if drawn%20 == 6 {
			text = fmt.Sprintf("X = read(%q)\nemit colsum(X * %d)\n", file, drawn)
		}
		if err := c.compile(text, 1+drawn%3/2*2); err != nil { // every third program is for 3 ranks
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	for _, name := range c.spared() {
		t.Errorf("no program of %d provokes %s", drawn, name)
	}
	var b strings.Builder
	for _, p := range compiler.Passes() {
		fmt.Fprintf(&b, "\n%6d %s", c.passes[p.Name], p.Name)
	}
	for _, r := range compiler.Rules() {
		if r.Class == rule.Exact {
			fmt.Fprintf(&b, "\n%6d %s", c.rules[r.Name], r.Name)
		}
	}
	t.Logf("programs of %d that each pass changes and each rule applies to:%s", drawn, b.String())
}

// spared is the passes and exact rules that no program has provoked yet.
func (c *coverage) spared() (out []string) {
	for _, p := range compiler.Passes() {
		if c.passes[p.Name] == 0 {
			out = append(out, "the pass "+p.Name)
		}
	}
	for _, r := range compiler.Rules() {
		if r.Class == rule.Exact && c.rules[r.Name] == 0 {
			out = append(out, "the rule "+r.Name)
		}
	}
	return out
}

// crossing draws a program that reduces the rows of a matrix that a column and a row make, twice.
func crossing(rng *rand.Rand) string {
	of := []string{"x - w", "exp(-(x - w) ^ 2)", "abs(x + w) * x"}
	return fmt.Sprintf("x = materialize(rand(%d, 1, seed = 1))\nw = materialize(rand(1, %d, seed = 2))\nK = %s\nemit rowsum(K)\nemit rownorm(K - rowmax(K))\n",
		64+rng.IntN(9), 128+rng.IntN(9), of[rng.IntN(len(of))])
}

// squaring draws a program that reduces the square of a sparse matrix, which is dense, multiplies a row
// and four rows by the matrix, and takes the product with another sparse matrix, and a dense chain,
// where it has entries itself.
func squaring(rng *rand.Rand) string {
	of := []string{"sum", "rowsum", "colsum", "max", "rowmean", "norm", "colcount"}
	return fmt.Sprintf("S = rand_sparse(%d, %d, 0.4, seed = %d)\nemit %s(S ^ 2)\nemit rand(1, S.rows, seed = 1) @ S\nemit rand(4, S.rows, seed = 4) @ S\n"+
		"emit S * (S @ rand_sparse(S.cols, S.cols, 0.5, seed = 2))\nemit S * abs(rand(S.rows, 1, seed = 1) - rand(1, S.cols, seed = 2))\n"+
		"emit rowcount(bool(S) and rand(1, S.cols, seed = 3) > 0.5)\nemit rowsum(rand(1, S.cols, seed = 3) > 0.3 and bool(S))\n",
		2+rng.IntN(9), 2+rng.IntN(9), rng.IntN(100), of[rng.IntN(len(of))])
}

// ordering is a random program that reads some rows of sorts and of what they order. Which ones is
// known before the run or not.
func ordering(rng *rand.Rand) string {
	n, m, k := 3+rng.IntN(60), 1+rng.IntN(3), rng.IntN(3)
	reads := []string{"sort(x)[K]", "sort(x)[k]", "argsort(x, desc = true)[0..k]", "X[argsort(x)[k..k + 2], :]", "X[argsort(x), :][0..K, 0]",
		"take(X, argsort(x, desc = true))[K, -1]", "sort(X, by = -1)[-2.., :]", "mean(sort(x)[k..N - k])", "sort(X)[i64(sort(x)[k]), 0]",
		"sort(-x)[0] + sort(-x)[N - 1 - k]", "sum(parfor i in 0..N { sum(X[argsort(abs(x - x[i]))[0..K + 1], 0]) })",
		"sum(parfor i in 0..N { sort(x * i)[i] })", "quantile(x, 0.3)"}
	var b strings.Builder
	fmt.Fprintf(&b, "X = rand(%d, %d, seed = %d)\nx = floor(materialize(X[:, 0]) * %d)\nk = i64(sum(x * 0)) + %d\n", n, m, rng.IntN(100), 1+rng.IntN(9), k)
	for range 1 + rng.IntN(5) {
		b.WriteString("emit " + reads[rng.IntN(len(reads))] + "\n")
	}
	return strings.NewReplacer("K", fmt.Sprint(k), "N", fmt.Sprint(n)).Replace(b.String())
}

// turning is a random program that works on rows of a transpose and turns the result back.
func turning(rng *rand.Rand) string {
	lines := []string{"cumsum(t(X))", "cummax(t(X))", "rbind(t(X), t(Y))", "rbind(t(X)[1.., :], t(X)[0, :])", "roll(t(X), 1)", "roll(t(Y), -1)",
		"take(t(X), argsort(rowsum(t(Y))))", "t(Y)[argsort(rowsum(t(X))), :]"}
	n, m := 2+rng.IntN(9), 2+rng.IntN(9)
	return fmt.Sprintf("X = materialize(rand(%d, %d, seed = %d))\nY = materialize(X + 1)\nZ = t(%s)\nemit Z * 2\n",
		n, m, rng.IntN(100), lines[rng.IntN(len(lines))])
}
