package compiler_test

import (
	"strings"
	"testing"

	"flow/kernels"
)

// wordings are groups of programs whose rounds read rows, columns and elements of a state and replace
// some of them. The programs of a group word one computation differently and emit the same.
var wordings = [][]string{{ // elimination
	`A0 = materialize(rand(70, 70, seed = 1) + 70 * eye(70))
	 r = seq(0, 70)
	 iterate A = A0, k = 0 times 50 { next A = A - ifelse(r > k, A[:, k] / A[k, k], 0.0) * A[k, :]; next k = k + 1 }
	 emit all A`,
	`A0 = materialize(rand(70, 70, seed = 1) + 70 * eye(70))
	 iterate A = A0, k = 0 times 50 {
	   next A = parfor i in 0..70 { if i > k { A[i, :] - A[i, k] / A[k, k] * A[k, :] } else { A[i, :] } }
	   next k = k + 1
	 }
	 emit all A`,
}, { // the longest increasing subsequence
	`X = materialize(rand(90, 1, seed = 1))
	 place = seq(0, 90)
	 iterate L = ones(90, 1), i = 1 times 89 {
	   best = max(ifelse(place < i and X < X[i, 0], L, 0.0))
	   next L = ifelse(place == i, best + 1, L)
	   next i = i + 1
	 }
	 emit t(L)`,
	`X = materialize(rand(90, 1, seed = 1))
	 iterate L = zeros(90, 1), i = 0 times 90 {
	   best = max(parfor j in 0..90 { if X[j, 0] < X[i, 0] { L[j, 0] } else { 0.0 } })
	   next L = parfor j in 0..90 { if j == i { best + 1 } else { L[j, 0] } }
	   next i = i + 1
	 }
	 emit t(L)`,
}, { // a knapsack
	`w = materialize(randint(30, 1, 1, 40, seed = 1))
	 v = materialize(rand(30, 1, seed = 2))
	 iterate best = zeros(151, 1), k = 0 times 30 {
	   next best = parfor c in 0..151 { if c >= w[k, 0] { max(best[c, 0], best[c - w[k, 0], 0] + v[k, 0]) } else { best[c, 0] } }
	   next k = k + 1
	 }
	 emit t(best)`,
	`w = materialize(randint(30, 1, 1, 40, seed = 1))
	 v = materialize(rand(30, 1, seed = 2))
	 c = t(seq(0, 151))
	 iterate best = zeros(1, 151), k = 0 times 30 {
	   without = t(take(t(best), t(max(c - w[k, 0], 0))))
	   next best = ifelse(c >= w[k, 0], max(best, without + v[k, 0]), best)
	   next k = k + 1
	 }
	 emit best`,
	`w = materialize(randint(30, 1, 1, 40, seed = 1))
	 v = materialize(rand(30, 1, seed = 2))
	 c = seq(0, 151)
	 iterate best = zeros(151, 1), k = 0 times 30 {
	   before = best[max(c - w[k], c - 151)] # negative ones count from the end
	   next best = ifelse(c >= w[k], max(best, before + v[k]), best)
	   next k = k + 1
	 }
	 emit t(best)`,
	`w = materialize(randint(30, 1, 1, 40, seed = 1))
	 v = materialize(rand(30, 1, seed = 2))
	 c = materialize(seq(0, 151))
	 iterate best = zeros(151, 1), k = 0 times 30 {
	   before = best[max(c - w[k], 0)]
	   next best = ifelse(c < w[k], best, max(best, before + v[k]))
	   next k = k + 1
	 }
	 emit t(best)`,
}, { // Jacobi
	`A = materialize(rand(70, 70, seed = 1) + 70 * eye(70))
	 b = materialize(rand(70, 1, seed = 2))
	 iterate x = zeros(70, 1) times 12 { next x = (b - (rowsum(A * t(x)) - diag(A) * x)) / diag(A) }
	 emit x`,
	`A = materialize(rand(70, 70, seed = 1) + 70 * eye(70))
	 b = materialize(rand(70, 1, seed = 2))
	 iterate x = zeros(70, 1) times 12 { next x = parfor i in 0..70 { (b[i, 0] - (sum(t(A[i, :]) * x) - A[i, i] * x[i, 0])) / A[i, i] } }
	 emit x`,
}, { // forward substitution
	`L = materialize(rand(80, 80, seed = 1) + 80 * eye(80))
	 b = materialize(rand(80, 1, seed = 2))
	 iterate x = zeros(80, 1), i = 0 times 80 {
	   next x = ifelse(seq(0, 80) == i, (b[i, 0] - sum(t(L[i, :]) * x)) / L[i, i], x)
	   next i = i + 1
	 }
	 emit t(x)`,
	`L = materialize(rand(80, 80, seed = 1) + 80 * eye(80))
	 b = materialize(rand(80, 1, seed = 2))
	 iterate x = zeros(80, 1), i = 0 times 80 {
	   s = sum(L[i, :] * t(x))
	   next x = parfor k in 0..80 { if k == i { (b[i, 0] - s) / L[i, i] } else { x[k, 0] } }
	   next i = i + 1
	 }
	 emit t(x)`,
	`L = materialize(rand(80, 80, seed = 1) + 80 * eye(80))
	 b = materialize(rand(80, 1, seed = 2))
	 iterate x = zeros(80, 1), i = 0 times 80 {
	   s = sum(t(L[i, 0..i]) * x[0..i, :])
	   next x = ifelse(seq(0, 80) == i, (b[i, 0] - s) / L[i, i], x)
	   next i = i + 1
	 }
	 emit t(x)`,
}, { // parts of a series, of a size that only the round tells
	`z = materialize(randn(300, 1, seed = 1))
	 iterate r = zeros(90, 1), a = 0.0, k = 0 times 90 {
	   next r = ifelse(seq(0, 90) == k, sum(z[0..300 - k, :] * z[k..300, :]) / 300, r)
	   next a = 0.5 * a + max(abs(z[3 * k..300, :] - a)) + f64(count(z[k..2 * k, :] > a))
	   next k = k + 1
	 }
	 emit t(r)
	 emit a`,
	`z = materialize(randn(300, 1, seed = 1))
	 i = seq(0, 300)
	 iterate r = zeros(90, 1), a = 0.0, k = 0 times 90 {
	   next r = ifelse(seq(0, 90) == k, sum(ifelse(i >= k, z * z[max(i - k, 0)], 0.0)) / 300, r)
	   next a = 0.5 * a + max(ifelse(i >= 3 * k, abs(z - a), -inf)) + f64(count(i >= k and i < 2 * k and z > a))
	   next k = k + 1
	 }
	 emit t(r)
	 emit a`,
}, { // Gram-Schmidt
	`A = materialize(rand(50, 12, seed = 1))
	 c = t(seq(0, 12))
	 iterate Q = A, k = 0 times 12 {
	   q = Q[:, k] / norm(Q[:, k])
	   p = ifelse(c > k, colsum(q * Q), 0.0)
	   next Q = ifelse(c == k, q, Q - q * p)
	   next k = k + 1
	 }
	 emit Q`,
	`A = materialize(rand(50, 12, seed = 1))
	 c = t(seq(0, 12))
	 iterate Q = A, k = 0 times 12 {
	   q = Q[:, k] / norm(Q[:, k])
	   p = ifelse(c > k, colsum(q * Q), 0.0)
	   next Q = parfor i in 0..50 { ifelse(c == k, q[i, 0], Q[i, :] - q[i, 0] * p) }
	   next k = k + 1
	 }
	 emit Q`,
}, { // the best path through a hidden Markov model
	`A = materialize(log(rand(70, 70, seed = 1)))
	 B = materialize(log(rand(70, 9, seed = 2)))
	 obs = materialize(randint(50, 1, 0, 9, seed = 3))
	 iterate v = zeros(70, 1), k = 0 times 50 { next v = t(colmax(v + A)) + B[:, obs[k, 0]]; next k = k + 1 }
	 emit v`,
	`A = materialize(log(rand(70, 70, seed = 1)))
	 B = materialize(log(rand(70, 9, seed = 2)))
	 obs = materialize(randint(50, 1, 0, 9, seed = 3))
	 iterate v = zeros(70, 1), k = 0 times 50 { next v = parfor j in 0..70 { max(v + A[:, j]) + B[j, obs[k, 0]] }; next k = k + 1 }
	 emit v`,
}, { // shortest paths
	`iterate D = rand(30, 30, seed = 1) ^ 2, k = 0 times 30 { next D = min(D, D[:, k] + D[k, :]); next k = k + 1 }
	 emit D`,
	`iterate D = rand(30, 30, seed = 1) ^ 2, k = 0 times 30 {
	   next D = parfor i in 0..30 { min(D[i, :], D[i, k] + D[k, :]) }
	   next k = k + 1
	 }
	 emit D`,
}, { // reductions of a matrix cut at its border, of a column, of numbers of very different size
	`iterate u = rand(100, 70, seed = 1), d = 0.0, h = 0.0 until h > 6 {
	   r = rbind(u[1.., :], u[0..1, :]) - u
	   next d = d / 2 + sum(r ^ 2) + max(cbind(r[:, 1..], r[:, 0..1])) + norm(u[:, 3]) + mean(u[7, :])
	   next u = u + 0.2 * r
	   next h = h + 1
	 }
	 emit d
	 emit sum(u)`,
}, {
	`e = materialize(10.0 ^ (200 * rand(300, 1, seed = 1) - 100) * (rand(300, 1, seed = 2) - 0.5))
	 iterate x = e, s = 0.0, k = 0 times 30 {
	   next s = s / 3 + sum(x) + norm(x * 2) + f64(count(x > s)) + (if any(x > 1e99) { 1.0 } else { 0.0 }) + f64(sum(i64(round(x > 0))))
	   next x = ifelse(seq(0, 300) == k, -s, x)
	   next k = k + 1
	 }
	 emit s
	 emit sum(x)`,
}, { // numbers of all types, nan and inf among them
	`d = materialize(randint(300, 1, -5, 40, seed = 1))
	 nanx = materialize(ifelse(rand(300, 1, seed = 2) < 0.01, nan, ifelse(rand(300, 1, seed = 3) < 0.02, inf, randn(300, 1, seed = 4))))
	 iterate x = nanx, i = d, f = f32(nanx), b = nanx > 0, s = 0.0, k = 0 times 50 {
	   p = i[k, 0] % 300
	   next s = ifelse(isnan(sum(x)), 0.0, 0.5) + max(ifelse(isnan(x), 0.0, x)) / 1e3 + f64(count(b)) + f64(sum(i)) / 7 + f64(max(f[p..p + 1, :])) * 0 + min(abs(x[0..50, :]))
	   next x = ifelse(seq(0, 300) == p, x[k, 0], x * 0.99 + 0.01 * x[p, 0])
	   next i = parfor j in 0..300 { if b[j, 0] and i[j, 0] > 3 { i[j, 0] // 2 + 1 } else if i[j, 0] < 0 { -i[j, 0] } else { i[(j + k) % 300, 0] } }
	   next f = f * f32(0.5) + f[p, 0] + f32(mean(x))
	   next b = parfor j in 0..300 { b[300 - 1 - j, 0] != (i[j, 0] % 3 == 0) }
	   next k = k + 1
	 }
	 emit s
	 emit all x
	 emit all i
	 emit all f
	 emit all b`,
}, { // rows of branches, reductions of all classes
	`A = materialize(rand(40, 60, seed = 1) - 0.5)
	 iterate M = A, g = 0.0, k = 0 until k == 60 or g > 1e6 {
	   c = M[:, k % 60]
	   r = M[k % 40, :]
	   next g = g / 2 + any(c > 0.49) * 1.0 + all(r > -1) * 2.0 + f64(argmax(r)) + prod(1 + 0.01 * c) + var(r) + stddev(c) + norm(M - c * r) + mean(abs(M)) + max(M[:, 1]) + f64(count(M[3, :] > 0))
	   next M = parfor i in 0..40 {
	     if i == k % 40 { r * 0.5 + c[i, 0] } else if any(M[i, :] > 0.4) { M[i, :] - 0.01 * r } else { reverse(M[i, :], by = "cols") }
	   }
	   next k = k + 1
	 }
	 emit g
	 emit all M`,
}, { // gathers guarded by branches, and subscripts read from a matrix
	`h = materialize(randint(500, 1, 0, 100, seed = 1))
	 iterate t = zeros(100, 1), best = zeros(100, 1), e = 0, k = 0 times 130 {
	   j = h[k, 0]
	   z = h[k + 1, 0]
	   m = max(parfor q in 0..100 { if q < j { t[q, 0] } else { t[(q + z) % 100, 0] - 1 } })
	   next t = parfor q in 0..100 { if q == j { m + 1 } else { t[q, 0] } }
	   next best = parfor q in 0..100 { if q >= z { max(best[q, 0], t[q - z, 0] + best[100 - 1 - q, 0] * 0.01) } else { best[q, 0] } }
	   next e = e + h[h[j, 0] + z, 0]
	   next k = k + 1
	 }
	 emit all t
	 emit all best
	 emit e`,
}, { // a place that is not there, in a branch that is not taken
	`w = materialize(randint(50, 1, 0, 8, seed = 1))
	 iterate x = rand(8, 4, seed = 2), s = 0.0, k = 0 times 50 {
	   y = parfor i in 0..8 { if k > 60 { if i == w[k, 0] { x[i + 1, 0] } else { x[i, 3] } } else { x[7 - i, 1] } }
	   next s = s / 2 + max(y)
	   next x = x * 0.5 + 0.1 * y
	   next k = k + 1
	 }
	 emit s
	 emit x`,
}}

// brokenRounds are programs and their errors. A round fails after many that do not; in some programs it
// fails at an element that no operator reads.
var brokenRounds = [][2]string{
	{`x = materialize(rand(100, 1, seed = 1))
	 iterate s = x, k = 0 times 200 {
	   y = x[max(i64(seq(0, 100)) - k, k - 60)]
	   next s = s / 2 + 3 * y
	   next k = k + 1
	 }
	 emit sum(s)`, "row 100 of a matrix with 100 rows"},
	{`x = materialize(rand(100, 1, seed = 1))
	 c = materialize(seq(0, 100))
	 iterate s = x, k = 0 times 90 {
	   y = 2 * x[c + (k // 80) * 50]
	   z = y[0..20] + 1
	   next s = 0.5 * s + rbind(z, zeros(80, 1))
	   next k = k + 1
	 }
	 emit sum(s)`, "row 100 of a matrix with 100 rows"},
	{`x = materialize(rand(100, 1, seed = 1))
	 c = materialize(seq(0, 100))
	 iterate s = x, k = 0 times 90 {
	   y = x[c + (k // 80) * 50]
	   assert k < 80, "late"
	   next s = 0.5 * s + y
	   next k = k + 1
	 }
	 emit sum(s)`, "row 100 of a matrix with 100 rows"},
	{`iterate x = ones(100, 1), k = 0 times 90 {
	   y = parfor i in 0..50 { x[i + k, 0] * 2 }
	   next x = 0.5 * rbind(y[0..20, :], x[20.., :])
	   next k = k + 1
	 }
	 emit sum(x)`, "row 100 of a matrix with 100 rows (at i = 49)"},
	{`d = materialize(seq(0, 200))
	 iterate x = ones(100, 1), k = 0 times 90 {
	   y = parfor i in 0..100 { 4 // (d[i, 0] - 99 + 60 - k) }
	   next x = 0.5 * x + rbind(y[0..20, :], zeros(80, 1))
	   next k = k + 60
	 }
	 emit sum(x)`, "division by zero (at i = 39)"},
	{`A = materialize(rand(100, 10, seed = 1))
	 iterate x = ones(5, 10), k = 0 times 90 { w = A[k..k + 50, :]; next x = 0.5 * x + 2 * w[0..5, :]; next k = k + 1 }
	 emit sum(x)`, "rows 51 to 101 of a matrix with 100"},
	{`w = materialize(randint(99, 1, 0, 3, seed = 1))
	 iterate x = ones(70, 1), k = 0 times 99 {
	   next x = parfor i in 0..70 { if i >= 10 { x[i - w[k, 0], 0] } else if k < 80 { x[i + 1, 0] } else { x[w[k, 0] * 40, 0] } }
	   next k = k + 1
	 }
	 emit sum(x)`, "row 80 of a matrix with 70 rows (at i = 0)"},
	{`iterate x = ones(8, 1), k = 0, s = 0.0 times 90 {
	   next s = s / 2 + max(parfor i in 0..8 { if k > 40 + i { x[i + 1, 0] } else { x[i, 0] } })
	   next x = 0.5 * x
	   next k = k + 1
	 }
	 emit s`, "row 8 of a matrix with 8 rows (at i = 7)"},
	{`w = materialize(randint(99, 1, 0, 3, seed = 1))
	 iterate x = ones(70, 1), k = 0, s = 1 times 99 {
	   y = parfor i in 0..70 { if k == 70 { x[w[k, 0] + 69 + i, 0] } else { x[i, 0] } }
	   next s = s + i64(sum(y))
	   next x = 2 * y - x
	   next k = k + 1
	 }
	 emit s`, "of a matrix with 70 rows (at i = "},
	{`x = materialize(rand(300, 1, seed = 1))
	 iterate s = 0.0, k = 0 times 90 { next s = 0.5 * s + sum(x[4 * k..4 * k + k // 80 * (k - 40), :]); next k = k + 1 }
	 emit s`, "of a matrix with 300"},
	{`x = materialize(rand(300, 1, seed = 1))
	 iterate s = 0.0, k = 0 times 90 { next s = 0.5 * s + sum(x[0..k, :] * x[k..2 * k + k // 80, :]); next k = k + 1 }
	 emit s`, "80"},
	{`x = materialize(randint(300, 1, 1, 9, seed = 1))
	 iterate s = 0, k = 0 times 90 {
	   y = x[k..2 * k, :] // (x[0..k, :] + k // 80 * (k - 89) * x[k..2 * k, :])
	   z = 7 // (x[0..k + 1, :] - k // 85 * x[k, 0])
	   next s = s % 1000 + max(rbind(y, x[0..1, :]))
	   next k = k + 1
	 }
	 emit s`, "division by zero"},
	{`x = materialize(seq(0, 33))
	 iterate s = 0, k = 0 times 90 {
	   y = parfor i in 0..40 { (i + k) // (i - 30 + (89 - k) // 20 * 40) }
	   next s = s % 1000 + y[k % 20] + x[k % 33, 0]
	   next k = k + 1
	 }
	 emit s`, "division by zero (at i = 30)"},
}

// TestRoundsOfMatrices compares rounds that run as loops with the definition, in all wordings: the
// output and the failures are equal whether loops are compiled at once or never.
func TestRoundsOfMatrices(t *testing.T) {
	table := tinyTable(t)
	defer kernels.LoopsFrom(0)
	on := runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}, {1, 2, []string{"rounds"}, false, ""}}
	for _, group := range wordings {
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
	for _, c := range brokenRounds {
		for _, from := range []int64{0, 1 << 60} {
			kernels.LoopsFrom(from)
			if out, err := on.differ(table, c[0]); err != nil || out.err == nil || !strings.Contains(out.err.Error(), c[1]) {
				t.Errorf("%v\n%v\nfails otherwise than with %q\nin\n%s", err, out.err, c[1], c[0])
			}
		}
	}
}
