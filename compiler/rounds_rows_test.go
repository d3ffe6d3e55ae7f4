package compiler_test

import (
	"strings"
	"testing"

	"flow/kernels"
)

// rowRounds are groups of programs that emit the same numbers: rounds of whole columns, and points that
// make the rounds of a row each. No row of the first program of a group reads another one.
var rowRounds = [][]string{{
	`X = materialize(rand(70, 40, seed = 1))
	 iterate f = X[:, 0], s = X[:, 0], up = fill(false, 70, 1), n = fill(0, 70, 1), k = 1 times 39 {
	   a = 0.3 * X[:, k] + 0.7 * f
	   b = 0.1 * X[:, k] + 0.9 * s
	   next f = a; next s = b; next n = n + ((a > b) != up); next up = a > b; next k = k + 1
	 }
	 emit all cbind(n, f, s, up)`,
	`X = materialize(rand(70, 40, seed = 1))
	 emit all parfor i in 0..70 {
	   iterate f = X[i, 0], s = X[i, 0], up = false, n = 0, k = 1 times 39 {
	     a = 0.3 * X[i, k] + 0.7 * f
	     b = 0.1 * X[i, k] + 0.9 * s
	     next f = a; next s = b; next n = n + i64((a > b) != up); next up = a > b; next k = k + 1
	   }
	   t([f64(n), f, s, f64(up)])
	 }`,
}, { // rows of several numbers, reductions of rows, numbers of very different size
	`P0 = materialize(rand(90, 2, seed = 1) * 10.0 ^ (20 * rand(90, 2, seed = 2) - 10))
	 iterate P = P0, V = 0.1 * P0[:, 1..], r = 0 until r == 35 {
	   d = rowsum(cbind(P, V, -P))
	   next V = V - 0.01 * d / (1 + rownorm(P) ^ 3) + rowmax(P) * 1e-3
	   next P = P + 0.01 * V
	   next r = r + 1
	 }
	 emit all cbind(P, V)`,
	`P0 = materialize(rand(90, 2, seed = 1) * 10.0 ^ (20 * rand(90, 2, seed = 2) - 10))
	 emit all parfor i in 0..90 {
	   iterate p = P0[i, 0], q = P0[i, 1], v = 0.1 * P0[i, 1] times 35 {
	     d = sum(t([p, q, v, -p, -q]))
	     next v = v - 0.01 * d / (1 + norm([p, q]) ^ 3) + max(p, q) * 1e-3
	     next p = p + 0.01 * v
	     next q = q + 0.01 * v
	   }
	   t([p, q, v])
	 }`,
}, { // numbers of other types, numbers and a small matrix that all rows share, a choice and inner rounds
	`y = materialize(f32(rand(77, 1, seed = 1)))
	 c = materialize(randint(77, 1, 1, 9, seed = 2))
	 iterate a = y, m = [[1, 2, 3]], h = c, w = 1.0, k = 0 times 30 {
	   iterate z = a, j = 0 until j == k % 3 { next z = z * f32(0.5) + y; next j = j + 1 }
	   next a = if k % 4 == 1 { z + f32(c) } else { z - f32(m[0, 1]) }
	   next m = m[:, [1, 2, 0]] + [[1, 0, 0]]
	   next h = (h * 7 + k) % (c + 2)
	   next w = w * 0.75 + f64(m[0, 0])
	   next k = k + 1
	 }
	 emit all cbind(f64(a), f64(h))`,
	`y = materialize(f32(rand(77, 1, seed = 1)))
	 c = materialize(randint(77, 1, 1, 9, seed = 2))
	 emit all parfor i in 0..77 {
	   iterate a = y[i], m = [[1, 2, 3]], h = c[i], k = 0 times 30 {
	     iterate z = a, j = 0 until j == k % 3 { next z = z * f32(0.5) + y[i]; next j = j + 1 }
	     next a = if k % 4 == 1 { z + f32(c[i]) } else { z - f32(m[0, 1]) }
	     next m = m[:, [1, 2, 0]] + [[1, 0, 0]]
	     next h = (h * 7 + k) % (c[i] + 2)
	     next k = k + 1
	   }
	   t([f64(a), f64(h)])
	 }`,
}, { // places that rows compute
	`w = materialize(rand(50, 1, seed = 1))
	 iterate at = seq(0, 300) % 50, s = zeros(300, 1), k = 0 until k == 20 {
	   next s = s + w[at]
	   next at = (3 * at + k) % 50
	   next k = k + 1
	 }
	 emit all s`,
	`w = materialize(rand(50, 1, seed = 1))
	 emit all parfor i in 0..300 {
	   iterate at = i % 50, s = 0.0, k = 0 times 20 { next s = s + w[at]; next at = (3 * at + k) % 50; next k = k + 1 }
	   s
	 }`,
}, { // no round
	`iterate a = rand(70, 1, seed = 1), k = 3 until k > 2 { next a = a * 2 + k; next k = k + 1 }
	 emit all a`,
	`emit all rand(70, 1, seed = 1)`,
}}

// brokenRows are programs and their errors, and at the end programs whose rows read one another.
var brokenRows = [][2]string{
	{`X = materialize(rand(70, 40, seed = 1))
	  iterate a = X[:, 0], k = 0 times 60 { next a = a * 0.5 + X[:, k]; next k = k + 1 }
	  emit all a`, "40"},
	{`c = materialize(seq(0, 70))
	  iterate a = c, k = 0 times 60 { next a = a + 100 // (c + 30 - k); next k = k + 1 }
	  emit all a`, "division by zero"},
	{`w = materialize(rand(50, 1, seed = 1))
	  iterate at = seq(0, 300) % 50, s = zeros(300, 1), k = 0 times 200 { next s = s + w[at]; next at = at + k // 100; next k = k + 1 }
	  emit all s`, "50"},
	{`fn guard(x, k) { assert k < 30, fmt("round {}", k); x }
	  iterate a = rand(70, 1, seed = 1), k = 0 times 60 { next a = guard(a, k) * 0.5; next k = k + 1 }
	  emit all a`, "round 30"},
	{`iterate a = seq(0, 70), k = 0 times 60 { z = cbind(a, 7 // (a - 100)); next a = z[:, 0] + 1; next k = k + 1 }
	  emit all a`, "zero"}, // an element that nothing reads
	{`iterate a = rand(70, 1, seed = 1), b = ones(70, 1), k = 0 times 60 { next a = a * 0.5 + roll(b, 1); next b = a + max(a); next k = k + 1 }
	  emit all a`, ""},
	{`iterate A = rand(70, 70, seed = 1), k = 0 times 60 { next A = A * 0.5 + t(A); next k = k + 1 }
	  emit all A`, ""},
	{`X = rand(9, 7, seed = 1)
	  c = rand(9, 1, seed = 2)
	  k = count(X > 0.5) % 4 + 3
	  iterate u = X, w = X times k { next u = w * 0.5 + c; next w = u + c }
	  v = u - w
	  iterate a = v, b = X times k { next a = b * 0.25 + c; next b = a }
	  emit (v * 0.5 + c) - ((a - b) * 0.5 + c)
	  emit a - b
	  emit v`, ""}, // what two loops make, read together
}

// TestRoundsOfRows: rounds in which no row reads another one give what the definition gives and fail as
// it fails.
func TestRoundsOfRows(t *testing.T) {
	table := tinyTable(t)
	defer kernels.LoopsFrom(0)
	on := runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}, {3, 1, nil, false, ""}, {1, 2, []string{"rounds"}, false, ""}}
	for _, group := range rowRounds {
		first := ""
		for _, text := range group {
			for _, from := range []int64{0, 1 << 60} {
				kernels.LoopsFrom(from)
				out, err := on.differ(table, text)
				if err != nil {
					t.Errorf("%v\nin\n%s", err, text)
				}
				if numbers := strings.Join(strings.Fields(out.out), " "); first == "" {
					first = numbers
				} else if first != numbers {
					t.Errorf("%s\nis other than\n%s\nof\n%s", numbers, first, text)
				}
			}
		}
	}
	for _, c := range brokenRows {
		for _, from := range []int64{0, 1 << 60} {
			kernels.LoopsFrom(from)
			out, err := on.differ(table, c[0])
			if err != nil || (out.err == nil) != (c[1] == "") || out.err != nil && !strings.Contains(out.err.Error(), c[1]) {
				t.Errorf("%v\n%v\nfails otherwise than with %q\nin\n%s", err, out.err, c[1], c[0])
			}
		}
	}
}
