package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// This file tests reductions of dense results of sparse matrices, which are made at the entries.

// onEntries draws a program that reduces chains of elementwise operators on a sparse matrix.
func onEntries(rng *rand.Rand) string {
	of := func(list ...string) string { return list[rng.IntN(len(list))] }
	var b strings.Builder
	fmt.Fprintf(&b, "S = rand_sparse(%d, %d, %v, seed = %d)\nR = %s\n", 3+rng.IntN(40), 2+rng.IntN(9), []float64{0.05, 0.1, 0.2}[rng.IntN(3)], rng.IntN(99),
		of("S", "-S", "f32(S)", "S > 0", "i64(S * 5)", "S * inf", "t(S) * 2", "bool(S)"))
	for range 3 {
		chain := of("R - 1", "R - 0.5", "R > 0.1", "R == 0", "exp(R)", "(R - 1) ^ 2", "R != 0", "R >= 2", "1 - R", "log(1 + R)", "R + inf", "R * R - 1", "1 / (R + 1)", "1 / R",
			"ifelse(R > 0, 1, 2)", "R < 0", "sqrt(R - 0.5)", "0 - R", "-1 * (R + 0)", "abs(R - 1) * -0.0", "max(R, 0.5)", "i64(R - 0.5)", "R + 1e308", "f64(R != 0)", "f64(R == 0) * 5e-324", "R // 0", "(R - mean(S)) ^ 2", "R > mean(S)", "not R", "f64(not R) * 3", "R == (not R)")
		fmt.Fprintf(&b, "emit %s(%s)\n", of("sum", "count", "mean", "norm", "any", "all", "min", "max", "var", "rowsum", "colsum", "rowmean", "colcount", "rowmax", "colmin", "rownorm", "colany"), chain)
	}
	b.WriteString("emit max(abs(S - 1) * -0.0)\n") // -0, also where S has entries
	return b.String()
}

// TestReducedAtEntries compares such programs with their definition.
func TestReducedAtEntries(t *testing.T) {
	table := tinyTable(t)
	kept, beside := 0, 0
	for seed := range uint64(120) {
		text := onEntries(rand.New(rand.NewPCG(seed, 47)))
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			continue // no element type has all operators
		}
		plan := r.Plan.Graph.String()
		kept, beside = kept+strings.Count(plan, "= sp.map("), beside+strings.Count(plan, ".beside(")
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, []string{"fuse-entries"}, true, "FAC2"}, {1, 2, []string{"fuse"}, false, "SS"}, {2, 2, nil, false, "GSS"}, {3, 1, nil, false, "TSS"}}).some(seed).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if kept < 100 || beside < 120 {
		t.Errorf("%d chains are made at entries, %d of them with a number beside", kept, beside)
	}
}

// TestChainsBesideEntries: a chain at the entries of a sparse matrix computes nothing elsewhere,
// where an integer division by zero would end the run.
func TestChainsBesideEntries(t *testing.T) {
	const text = `S = i64(rand_sparse(9, 7, density = 0.2, seed = 3) * 9)
D = ifelse(dense(S) > 0, 1 + dense(S) // 2, 0)
emit S // (D * 2)
emit sum(S // (D * 3))
emit S // (i64(bool(S)) + 0 * D)
`
	if _, err := (runs{{1, 1, nil, false, ""}}).differ(tinyTable(t), text); err != nil {
		t.Error(err)
	}
}
