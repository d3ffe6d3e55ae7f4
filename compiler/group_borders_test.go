package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// This file tests matrices that are put into larger ones while they are reduced, as the steps of a
// stencil are.

// bordering draws a program that makes a step of a matrix, puts it into larger matrices, and reduces it
// or what a chain makes of it. A step may also have other readers, be at several places, or be moved.
func bordering(rng *rand.Rand) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	n, m := 3+rng.IntN(9), 3+rng.IntN(9)
	up, down, left, right := rng.IntN(2), 1+rng.IntN(2), rng.IntN(2), rng.IntN(2)
	if up+down >= n || left+right >= m {
		left, right = 0, 0
		up, down = 0, 1
	}
	b := &strings.Builder{}
	of := pick("X", "X", "f32(X)", "i64(X * 9)", "X > 0.1", "ifelse(X > 0.4, inf, X)", "ifelse(X > 0.45, nan, X)", "X * 0 * -1", "-1 - abs(X)")
	for k, name := range []string{"U", "V"} {
		fmt.Fprintf(b, "%s = materialize(%s)\n", name, strings.ReplaceAll(of, "X", fmt.Sprintf("(rand(%d, %d, seed = %d) - 0.5)", n, m, rng.IntN(99)+100*k)))
	}
	part := func(name string, i, j int) string { // of the size of a step
		return fmt.Sprintf("%s[%d..%d, %d..%d]", name, i, i+n-up-down, j, j+m-left-right)
	}
	inner := part("U", up, left)
	step := fmt.Sprintf("%s %s %s", part("U", rng.IntN(up+down+1), rng.IntN(left+right+1)), pick("*", "*", "min"), part("V", rng.IntN(up+down+1), rng.IntN(left+right+1)))
	if x, y, is := strings.Cut(step, " min "); is {
		step = fmt.Sprintf("min(%s, %s)", x, y)
	}
	if rng.IntN(5) == 0 {
		step = fmt.Sprintf("parfor i in 0..%d, j in 0..%d { U[i + %d, j] * V[i, j + %d] }", n-up-down, m-left-right, up, left)
	}
	// around returns the step with a border of rows and columns of W.
	around := func(x, w string) string {
		if left+right > 0 {
			in := []string{x}
			if left > 0 {
				in = append([]string{fmt.Sprintf("%s[%d..%d, 0..%d]", w, up, n-down, left)}, in...)
			}
			if right > 0 {
				in = append(in, fmt.Sprintf("%s[%d..%d, %d..]", w, up, n-down, m-right))
			}
			x = "cbind(" + strings.Join(in, ", ") + ")"
		}
		in := []string{x, fmt.Sprintf("%s[%d.., :]", w, n-down)}
		if up > 0 {
			in = append([]string{fmt.Sprintf("%s[0..%d, :]", w, up)}, in...)
		}
		return "rbind(" + strings.Join(in, ", ") + ")"
	}
	values := func() string {
		return pick("N", "N * "+inner, "abs(N)", "N > "+inner, inner+" >= N", "f64(N) - 9", "f64(abs(N)) + 9", "f64(abs(N)) < 9", "N - N[0, 0]")
	}
	reduced := func(of string) string {
		by := pick("max", "min", "sum", "norm", "all", "any", "count", "mean", "mean", "var", "stddev", "argmax", "argmin", "prod", "rowmax", "colsum")
		return fmt.Sprintf("%s(%s)", by, of)
	}
	made := []string{
		"emit " + pick(around("N", "U"), around("N", "U"), around("N", "V"), "2 * "+around("N", "U"), "t("+around("N", "U")+")", "reverse("+around("N", "U")+")"),
		"emit " + reduced(values()),
	}
	for range rng.IntN(3) {
		made = append(made, "emit "+pick(reduced(values()), reduced(values()), around("N", "V"), around("N * 1", "U"), "rbind(N, N)", "rbind(N[1.., :], N)", "N[0, :]", "rbind(V, "+around("N", "U")+")",
			"cbind("+around("N", "U")+", U)", "reshape("+around("N", "U")+fmt.Sprintf(", %d, %d)", m, n), "t(N)", "rbind(t(N), t(N))", "reverse(rbind(N, N))", "sum("+around("N", "U")+")"))
	}
	if lone := values(); rng.IntN(2) == 0 { // a single reader takes the step into a larger matrix
		made = []string{"emit " + pick(around("N", "U"), around("N", "U"), around("N", "V"), "rbind(N[1.., :], N0)", "rbind(N0, N[:, :])", "cbind(N0, N[:, 0..1])", "rbind(reverse(N), N0)",
			"cbind(t(N), t(N0))", "rbind(N, N0, N)", "rbind(N, N)", "cbind(N0, N, N0)", "rbind(cbind(N, N0), cbind(N0, N))"), "emit " + reduced(lone), "emit " + reduced(lone), "emit " + reduced(values())}
		made = made[:2+rng.IntN(3)]
	}
	rng.Shuffle(len(made), func(i, k int) { made[i], made[k] = made[k], made[i] })
	text := fmt.Sprintf("N0 = %s\nN = %s\n%s\n", inner, step, strings.Join(made, "\n"))
	if of != "X > 0.1" && rng.IntN(3) == 0 {
		text += fmt.Sprintf("iterate A = U, d = 1.0 times 3 { S = %s; next A = %s; next d = f64(max(S)) + 0 * d }\nemit A\nemit d\n", strings.ReplaceAll(step, "U[", "A["), around("S", "A"))
	}
	return b.String() + text
}

// TestBordersOfDrawnSteps runs programs of bordering in several ways: all give the bytes of the
// definition, and many steps are made in the loop of a larger matrix.
func TestBordersOfDrawnSteps(t *testing.T) {
	table := tinyTable(t)
	several := 0
	for seed := range uint64(300) {
		text := bordering(rand.New(rand.NewPCG(seed, 61)))
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		several += strings.Count(r.Plan.Graph.String(), " : (")
		all := runs{{1, 1, nil, false, ""}, {1, 2, []string{"group"}, false, "SS"}, {1, 3, []string{"simplify"}, true, "FAC2"}, {2, 2, nil, false, "GSS"}, {3, 1, nil, false, "TSS"}}
		if _, err := all.some(seed).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if several < 60 {
		t.Errorf("%d loops have several results", several)
	}
}
