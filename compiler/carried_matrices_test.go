package compiler_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"flow/compiler"
	"flow/explain"
	"flow/ir"
	"flow/kernels"
	"flow/stdlib"
)

// smallStates are rounds that carry matrices of 8 to 64 elements, in two wordings each. lines is
// the most lines that the loops of a wording have: a form with all elements in registers is longer.
var smallStates = []struct {
	name  string
	of    string // how many points there are; "": the rounds stand alone
	lines int
	texts [2]string
}{
	{"an edit distance", "11", 90, [2]string{
		`iterate h1 = seq(0, 24), i = 0 times 20 {
		   iterate h = ifelse(seq(0, 24) == 0, i + 1, h1), j = 0 times 23 {
		     c = if a[p, i] == b[p, j] { 0 } else { 1 }
		     v = min(min(h1[j + 1, 0] + 1, h[j, 0] + 1), h1[j, 0] + c)
		     next h = ifelse(seq(0, 24) == j + 1, v, h)
		     next j = j + 1
		   }
		   next h1 = h
		   next i = i + 1
		 }
		 h1[23, 0]`,
		`iterate old = t(seq(0, 24)), i = 0 times 20 {
		   iterate new = zeros(1, 24), left = i + 1, j = 0 times 23 {
		     v = min(min(old[0, j + 1] + 1, left + 1), old[0, j] + (if a[p, i] == b[p, j] { 0 } else { 1 }))
		     next left = v
		     next new = t(parfor k in 0..24 { if k == j + 1 { f64(v) } else { new[0, k] } })
		     next j = j + 1
		   }
		   next old = i64(ifelse(t(seq(0, 24)) == 0, f64(i + 1), new))
		   next i = i + 1
		 }
		 old[0, 23]`,
	}},
	{"a ring of numbers", "11", 70, [2]string{
		`iterate r = zeros(32, 1), s = 0.0, m = 0.0, i = 0 times 90 {
		   k = i % 32
		   v = s + x[p, i] - r[k, 0]
		   next r = ifelse(seq(0, 32) == k, x[p, i], r)
		   next s = v
		   next m = max(m, v)
		   next i = i + 1
		 }
		 m`,
		`iterate r = zeros(1, 32), s = 0.0, m = 0.0, i = 0 times 90 {
		   v = s + x[p, i] - r[0, i % 32]
		   next r = t(parfor k in 0..32 { if k == i % 32 { x[p, i] } else { r[0, k] } })
		   next s = v
		   next m = max(v, m)
		   next i = i + 1
		 }
		 m`,
	}},
	{"labels", "11", 90, [2]string{
		`iterate L = seq(0, 40), k = 0 times 90 {
		   m = min(L[u[p, k], 0], L[w[p, k], 0])
		   next L = ifelse(seq(0, 40) == u[p, k] or seq(0, 40) == w[p, k], m, L)
		   next k = k + 1
		 }
		 sum(L)`,
		`iterate L = seq(0, 40), k = 0 times 90 {
		   f = u[p, k]
		   g = w[p, k]
		   m = min(L[f, 0], L[g, 0])
		   next L = parfor i in 0..40 { if i == f { m } else if i == g { m } else { L[i, 0] } }
		   next k = k + 1
		 }
		 sum(L)`,
	}},
	{"a best path", "", 90, [2]string{
		`iterate v = zeros(1, 8), i = 0 times 90 { next v = colmax(t(v) + T) + x[i, 0..8]; next i = i + 1 }
		 v`,
		`iterate v = zeros(1, 8), i = 0 times 90 { next v = t(parfor k in 0..8 { max(t(v) + T[:, k]) + x[i, k] }); next i = i + 1 }
		 v`,
	}},
	{"a network", "", 120, [2]string{
		`iterate s = zeros(1, 8), i = 0 times 90 {
		   z = sigmoid(x[i, 0] + s @ T)
		   next s = (1 - z) * tanh(x[i, 1] + s @ t(T)) + z * s
		   next i = i + 1
		 }
		 s`,
		`iterate s = zeros(1, 8), i = 0 times 90 {
		   z = sigmoid(x[i, 0] + s @ T)
		   c = tanh(x[i, 1] + s @ t(T))
		   next s = t(parfor k in 0..8 { (1 - z[0, k]) * c[0, k] + z[0, k] * s[0, k] })
		   next i = i + 1
		 }
		 s`,
	}},
	{"seasons", "", 110, [2]string{
		`iterate S = zeros(12, 1), l = 0.5, e = 0.0, i = 0 times 90 {
		   k = i % 12
		   n = 0.3 * (y[i, 0] - S[k, 0]) + 0.7 * l
		   next S = ifelse(seq(0, 12) == k, 0.2 * (y[i, 0] - n) + 0.8 * S[k, 0], S)
		   next l = n
		   next e = e + (y[i, 0] - n) ^ 2
		   next i = i + 1
		 }
		 [[e, l, sum(S)]]`,
		`iterate S = zeros(1, 12), l = 0.5, e = 0.0, i = 0 times 90 {
		   s = S[0, i % 12]
		   n = 0.3 * (y[i, 0] - s) + 0.7 * l
		   next S = t(parfor j in 0..12 { if j == i % 12 { 0.2 * (y[i, 0] - n) + 0.8 * s } else { S[0, j] } })
		   next l = n
		   next e = e + (y[i, 0] - n) ^ 2
		   next i = i + 1
		 }
		 [[e, l, sum(S)]]`,
	}},
	{"a system with functions", "", 100, [2]string{
		`fn f(q) = tanh(q @ T[0..6, 0..6]) - 0.1 * q
		 iterate q = ones(1, 6) times 90 { k = f(q); next q = q + 0.01 * f(q + 0.005 * k) }
		 q`,
		`fn f(q) = tanh(T[0..6, 0..6] @ q) - 0.1 * q
		 iterate q = ones(6, 1) times 90 { k = f(q); next q = q + 0.01 * f(q + 0.005 * k) }
		 q`,
	}},
}

// smallState returns a program.
func smallState(of, text string) string {
	if of != "" {
		text = "emit parfor p in 0.." + of + " {\n" + text + "\n}"
	} else {
		at := strings.LastIndex(text, "\n")
		text = text[:at] + "\nemit " + strings.TrimSpace(text[at:])
	}
	return `a = materialize(randint(33, 20, 0, 4, seed = 1))
b = materialize(randint(33, 23, 0, 4, seed = 2))
u = materialize(randint(33, 90, 0, 40, seed = 3))
w = materialize(randint(33, 90, -40, 40, seed = 4))
x = materialize(rand(90, 90, seed = 5))
y = materialize(rand(90, 1, seed = 6))
T = materialize(randn(8, 8, seed = 7))
` + text + "\n"
}

// TestSmallStates: rounds that carry small matrices give what the definition gives. Where they read or
// change elements that the round tells, or make all elements alike, the matrices lie in memory.
func TestSmallStates(t *testing.T) {
	table := tinyTable(t)
	for _, c := range smallStates {
		t.Run(c.name, func(t *testing.T) {
			for _, of := range c.texts {
				text := smallState(c.of, of)
				for _, from := range []int64{0, 1 << 60} {
					kernels.LoopsFrom(from)
					if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, text); err != nil {
						t.Errorf("%v\nin\n%s", err, text)
					}
				}
				kernels.LoopsFrom(0)
				if lines := loopLines(t, text); strings.Count(lines, "\n") > c.lines || !strings.Contains(lines, "local ") {
					t.Errorf("%d lines of loops, want at most %d, and locals, of\n%s\n%s", strings.Count(lines, "\n"), c.lines, text, lines)
				}
			}
		})
	}
}

// TestPathWithSteps: a round of a best path that keeps the best steps runs as loops over its elements,
// the places of extremes among them. A history costs a round no more than the one row that the round
// changes. With all its elements in the estimate, a round was one point with all numbers in registers,
// and thousands of lines.
func TestPathWithSteps(t *testing.T) {
	table := tinyTable(t)
	head := `A = materialize(floor(9 * rand(40, 40, seed = 1)) / 4 + ifelse(rand(40, 40, seed = 2) < 0.001, 0 / 0, 0))
x = materialize(rand(400, 40, seed = 3))
`
	for _, text := range []string{
		`iterate v = x[0, :], i = 1, T = zeros(400, 40) times 60 {
   s = t(v) + A
   next v = colmax(s) + x[i, :] - v[0, 0]
   next T = ifelse(seq(0, 400) == i, colargmax(s), T)
   next i = i + 1
 }
 emit v
 emit colsum(T)`,
		`iterate v = t(x[0, :]), i = 1, T = zeros(400, 40) times 60 {
   s = t(v) + A
   best = rowargmin(s)
   next v = rowmin(s) + t(x[i, :]) - max(v)
   next T = parfor r in 0..400, c in 0..40 { if r == i { f64(best[c, 0]) } else { T[r, c] } }
   next i = i + 1
 }
 emit v
 emit colsum(T)`,
	} {
		for _, from := range []int64{0, 1 << 60} {
			kernels.LoopsFrom(from)
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, head+text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
		}
		kernels.LoopsFrom(0)
		lines := loopLines(t, head+text)
		if n := strings.Count(lines, "\n"); n > 900 || !strings.Contains(lines, "= le ") {
			t.Errorf("%d lines of loops, want at most 900, and comparisons for places of extremes, of\n%s\n%s", n, text, lines)
		}
	}
}

// TestRemaindersInRounds: remainders and quotients of integers are part of the loops over the elements
// of a round. The loops check that no divisor is zero. If one is, the round fails as the definition
// does.
func TestRemaindersInRounds(t *testing.T) {
	table := tinyTable(t)
	head := "x = materialize(rand(600, 1, seed = 1))\nw = materialize(randint(600, 1, 1, 90, seed = 2))\ni = seq(0, 600)\n"
	for _, c := range []struct{ text, has, fails string }{
		{"iterate y = x, k = 1 times 40 { next y = (y + y[(i + 37 * k) % 600]) / 2; next k = k + 1 }\nemit y", "= mod ", ""},
		{"iterate y = x, k = 1 times 40 { q = i + 37 * k; next y = (y + y[q - q // 600 * 600]) / 2; next k = k + 1 }\nemit y", "= idiv ", ""},
		{"iterate a = i, b = w times 30 { next a = ifelse(b == 0, a, b); next b = a % max(b, 1) }\nemit a\nemit b", "= mod ", ""},
		{"iterate a = i, k = -20 times 40 { next a = a % k + 7 * w; next k = k + 1 }\nemit a", "= mod ", "zero"},
		{"iterate a = i, b = w times 30 { next a = b; next b = (a + 90) // b - 1 }\nemit a", "= idiv ", "zero"},
	} {
		for _, from := range []int64{0, 1 << 60} {
			kernels.LoopsFrom(from)
			o, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, nil, false, "SS"}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, head+c.text)
			if err != nil || o.failed != (c.fails != "") || o.failed && !strings.Contains(fmt.Sprint(o.err), c.fails) {
				t.Errorf("%v, %v, want %q\nin\n%s", err, o.err, c.fails, c.text)
			}
		}
		kernels.LoopsFrom(0)
		if lines := loopLines(t, head+c.text); !strings.Contains(lines, c.has) {
			t.Errorf("no %q in the loops of\n%s\n%s", c.has, c.text, lines)
		}
	}
}

// loopLines lists the loops of a program that make rounds.
func loopLines(t *testing.T, text string) string {
	t.Helper()
	full, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: full, Ranks: 1, Std: stdlib.Files})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	all, err := explain.Loops(r.Plan.Graph, func(n *ir.Node) bool { return n.Region != nil })
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	explain.WriteLoops(&out, all, r.Files, false)
	return out.String()
}

// TestSubscriptsOfRounds: subscripts that the launch of many rounds proves are not checked in them.
// Where one is outside, the error is that of its round, however many rounds the launch asks for. A
// condition may end the rounds before.
func TestSubscriptsOfRounds(t *testing.T) {
	table := tinyTable(t)
	head := "x = materialize(rand(900, 2, seed = 1))\n"
	for _, c := range []struct {
		text   string
		checks bool
		fails  string
	}{
		{"iterate s = 0.0, k = 0 times 900 { next s = s / 2 + x[k, 0] * x[899 - k, 1]; next k = k + 1 }\nemit s", false, ""},
		{"iterate s = 0.0, k = 3 until k == 900 { next s = s / 2 + x[k, 0]; next k = k + 1 }\nemit s", false, ""},
		{"iterate s = 0.0, k = -900 times 900 { next s = s / 2 + x[k, 0]; next k = k + 1 }\nemit s", false, ""},
		{"iterate s = 0.0, k = -9 times 900 { next s = s / 2 + x[k, 0]; next k = k + 1 }\nemit s", false, ""},
		{"iterate s = 0.0, k = 0 times 901 { next s = s / 2 + x[k, 0]; next k = k + 1 }\nemit s", false, "row 900"},
		{"iterate s = 0.0, k = 899 times 1900 { next s = s / 2 + x[k, 1]; next k = k - 1 }\nemit s", false, "row -901"},
		{"iterate s = 0.0, k = 0 until s > 0.999 { next s = s / 2 + x[k, 0]; next k = k + 1 }\nemit s", true, ""},
		{"iterate s = 0.0, k = 0 until s > 9 { next s = s / 2 + x[k, 0]; next k = k + 1 }\nemit s", true, "row 900"},
	} {
		kernels.LoopsFrom(0)
		o, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, head+c.text)
		if err != nil || o.failed != (c.fails != "") || o.failed && !strings.Contains(fmt.Sprint(o.err), c.fails) {
			t.Errorf("%v, %v, want %q\nin\n%s", err, o.err, c.fails, c.text)
		}
		if lines := loopLines(t, head+c.text); strings.Contains(lines[strings.Index(lines, "for round"):], "check") != c.checks {
			t.Errorf("checks, want %v:\n%s", c.checks, lines)
		}
	}
}

// TestProductsReadWhatIsMade: what a product reads again and again is made once, before it.
func TestProductsReadWhatIsMade(t *testing.T) {
	table := tinyTable(t)
	kernels.LoopsFrom(0)
	head := "A = materialize(randn(70, 70, seed = 1) / 9)\nx = materialize(rand(12, 70, seed = 2))\n"
	for _, text := range []string{
		"emit parfor p in 0..12 {\niterate u = t(x[p, :]) times 3 { v = tanh(A @ u); next u = tanh(A @ (u + 0.5 * v)) }\nsum(u)\n}",
		"emit parfor p in 0..12 {\niterate u = x[p, :] times 3 { v = tanh(u @ A); next u = t(tanh(A @ t(u + 0.5 * v))) }\nsum(u)\n}",
		"emit parfor p in 0..12 {\nu = parfor i in 0..70 { tanh(x[p, i]) }\nsum(tanh(A @ u))\n}",
	} {
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, ""}}).differ(table, head+text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
		depth := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
		sums, lines := -1, loopLines(t, head+text)
		for _, s := range strings.Split(lines, "\n") {
			if strings.Contains(s, "= fma") {
				sums = max(sums, depth(s))
			}
		}
		for _, s := range strings.Split(lines, "\n") {
			if strings.Contains(s, "call tanh") && depth(s) >= sums {
				t.Fatalf("a function in a product\n%s\n%s", text, lines)
			}
		}
	}
}
