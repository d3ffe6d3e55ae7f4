package compiler_test

import (
	"testing"

	"flow/kernels"
)

// stateLoops are programs whose loops carry matrices of some hundred elements. Those at the end fail.
var stateLoops = []string{
	`p = materialize(randint(300, 1, -300, 300, seed = 1))
	 iterate s = p, k = 0 times 9 { next s = p[s]; next k = k + 1 }
	 emit s`,
	`iterate U = rand(11, 9, seed = 1) times 7 {
	   next U = U + 0.1 * (rbind(U[1.., :], U[-1, :]) + rbind(U[0, :], U[0..-1, :]) + cbind(U[:, 1..], U[:, -1]) + cbind(U[:, 0], U[:, 0..-1]) - 4 * U)
	 }
	 emit U`,
	`iterate A = i64(rand(10, 8, seed = 1) < 0.4) times 5 {
	   three = A + rbind(A[1.., :], A[0, :]) + rbind(A[-1, :], A[0..-1, :])
	   around = cbind(three[:, 1..], three[:, 0]) + three + cbind(three[:, -1], three[:, 0..-1]) - A
	   next A = i64(around == 3 or (around == 2 and A == 1))
	 }
	 emit A`,
	`X = materialize(rand(30, 4, seed = 1))
	 y = materialize(f64(rowsum(X) > 2))
	 iterate W = rand(4, 16, seed = 2) - 0.5, V = rand(16, 1, seed = 3) - 0.5, k = 0 until k == 6 {
	   H = tanh(X @ W)
	   d = (sigmoid(H @ V) - y) / 30
	   next W = W - 0.5 * (t(X) @ ((d @ t(V)) * (1 - H ^ 2)))
	   next V = V - 0.5 * (t(H) @ d)
	   next k = k + 1
	 }
	 emit W
	 emit V`,
	`A = materialize(rand(70, 70, seed = 1))
	 iterate v = ones(70, 1), l = 0.0 times 5 { w = A @ v; next l = norm(w); next v = w / norm(w) }
	 emit v
	 emit l`,
	`L = materialize(lower(rand(150, 150, seed = 1)) + 150 * eye(150))
	 b = materialize(rand(150, 1, seed = 2))
	 i = seq(0, 150)
	 iterate x = zeros(150, 1), k = 0 times 150 { next x = ifelse(i == k, (b[k, 0] - (L[k, :] @ x)[0, 0]) / L[k, k] + 0 * L[:, k], x); next k = k + 1 }
	 emit x`,
	// Numbers and rows of a few elements between the loops over matrices.
	`T = materialize(cbind(rand(90, 1, seed = 1), 4 + rand(90, 1, seed = 2), rand(90, 2, seed = 3)))
	 I = seq(0, 90)
	 iterate W = zeros(90, 2), c = zeros(90, 1), best = 0.0, where = [0, 0], k = 1 times 150 {
	   m = T[k, 1] - T[k, 0] * W[k - 1, 0]
	   new = t([T[k, 2], T[k, 3] - T[k, 0] * W[k - 1, 1]]) / m
	   next W = parfor i in 0..90 { if i == k { new } else { W[i, :] } }
	   next c = ifelse(I == k, new[0, 0] + norm(new) + m, c)
	   next best = if m > best { m } else { best * 0.999 }
	   next where = ifelse(m > best, [k, where[0, 0]], where)
	   next k = if k == 89 { 1 } else { k + 1 }
	 }
	 emit W
	 emit c
	 emit best
	 emit where`,
	`D0 = materialize(rand(20, 20, seed = 1))
	 iterate D = D0, k = 0 times 20 { next D = min(D, D[:, k] + D[k, :]); next k = k + 1 }
	 emit D`,
	`x = materialize(rand(90, 3, seed = 1))
	 iterate f = zeros(80, 1), k = 1 times 9 {
	   g = f + rbind(zeros(1, 1), f[0..-1, :]) * x[k, 1] + x[k..k + 80, 2]
	   next f = g / (1 + max(g)) + x[k - 1, 0] - x[k - 2, 0]
	   next k = k + 1
	 }
	 emit f`,
	`x = materialize(rand(40, 5, seed = 1) * 10.0 ^ (60 * rand(40, 5, seed = 2) - 30))
	 iterate s = x times 6 { next s = x * rowsum(s) - colsum(s) + rowvar(x) + s[:, 1] }
	 emit s`,
	`iterate a = f32(rand(15, 15, seed = 1)), b = rand(15, 15, seed = 2) < 0.5, n = 2 times 6 {
	   c = if n % 2 == 0 { a * 2 } else { t(a) @ a / f32(9) }
	   iterate d = c, j = 0 until j > n or max(d) > 1e5 { next d = d + a[j, :] * f32(b); next j = j + 1 }
	   next a = d / max(d)
	   next b = rbind(b[3.., :], not b[0..3, :])
	   next n = n + 1
	 }
	 emit a
	 emit b`,
	`D0 = materialize(rand(20, 20, seed = 1))
	 iterate D = D0, k = 0 times 20 { next D = parfor i in 0..20 { min(D[i, :], D[i, k] + D[k, :]) }; next k = k + 1 }
	 emit D`,
	`iterate A = rand(12, 13, seed = 1), s = 1 times 8 {
	   B = parfor i in 1..11, j in 1..12 { x = A[i + 1, j] + A[i - 1, j]; if x > A[i, j] { x / 4 } else { 0.1 * f64(i * s) } }
	   C = parfor i in 0..12 { sum(A[i, :]) + A[i - 1, 0] }
	   next A = rbind(A[0, :], cbind(A[1..-1, 0], B, A[1..-1, -1]), A[-1, :]) + 0.01 * C
	   next s = s % 3 + 1
	 }
	 emit A`,
	`M = materialize(rand(12, 12, seed = 1) + 12 * eye(12))
	 iterate x = zeros(12, 12), q = 0.0 times 6 { next x = solve(M, x @ x + 1) + x[-1, :]; next q = q + sum(x * x) + trace(x) }
	 emit x
	 emit q`,
	`iterate a = 8 * onehot(seq(0, 9), 9) + 1, k = 0 times 30 { next a = a * 3 // (5 - k) + t(a); next k = k + 1 }
	 emit a`,
	`iterate a = seq(0, 70) * 2, k = 0 times 30 { next a = parfor i in 0..70 { a[i, 0] // (a[i, 0] + 50 - 9 * k) + 1 }; next k = k + 1 }
	 emit a`,
	`x = materialize(rand(70, 1, seed = 1))
	 iterate a = x, k = 0 times 30 { p = x[k * 5, 0] + a; q = seq(0, 70) // (14 - k); next a = p + sum(q); next k = k + 1 }
	 emit a`,
	`x = materialize(rand(20, 5, seed = 1))
	 iterate i = 0, s = zeros(1, 100) until s[0, 0] > 99 { next s = s + x[i, 0]; next i = i + 1 }
	 emit s`,
	`fn guard(x) { assert max(x) < 7, fmt("{} is too large", max(x)); x }
	 iterate a = ones(1, 70), k = 0 times 30 { next a = guard(a) * 1.5; next k = k + 1 }
	 emit a`,
	`fn guard(x) { assert max(x) < 7, fmt("{} is too large", max(x)); x }
	 iterate a = ones(1, 70), k = 0 times 30 { iterate b = a times 2 { next b = guard(b) * 1.5 }; next a = b; next k = k + 1 }
	 emit a`,
	`x = materialize(rand(80, 1, seed = 1))
	 iterate y = x, k = 3, s = 0 times 9 { q = 100 // (8 - k); next s = s + q; next y = y * x[q - 10, 0] + f64(q); next k = k + 1 }
	 emit y
	 emit s`,
	`x = materialize(rand(80, 1, seed = 1))
	 fn guard(a) { assert a < 60, fmt("{} is too large", a); a }
	 iterate y = x, k = 3 times 9 { q = guard(10 * k); next y = y * x[q, 0] + f64(q % 7); next k = k + 1 }
	 emit y`,
	// Inner loops by counters that may begin beyond their bound.
	`m = materialize(rand(70, 2, seed = 1))
	 iterate a = m, s = 1.0, i = 0 times 20 {
	   iterate b = s, k = 10 + i until k >= 5 + 5 * (i % 2) * i { next b = b * 0.5 + m[k % 70, 0]; next k = k + 1 }
	   iterate c = b, j = -i until j == i % 3 * i { next c = c + m[j, 1]; next j = j + 1 }
	   next a = a * 0.9 + c * rowsum(m)
	   next s = c / 4
	   next i = i + 1
	 }
	 emit a`,
	// The new A may be written last, but its stage gives the number k % 3, which the row of V needs.
	`V = materialize(rand(20, 100, seed = 1))
	 iterate A = zeros(3, 1), C = zeros(100, 1), k = 0 times 9 {
	   next A = A * 0.5 + f64(k % 3)
	   next C = cumsum(C + t(V[k % 3, :]))
	   next k = k + 1
	 }
	 emit A
	 emit C`,
	// A matrix without elements that a branch gives is no value of the loop.
	`c = materialize(rand(1, 1, seed = 1))[0, 0]
	 iterate E = f32(zeros(1, 0)), C = rand(3, 4, seed = 2), k = 0 until k >= 6 {
	   next E = E + (if c < 0.5 { f32(randn(2, 1, seed = 3))[1..2, 0..0] } else { f32(randn(1, 0, seed = 4)) })
	   next C = cumsum(C * 0.5)
	   next k = k + 1
	 }
	 emit E
	 emit C`,
}

// TestStages: loops over matrices of some hundred elements are one task, whose operators run as loops
// over elements, and give what the definition gives, on threads and ranks.
func TestStages(t *testing.T) {
	table := tinyTable(t)
	defer kernels.LoopsFrom(0)
	for _, text := range stateLoops {
		for _, from := range []int64{300, 0, 1 << 60} { // 300 first: a plan that has run has counted its actions
			kernels.LoopsFrom(from)
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
		}
	}
	kernels.LoopsFrom(0)
	for _, text := range stateLoops[:14] {
		before := kernels.LoopsBegun()
		if _, err := (runs{{1, 1, nil, false, ""}}).differ(table, text); err != nil {
			t.Error(err)
		}
		if kernels.LoopsBegun() == before {
			t.Errorf("no compiled loop runs\n%s", text)
		}
	}
}
