package compiler_test

import (
	"testing"

	"flow/ir/op"
)

// wholeRowBodies are bodies that give rows of elementwise operators, in loops of n = 40 rows, some
// inside of a loop of rounds whose counter is k.
var wholeRowBodies = []string{
	`max(U[i, :], min(U[i, k], U[k, :]))`,
	`ifelse(U[i, :] < y[i, 0], U[i, :] * x[i, 1], sqrt(abs(U[k, :])) - x[i, 2])`,
	`U[i, 1..39] / (1 + abs(U[i, 0..38] - U[i, 2..40])) + U[i, 0]`,
	`f32(U[i, :]) * f32(y[i, 0]) + 0.1`,
	`(U[i, :] > 0.5) and (y[i, 0] > U[k, :])`,
	`U[i, :] / (U[i, :] - U[i, k]) * -0.0`,
	`w[i, :] * 3 - w[k, :] + w[i, 2]`,
	`min(U[39 - k, :], U[i, 39 - k] + U[k, :])`,
	`U[i, 3..9] * U[k, 4..10] + mean(U[k, :])`,
	`U[-1, :] * y[i, 0] + U[i, -1]`,
}

// TestWholeRows: a loop on rows gives what the definition gives, whether it is made operators on
// matrices or not.
func TestWholeRows(t *testing.T) {
	table := tinyTable(t)
	for _, body := range wholeRowBodies {
		text := "n = 40\nx = materialize(rand(n, 3, seed = 1))\ny = materialize(rand(n, 1, seed = 2))\nU = materialize(rand(n, n, seed = 4) - 0.5)\nw = i64(9 * U)\n" +
			"iterate s = 0.0, k = 0 times 40 {\n  v = parfor i in 0..n { " + body + " }\n  next s = s * 0.5 + f64(sum(i64(v * 8) % 64))\n  next k = k + 1\n}\nemit s\n"
		text += "fn at(U, x, y, w, n, k) = parfor i in 0..n { " + body + " }\nemit at(U, x, y, w, n, 7)\n"
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, []string{"whole-rows"}, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}, {3, 2, nil, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}

// wholeNumberBodies are bodies that give numbers, in loops of n = 140 points. Reductions alone read
// them.
var wholeNumberBodies = []string{
	`f64(i) * x[i, 0] + s`,
	`4 / (1 + ((f64(i) + 0.5) / 140) ^ 2)`,
	`ifelse(y[i, 0] < x[i, k % 3], f64(i * k), -0.0)`,
	`sqrt(abs(y[i, 0] - x[k, 2])) * x[i, -1]`,
	`f64(f32(y[i, 0]) * f32(0.1))`,
	`f64(i // (1 + k)) + f64((i * 7) % 5)`,
}

// TestWholeNumbers: a reduction of the numbers of a loop gives what the definition gives, whether they
// are a chain or a loop.
func TestWholeNumbers(t *testing.T) {
	table := tinyTable(t)
	for _, body := range wholeNumberBodies {
		text := "n = 140\nx = materialize(rand(n, 3, seed = 1))\ny = materialize(rand(n, 1, seed = 2))\n" +
			"iterate s = 0.0, k = 0 times 3 {\n  v = parfor i in 0..n { " + body + " }\n  next s = sum(v) + max(v ^ 2)\n  next k = k + 1\n}\nemit s\n" +
			"fn at(x, y, s, n, k) = mean(parfor i in 0..n { " + body + " })\nemit at(x, y, 0.5, n, 7)\n"
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, []string{"whole-rows"}, true, "FAC2"}, {2, 2, nil, false, "SS"}, {3, 2, nil, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}

// wholeReplacements are bodies of loops over two indices that make the next value of U of elements at
// the same places and of others, for round k of 7. Operators must give what points give.
var wholeReplacements = []string{
	`min(U[i, j], U[i, k] + U[k, j])`,
	`if i == k { U[k, j] / (1 + U[k, k]) } else { U[i, j] - U[i, k] * U[k, j] * 0.01 }`,
	`if U[i, k] + U[k, j] < U[i, j] { U[i, k] + U[k, j] } else { if j > k { U[i, j] } else { -0.0 } }`,
	`if i > k and j >= k { U[i, j] - U[i, k] * U[k, j] / (U[k, k] + 3) } else { U[i, j] }`,
	`if U[i, j] > U[k, k] { f64(i - j) } else { U[i, j] + U[64 - k, j] }`,
	`if U[k, j] > 0.4 { 1 / (U[i, j] - U[i, k]) } else { f64(i * k) }`,
	`U[i, j] * 0.5 + x[i, 0] * U[k, k] + U[0, j]`,
}

// TestWholeReplaced: loops over two indices that replace a carried matrix are operators, and give the
// same.
func TestWholeReplaced(t *testing.T) {
	table := tinyTable(t)
	for _, body := range wholeReplacements {
		for _, end := range []string{"times 7", "until k == 7", "until max(U) > 1e300 or k >= 7"} {
			text := "n = 65\nm = 130\nx = materialize(rand(n, 3, seed = 1))\niterate U = materialize(rand(n, m, seed = 4)), k = 0 " + end +
				" {\n  next U = parfor i in 0..n, j in 0..m { " + body + " }\n  next k = k + 1\n}\nemit all U\n"
			r, err := compiledOnce(table, text, 1, false, []string{"rounds", "simplify"})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range r.Plan.Graph.All() {
				for q := n.Region; q != nil; q = q.Next {
					for _, m := range q.Graph.All() {
						if m.Op.Role == op.Points {
							t.Errorf("a loop over points is left of %s, %s", body, end)
						}
					}
				}
			}
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, []string{"whole-rows"}, true, "FAC2"}, {2, 2, []string{"rounds"}, false, "SS"}, {3, 2, nil, false, ""}}).differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
		}
	}
}
