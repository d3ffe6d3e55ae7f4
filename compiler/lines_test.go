package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// diagonals draws a program whose loop changes one element of each row, or of each column, in a round.
func diagonals(rng *rand.Rand) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	n, m := 16+rng.IntN(5), 64+rng.IntN(5)
	if rng.IntN(2) == 0 {
		n, m = m, n
	}
	start, value := "rand(N, M, seed = 3)", pick("C[i, j] + s", "C[(i + 3) % N, (2 * j) % M] * 0.5 - s", "s * 0.5 + C[N - 1 - i, j]")
	switch rng.IntN(3) {
	case 0:
		start, value = "randint(N, M, 0, 9, seed = 4)", pick("C[i, j] + s", "C[(i + 3) % N, (2 * j) % M] * 3 - s * d", "s - C[N - 1 - i, j]")
	case 1:
		start, value = "rand(N, M, seed = 5) < 0.5", pick("not C[i, j] or s > 9", "C[(i + 3) % N, (2 * j) % M] and s > d", "s > 3 or C[N - 1 - i, j]")
	}
	if rng.IntN(6) == 0 {
		value = "C[i, j + 1 + s // 999]" // fails in the last column
	}
	check := ""
	if rng.IntN(6) == 0 {
		check = "assert d < 2 or s0 > 3, \"late\"; " // fails at several places of a round
	}
	where := pick("j - i == d", "i + j == d + 9", "j == (3 * i + d) % M", "d + i == j and i > 2", "i - d == j - 1", "j == p[i]", "i == p[j] + d",
		"i % 2 < j and d == p[i] - j", "j + j - i == d", "i + (d - j) == 2", "j * 1 == d + i", "p[j] == d", "i == i + j - d", "d - j - i == -20", "i == d + 3", "d == i and j > 2", "j == 2 * d")
	// Both branches may be the one that keeps.
	change, keep := fmt.Sprintf("iterate s = 0, r = 0 until r == 3 {\n        next s = s + r * i\n        next r = r + 1\n      }\n      %s", check+value), "C[i, j]"
	if rng.IntN(9) == 0 {
		keep = pick("assert d < 3 or j < 60, \"kept\"; ", "assert i >= 0, \"kept\"; ") + keep // fails at places that stay
	}
	if rng.IntN(3) == 0 {
		change, keep = keep, change
		where = pick("j - i != d", "d + i != j or i == 2", "not (j == p[i])", "p[j] + d != i or s0 > j")
	}
	body := fmt.Sprintf("if %s {\n      %s\n    } else {\n      %s\n    }", where, change, keep)
	first, next, last := "", "", ""
	switch other := "s = d - 3; " + value; {
	case rng.IntN(16) == 0: // the same without branches, which is solved in large matrices
		n, m = 256, 260
		first, next, last = ", e = 0.5", "\n  next e = max((A * e) @ A) / 30", "emit e\n" // a product keeps the loop from being one task
		body = fmt.Sprintf("s = d * 3; %sv = %s\n    ifelse(%s, v, C[i, j])", check, value, where)
		if keep != "C[i, j]" {
			body = fmt.Sprintf("s = d * 3; %sv = %s\n    ifelse(%s, C[i, j], v)", check, value, where)
		}
	case keep == "C[i, j]" && rng.IntN(3) == 0: // a chain of branches
		then := pick(where, where, where, "s0 > j or "+where)
		body = fmt.Sprintf("if %s and %s {\n      %s\n    } else if %s { %s } else { C[i, j] }", where, pick("i % 3 > 0", "p[i] > p[j]"), change, then, other)
		if rng.IntN(3) == 0 {
			body = fmt.Sprintf("if %s and i > d {\n      %s\n    } else if not (%s) { C[i, j] } else { %s }", where, change, then, other)
		}
	}
	text := fmt.Sprintf("A = rand(80, 80, seed = 1)\np = randint(%d, 1, -3, M + 3, seed = %d)\ns0 = sum(p) %% 9\niterate C = %s, d = %d%s times %d {\n  next C = parfor i in 0..N, j in 0..M {\n"+
		"    %s\n  }\n  next d = d + %s%s\n}\nemit all C\n%s", max(n, m), rng.IntN(99), start, rng.IntN(4)-1, first, 4+rng.IntN(10), body, pick("1", "1", "3"), next, last)
	return strings.NewReplacer("N", fmt.Sprint(n), "M", fmt.Sprint(m)).Replace(text)
}

// oneLine draws a program whose rounds choose one row or column of a large matrix, by its number. A
// product keeps the loop from being one task.
func oneLine(rng *rand.Rand) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	n, m, at, read := 300, 250, pick("seq(0, N)", "seq(2, N + 2)", "seq(-3, N - 3)", "seq(0, 2 * N, 2)"), "C[abs(d - 1) % N, :]"
	switch rng.IntN(4) {
	case 0:
		if n, m = 1<<16, 1; rng.IntN(2) == 0 {
			read = "C[abs(d - 1) % N, 0]"
		}
	case 1, 2:
		at, read = "t("+strings.ReplaceAll(at, "N", "M")+")", "C[:, abs(d - 1) % M]"
	}
	start, value := "rand(N, M, seed = 3)", pick(read+" * 0.5 + s", "s - "+read)
	switch rng.IntN(3) {
	case 0:
		start, value = "randint(N, M, 0, 9, seed = 4)", pick(read+" + d", read+" * 3 - C[d, 0]")
	case 1:
		start, value = "rand(N, M, seed = 5) < 0.5", pick("not "+read, read+" and s > 0.1")
	}
	choice := pick("ifelse(at == WHERE, v, C)", "ifelse(at == WHERE, v, C)", "ifelse(WHERE == at, v, C)", "ifelse(at != WHERE, C, v)", "ifelse(at == WHERE and s > 0.3, v, C)", "ifelse(at <= WHERE, v, C)")
	text := "A = rand(80, 80, seed = 1)\nat = " + at + "\niterate C = " + start + fmt.Sprintf(", s = 0.5, d = %d times %d {\n  v = ", rng.IntN(4)-1, 5+rng.IntN(6)) + value +
		"\n  next C = " + choice + "\n  next s = max((A * s) @ A) / 30" + pick("", "", " + mean(C)") + "\n  next d = d + " + pick("1", "1", "-3", "60") + "\n}\nemit all C\nemit s\n"
	return strings.NewReplacer("WHERE", pick("d", "d", "(d * 7 - 3)", "(d // 2 + 250)"), "N", fmt.Sprint(n), "M", fmt.Sprint(m)).Replace(text)
}

// TestOneLine runs programs that choose a row or a column in a round, as TestLines does: most of them
// store this row or column alone.
func TestOneLine(t *testing.T) {
	table, put, failed := tinyTable(t), 0, 0
	for seed := range uint64(24) {
		text := oneLine(rand.New(rand.NewPCG(seed, 60)))
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		put += strings.Count(r.Plan.Graph.String(), "put(")
		m, err := runs{{1, 2, nil, false, "FAC2"}, {1, 1, []string{"lines"}, false, ""}, {2, 2, nil, false, "GSS"}}.differ(table, text)
		if err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
		if m.failed {
			failed++
		}
	}
	if put < 8 || failed < 1 {
		t.Errorf("%d loops store one row or column, and %d programs fail", put, failed)
	}
}

// TestLines runs programs of diagonals in several ways: all give the bytes and failures of the
// definition, and most of them change one element of each row.
func TestLines(t *testing.T) {
	table := tinyTable(t)
	put, chains, chosen, failed := 0, 0, 0, 0
	for seed := range uint64(150) {
		text := diagonals(rand.New(rand.NewPCG(seed, 59)))
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		puts := strings.Count(r.Plan.Graph.String(), "put(")
		put += puts
		if strings.Contains(text, "else if") {
			chains += puts
		} else if strings.Contains(text, "ifelse(") {
			chosen += puts
		}
		all := runs{{1, 1, nil, false, ""}, {1, 3, []string{"lines"}, false, "FAC2"}, {1, 2, []string{"simplify"}, false, "SS"}, {2, 2, nil, false, "GSS"}}
		m, err := all.differ(table, text)
		if err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
		if m.failed {
			failed++
		}
	}
	if put < 40 || chains < 6 || chosen < 4 || failed < 10 {
		t.Errorf("%d loops change one element of each row (%d chains, %d choices), and %d programs fail", put, chains, chosen, failed)
	}
}

// TestNoLines: a round makes all elements where a body may fail at places that stay, or where an index
// descends, so that the rows or columns of the result are others than those that are kept.
func TestNoLines(t *testing.T) {
	table := tinyTable(t)
	for _, round := range []string{
		"parfor i in 0..16, j in 0..64 { assert j < 60 or d < 2, \"late\"; if j - i == d { C[i, j] + 1 } else { C[i, j] } }",
		"parfor i in 0..16, j in 0..64 { if j - i == d { C[i, j] + 1 } else { assert j < 60 or d < 2, \"late\"; C[i, j] } }",
		"parfor i in 0..16, j in 0..64 { if j == i + d and d > 1 { C[i, j] + 1 } else { q = C[i, j + d // 2]; if j == i + d { q } else { C[i, j] } } }",
		"parfor i in 0..16, j in 0..64 { if j == i + d and d > 1 { C[i, j] + 1 } else { ifelse(j == i + d, C[i, j + d // 2], C[i, j]) } }",
		"parfor i in 15..=0 by -1, j in 0..64 { if j - i == d { C[i, j] + 1 } else { C[i, j] } }",
		"parfor i in 0..16, j in 63..=0 by -1 { if j - i == d { C[i, j] + 1 } else { C[i, j] } }",
	} {
		text := "iterate C = rand(16, 64, seed = 3), d = 0 times 5 {\n  next C = " + round + "\n  next d = d + 1\n}\nemit all C\n"
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}
