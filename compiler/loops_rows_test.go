package compiler_test

import (
	"context"
	"fmt"
	"testing"

	"flow/compiler"
	"flow/kernels"
	"flow/stdlib"
)

// rowBodies are bodies that give rows of U: they run as loops over rows and columns.
var rowBodies = []string{
	`min(U[i, :], U[i, i] + U[0, :])`,
	`e = exp(U[i, :] - max(U[i, :]))
	 e / sum(e)`,
	`c = U[i, :] - mean(U[i, :])
	 c / sqrt(mean(c ^ 2) + 1e-9)`,
	`(U[i, :] - y[i]) / stddev(U[i, :]) + norm(U[i, :])`,
	`e = exp(U[i, :])
	 reverse(e) / sum(e) + e`,
	`e = f32(exp(U[i, :]))
	 s = sum(e)
	 f64(log(e) / s) + min(U[i, :])`,
	`w = U[i, :] @ U
	 w / sum(w) + w / max(w * w)`,
	`t(U[:, i]) * f64(count(U[i, :] > 0.5)) + f64(any(U[:, i] > 0.99))`,
	`a = U[i, :] ^ 150
	 U[i, :] / sum(a)`,
	`U[i, :] * sum([1e300, -1, 1e-300] * x[i, :]) - max(i64(9 * U[i, :]))`,
	`U[i, :] / y[2 * i + 1] - max(U[i, :])`,
	`U[i, :] - f64(10 // (k[i] - 3)) * sum(U[i, :])`,
}

// TestRowBodies: bodies that give rows run by phases and give what the definition gives.
func TestRowBodies(t *testing.T) {
	table := tinyTable(t)
	for _, body := range rowBodies {
		text := "n = 40\nx = materialize(rand(n, 3, seed = 1))\ny = materialize(rand(n, 1, seed = 2))\nk = materialize(i64(9 * rand(n, 1, seed = 3)))\nU = materialize(rand(n, n, seed = 4))\n" +
			"v = parfor i in 0..n {\n " + body + "\n}\nemit v\n"
		before := kernels.RowsBegun()
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
		if kernels.RowsBegun() == before {
			t.Errorf("no loop runs by phases\n%s", text)
		}
	}
}

// drawnRowBodies are bodies that give rows of constructors, of which an iteration may read its own
// row alone.
var drawnRowBodies = []string{
	`e = exp(R[i, :])
	 e / sum(e)`,
	`e = exp(rand(1, 40, seed = i))
	 e / sum(e)`,
	`U[i, :] / sum(rand(1, 40, seed = i)) + D[i, 0] - max(U[i, :] * D[i, 1])`,
	`e = U[i, :] * rand(40, 2, seed = 6)[i, 0]
	 e - mean(e)`,
	`[[D[i, 0], D[i, 1], sum(U[i, :]) * D[i, 1]]]`,
}

// TestDrawnRowBodies: constructors that a body reads by rows give what the definition gives,
// whether its loop draws them or not.
func TestDrawnRowBodies(t *testing.T) {
	table := tinyTable(t)
	for _, body := range drawnRowBodies {
		text := "R = rand(40, 40, seed = 7)\nD = rand(40, 2, seed = 8)\nU = materialize(rand(40, 40, seed = 4))\nemit parfor i in 0..40 {\n " + body + "\n}\n"
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"fuse", "hoist"}, false, "SS"}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}

// TestSumsOfRowBodies: where sums need more words than the first loops of a body have, the body goes on
// with loops that have more. It gives what the definition gives. Operators make the sums of numbers
// that are too far apart for these loops, too.
func TestSumsOfRowBodies(t *testing.T) {
	table := tinyTable(t)
	for body, widens := range map[string]bool{
		`y = U[3 * i..3 * i + 12, :] * cos(seq(0, 12))
		 colsum(V * y) ^ 2 - colsum(y * y)`: false,
		`y = U[3 * i..3 * i + 12, :] * 2.0 ^ (4 * seq(0, 12))
		 colsum(V * y) ^ 2 - colsum(y * y)`: true,
		`colsum(U[i..i + 12, :]) * (1 + sum(U[i, :]))`: false,
		`colsum(10.0 ^ (60 * U[i..i + 12, :]) * V)`:    true,
		`colsum(10.0 ^ (1000 * U[i..i + 12, :]) * V)`:  true,
	} {
		text := "U = materialize(rand(140, 40, seed = 4) - 0.5)\nV = materialize(rand(12, 40, seed = 5))\nv = parfor i in 0..40 {\n " + body + "\n}\nemit v\nemit sum(v)\n"
		before, wide := kernels.RowsBegun(), kernels.RowsWidened()
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
		if kernels.RowsBegun() == before || kernels.RowsWidened() > wide != widens {
			t.Errorf("%d loops by phases, %d with more words\n%s", kernels.RowsBegun()-before, kernels.RowsWidened()-wide, text)
		}
	}
}

// TestSumsBetweenCalls: loops between calls of operators begin with sums of few words, and go on with
// more where these are not enough. They give what the definition gives.
func TestSumsBetweenCalls(t *testing.T) {
	table := tinyTable(t)
	for body, widens := range map[string]bool{
		`sum(U[i, :]) * colsum(onehot(i64(9 * W[:, i]), 9))`:                                                false,
		`norm(U[i, :] - W[0, :]) + colsum(onehot(i64(5 * rownorm(W[:, 0..2] - W[i, 0..2])), 9))`:            false,
		`sum(cbind(1e16 * U[i, :], -1e16 * U[i, :], 1e-5 * U[i, :])) * colsum(onehot(i64(9 * W[:, i]), 9))`: true,
		`norm([1, 0.5 ^ 27, 0.5 ^ 27, 0 * U[i, 0]]) * colsum(onehot(i64(9 * W[:, i]), 9)) * sum(U[i, :])`:   true,
	} {
		text := "U = materialize(rand(140, 40, seed = 4) - 0.5)\nW = materialize(rand(140, 40, seed = 5))\nv = parfor i in 0..40 {\n " + body + "\n}\nemit v\n"
		wide := kernels.RowsWidened()
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
		if kernels.RowsWidened() > wide != widens {
			t.Errorf("%d loops with more words\n%s", kernels.RowsWidened()-wide, text)
		}
	}
}

// phasedBodies are bodies that reduce vectors of m elements. Their loops go over the elements of the
// vectors: what the first ones store has no room in memory of a point, and the others reduce by key.
var phasedBodies = []struct {
	m    int
	body string
}{
	{16400, `k = randint(m, 1, 0, m, seed = i)
	 u = x[k]
	 w = y[k]
	 sum((u - mean(u)) * (w - mean(w))) / sqrt(sum((u - mean(u)) ^ 2))`},
	{16400, `R = D[randint(m, 1, -m, m, seed = i), :]
	 sum(R[:, 0] * R[:, 1]) - max(R[:, 0]) + x[i]`},
	{16400, `k = randint(m, 1, -m - 1, m, seed = i)
	 sum(x[k]) + sum(x[k] ^ 2)`}, // a place out of range
	{16400, `k = randint(m, 1, 0, m + 1, seed = 2 + i)
	 u = x[k]
	 sum(y) * u[0] + sum(u) * sum(u * u)`},
	{1000, `th = pi * i / 9
	 colsum(onehot(i64(x * cos(th) ^ 2 + y * sin(th) ^ 2 + 3), 9)) / m`},
	{1000, `c = colsum(onehot(i64(9 * abs(x - x[i])), 9))
	 sum(c * log(c + 1)) + max(c)`},
	{1000, `c = colsum(onehot(i64(9 * rand(m, 1, seed = i)), 9))
	 sum((c[0, i] + x - c[0, 1]) ^ 2) + norm(x - c[0, 2])`},
	{1000, `g = (y - y[i])
	 t(t(onehot(i64(9 * abs(x - x[i])), 9)) @ g)`},
	{1000, `g = (1 / (y - y[i]))
	 t(t(onehot(i64(9 * abs(x - x[i])), 9)) @ g)`}, // infinite or nan
	{1000, `g = f64(i64(1e8 * (y - y[i]) ^ 9))
	 t(t(onehot(i64(9 * abs(x - x[i])), 9)) @ g)`},
	{1000, `h, edges = histogram(x - x[i], bins = 200, lo = -0.9, hi = 0.9)
	 t(h)`},
	{1000, `colsum(onehot(max(bin(ifelse(x < 0.1, nan, x + y[i]), sort(y), closed = "right"), 0), m + 1))[0, 1..m]`}, // uneven edges
	{1000, `colsum(onehot(i64(9 * x + (i > 7)), 9))`},                                                                // no code in point 8
	{1000, `colsum(onehot(i64(9 / (x - x[i])), 9))`},                                                                 // no integer in point 0
}

// TestPhasedBodies: bodies that reduce vectors which are longer than a point has memory for, or by key,
// run by phases over the elements. They give what the definition gives: values, or the same failure.
func TestPhasedBodies(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range phasedBodies {
		text := fmt.Sprintf("m = %d\nx = materialize(rand(m, 1, seed = 1))\ny = materialize(rand(m, 1, seed = 2))\nD = materialize(cbind(x, y))\nv = parfor i in 0..9 {\n %s\n}\nemit v\n", b.m, b.body)
		for _, ranks := range []int{1, 2} {
			r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: ranks, Verify: true, Std: stdlib.Files})
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			want, before := meaningsOf(table, text).of("definition", r.Program), kernels.RowsBegun()
			for workers := range 2 {
				got := ran(r, 1+workers)
				if got.out != want.out || got.failed != want.failed || want.failed && !alike(got.err, want.err) {
					t.Errorf("%s: %s%v\ndefinition: %s%v\nin\n%s", got.how, got.out, got.err, want.out, want.err, text)
				}
			}
			if kernels.RowsBegun() == before {
				t.Errorf("no loop runs by phases\n%s", text)
			}
		}
	}
}

// TestLargeTables: a body whose tables by key would fill memory for all points runs an operator at a
// time.
func TestLargeTables(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for points, phases := range map[int]bool{30: true, 60: false} {
		text := fmt.Sprintf("m = 30_000\nemit sum(parfor i in 0..%d {\n sum(colsum(onehot(randint(m, 1, 0, m, seed = i), m, sparse = true)))\n})\n", points)
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		before := kernels.RowsBegun()
		if got, want := ran(r, 2), fmt.Sprintf("%d\n", 30_000*points); got.out != want || got.failed {
			t.Errorf("%d points: %s%v, not %s", points, got.out, got.err, want)
		}
		if by := kernels.RowsBegun() > before; by != phases {
			t.Errorf("%d points run by phases: %v", points, by)
		}
	}
}
