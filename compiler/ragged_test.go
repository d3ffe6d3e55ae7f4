package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// raggedRounds draws a program whose rounds reduce as many elements as the run tells: of slices, or of
// a parfor, with branches and subscripts that may leave the matrix.
func raggedRounds(rng *rand.Rand) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	n, from, to := 20+rng.IntN(70), pick("0", "0", "i // 2", "i - 1"), pick("i", "i", "i + 1", "N - i", "min(2 * i, N)")
	if rng.IntN(8) == 0 {
		to = "i + 3" // the last rounds read beyond the matrix
	}
	start, extra := pick("rand(N, 1, seed = 1)", "rand(N, 1, seed = 1) ^ 9 * 1e9", "f32(rand(N, 1, seed = 1))", "randn(N, 1, seed = 3)"), pick("0.5", "f64(i)")
	if rng.IntN(3) == 0 {
		start, extra = "randint(N, 1, -9, 9, seed = 2)", pick("3", "i")
	}
	other := pick("[N - 1 - j]", "[j]", "[j]", "[(j * 7) % N]", "[i]", "[j - FROM]")
	each := pick("A[j] + L@", "if A[j] < A[i] { L@ } else { A[j] }", "if A[j] < A[i] and L@ > 0 { L@ - A[j] } else { 0 }", "A[j] * L@", "if j % 3 == i % 3 { A[j] } else { L@ }", "if j > 3 { L[j - 3] } else { A[j] }")
	list := "parfor j in FROM..TO { " + strings.ReplaceAll(each, "@", other) + " }"
	if rng.IntN(3) == 0 {
		list = pick("A[FROM..TO] + L[FROM..TO]", "ifelse(A[FROM..TO] < A[i], L[FROM..TO], 0)", "L[FROM..TO]", "A[FROM..TO] * A[TO - 1..FROM - 1 by -1]")
	}
	fold := pick("max", "min", "max", "min", "sum", "sum", "mean", "norm", "argmax", "argmin", "prod", "stddev")
	whole := fold + "(" + list + ")"
	if rng.IntN(4) == 0 {
		whole = pick("count", "any", "all") + "(" + list + " > 0)"
	}
	value := pick("WHOLE", "WHOLE + 1", "if i > 2 { WHOLE } else { EXTRA }", "WHOLE * EXTRA")
	text := fmt.Sprintf("A = %s\niterate L = A * 0, s = 0.0, i = %d until i >= N {\n  v = %s\n  next L = %s\n  next s = s + v\n  next i = i + %s\n}\nemit all L\nemit s\n",
		start, rng.IntN(3), value, pick("ifelse(seq(0, N) == i, CONV, L)", "parfor k in 0..N { if k == i { CONV } else { L[k] } }", "L + CONV"), pick("1", "1", "2"))
	conv := "v"
	switch {
	case strings.Contains(start, "randint"):
		conv = "i64(min(max(f64(v), -1e6), 1e6))"
	case strings.Contains(start, "f32"):
		conv = "f32(v)"
	}
	return strings.NewReplacer("N", fmt.Sprint(n), "CONV", conv).Replace(strings.NewReplacer("FROM", from, "TO", to).Replace(
		strings.NewReplacer("EXTRA", extra).Replace(strings.NewReplacer("WHOLE", whole).Replace(text))))
}

// TestRaggedRounds runs programs of ragged reductions in rounds in several ways: all give the bytes and
// failures of the definition.
func TestRaggedRounds(t *testing.T) {
	table, rounds, failed := tinyTable(t), 0, 0
	for seed := range uint64(300) {
		text := raggedRounds(rand.New(rand.NewPCG(seed, 61)))
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Logf("seed %d: %v\nin\n%s", seed, err, text)
			continue
		}
		rounds += strings.Count(r.Plan.Graph.String(), "= rounds(")
		m, err := runs{{1, 2, nil, false, "FAC2"}, {1, 1, []string{"rounds"}, false, ""}, {2, 2, nil, false, "GSS"}}.differ(table, text)
		if err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
		if m.failed {
			failed++
		}
	}
	if rounds < 150 || failed < 20 || failed > 200 {
		t.Errorf("%d loops are one task, and %d programs fail", rounds, failed)
	}
}
