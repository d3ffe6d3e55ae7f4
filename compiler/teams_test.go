package compiler_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"flow/compiler"
	"flow/kernels"
	"flow/stdlib"
)

// TestTeams: workers share the loops of a round, and results and failures are those of one worker. Each
// program is larger than what one worker runs.
func TestTeams(t *testing.T) {
	kernels.LoopsFrom(1 << 16) // as users have it
	defer kernels.LoopsFrom(0)
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	grid := "n = 160\nU = parfor i in 0..n, j in 0..n { f64(i * j % 17) / 7 }\n"
	points := "m = randint(5000, 1, 1, 1000, seed = 1)\niterate x = seq(0, 5000), s = zeros(5000, 1), k = 0 times 1000 { y = (x * 1103 + 12345) % m; next x = y; next s = s + y; next k = k + 1 }\nemit sum(s)\nemit max(x)\n"
	for _, text := range []string{
		grid + `iterate u = U times 60 {
  next u = parfor i in 0..n, j in 0..n { if i == 0 or j == 0 or i == n - 1 or j == n - 1 { u[i, j] } else { (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4 } }
}
emit sum(u)
emit max(u)
`, // a torus, two matrices, and a condition that a reduction of all elements makes
		strings.Replace(grid, "160", "120", 1) + `iterate u = U, v = t(U), d = 1.0, k = 0 until k == 50 or d < 1e-9 {
  w = parfor i in 0..n, j in 0..n { u[(i + 1) % n, j] - v[i, (j + n - 1) % n] / 2 }
  next u = w
  next v = u
  next d = sum(abs(w - u))
  next k = k + 1
}
emit sum(u)
emit d
emit k
`, // sums of rows, and what lies beside them
		grid + `iterate u = U times 40 {
  next u = (u - rowmean(u)) / (1 + rowmax(abs(u))) + t(u) / 100
}
emit sum(u)
`, // a line of many columns
		`iterate x = t(seq(0, 60000)) / 7.0 times 50 {
  next x = sqrt(x * x + 1.5) / 1.01 + cbind(x[:, 1..], [3.5])
}
emit sum(x)
`, // conditions on a number that each round changes
		grid + `iterate u = U, k = 1 times 100 {
  next u = parfor i in 0..n, j in 0..n { if i > k and j != k { u[j, i] * 0.9 + f64(i - j) } else { u[i, j] } }
  next k = k + 1
}
emit sum(u)
`, // a point of a late round fails
		grid + `iterate u = U, k = 0 times 60 {
  next u = parfor i in 0..n, j in 0..n { u[i, (j + 7) % n + ifelse(i == 97 and k == 45, n, 0)] * 0.99 }
  next k = k + 1
}
emit sum(u)
`, // numbers that sums of one column give
		`x, y = (rand(60000, 1, seed = 1), rand(60000, 1, seed = 2))
iterate a = 0.1, k = 0 times 60 {
  next a = a + 0.1 * sum((y - 1 / (1 + exp(-a * x))) * x) / 60000
  next k = k + 1
}
emit a
`, // calls of kernels
		`iterate x = zeros(30000, 1), k = 0 times 60 {
  next x = randn(30000, 1, seed = k + i64(100 * abs(x[k, 0])))
  next k = k + 1
}
emit sum(x)
`, points, // rows that make all rounds, and a divisor of one row that is zero in a late round
		strings.Replace(points, "% m", "% (m + ifelse(m == 997 and k == 400, -m, 0))", 1)} {
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		want, before := ran(r, 1), kernels.LoopsShared()
		for range 5 {
			if got := ran(r, 2); got.out != want.out || got.failed != want.failed || fmt.Sprint(got.err) != fmt.Sprint(want.err) {
				t.Fatalf("two workers: %s%v, one: %s%v, of\n%s", got.out, got.err, want.out, want.err, text)
			}
		}
		if kernels.LoopsShared() == before && runtime.GOMAXPROCS(0) > 1 {
			t.Errorf("no loop is shared in\n%s", text)
		}
	}
}
