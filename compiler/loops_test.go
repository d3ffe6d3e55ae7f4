package compiler_test

import (
	"strings"
	"testing"

	"flow/kernels"
)

// The programs of these tests are small: their loops are compiled all the same.
func init() { kernels.LoopsFrom(0) }

// loopBodies are bodies of `parfor i in 0..n`, over x (n x 3), y (n x 1), k (n x 1, i64) and U (n x
// n), all of which run as compiled loops. Those at the end fail.
var loopBodies = []string{
	// slices of a length that the run tells
	"sum(y[0..i, :])", "sum(x[i..n, :] * x[0..n-i, :])", "max(x[0..=i, 0])", "mean(y[i.., :])", "colsum(x[0..=i, :])", "min(y[0..=i, :] - y[i..])",
	"sum(rowsum(x[0..i, :]) * y[0..i, :])", "sum(y[0..k[i] % (i + 1), :])", "sum(x[0..-i-1, :] ^ 2)", "f64(count(y[i..n, :] > y[i]))",
	"if i > 3 { sum(y[3..i, :]) } else { norm(y[i.., :]) }", "sum(U[i, 0..i]) + norm(U[0..i, i..])", "sum(sqrt(y[i.., :]) + x[i.., 1] + x[i, 1])",
	"sum(t(x[0..i,:]) @ y[0..i, :])", "sum(x[0..i,:] @ t(x[i,:]))", "sum(take(x, min(k[0..i, :], n - 1)))", "sum(reverse(y[0..i, :]) * y[0..i, :])",
	"w = y[max(i-5, 0)..min(i+6, n), :]\n sum(w ^ 2) / nrow(w)", "f64(argmax(y[0..=i, :]))", "sum(rowargmin(x[i.., :])) + argmax(x[0..=i, :])",
	"sum(colmax(x[0..=i, :])) + sum(rowmin(x[0..i, :]))", "trace(t(x[0..i,:]) @ x[0..i,:])", "sum(solve(t(x[0..=i,:]) @ x[0..=i,:] + eye(3), ones(3, 1)))",
	"min(y[k[i] % n..=max(i, k[i] % n), :] * 2)", "sum(y[0..i, :] + x[i, :])", "sum(dense(y[0..i, :])) + sum(materialize(y[i.., :]))",
	"iterate s = 0.0 times 3 { next s = 0.5 * s + sum(y[i.., :]) }\n s", "any(x[0..i, :] > y[0..i, :]) and all(x[i.., :] > 0)",
	"f64(bin(y[i], [0.2, 0.5, 0.9]))", "sum(bin(x[i, :], cumsum(t(x[i, :])), closed = \"right\"))",
	"iterate s = 0.0 times 3 { next s = (s + f64(bin(s, rowcumsum(x[i, :])))) % 1.7 }\n s",
	`y[-1 - i] * 2 + x[i, 1]`,
	`sum(x[i, :])`,
	`sum((x - x[i, :]) ^ 2)`,
	`d = x - x[i, :]
	 sum(exp(-rowsum(d * d)) * y)`,
	`mean(U[i, :]) + max(U[:, i]) - min(U[i, 2..5])`,
	`W = U[max(i - 1, 0)..max(i - 1, 0) + 2, 1..4]
	 max(W) - mean(W)`,
	`iterate z = 0.0, r = 0 until z > 4 or r >= 50 { next z = z * z + y[i]; next r = r + 1 }
	 r`,
	`iterate p = x[i, :], v = zeros(1, 3) times 7 { next p = p + 0.1 * v; next v = v - 0.1 * p }
	 sum(p * v)`,
	`iterate v = U[:, i] times 3 { next v = (U @ v) / 10 }
	 sum(v)`,
	`M = [[y[i], 1], [2, x[i, 0]]]
	 (M @ M)[0, 1] + (M @ t(M))[1, 1] + prod(M)`,
	`if k[i] % 2 == 0 { y[i] } else { iterate a = y[i] times 3 { next a = sqrt(a) }
	  a }`,
	`k[i] // 3 + k[i] % 5 - count(x[i, :] > 0.5)`,
	`x[i, :] / sum(x[i, :])`,
	`cbind(x[i, :], x[i, 0..1] * 2)`,
	`sum(reverse(x)[i, :] * x[i, :]) + sum(rbind(x[i, :], x[0, :]))`,
	`any(x[i, :] > 0.9) or all(U[i, :] > 0.01)`,
	`sum(1e200 * x[i, :]) + sum([1e16, y[i], -1e16]) + norm(x[i, :])`,
	`norm(x[i, :] * (if k[i] > 4 { nan } else { y[i] })) + norm([y[i], if k[i] > 3 { inf } else { 1e300 }, 1.0])`,
	`median(U[max(i - 1, 0)..max(i - 1, 0) + 2, 1..4]) + median(x[i, :])`,
	`quantile(U[i, 0..5], 0.3) + f64(median(i64(9 * x[i, :])))`,
	`median(f32(x[i, :])) + quantile(f32([y[i], 2, 3, nan]), 0.7)`,
	`median([y[i], -0.0, 0.0 / y[i], if k[i] > 4 { nan } else { -inf }])`,
	`w = sort([y[i], -0.0, 0.0, inf, if k[i] > 4 { nan } else { y[i] }, nan, -inf])
	 t(cbind(w[1..4, :], 1 / w[0..3, :])[:, 1]) + w[6 - k[i] % 3, 0]`,
	`t(argsort([y[i], 0.5, if k[i] > 4 { nan } else { y[i] }, nan, y[i]], desc = true)) * 7 + argsort(t(x[i, :]) > 0.5, desc = true)[0, 0]`,
	`W = reshape(cbind(x[i, :], U[i, 0..4], x[0, :] - y[i]), 5, 2)
	 S = sort(W, by = -1, desc = true)
	 colsum(S * seq(0, 5)) + f64(sort(f32(W) * 3, by = 0))[4, :] + sort(i64(3 * W), by = 1)[1, :]`,
	`nunique([y[i], -0.0, 0.0, inf, if k[i] > 4 { nan } else { y[i] }]) + nunique(x[i, :] > 0.5) + nunique(i64(3 * x[i, :]))`,
	`rowmedian(t(U[0..1, 0..3]) * y[i] + U[0..1, 0..4])[1, 0] + colmedian(rbind(x[i, :], x[0, :]))[0, 1]`,
	`argmax(x[i, :]) + 10 * argmin(U[i, 0..5]) + 100 * rowargmax(rbind(x[i, :], x[0, :]))[1, 0] + 1000 * colargmin(rbind(x[i, :], x[0, :]))[0, 1]`,
	`colprod(rbind(x[i, :], x[0, :]))[0, 1] + rowprod(rbind(x[i, :], x[0, :]))[1, 0]`,
	`iterate V = max(y[i] - 0.5 + t(cbind(U[0, :], U[0, :])), 0.0), s = 0.0, r = 0 times 7 {
	   next V = max(0.3 * rbind(V[1.., :], V[-1, :]) + 0.6 * V, y[i] * 0.4)
	   next s = s + sum(cbind(V[2.., 0], V[0..-2, 0]))
	   next r = r + 1
	 }
	 s + V[0, 0]`,
	`if i > 0 and i < 12 { y[i - 1] + x[min(i + 1, x.rows - 1), 0] } else { y[0] }`,
	`max(cumsum(y * y[i])) + cumprod(1 + x / 9)[2 * (n // 9), 1] - rowcummin(U)[i, 3] + f64(sum(rowcummax(f32(x[i, :]))))`,
	`(y[i] - mean(x[i, :])) / stddev(x[i, :]) + var(U[max(i - 1, 0)..max(i - 1, 0) + 2, 1..4] * 1e3 + 1e6)`,
	`f64(var(f32(x[i, :]))) + f64(stddev(f32(U[i, 0..5]))) + var(i64(9 * x[i, :])) + stddev(x[i, :] > 0.5) + var(U[i, :])`,
	`W = rbind(x[i, :], x[0, :] * 3)
	 colvar(W)[0, 1] + rowstddev(W)[1, 0] + var([y[i], y[i], y[i]]) + var([y[i], nan]) + stddev([1e200 * y[i], 1]) + var([1e-200 * y[i], 0])`,
	`M = [[y[i], x[i, 0], 1], [x[i, 1], 2, y[-1 - i]], [0.5, x[i, 2], 0]]
	 s = solve(M, t(rbind(x[i, :], x[0, :])))
	 det(M) + sum(inv(M[1.., 1..] + eye(2))) + s[2, 1] + s[0, 0]`,
	`M = t(U[0..1, 0..5]) @ U[0..1, 0..5] + (y[i] + 3) * eye(5)
	 L = cholesky(M)
	 s = solve_spd(M, cbind(t(U[0..1, 0..5] * y[i]), ones(5, 1)))
	 sum(log(diag(L))) + s[4, 1] + f64(trace(f32(M))) + f64(sum(diag(f32(M[:, 0])) @ f32(L)))`,
	`M = f32(reshape(cbind(x[i, :], U[0..1, 0..5], y[i..i + 1, :]), 3, 3) + y[i] * eye(3) - 0.3)
	 f64(det(M) + sum(solve(M, f32(t(U[0..1, 0..3]))))) + f64(trace(i64(9 * M))) + f64(trace(M > 0.5))`,
	`P = [[1, 0.5], [y[i], 3]]
	 iterate z = t(x[i, 0..2]), S = P times 6 {
	   next z = 0.5 * z - solve(S @ t(S) + eye(2), z)
	   next S = 0.5 * S + 0.1 * inv(S + 2 * eye(2))
	 }
	 sum(z) + S[1, 0]`,
	`c = cov(rbind(x[i, :], x[0, :], 2 * x[n // 2, :]))
	 r = f64(cor(f32(t(rbind(U[0..1, 0..4], U[0..1, 1..5] * y[i]))))) + cor(cbind([1.0, 1, 1], [y[i], nan, 1]))
	 c[2, 1] + c[0, 0] + r[0, 1] + r[1, 1] + cov(i64(9 * rbind(x[i, :], x[0, :])), sample = true)[2, 0]`,
	`sum(lower(U[0..1, 0..4] * y[i]) * 2 + upper(t(U[0..1, 0..4] * y[i]) @ U[0..1, 0..4], strict = true)[0..1, :]) + sum(lower(U[0..1, :] * y[i], strict = true))`,
	`sum(rowcumsum(x[i, :] > 0.5)) + sum(cumsum(t(U[i, :]))) + sum(cumsum(k // (i + 1)))`,
	`y[-1 - i] + x[i - 1, 2]`,
	`a = f32(y[-1 - i])
	 a * a + f32(2)`,
	`i64(1e18 * y[-1 - i]) * 100`,
	`10 // (k[i] - 3)`,
	`cholesky([[y[i] - 0.2, 0], [0, 1]])[0, 0]`,
	`solve([[x[i, 0], x[i, 0]], [y[i], y[i] + f64(i // 9)]], ones(2, 1))[0, 0]`,
	`lu_packed([[f64(k[i] - 4), 1], [1, 2]])[1, 1]`,
	`f64(bin(y[i], x[max(i - 1, 0), :]))`,
	`y[i + 1]`,
	`U[i..i + 2, 0..3][0, 0]`,
	`if i > 5 { y[2 * i] } else { 0.0 }`,
	"sum(y[0..i+5, :])", "sum(y[i+1.., :] * y[0..i, :])", "max(y[0..i, :])", "sum(t(y[0..i, :]) @ y[i.., :])", "sum(x[:, 0..i*i])",
}

// TestLoopBodies: bodies in everyday words run as compiled loops and give what the definition
// gives, on threads and ranks.
func TestLoopBodies(t *testing.T) {
	table := tinyTable(t)
	for _, n := range []string{"13", "1", "40"} {
		for k, body := range loopBodies {
			text := "n = " + n + "\nx = materialize(rand(n, 3, seed = 1))\ny = materialize(rand(n, 1, seed = 2))\nk = materialize(i64(9 * rand(n, 1, seed = 3)))\nU = materialize(rand(n, max(n, 5), seed = 4))\n" +
				"v = parfor i in 0..n {\n " + body + "\n}\nemit v\n"
			if n == "1" && (strings.Contains(body, "U[i..") || strings.Contains(body, "i - 1, 0)")) || strings.Contains(body, "U @ v") && n == "1" {
				continue // what is out of range is known before the run
			}
			before := kernels.LoopsBegun()
			on := bodyRuns
			if n != "13" { // other sizes are compared in a part of the ways
				on = on.some(uint64(k))
			}
			if _, err := on.differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
			if kernels.LoopsBegun() == before {
				t.Errorf("no compiled loop runs\n%s", text)
			}
		}
	}
}

// TestLoopsOfManyRounds: few iterations are worth compiling where each of them is a loop, of
// unknown or of many rounds, or has many points.
func TestLoopsOfManyRounds(t *testing.T) {
	kernels.LoopsFrom(10_000)
	defer kernels.LoopsFrom(0)
	table := tinyTable(t)
	rounds := func(head string) string {
		return "iterate z = 0.5, k = 0 " + head + " { next z = 0.9 * z + 0.1 * y[i]; next k = k + 1 }\n  z"
	}
	for _, c := range []struct {
		body     string
		compiled bool
	}{
		{rounds("until k == 300"), true}, {rounds("times 300"), true}, {rounds("times 1"), false},
		{"sum(parfor j in 0..150 { 0.9 * y[i] + sqrt(j) / 3 })", true},
		{"sum(parfor j in 0..50 { t([y[i], sqrt(j) + 1 / 3, y[i] + j]) })", true},
		{"sum(parfor j in 0..5 { 0.9 * y[i] + sqrt(j) / 3 })", false},
	} {
		text := `
y = materialize(rand(40, 1, seed = 2))
v = parfor i in 0..40 {
  ` + c.body + `
}
emit v
`
		before := kernels.LoopsBegun()
		if _, err := (runs{{1, 2, nil, false, ""}}).differ(table, text); err != nil {
			t.Error(err)
		}
		if compiled := kernels.LoopsBegun() > before; compiled != c.compiled {
			t.Errorf("a loop of %s runs compiled: %v", c.body, compiled)
		}
	}
}

// TestLoopsThatTakeLong: a few iterations with loops of unknown length are compiled once one of them
// has taken many rounds, also if it fails in one of the last.
func TestLoopsThatTakeLong(t *testing.T) {
	kernels.LoopsFrom(200_000)
	defer kernels.LoopsFrom(0)
	table := tinyTable(t)
	for _, c := range []struct {
		name, text string
		compiled   bool
	}{
		{"by definition", "emit parfor i in 0..2 { iterate s = 0.5, k = 0 until k == 2200 + i { next s = 0.9 * s + y[k % 40, 0]; next k = k + 1 }; s }", true},
		{"interpreted", "emit parfor i in 0..4 { iterate s = 0.5, k = i until k >= 3600 + y[i, 0] { next s = 0.9 * s + y[k % 40, 0]; next k = k + 1 }; s }", true},
		{"a late failure", "emit parfor i in 0..2 { iterate s = 0, k = 0 until k == 3000 { next s = s + 1 // (2900 + i - k); next k = k + 1 }; s }", true},
		{"of no index", "emit parfor i in 0..2 { iterate s = 0.5, k = 0 until k == 50000 { next s = 0.9 * s + y[k % 40, 0]; next k = k + 1 }; s + i }", true},
		{"few rounds", "emit parfor i in 0..2 { iterate s = 0.5, k = 0 until k == 20 + i { next s = 0.9 * s + y[k % 40, 0]; next k = k + 1 }; s }", false},
	} {
		before := kernels.LoopsBegun()
		text := "y = materialize(100 * rand(40, 1, seed = 2))\n" + c.text
		if _, err := (runs{{1, 2, nil, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if compiled := kernels.LoopsBegun() > before; compiled != c.compiled {
			t.Errorf("%s: a loop runs compiled: %v", c.name, compiled)
		}
	}
}

// loopPrograms are programs whose loops all run compiled: over pairs, of values that are the same
// in every iteration and needed in some, and of rows of constructors.
var loopPrograms = []string{
	`x = materialize(rand(300, 1, seed = 1)) > 0.5
	 X = reshape(x, 30, 10)
	 emit parfor i in 0..290 { mean(x[i..i + 9]) + f64(i) }
	 emit parfor i in 0..30 { t(rowmean(X == X[i, :])) @ ones(30, 1) }
	 emit parfor i in 0..30 { colmean(X == X[i, :]) }`,
	`x = materialize(rand(40, 1, seed = 1))
	 k = materialize(randint(30, 50, -40, 40, seed = 2))
	 emit parfor i in 0..30 { mean(x[k[i, :]]) }
	 emit parfor i in 0..30 { sum(2 * x[k[i, :]] - 1) }
	 emit parfor i in 0..30 { sum(x[k[i, :]][3..9]) }`,
	`x = materialize(rand(4200, 2, seed = 1))
	 emit parfor i in 0..6 { argmin(rowsum((x - x[i+1, :]) ^ 2)) }`,
	`x = materialize(rand(90, 4, seed = 1))
	 emit parfor i in 0..4, j in 0..4 {
	   a = x[:, i] - mean(x[:, i])
	   b = x[:, j] - mean(x[:, j])
	   sum(a * b) / (norm(a) * norm(b))
	 }`,
	`x = materialize(rand(20, 3, seed = 1))
	 emit parfor i in 0..20, j in 0..i { sum((x[i, :] - x[j, :]) ^ 2) + f64(10 * i + j) }`,
	`x = materialize(rand(20, 3, seed = 1))
	 emit parfor i in 0..20, j in i..20 { x[j, 1] / (x[i, 0] - 0.5) }`,
	`x = materialize(rand(70, 2, seed = 1))
	 k = materialize(i64(9 * rand(70, 1, seed = 3))) # some subscripts count from the end
	 emit parfor i in 0..70 { sum(parfor j in k[i] - 4..k[i] - 1 { x[j, 0] }) }`,
	`u = materialize(rand(50, 4, seed = 2))
	 emit parfor i in 0..50 { if u[i, 0] > 0.9 { f64(rowargmax(u)[i, 0]) } else { 0.0 } }`,
	`u = materialize(rand(50, 4, seed = 2))
	 emit parfor i in 0..50 { if u[i, 0] > 2 { f64(rowargmax(u)[i, 0]) } else { 1e200 * sum([1e16, u[i, 1], -1e16]) } }`,
	`u = materialize(rand(50, 4, seed = 2))
	 emit parfor i in 0..50 {
	   iterate a = 0.0, r = 0 until r >= 3 { next a = a + (if u[i, 0] > 0.5 { cumsum(u)[i, r] } else { sum(sort(u[:, 1])[0..2, 0]) }); next r = r + 1 }
	   a
	 }`,
	`x = rand(700, 2, seed = 3)
	 emit parfor i in 0..700 { x[i, 0] ^ 2 + x[i, 1] ^ 2 < 1 }`,
	`x = rand(700, 1, seed = 3)
	 emit parfor i in 5..605 { x[i, 0] * 3 }`,
	`x = materialize(f32(seq(0, 3000)))
	 emit sum(for k in 1000..1040 => i64(max(abs(x - f32(k)) == f32(0))))
	 emit sum(for k in 1000..1040 => i64(min(x != f32(k))))
	 emit parfor i in 0..3 { x[i, 0] * f32(2) }`,
	`x = rand(300, 2, seed = 3)
	 k = materialize(i64(5 * rand(300, 1, seed = 4)))
	 emit parfor i in 0..300 { 10 // (k[i] - 7) + i64(x[i, 0]) + i64(1e17 * sum([x[i, 0], 1e16, -1e16])) }`,
	`x = materialize(rand(23, 300, seed = 5) - 0.5)
	 emit colmax(abs(cumsum(ifelse(x < 0, -1.0, 1.0))))
	 P = cumprod(f32(1 + x))
	 emit colmin(P / cummax(P) - f32(x[:, 3]))
	 emit colcount(cummax(i64(9 * x)) > 2)
	 emit colmax(cumsum(x[0..4, :] * 0)) + colmin(cumsum(log(x + 0.49)) * x[2, :])
	 emit colany(cumsum(x < 0) == 7 or cummin(x > -0.45))`,
}

// loopEffects is programs with asserts, and with rows and columns at computed places. The last ones
// fail.
var loopEffects = []string{
	`fn guard(x) { assert x >= 0, fmt("{} is below {:.3f}", x, 0.0); x }
	 x = materialize(rand(200, 6, seed = 1))
	 emit parfor i in 0..200 { s = guard(x[i, 0]); s + 1 }`,
	`fn guard(x) { assert x >= 0, fmt("{} is below {:.3f}", x, 0.0); x }
	 x = materialize(rand(200, 6, seed = 1))
	 emit parfor i in 0..200 {
	   s = if x[i, 1] > 0.5 { guard(x[i, 0]) } else { -2.0 }
	   iterate a = abs(s) times 9 { next a = guard(a) * 0.5 }
	   a + s
	 }`,
	`x = materialize(rand(50, 3, seed = 1))
	 k = materialize(i64(49 * rand(50, 4, seed = 2)))
	 emit parfor i in 0..50 { sum(take(x, t(k[i, :]))) + take(x, t(k[i, 1..3]))[1, 2] }`,
	`x = materialize(rand(300, 3, seed = 1))
	 k = materialize(i64(299 * rand(300, 1, seed = 2)))
	 emit parfor i in 0..50 { sum(take(x, k) * x[i, :]) }`,
	`x = materialize(rand(50, 3, seed = 1))
	 k = materialize(i64(98 * rand(50, 4, seed = 2)) - 49)
	 emit parfor i in 0..50, j in 0..9 { sum(x[abs(k[i, :] - k[j, :]) // 2, :]) + sum(x[k[i, :], [2, -1, 0]]) }`,
	`x = materialize(rand(50, 3, seed = 1))
	 k = materialize(i64(98 * rand(50, 4, seed = 2)) - 49)
	 emit parfor i in 0..50 {
	   iterate s = 0.0, j = 0 times 5 { next s = s / 2 + sum(x[k[j, :] // 2 + i % 3, 0] * x[j, [1, -1, 0, 2]]); next j = j + 1 }
	   s
	 }`,
	`fn guard(x) { assert x < 0.97, fmt("{} is too large", x); x }
	 x = materialize(rand(200, 6, seed = 1))
	 emit parfor i in 0..200 { if x[i, 1] > 0.3 { guard(x[i, 0]) } else { 3.0 } }`,
	`x = materialize(rand(50, 3, seed = 1))
	 k = materialize(i64(70 * rand(50, 4, seed = 2)))
	 emit parfor i in 0..50 { sum(take(x, t(k[i, :]))[0..2, :]) }`,
	`x = materialize(rand(50, 3, seed = 1))
	 k = materialize(i64(9 * rand(50, 4, seed = 2)) - 1)
	 emit parfor i in 0..50 { take(x, t(k[i, :]))[0, 0] }`,
	`x = materialize(rand(50, 3, seed = 1))
	 k = materialize(i64(104 * rand(50, 4, seed = 2)) - 52)
	 emit parfor i in 0..50 { x[k[i, :], 1][0, 0] }`,
	`x = materialize(rand(3, 50, seed = 1))
	 k = materialize(i64(120 * rand(50, 4, seed = 2)) - 50)
	 emit parfor i in 0..50 { sum(x[[0, -1], k[i, :]]) }`,
	`emit parfor k in 0..90 { y = parfor g in 0..40 { (g + k) // (g - 30 + (89 - k) // 20 * 40) }; y[k % 20] }`,
	`x = materialize(seq(0, 55))
	 emit parfor k in 0..70 { y = parfor g in 0..40 { x[g + k, 0] + 1 }; y[3] }`,
	`emit parfor k in 0..70 { y = parfor g in 0..40 { assert g + k < 60; g * k }; y[3] + y[k % 9] }`,
	`x = materialize(rand(50, 3, seed = 1))
	 v = x[:, 0]
	 emit parfor i in 0..50 { sum(v[[0, i]][0..2]) }`,
}

func TestLoopEffects(t *testing.T) { differCompiled(t, loopEffects) }

func TestLoopPrograms(t *testing.T) { differCompiled(t, loopPrograms) }

// differCompiled runs programs compiled and interpreted.
func differCompiled(t *testing.T, programs []string) {
	table := tinyTable(t)
	for _, text := range programs {
		var begun [2]int64
		for k, from := range []int64{0, 1 << 60} { // machine code and the interpreter
			kernels.LoopsFrom(from)
			before := kernels.LoopsBegun()
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}}).differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
			begun[k] = kernels.LoopsBegun() - before
		}
		if begun[0] <= begun[1] { // operators that draw run loops of their own
			t.Errorf("%d loops began where bodies are compiled, %d where they are interpreted\n%s", begun[0], begun[1], text)
		}
	}
	kernels.LoopsFrom(0)
}

// The size of a range is known where its bounds differ by a number, whatever is done with the index.
func TestRangesOfKnownSize(t *testing.T) {
	table := tinyTable(t)
	for _, at := range []string{"i*3..(i+1)*3", "3*i..3*(1+i)", "(i+1)*3-3..i*3+3", "i+i+i..2*i+i+3", "(i-1)*3+3..(2*i)*2-i+2+1", "i*3..=(i+1)*3-1"} {
		text := "fn f(x: f64[3]) = sum(x) + x[2]\nx = randn(20, 1, seed = 1)\nemit parfor i in 0..6 { f(x[" + at + "]) }\n"
		if o, err := (runs{{1, 1, nil, false, ""}, {2, 1, nil, false, ""}}).differ(table, text); err != nil || o.failed {
			t.Errorf("%s: %v %v", at, err, o.err)
		}
	}
	for _, pairs := range []string{"j in 2*i..3*i", "j in i*i..i*i+2", "j in 5-i..5+2*i by 2"} {
		text := "emit parfor i in 0..6, " + pairs + " { 100 * i + j }\n"
		if o, err := (runs{{1, 1, nil, false, ""}, {2, 1, nil, false, ""}}).differ(table, text); err != nil || o.failed {
			t.Errorf("%s: %v %v", pairs, err, o.err)
		}
	}
}

// TestElementsOfDrawnMatrices: the points of a loop draw the elements of a constructor that they alone
// read, also if all points read the same one. Rules would have made that one a constant.
func TestElementsOfDrawnMatrices(t *testing.T) {
	const text = `x = ones(1, 2) * 1
	 emit parfor i in 0..1 {
	   iterate c = x[i, 1], d = 0 until d >= 5 {
	     iterate a = 0.5, b = 0 until b > 3 or a > x[i, 1] { next a = a + 0.1; next b = b + 1 }
	     next c = a * x[i, -1]
	     next d = d + 1
	   }
	   c / x[i, -1]
	 }`
	if _, err := (runs{{1, 1, []string{"simplify"}, false, ""}, {1, 3, nil, true, "FAC2"}}).differ(tinyTable(t), text); err != nil {
		t.Error(err)
	}
}
