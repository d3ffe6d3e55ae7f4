package compiler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"flow/compiler/lower"
	"flow/compiler/nodes"
	"flow/compiler/pass"
	"flow/ir"
	"flow/ir/op"
	"flow/lang"
	"flow/lang/source"
)

// This file tests contraction, which defines what products mean and so has no
// evaluator to differ from. On small integers every order of operations is exact: with
// and without contraction the same bytes must come out.

// integers draws programs of sums and products of 3 x 3 matrices of small integers,
// through names, functions and channels.
type integers struct {
	rng   *rand.Rand
	lines []string
	names []string // matrices in sight
	fns   int
}

// expr is an expression of the names given; products nest little, to stay exact.
func (g *integers) expr(names []string, depth, products int) string {
	if depth == 0 || g.rng.IntN(6) == 0 {
		return names[g.rng.IntN(len(names))]
	}
	sub := func(p int) string { return g.expr(names, depth-1, p) }
	switch k := g.rng.IntN(12); {
	case k < 3 && products > 0:
		a, b := sub(products-1), sub(products-1)
		if g.rng.IntN(2) == 0 {
			a = "t(" + a + ")"
		}
		if g.rng.IntN(2) == 0 {
			b = "t(" + b + ")"
		}
		return "(" + a + " @ " + b + ")"
	case k < 6:
		return "(" + sub(products) + " - " + sub(products) + ")"
	case k < 8:
		return "(" + sub(products) + " + " + sub(products) + ")"
	case k < 9:
		return "t(" + sub(products) + ")"
	case k < 10 && g.fns > 0:
		return fmt.Sprintf("f%d(%s, %s)", g.rng.IntN(g.fns), sub(min(products, 1)), sub(min(products, 1)))
	case k < 11:
		return "(" + []string{"R", "C"}[g.rng.IntN(2)] + " - " + sub(products) + ")" // a row or a column: broadcasts
	}
	return sub(products)
}

func (g *integers) line(format string, args ...any) {
	g.lines = append(g.lines, fmt.Sprintf(format, args...))
}

func (g *integers) program() string {
	g.line("R = round(4 * rand(1, 3, seed = 1)) - 2")
	g.line("C = round(4 * rand(3, 1, seed = 2)) - 2")
	for i := range 3 {
		name := fmt.Sprintf("A%d", i)
		g.line("%s = round(4 * rand(3, 3, seed = %d)) - 2", name, g.rng.IntN(100))
		g.names = append(g.names, name)
	}
	g.line("chan K = tiles(rbind(A0, A1), 3)")
	for i := range 2 {
		if g.rng.IntN(2) == 0 {
			g.line("fn f%d(x, y) = %s", i, g.expr([]string{"x", "y", "A0"}, 3, 1))
		} else {
			g.line("fn f%d(x, y) { p = %s; q = %s; %s }", i, g.expr([]string{"x", "y"}, 2, 1), g.expr([]string{"x", "y", "p"}, 2, 1), g.expr([]string{"p", "q", "x"}, 3, 1))
		}
		g.fns++
	}
	for i := range 4 + g.rng.IntN(4) {
		all := append(append([]string(nil), g.names...), "K[0,0]", "K[1,0]")
		switch g.rng.IntN(4) {
		case 0:
			g.line("K[%d,0] <- %s", g.rng.IntN(2), g.expr(all, 3, 1))
		case 1:
			g.line("for k%d in 0..2 { K[k%d,0] <- K[k%d,0] - %s }", i, i, i, g.expr(all, 2, 1))
		default:
			name := fmt.Sprintf("B%d", i)
			g.line("%s = %s", name, g.expr(all, 4, 1))
			g.names = append(g.names, name)
		}
	}
	for _, n := range g.names {
		g.line("emit %s", n)
	}
	g.line("emit untile(K)")
	return strings.Join(g.lines, "\n") + "\n"
}

func TestContractionIsExact(t *testing.T) {
	table := tinyTable(t)
	programs, fired := 0, 0
	for seed := max(*oracleSeed, 1); programs < 100; seed++ {
		exact, contracted := contractionIsExact(t, table, seed, programs%8 == 7)
		if exact {
			programs++
		}
		if contracted {
			fired++
		}
	}
	t.Logf("%d programs, %d with a gemm", programs, fired)
	if fired < programs/4 {
		t.Errorf("only %d of %d programs have a gemm", fired, programs)
	}
}

// A function's statements that an argument of another call holds move when the argument is brought
// into its canonical form; a soak found the program.
func TestContractionFollowsStatements(t *testing.T) {
	contractionIsExact(t, tinyTable(t), 1795423510956473667, true)
}

// wholeNumbers matches results that are far below 2^53. Larger ones may have terms that were rounded: a
// sum of 8.8e15 had, in a program that a soak drew.
var wholeNumbers = regexp.MustCompile(`^(\s|-?\b[0-9]{1,13}\b)*$`)

// contractionIsExact compares the program of a seed with itself contracted, and with all the passes
// after it as well if those are asked for; exact is false if the program says nothing because its
// numbers are too large.
func contractionIsExact(t *testing.T, table *op.Table, seed uint64, passes bool) (exact, fired bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 4))
	text := (&integers{rng: rng}).program()
	type form = func(*ir.Graph, ir.ID, ir.ID, bool) ir.ID
	meaning := func(contract, argument form) (*ir.Graph, string) {
		files := source.NewFileSet()
		tree, ds := lang.Parse(files.Add("x.flow", text))
		out := lower.Output{}
		if !ds.HasErrors() {
			out, ds = lower.Run(context.Background(), lower.Input{File: tree, Files: files, Table: table, MaxTasks: 1e6, Contract: contract, Argument: argument})
		}
		if ds.HasErrors() {
			t.Fatalf("seed %d: %v\n%s", seed, ds, text)
		}
		if err := out.Graph.Verify(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		return out.Graph, evaluated("", out.Graph).out
	}
	asWritten := func(_ *ir.Graph, _, root ir.ID, _ bool) ir.ID { return root }
	_, plain := meaning(asWritten, asWritten)
	if !wholeNumbers.MatchString(plain) {
		return false, false // beyond what is exact
	}
	panel := nodes.Sizes{Panel: 1 + rng.IntN(4)}
	contraction := pass.NewContraction(table, panel)
	g, contracted := meaning(contraction.Run, contraction.Argument)
	if strings.Contains(g.String(), "= gemm(") {
		fired = true
	}
	if plain != contracted {
		t.Fatalf("seed %d, panels of %d: %s\nin\n%s\n%s", seed, panel.Panel, difference(plain, contracted), text, g)
	}
	if passes { // and the passes after it, on functions and channels
		if _, err := drawRuns(rng)[:3].differ(table, text); err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	return true, fired
}
