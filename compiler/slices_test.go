package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/op"
)

// This file tests random bodies of parfor that compute with slices whose length only the run knows.
// Some are out of range, empty, or of lengths that do not agree.

// slicing draws columns of a ragged length and numbers that are made of them.
type slicing struct{ rng *rand.Rand }

func (s slicing) of(list ...string) string { return list[s.rng.IntN(len(list))] }

// slice is rows of y or of x; those of one range have one length.
func (s slicing) slice(span string) string {
	return fmt.Sprintf(s.of("y[%s, :]", "x[%s, 1]", "f64(k[%s, :])", "y[%s, :]"), span)
}

func (s slicing) column(span string, depth int) string {
	if depth == 0 {
		return s.slice(span)
	}
	a := s.column(span, depth-1)
	switch s.rng.IntN(7) {
	case 0:
		return s.of("sqrt", "exp", "-", "abs", "reverse") + "(" + a + ")"
	case 1:
		return fmt.Sprintf("(%s %s %s)", a, s.of("+", "-", "*", "/"), s.of("y[i]", "2", "x[i, 0]", "f64(i)"))
	case 2:
		return fmt.Sprintf("ifelse(%s > 0.5, %s, %s)", a, s.column(span, depth-1), s.of("0.0", "y[i]"))
	case 3:
		return fmt.Sprintf("rowsum(x[%s, :] * %s)", span, a)
	case 4:
		return fmt.Sprintf("(x[%s, :] @ t(x[i, :]))", span)
	}
	return fmt.Sprintf("(%s %s %s)", a, s.of("+", "-", "*", "/"), s.column(span, depth-1))
}

func (s slicing) number() string {
	bound := func() string {
		return s.of("i", "i + 1", "n - i", "n", "0", "i // 2", "k[i] % n", "max(i - 3, 0)", "min(i + 4, n)",
			"-i - 1", "-i", "-2 * i", "i - n", "2 * i", "3", "-1")
	}
	span := s.of("0", "i", "i // 2", "max(i - 3, 0)", "k[i] % (i + 1)", bound()) + s.of("..", "..", "..=") + s.of("n", "i", "i + 1", "min(i + 4, n)", "n - 1", bound())
	if s.rng.IntN(4) == 0 {
		span = bound() + ".."
	}
	c := s.column(span, s.rng.IntN(3))
	switch s.rng.IntN(6) {
	case 0:
		return fmt.Sprintf("f64(count(%s > 0.5))", c)
	case 1:
		return fmt.Sprintf("sum(t(%s) @ %s)", c, s.column(span, 1))
	case 2:
		return fmt.Sprintf("sum(colmax(x[%s, :]) + colsum(x[%s, :]))", span, span)
	case 3:
		return fmt.Sprintf("f64(%s(%s))", s.of("argmin", "argmax", "nrow"), c)
	}
	if s.rng.IntN(4) == 0 {
		c = fmt.Sprintf("rbind(%s, %s)", c, s.column(s.of("0..i", "i + 1..n", "k[i] % n..", "0..3"), 1))
	}
	return s.of("sum", "sum", "mean", "min", "max", "norm", "stddev", "var") + "(" + c + ")"
}

func (s slicing) body() string {
	switch a := s.number(); s.rng.IntN(5) {
	case 0:
		return fmt.Sprintf("if i %% 3 == 1 { %s } else { %s }", a, s.number())
	case 1:
		return fmt.Sprintf("iterate z = 0.0, r = 0 until r >= i %% 4 { next z = 0.5 * z + %s; next r = r + 1 }; z", a)
	case 2:
		return a + " * " + s.number()
	default:
		return a
	}
}

// slicesAgree draws a loop of that seed and compares what it prints by definition and as it runs. It
// reports a loop that compiles.
func slicesAgree(t *testing.T, table *op.Table, seed uint64) bool {
	t.Helper()
	s := slicing{rand.New(rand.NewPCG(seed, 77))}
	text := fmt.Sprintf("n = %d\nx = materialize(rand(n, 3, seed = %d))\ny = materialize(rand(n, 1, seed = 2))\nk = materialize(i64(9 * rand(n, 1, seed = 3)))\nemit parfor i in 0..n { %s }\n",
		[]int{1, 7, 13, 70}[s.rng.IntN(4)], 1+seed%1000, s.body())
	return bodyAgreesIn(t, table, bodyRuns.some(seed), seed, text)
}

var bodyRuns = runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}}

// bodyAgrees compares what a program drawn from a seed prints by definition and as it runs. It
// reports one that compiles.
func bodyAgrees(t *testing.T, table *op.Table, seed uint64, text string) bool {
	t.Helper()
	return bodyAgreesIn(t, table, bodyRuns, seed, text)
}

// bodyAgreesIn is bodyAgrees in some of the ways.
func bodyAgreesIn(t *testing.T, table *op.Table, on runs, seed uint64, text string) bool {
	t.Helper()
	if _, err := compiledOnce(table, text, 1, false, nil); err != nil {
		return false
	}
	if _, err := on.differ(table, text); err != nil {
		t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
	}
	return true
}

func TestSlicesInBodies(t *testing.T) {
	table := tinyTable(t)
	sound := 0
	for seed := range uint64(300) {
		if slicesAgree(t, table, seed) {
			sound++
		}
	}
	if sound < 200 {
		t.Errorf("only %d of 300 loops run", sound)
	}
}

// An end that is computed and included may be -1, which is the last row: of a slice from row 0 too.
func TestSlicesThroughTheLast(t *testing.T) {
	table := tinyTable(t)
	for _, n := range []int{1, 2, 5, 40} {
		for _, span := range []string{"0..=i - n", "i // 2..=i - n", "i // 40..=i - n", "0..=-1 - i", "0..i - n"} {
			text := fmt.Sprintf("n = %d\ny = materialize(rand(n, 1, seed = 2))\nemit parfor i in 0..n { sum(y[%s, :]) }\n", n, span)
			if !bodyAgrees(t, table, uint64(n), text) {
				t.Errorf("%s does not compile", text)
			}
		}
	}
}

// TestInnerLoopsThatReadNothing: loops in bodies whose points are the same for all points of the outer
// loop.
func TestInnerLoopsThatReadNothing(t *testing.T) {
	table := tinyTable(t)
	for i, inner := range []string{"sum(parfor k in 0..4 { 3.0 })", "f64(max(parfor k in 0..10 { k * 2 }))", "min(parfor k in 1..25 { 3.0 })",
		"f64(if x[i] > 0.5 { sum(parfor k in 0..10 { k }) } else { 2 })", "(parfor k in 0..3 { 2.0 * f64(k) })[i % 3]"} {
		if !bodyAgrees(t, table, uint64(i), "x = materialize(rand(4000, 1, seed = 1))\nemit parfor i in 0..4000 { "+inner+" * x[i] }\n") {
			t.Errorf("%s does not compile", inner)
		}
	}
}

// TestInnerRangesOfTheRun: a reduction of a parfor in a body agrees with its definition for ranges that
// the run tells. They may be empty, descend or begin below 0.
func TestInnerRangesOfTheRun(t *testing.T) {
	table := tinyTable(t)
	s := slicing{rand.New(rand.NewPCG(5, 78))}
	for seed, span := range []string{"0..i", "i + 1..n", "0..=i", "1..=i", "0..k[i] - 4", "k[i] - 4..i by 3", "i..=k[i] - 4 by -2", "i..k[i] by -1",
		"i - 5..i", "i - 1..3", "i..=-1", "n - i..n by 2", "2 * i..n", "i - 9223372036854775807..k[i] - 9223372036854775799",
		"9223372036854775800 + i % 7..=9223372036854775807", "9223372036854775805..i - 9223372036854775807", "i..=i - 1", "k[i]..=i by -9223372036854775807 - 1"} {
		for range 4 {
			e := s.of("y[q % n] * y[i]", "f64(q) - y[i]", "y[abs(q) % n]", "f64(k[q % n])")
			of := fmt.Sprintf("%s(parfor q in %s { %s })", s.of("sum", "max", "min", "mean", "norm", "sum", "var", "f64(argmax"), span, e)
			if strings.HasPrefix(of, "f64") {
				of += ")"
			}
			if s.rng.IntN(3) == 0 {
				of = fmt.Sprintf("f64(count(parfor q in %s, r in %s { %s > f64(r) / 9 }))", span, s.of("0..i", "k[i]..n by 5", "0..3"), e)
			}
			text := "n = 31\ny = materialize(rand(n, 1, seed = 2))\nk = materialize(i64(9 * rand(n, 1, seed = 3)))\nemit parfor i in 0..n { " + of + " }\n"
			if !bodyAgrees(t, table, uint64(seed), text) {
				t.Errorf("%s does not compile", text)
			}
		}
	}
}

// A range that begins behind the last row, which only the run knows, fails in the definition's words.
func TestRangeBehindTheEnd(t *testing.T) {
	table := tinyTable(t)
	for _, part := range []string{"k.., :", "0, k..", "k..m, :", "0..2, k..", "k - 5..1 by -1, :"} {
		text := "x = materialize(rand(3, 3, seed = 1))\nn = i64(sum(materialize(fill(3, 1, 1))))\nm = i64(sum(materialize(fill(1, 3, 1))))\nk = n + 2\nemit x[" + part + "]\n"
		o, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"simplify"}, false, ""}, {2, 1, nil, false, ""}}).differ(table, text)
		if err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		} else if !o.failed {
			t.Errorf("nothing fails in\n%s", text)
		}
	}
}

// TestInnerPairs: reductions of loops over pairs in a body agree with their definition, whatever range
// the second index has, and where a pair has no value.
func TestInnerPairs(t *testing.T) {
	table := tinyTable(t)
	s := slicing{rand.New(rand.NewPCG(5, 79))}
	for seed, span := range []string{"0..a", "a + 1..n", "0..=a", "a..n by 2", "a..=0 by -1", "a - 3..a", "2..5", "k[a]..9", "0..k[a] - 4", "n - a..=k[a] by 3", "a..1", "0..i"} {
		for range 4 {
			e := s.of("y[a] * y[abs(b) % n] - y[i]", "f64(b) - y[a]", "f64(k[abs(b) % n])", "norm(x[a, :] - x[abs(b) % n, :])", "y[b] * y[i]")
			body := fmt.Sprintf("%s(parfor a in 0..n, b in %s { %s })", s.of("sum", "mean", "max", "min", "norm", "stddev"), span, e)
			switch s.rng.IntN(4) {
			case 0:
				body = fmt.Sprintf("f64(count(parfor a in 0..n, b in %s { %s > y[i] }))", span, e)
			case 1:
				body = fmt.Sprintf("f64(sum(parfor a in 0..n, b in %s { b * k[i] - a }))", span)
			case 2:
				body = "if k[i] > 4 { " + body + " } else { y[i] }"
			case 3: // a pair may give a row
				if strings.Contains(span, "a") {
					row := s.of("x[a, :] * y[i] - x[abs(b) % n, :]", "max(x[b, :], x[a, :]) * y[i]")
					body = fmt.Sprintf("%s(parfor a in 0..n, b in %s { %s })", s.of("sum", "mean", "max", "min", "norm"), span, row)
				}
			}
			text := fmt.Sprintf("n = 9\nx = materialize(rand(n, 3, seed = %d))\ny = materialize(rand(n, 1, seed = 2))\nk = materialize(i64(9 * rand(n, 1, seed = 3)))\nemit parfor i in 0..n { %s }\n", seed+1, body)
			if !bodyAgrees(t, table, uint64(seed), text) && !strings.Contains(span, "i") {
				t.Errorf("%s does not compile", text)
			}
		}
	}
}

// TestSlicesBesideKnownSizes: a slice whose length only the run knows meets a matrix of a known size.
// The size of the result is known, and a point whose slice has another one fails.
func TestSlicesBesideKnownSizes(t *testing.T) {
	table := tinyTable(t)
	for _, body := range []string{"sum(w + y[0..i])", "sum(w - y[i % 4..i, :])", "(w * y[i - 2..i + i // 19])[i % 3]", "sum(ifelse(y[i..i + 3 + i // 19] > 0.5, w, 0.0))",
		"iterate x = w, k = 0 until k == 3 { next x = x * 0.5 + y[k..i]; next k = k + 1 }; sum(x)"} {
		text := "y = materialize(rand(40, 1, seed = 1))\nw = materialize(rand(3, 1, seed = 2))\nemit parfor i in 2..20 { " + body + " }\n"
		o, err := bodyRuns.differ(table, text)
		if err != nil || !o.failed {
			t.Errorf("%v, failed: %v\nin\n%s", err, o.failed, text)
		}
	}
}

// TestRoundsThatReadSlices: rounds of a body whose points run operator after operator read slices whose
// length only the run knows.
func TestRoundsThatReadSlices(t *testing.T) {
	text := `q = materialize(rand(40, 40, seed = 14))
emit parfor i in 0..40 {
  v = q[0..i % 7, i]
  a = sort(v)
  iterate u = 0, n = 0 until n >= 300 {
    next u = u + count(v > f64(n) * 0.001)
    next n = n + 1
  }
  f64(u) + sum(a)
}
`
	if o, err := bodyRuns.differ(tinyTable(t), text); err != nil || o.failed {
		t.Errorf("%v, failed: %v", err, o.failed)
	}
}

// TestSlicesBehindKnownEnds: the end of a slice that becomes known where a body is written, and lies
// behind the matrix, fails in the run.
func TestSlicesBehindKnownEnds(t *testing.T) {
	for _, read := range []string{"sum(u[0..n])", "(u * 2)[1..n][0]", "sum(seq(0, 2)[0..n]) + u[0]"} {
		text := `c = seq(0, 2) * 0.25
emit parfor i in 0..20 {
  iterate u = c, n = 0 until n >= 3 {
    next u = u * 0.5 + f64(i)
    next n = n + 1
  }
  ` + read + "\n}\n"
		if o, err := bodyRuns.differ(tinyTable(t), text); err != nil || !o.failed {
			t.Errorf("%v, failed: %v\nin\n%s", err, o.failed, text)
		}
	}
}

// TestPartsOfManySizes: points run an operator at a time if only the run tells the sizes of matrices.
// Parts are views, and other results take the memory of the point before, which may be too small.
func TestPartsOfManySizes(t *testing.T) {
	table := tinyTable(t)
	for k, body := range []string{
		"y = x[c == i]; max(y) - stddev(y) + y.rows",
		"y = x[c <= i]; z = sort(y); t([z[0], z[-1], sum(z * y), f64(y.rows)])",
		"y = x[c >= i]; z = x[c == i]; w = sort(z); max(y) + 10 * median(z) + w[0]",
		"mean(x[i..n // 12 * 12 by 12])",
		"y = x[i..]; z = y[0.. by 3]; t([z[0], max(z), sum(sort(y)), median(z[1..])])",
		"max(cumsum(x[B[:, i]]))",
		"colmax(cumsum(X[c == i, :]))",
		"y = X[i..3 * i + 1, 0..i + 1]; max(t(y) @ y)",
		"y = X[0..i + 1, :]; max(cumsum(y[:, 0.. by 2]))",              // columns that lie apart are no view
		"y = x[c == i + 2]; sum(sort(y[0.. by 2])) + y[0.. by 3].rows", // nor are no rows
		"iterate s = 0.0, q = 0 times 5 { y = sort(x[q..n - i]); next s = s + max(y[0.. by 2]) - y[q]; next q = q + 1 }; s",
		"iterate y = x[c == i], z = x[c == i] times 5 { next y = sort(z); next z = y }; max(cumsum(y)) + z[0]",
		"if x[i] > 0.5 { max(sort(x[0..i + 1])) } else { min(x[i..][0.. by 2]) }",
		"max(x[i..7 * i - 9])",  // a range that ends before it begins
		"max(x[40 * i..][1..])", // one behind the end
	} {
		text := "n = 210\nx = materialize(rand(n, 1, seed = 1))\nX = materialize(rand(n, 9, seed = 2))\nB = materialize(X > 0.7)\n" +
			"c = materialize(randint(n, 1, 0, 8, seed = 3))\nemit parfor i in 0..8 { " + body + " }\n"
		if !bodyAgrees(t, table, uint64(k), text) {
			t.Errorf("%s does not compile", text)
		}
	}
}
