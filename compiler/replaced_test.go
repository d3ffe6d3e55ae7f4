package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/kernels"
)

// drawnUpdates draws a program whose rounds change parts of one or two matrices. Some rounds can write
// in the memory of the old matrix, others must not.
func drawnUpdates(r *rand.Rand) string {
	n, m := 3+r.IntN(14), 1+r.IntN(24)
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	row, col := "I", "J"
	if r.IntN(4) == 0 {
		row, col = "I + 0 * i64(B)", "J" // of this the loop knows nothing
	}
	number := func() string { return pick("k", "k + 1", "k - 1", "q", "2 * k - 3", "q - k", "3", "k * (q - q) + 4") }
	compare := func() string { return pick("==", "==", "<", "<=", ">", ">=", "!=") }
	condition := func(i, j string) string {
		one := func() string {
			if r.IntN(3) == 0 {
				return fmt.Sprintf("%s %s %s", number(), compare(), j)
			}
			return fmt.Sprintf("%s %s %s", pick(i, i, i+" + 2", "1 - "+i), compare(), number())
		}
		switch r.IntN(4) {
		case 0:
			return fmt.Sprintf("((%s) and (%s))", one(), one())
		case 1:
			return fmt.Sprintf("((%s) or (%s))", one(), one())
		case 2:
			return fmt.Sprintf("(not (%s))", one())
		}
		return "(" + one() + ")"
	}
	line := func(x string) string {
		return pick(x+"[a, :]", x+"[a, :]", x+"[c, :]", x+"[-1, :]", x+"[0, :]", x+"[k, :]", x+"[k - 1, :]", x+"[:, 0]", x+"[:, b]", x, x+"[a, b]", "f64(k)", "R[k, :]", "colsum("+x+")")
	}
	value := func(x, y string) string {
		return fmt.Sprintf("(%s %s %s) / 3", pick(x, line(x), line(y)), pick("+", "-", "*"), line(x))
	}
	next := func(x, y string) string {
		switch r.IntN(5) {
		case 0:
			v := pick(x+"[i, j] + 1", x+"[a, j]", y+"[i, b] - 2", "R[k, j]", x+"[i, b]", "f64(i * k)")
			return fmt.Sprintf("parfor i in 0..%d, j in 0..%d { if %s { %s } else { %s[i, j] } }", n, m, condition("i", "j"), v, x)
		case 1:
			v := pick(x+"[i, :] + 1", x+"[a, :]", y+"[i, :] * "+x+"[a, :]", "R[k, :]", x+"[c, :] / 2")
			return fmt.Sprintf("parfor i in 0..%d { if i %s %s { %s } else { %s[i, :] } }", n, compare(), number(), v, x)
		case 2:
			return fmt.Sprintf("ifelse(%s, ifelse(%s, %s, %s), %s)", condition(row, col), condition(row, col), value(x, y), value(x, y), x)
		}
		if r.IntN(2) == 0 {
			return fmt.Sprintf("ifelse(%s, %s, %s)", condition(row, col), value(x, y), x)
		}
		return fmt.Sprintf("ifelse(%s, %s, %s)", condition(row, col), x, value(x, y))
	}
	var s strings.Builder
	rounds := 3 + r.IntN(n-2)
	fmt.Fprintf(&s, "I = seq(0, %d)\nJ = t(seq(0, %d))\nR = materialize(rand(%d, %d, seed = 9))\nZ = materialize(rand(%d, %d, seed = %d))\n", n, m, rounds, m, n, m, r.IntN(100))
	fmt.Fprintf(&s, "iterate A = Z, B = %s, k = 0, q = %d, s = 0.0 times %d {\n", pick("Z", "2 * Z"), r.IntN(n), rounds)
	fmt.Fprintf(&s, "  a = (k * %d + q) %% %d\n  b = k %% %d\n  c = %s\n", 1+r.IntN(3), n, m, pick("a", "q", "min(k, 2)", "(a + 1) % "+fmt.Sprint(n)))
	fmt.Fprintf(&s, "  next A = %s\n  next B = %s\n", next("A", "B"), pick(next("B", "A"), next("B", "A"), "A", "A + 0.5", "B"))
	fmt.Fprintf(&s, "  next k = k + 1\n  next q = (q * 2 + 1) %% %d\n  next s = %s\n}\nemit A\nemit B\nemit s\nemit q", n, pick("s + sum(A)", "s * A[k + 1, 0]", "s + A[a, b]", "A[0, 0] - B[a, 0]", "max(B[:, b])"))
	return s.String()
}

// TestReplaced compares programs whose rounds may change matrices in place with the definition.
func TestReplaced(t *testing.T) {
	table := tinyTable(t)
	kernels.LoopsFrom(0)
	defer kernels.LoopsFrom(0)
	r := rand.New(rand.NewPCG(11, 4))
	many := 150
	if testing.Short() {
		many = 30
	}
	for range many {
		text := drawnUpdates(r)
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"hoist"}, false, ""}}).differ(table, text); err != nil {
			t.Fatalf("%v\nin\n%s", err, text)
		}
	}
}

// TestReplacedOrNot compares programs with the definition. Each of them once gave a wrong value in
// place: rows or columns that stay, another name for the matrix, comparisons of numbers that wrap.
func TestReplacedOrNot(t *testing.T) {
	table := tinyTable(t)
	kernels.LoopsFrom(0)
	for _, c := range []struct{ name, before, next string }{
		{"rows stay", "", "rbind(A[0, :], A[1..12, :] * 0.5)"},
		{"columns stay", "", "cbind(A[:, 0], A[:, 1..8] * 0.5)"},
		{"all stays", "", "parfor i in 0..12 { if 0 == 0 { A[i, :] } else { A[0, :] } }"},
		{"one of two", "D = if k % 2 == 1 { A } else { R }\n", "parfor i in 0..12, j in 0..8 { if i >= k - 1 { A[i, j] - 0.5 * D[0, 7 - j] } else { A[i, j] } }"},
		{"made in branches", "D = if k > 2 { A[k, :] + R[1, :] } else { 2 * A[k + 1, :] }\n", "ifelse(I == k + 1 or I == k + 2, D + 1, A)"},
		{"old in a branch", "D = if k > 2 { A[k + 1, :] } else { 2 * A[k + 1, :] }\n", "ifelse(I == k + 1 or I == k + 2, D + 1, A)"},
		{"large numbers", "", "ifelse(I + q < k + q, A + 1, A)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "I = seq(0, 12)\nZ = materialize(rand(12, 8, seed = 1))\nR = materialize(rand(12, 8, seed = 2))\n" +
				"iterate A = Z, k = 0, q = 9223372036854775800 times 9 {\n" + c.before + "next A = " + c.next + "\nnext k = k + 1\nnext q = q - 1\n}\nemit A"
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"hoist"}, false, ""}}).differ(table, text); err != nil {
				t.Fatalf("%v\nin\n%s", err, text)
			}
		})
	}
}

// A nest whose rounds are unrolled reads the row and the column that a number of the round names.
func TestNestsReadNamedLines(t *testing.T) {
	table := tinyTable(t)
	kernels.LoopsFrom(0)
	for _, read := range []string{"A[i, b]", "A[b, j]", "A[b + 1, b]", "(if A[b, j] > 0.5 { A[i, b] } else { 0.5 })"} {
		text := "iterate A = materialize(rand(12, 18, seed = 1)), k = 0 times 3 {\n  b = k * 3 + 2\n" +
			"  T = parfor i in 0..12, j in 0..18 { A[i, j] - " + read + " }\n  next A = rbind(T[1.., :], A[0, :])\n  next k = k + 1\n}\nemit A"
		if _, err := (runs{{1, 1, nil, false, ""}, {2, 1, nil, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}
