package compiler_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"flow/compiler"
	"flow/explain"
	"flow/kernels"
	"flow/stdlib"
)

// topLoops are programs whose loops carry scalars and small matrices. Those at the end fail.
var topLoops = []string{
	`x = materialize(randn(60, 8, seed = 1) * 10.0 ^ (80 * rand(60, 8, seed = 2) - 60))
	 y = materialize(randn(60, 40, seed = 3) * 10.0 ^ (60 * rand(60, 40, seed = 4) - 40))
	 iterate s = 0.0, u = 0.0, m = 0.0, k = 0 times 60 {
	   next s = s / 2 + norm(x[k, :]) + norm(y[k, :]) * norm(x[k, 0..3])
	   next u = sum(x[k, :] * 7) + sum(x[k, :] ^ 2) / (1 + sum(y[k, :])) + u / 3
	   next m = mean(x[k, 1..6]) + norm(0 * x[k, :]) + m / 5
	   next k = k + 1
	 }
	 emit s
	 emit u
	 emit m`,
	// Squares that underflow are no reason to make a round by its operators.
	`x = materialize(randn(80, 4, seed = 1) * 10.0 ^ (330 * rand(80, 4, seed = 2) - 320))
	 iterate s = 0.0, u = [1.0, 1e-140, 1e-170], tie = 0.0, k = 0 times 80 {
	   next s = s / 2 + norm(x[k, :]) + norm(u) * norm(0.5 * x[k, 0..3])
	   next u = u * [1.0, 0.8, 0.5]
	   next tie = tie + norm([1.5, 2.0 ^ -26, u[1, 0]]) - 1.5
	   next k = k + 1
	 }
	 emit s
	 emit u
	 emit tie`,
	// A call makes many rounds. Single rounds fail a check, because their sums need more words.
	`iterate v = [1.0, 2.0, 0.5], s = 0.0, k = 0 times 4000 {
	   next v = [v[1, 0], 0.5 * v[0, 0] + v[2, 0], 0.25 * v[1, 0]]
	   b = if k % 700 == 650 { 1e300 } else { 0.0 }
	   next s = sum([s / 2, b, v[0, 0], -b, 1e-300])
	   next k = k + 1
	 }
	 emit v
	 emit s`,
	`iterate v = [1.0, 2.0], s = 0.0, e = 0.0 until s > 2100 {
	   next v = [v[1, 0], 0.5 * v[0, 0] + 0.1]
	   b = if s > 1500 and s < 1503 { 1e300 } else { 0.0 }
	   next e = sum([e / 2, b, v[0, 0], -b, 1e-300])
	   next s = s + 1 - v[0, 0] / 9
	 }
	 emit v
	 emit s
	 emit e`,
	`iterate v = [1.0, 2.0], k = 0 until k == 3000 { next v = [v[1, 0], 0.5 * v[0, 0] + 0.1 * (k % 3)]; next k = k + 1 }
	 emit v
	 emit k`,
	`iterate n = 97, k = 0 until n == 1 { next n = if n % 2 == 0 { n // 2 } else { 3 * n + 1 }; next k = k + 1 }
	 emit k`,
	`fn f(v) = [10 * (v[1, 0] - v[0, 0]), v[0, 0] * (28 - v[2, 0]) - v[1, 0], v[0, 0] * v[1, 0] - 8 / 3 * v[2, 0]]
	 iterate v = [1.0, 1, 1] times 50 { a = f(v); b = f(v + 0.01 * a); next v = v + 0.005 * (a + b) }
	 emit v`,
	`A = [[4.0, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]]
	 iterate x = ones(3, 1), l = 0.0 times 20 { y = A @ x; next l = norm(y); next x = y / norm(y) }
	 emit x
	 emit l`,
	`iterate z = ones(2, 1), ok = true, s = f32([1, 2]) times 9 {
	   f = [z[0, 0] ^ 2 + z[1, 0] ^ 2 - 1, z[0, 0] - z[1, 0]]
	   next z = z - solve([[2 * z[0, 0], 2 * z[1, 0]], [1.0, -1.0]], f) * 0.5
	   next ok = not ok and z[0, 0] > 0
	   next s = s * f32(1.5)
	 }
	 emit z
	 emit ok
	 emit s`,
	`x = materialize(rand(40, 3, seed = 1))
	 k = materialize(randint(40, 1, lo = 0, hi = 40, seed = 2))
	 iterate i = 0, s = 0.0, M = zeros(2, 2) until s > 9 or i >= 39 {
	   r = x[k[i, 0], :]
	   next s = s + sum(r) * stddev(r)
	   next M = M + t(r[:, 0..2]) @ r[:, 1..3]
	   next i = i + 1
	 }
	 emit s
	 emit M`,
	`x = materialize(rand(900, 40, seed = 1))
	 iterate Y = x, a = 1.0 times 3 {
	   iterate b = a, r = 0 until r == 30 { next b = sqrt(b + a); next r = r + 1 }
	   next Y = Y * b - mean(Y)
	   next a = b
	 }
	 emit sum(Y)
	 emit a`,
	`x = materialize(rand(5, 5, seed = 1))
	 k = materialize(randint(40, 2, lo = -5, hi = 5, seed = 2))
	 iterate A = x, B = x > 0.5, F = f32(x), s = 0.0, i = 0 until i == 40 {
	   p = k[i, 0]
	   next s = if B[p, k[i, 1]] { s + A[p, k[i, 1]] } else { s / 2 + f64(F[k[i, 1], p]) }
	   next A = A - 0.1 * A[:, p] @ A[k[i, 1], :]
	   next B = A > A[p, p]
	   next F = F + F[p, 0]
	   next i = i + 1
	 }
	 emit s
	 emit A
	 emit F`,
	`b = materialize(rand(60, 1, seed = 1) > 0.5)
	 f = materialize(f32(rand(60, 3, seed = 2)))
	 iterate s = 0.0, n = 7, i = 0 times 60 {
	   next s = s / 2 + (if b[n % 60, 0] { f64(f[i, n % 3]) } else { 1.0 })
	   next n = (n * 31 + 5) % 1009
	   next i = i + 1
	 }
	 emit s`,
	`iterate s = 0.0, b = 1e16 times 40 { next s = sum([s, b, 1.0, -b, 1e-30]); next b = b * 1.5 }
	 emit s`,
	`iterate v = [3.0, 1, 2], q = 0.0 times 5 { w = sort(v * 0.7 + q); next v = reverse(w); next q = median(w) }
	 emit v
	 emit q`,
	// A condition that the passes know is not the number that the loop in its branch reads.
	`x = rand(50, 1, seed = 1)
	 b = sum(x) > 300
	 y = if identical(x, x) { iterate k = 0, s = 0.0 until k == 5 { next s = s + (if b { 1.0 } else { 2.0 }); next k = k + 1 }; s } else { f64(b) }
	 emit y`,
	`fn guard(x) { assert x < 7, fmt("{} is too large", x); x }
	 iterate a = 1.0 times 30 { next a = guard(a) * 1.01 }
	 emit a`,
	`emit "before"
	 fn guard(x) { assert x < 7, fmt("{} is too large", x); x }
	 iterate a = 1.0, k = 0 times 30 { next a = guard(a) * 1.5; next k = k + 1 }
	 emit a`,
	`iterate a = 8, k = 0 times 30 { next a = 100 // (5 - k); next k = k + 1 }
	 emit a`,
	// A round late among many fails, with the numbers of that round.
	`fn guard(v, k) { assert k < 2900, fmt("{} and {} in round {}", v[0, 0], v[1, 0], k); v }
	 iterate v = [1.0, 2.0], k = 0 times 4000 { w = guard(v, k); next v = [w[1, 0], 0.5 * w[0, 0] + 0.1 * (k % 3)]; next k = k + 1 }
	 emit v`,
	`iterate v = [1, 2], k = 0 until k == 4000 { next v = [v[1, 0] + 1, (v[0, 0] + 100 // (2900 - k)) % 1000]; next k = k + 1 }
	 emit v`,
	`x = materialize(rand(6, 1, seed = 1))
	 iterate i = 0, s = 0.0 until s > 99 { next s = s + x[i, 0]; next i = i + 1 }
	 emit s`,
}

// TestRounds: loops over scalars and small matrices are one task, compiled if all of their
// operators are in loops, and give what the definition gives, on threads and ranks.
func TestRounds(t *testing.T) {
	table := tinyTable(t)
	for _, text := range topLoops {
		for _, from := range []int64{0, 1 << 60} {
			kernels.LoopsFrom(from)
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
		}
	}
	kernels.LoopsFrom(0)
	for _, text := range topLoops[:13] {
		before := kernels.LoopsBegun()
		if _, err := (runs{{1, 1, nil, false, ""}}).differ(table, text); err != nil {
			t.Error(err)
		}
		if kernels.LoopsBegun() == before {
			t.Errorf("no compiled loop runs\n%s", text)
		}
	}
}

// TestHistories: loops that keep a row of each round, of many, are compiled, however large the matrix
// is and whether or not the number of rounds is given. What they kept is what running sums are.
func TestHistories(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, rounds := range []string{"times n", "until k == n", "until k == n or x[0, 0] < 0"} {
		text := `n = 150_000
d = randint(n, 2, 0, 9, seed = 3)
iterate H = i64(zeros(n, 2)), last = fill(-1, n, 1), x = [0, 0], k = 0 ` + rounds + ` {
  y = x + t(d[k, :])
  next H = ifelse(seq(0, n) == k, t(y), H)
  next last = ifelse(seq(0, n) == y[0, 0] % n, k, last)
  next x = y
  next k = k + 1
}
emit identical(H, cumsum(d))
emit sum(last)
`
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		work, err := explain.InterpretedWork(r.Plan.Graph, r.Files)
		if err != nil || len(work) > 0 {
			t.Errorf("%s: interpreted: %+v %v", rounds, work, err)
		}
		got := ran(r, 2)
		if want := "true\n8237143249\n"; got.out != want || got.failed {
			t.Errorf("%s: %s%v, not %s", rounds, got.out, got.err, want)
		}
	}
}

// TestOrdersOfFew: rounds that order a few rows are compiled, rounds that order more are not.
func TestOrdersOfFew(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for rows, few := range map[int]bool{16: true, 17: false} {
		text := fmt.Sprintf(`n = %d
iterate X = rand(n, 2, seed = 1), s = 0 times 400 {
  o = argsort(X, desc = true)
  S = sort(X, by = 1)
  next X = 3.7 * S * (1 - S)
  next s = s + o[3, 0] * o[0, 0]
}
emit X
emit s
`, rows)
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		work, err := explain.InterpretedWork(r.Plan.Graph, r.Files)
		if err != nil || (len(work) == 0) != few {
			t.Errorf("%d rows: interpreted: %+v %v", rows, work, err)
		}
		if _, err := (runs{{1, 1, nil, false, ""}}).differ(table, text); err != nil {
			t.Error(err)
		}
	}
}

// TestRoundsOfPoints: rounds whose parfors have some microseconds of work are one task, also if
// conditions and constants make their bodies long. Rounds with much work for each point are not.
func TestRoundsOfPoints(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	short := `if i + k < n {
      s = ifelse(a[i, 0] == a[i + k, 0], 2.0, -1.0)
      up = if i > 0 { x[i - 1, 0] } else { 0.0 }
      left = if k > 2 { x[i, 0] } else { 0.0 }
      corner = if i > 0 and k > 1 { x[i - 1, 0] } else { 1.5 }
      max(max(0.0, corner + s), max(up, left) - 1.5)
    } else { 0.0 }`
	long := `p = exp(-x[i, 0]) + pow(x[i, 0], 0.3)
    q = exp(-p) + pow(p, 0.3)
    r = exp(-q) + pow(q, 0.3)
    exp(-r) + pow(r, 0.3)`
	for _, c := range []struct {
		n    int
		body string
		one  bool
	}{{4000, short, true}, {8000, short, true}, {200000, short, false}, {500, long, true}, {200000, long, false}} {
		text := fmt.Sprintf(`n = %d
a = randint(n, 1, 0, 4, seed = 1)
iterate x = rand(n, 1, seed = 2), k = 0 times 9 {
  next x = parfor i in 0..n {
    %s
  }
  next k = k + 1
}
emit sum(x)
`, c.n, c.body)
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if one := strings.Contains(r.Plan.Graph.String(), "= rounds("); one != c.one {
			t.Errorf("%d points: one task %v, want %v, of\n%s", c.n, one, c.one, text)
		}
		if c.n < 8000 {
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, text); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestRoundsOfDescendingWindows: a window whose begin descends from round to round is an operand of a
// loop, also where the matrix has borders. Such windows are the diagonals of a table.
func TestRoundsOfDescendingWindows(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{7, 60, 1100} { // the last one is longer than numbers in subscripts take to be worth it
		for _, at := range []string{"2 * n - 1 - d..3 * n - 1 - d", "n + 3 - d // 3..2 * n + 3 - d // 3"} {
			text := fmt.Sprintf(`n = %d
a = randint(n, 1, 0, 4, seed = 1)
b = randint(3 * n + 4, 1, 0, 4, seed = 2)
iterate h = rand(n, 1, seed = 3), d = 0 times min(2 * n - 1, 90) {
  s = ifelse(a == b[%s, :], 2.0, -1.0)
  up = rbind(zeros(1, 1), h[0..-1, :])
  next h = max(0.0, max(up + s, h - 0.5))
  next d = d + 1
}
emit sum(h)
iterate r = zeros(1, n), k = 0 times min(n, 90) {
  next r = r + t(a[n - 1 - k, 0] * b[0..n, :])
  next k = k + 1
}
emit sum(r * t(seq(0, n)))
`, n, at)
			r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			work, err := explain.InterpretedWork(r.Plan.Graph, r.Files)
			if err != nil || len(work) > 0 {
				t.Errorf("%d, %s: interpreted: %+v %v", n, at, work, err)
			}
			for _, from := range []int64{0, 1 << 60} {
				kernels.LoopsFrom(from)
				if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, text); err != nil {
					t.Error(err)
				}
			}
			kernels.LoopsFrom(0)
		}
	}
}

// TestRoundsOfConditions: a condition keeps a subscript with a number of the run inside a matrix. The
// loop then needs no view of the matrix that is as long as the space. Each round is one launch.
func TestRoundsOfConditions(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		"if i + k < n { if s[i, 0] == s[i + k, 0] { y[i + 1, 0] + 2 } else { max(x[i, 0], x[i + 1, 0]) } } else { 0.0 }",
		"if i >= k { max(x[i, 0], x[i - k, 0] + s[i, 0]) } else { y[i, 0] - s[n - 1 - k, 0] }",
		"if k + i > n - 1 { y[2 * n - 1 - i - k, 0] } else { x[n - 1 - i - k, 0] / 2 }",
	} {
		text := fmt.Sprintf(`n = 1100
s = randint(n, 1, 0, 4, seed = 3)
iterate x = rand(n, 1, seed = 1), y = zeros(n, 1), k = 1 times 90 {
  next x = parfor i in 0..n { %s }
  next y = x
  next k = k + 1
}
emit sum(x)
emit t(y[0..5, :])
`, body)
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		before := kernels.LoopsBegun()
		if out := ran(r, 1); out.failed {
			t.Error(out.err)
		}
		if n := kernels.LoopsBegun() - before; n > 30 {
			t.Errorf("%d loops have begun in 90 rounds of\n%s", n, body)
		}
		for _, from := range []int64{0, 1 << 60} {
			kernels.LoopsFrom(from)
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"rounds"}, false, ""}}).differ(table, text); err != nil {
				t.Error(err)
			}
		}
		kernels.LoopsFrom(0)
	}
}

// TestRoundsAgain: an inner loop that is one task takes the memory of its last call in the next round
// of the outer loop, and nothing of its values: not a transposed copy, a solution or a flag.
func TestRoundsAgain(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	defer kernels.LoopsFrom(0)
	for _, inner := range []string{
		"next v = 0.5 * v + 0.01 * A[k, :] @ v + t(A)[:, k]",
		"w = solve(A, ones(n, 1))\nnext v = ifelse(seq(0, n) == k, v - w + A[:, 0], v)",
		"next v = if sum(A[k, :]) > n { v + A[:, k] } else { v * 0.9 }",
	} {
		text := fmt.Sprintf(`n = 9
iterate A = rand(n, n, seed = 1) + 9.0 * eye(n), c = 0.0, z = rand(5000, 1, seed = 2) times 6 {
iterate v = ones(n, 1), k = 0 times 9 {
%s
next k = k + 1
}
next A = 0.9 * A + 0.1 * (A @ A) / norm(A) + 0.001 * v
next c = c + sum(v)
next z = sort(z * c) + 0.5
}
emit c
emit sum(A) + sum(z)
`, inner)
		for _, from := range []int64{0, 1 << 60} {
			kernels.LoopsFrom(from)
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, nil, true, "SS"}, {2, 2, nil, false, ""}}).differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
		}
	}
	kernels.LoopsFrom(0)
	allocated := func(inner string, rounds int) float64 {
		text := fmt.Sprintf(`n = 20000
iterate x = rand(n, 1, seed = 1) times %d {
%s
next x = sort(y)
}
emit sum(x)
`, rounds, inner)
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if out := ran(r, 1); out.failed {
			t.Fatal(out.err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	each := func(inner string) float64 { return (allocated(inner, 60) - allocated(inner, 10)) / 50 }
	more := each("iterate y = x, j = 0 times 9 { next y = ifelse(seq(0, n) == j, y[j + 1, 0] + 1, y); next j = j + 1 }") - each("y = x + 1")
	if more > 100_000 {
		t.Errorf("%.0f bytes are allocated in a round of a loop over 20000 numbers", more)
	}
}
