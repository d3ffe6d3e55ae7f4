package compiler_test

import (
	"testing"

	"flow/kernels"
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

// TestSumsOfRowBodies: where sums need more words than the first loops of a body have, the body goes on with
// loops that have more. It gives what the definition gives. Operators make the sums of numbers that are too
// far apart for these loops, too.
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

// TestSumsBetweenCalls: loops between calls of operators begin with sums of few words, and go on with more
// where these are not enough. They give what the definition gives.
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
