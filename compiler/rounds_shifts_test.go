package compiler_test

import (
	"strings"
	"testing"

	"flow/kernels"
)

// shifts are groups of programs that emit the same. Their rounds read a matrix at a distance that only
// the round tells: an element of another matrix, or a number.
var shifts = [][]string{{ // a knapsack
	`w = materialize(randint(30, 1, 0, 400, seed = 1))
	 v = materialize(rand(30, 1, seed = 2))
	 iterate best = zeros(1101, 1), k = 0 times 12 {
	   next best = parfor c in 0..1101 { if c >= w[k, 0] { max(best[c, 0], best[c - w[k, 0], 0] + v[k, 0]) } else { best[c, 0] } }
	   next k = k + 1
	 }
	 emit all t(best)`,
	`w = materialize(randint(30, 1, 0, 400, seed = 1))
	 v = materialize(rand(30, 1, seed = 2))
	 iterate best = zeros(1101, 1), k = 0 times 12 {
	   d = w[k, 0]
	   u = v[k, 0]
	   next best = parfor c in 0..1101 { if c >= d { max(best[c, 0], best[c - d, 0] + u) } else { best[c, 0] } }
	   next k = k + 1
	 }
	 emit all t(best)`,
	`w = materialize(randint(30, 1, 0, 400, seed = 1))
	 v = materialize(rand(30, 1, seed = 2))
	 c = materialize(seq(0, 1101))
	 iterate best = zeros(1101, 1), k = 0 times 12 {
	   next best = ifelse(c >= w[k], max(best, best[max(c - w[k], 0)] + v[k]), best)
	   next k = k + 1
	 }
	 emit all t(best)`,
}, { // subscripts that are negative in some rounds
	`s = materialize(randint(40, 1, -3, 1100, seed = 1) * i64(rand(40, 1, seed = 2) < 0.5))
	 iterate y = rand(1100, 1, seed = 3), k = 0 times 15 {
	   next y = parfor i in 0..1090 + 10 { if s[k, 0] >= 0 { y[i - s[k, 0], 0] * 0.5 + 0.1 } else { y[i, 0] } }
	   next k = k + 1
	 }
	 emit all t(y)`,
	`s = materialize(randint(40, 1, -3, 1100, seed = 1) * i64(rand(40, 1, seed = 2) < 0.5))
	 iterate y = rand(1100, 1, seed = 3), k = 0 times 15 {
	   d = s[k, 0]
	   next y = parfor i in 0..1100 { if d >= 0 { y[(i - d + 1100) % 1100, 0] * 0.5 + 0.1 } else { y[i, 0] } }
	   next k = k + 1
	 }
	 emit all t(y)`,
}, { // distances that the rounds change, in a matrix that is written in place
	`iterate y = rand(1100, 1, seed = 1), q = seq(0, 9) * 30, k = 0 times 15 {
	   next y = parfor i in 0..1100 { if i >= q[k % 9, 0] and i + q[3, 0] < 1100 { y[i - q[k % 9, 0], 0] * 0.9 + 0.1 * y[i + q[3, 0], 0] } else { y[i, 0] } }
	   next q = ifelse(seq(0, 9) == k % 9, (q[k % 9, 0] * 7 + k) % 900, q)
	   next k = k + 1
	 }
	 emit all t(y)
	 emit q`,
	`iterate y = rand(1100, 1, seed = 1), q = seq(0, 9) * 30, k = 0 times 15 {
	   a = q[k % 9, 0]
	   b = q[3, 0]
	   next y = parfor i in 0..1100 { if i >= a and i + b < 1100 { y[i - a, 0] * 0.9 + 0.1 * y[i + b, 0] } else { y[i, 0] } }
	   next q = parfor i in 0..9 { if i == k % 9 { (a * 7 + k) % 900 } else { q[i, 0] } }
	   next k = k + 1
	 }
	 emit all t(y)
	 emit q`,
}, { // both axes
	`a = materialize(randint(30, 2, 0, 31, seed = 1))
	 iterate M = rand(33, 34, seed = 2), k = 0 times 12 {
	   next M = parfor i in 0..33, j in 0..34 { if i >= a[k, 0] and j >= a[k, 1] { 0.5 * M[i - a[k, 0], j - a[k, 1]] + 0.2 } else { M[i, j] } }
	   next k = k + 1
	 }
	 emit all M`,
	`a = materialize(randint(30, 2, 0, 31, seed = 1))
	 iterate M = rand(33, 34, seed = 2), k = 0 times 12 {
	   I = seq(0, 33) - a[k, 0]
	   J = seq(0, 34) - a[k, 1]
	   next M = ifelse(I >= 0 and t(J) >= 0, 0.5 * M[max(I, 0), max(J, 0)] + 0.2, M)
	   next k = k + 1
	 }
	 emit all M`,
}, { // parts that elements bound
	`q = materialize(randint(9, 1, 0, 1100, seed = 1))
	 iterate y = rand(1100, 1, seed = 2), k = 0 times 9 {
	   next y = parfor i in 0..1100 { if i < q[k, 0] { y[i, 0] * 0.5 + 0.1 } else { y[i, 0] } }
	   next k = k + 1
	 }
	 emit all t(y)`,
	`q = materialize(randint(9, 1, 0, 1100, seed = 1))
	 iterate y = rand(1100, 1, seed = 2), k = 0 times 9 { next y = ifelse(seq(0, 1100) < q[k, 0], y * 0.5 + 0.1, y); next k = k + 1 }
	 emit all t(y)`,
}}

// brokenShifts are programs of this kind and their errors, in a late round.
var brokenShifts = [][2]string{
	{`w = materialize(randint(30, 1, 0, 400, seed = 1))
	 iterate y = rand(1100, 1, seed = 1), k = 0 times 40 {
	   next y = parfor i in 0..1100 { if i >= w[k, 0] { y[i - w[k, 0], 0] * 0.9 } else { y[i, 0] } }
	   next k = k + 1
	 }
	 emit sum(y)`, "row 30 of a matrix with 30 rows"},
	{`w = materialize(seq(0, 40) // 35 * 7)
	 iterate y = rand(1100, 1, seed = 1), k = 0 times 40 {
	   next y = parfor i in 0..1100 { y[i + w[k, 0], 0] * 0.9 }
	   next k = k + 1
	 }
	 emit sum(y)`, "row 1100 of a matrix with 1100 rows (at i = 1093)"},
	{`w = materialize(seq(0, 40) // 35 * 7000000000000000000)
	 iterate y = rand(1100, 1, seed = 1), k = 0 times 40 {
	   d = w[k, 0]
	   next y = parfor i in 0..1100 { y[i - d, 0] * 0.9 }
	   next k = k + 1
	 }
	 emit sum(y)`, "of a matrix with 1100 rows (at i = 0)"},
}

// TestRoundsOfShifts compares such rounds with the definition, whether loops are compiled at once or
// never.
func TestRoundsOfShifts(t *testing.T) {
	table := tinyTable(t)
	defer kernels.LoopsFrom(0)
	on := runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}, {1, 2, []string{"rounds"}, false, ""}}
	each := func(text string) (out outcome) {
		for _, from := range []int64{0, 1 << 60} {
			kernels.LoopsFrom(from)
			var err error
			if out, err = on.differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
		}
		return out
	}
	for _, group := range shifts {
		first := ""
		for _, text := range group {
			numbers := each(text).out
			if first == "" {
				first = numbers
			} else if first != numbers {
				t.Errorf("%s\nis other than\n%s\nof\n%s", numbers, first, text)
			}
		}
	}
	for _, c := range brokenShifts {
		if out := each(c[0]); out.err == nil || !strings.Contains(out.err.Error(), c[1]) {
			t.Errorf("%v: expected %q\nin\n%s", out.err, c[1], c[0])
		}
	}
}
