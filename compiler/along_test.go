package compiler_test

import (
	"strings"
	"testing"

	"flow/ir/plan"
)

// Products over the rows that an operator makes give the bytes of the two one after the other, and are
// one loop where only the product reads the rows.
func TestProductsAlongTheRowsOfAFactor(t *testing.T) {
	const data = "X = rand(301, 4, seed = 1) - 0.5\ny = f64(rand(301, 1, seed = 2) < 0.5)\nw = rand(4, 1, seed = 3)\nW = rand(4, 3, seed = 4)\n"
	for _, p := range []struct {
		text  string
		along int // products that make the rows of a factor
	}{
		{"emit t(X) @ (sigmoid(X @ w) - y)", 1},
		{"emit t(X) @ (X @ w)", 1},
		{"emit t(X) @ (y - X @ w)", 1},
		{"V = W[:, 0..1]\nemit t(X) @ (X[:, 0] + X @ V)", 1},
		{"Z = rand(4100, 5, seed = 5)\nemit t(Z) @ (Z[:, 0] - Z @ rand(5, 1, seed = 6))", 1},
		{"emit t(sigmoid(X @ w) - y) @ X", 1},
		{"Z = materialize(rand(301, 9, seed = 5))\nemit t(Z) @ exp(X @ w)", 1},
		{"P = sigmoid(X @ W)\nemit t(P) @ P", 1},
		{"E = exp(X @ W)\nemit t(X) @ (E / rowsum(E))", 1},
		{"E = exp(800 * (X @ W))\nemit t(X) @ (E / rowsum(E))", 1}, // sums of numbers far apart, and of inf
		{"V = X / (X - X)\nemit t(V) @ (sigmoid(V @ w) - y)", 1},
		{"A = f32(X)\nemit t(A) @ (sigmoid(A @ f32(w)) - f32(y))", 1},
		{"Z = rand(4100, 5, seed = 5)\niterate v = rand(5, 1, seed = 6) times 5 { next v = v - 0.1 * (t(Z) @ (sigmoid(Z @ v) - Z[:, 0])) }\nemit v", 1},
		{"r = sigmoid(X @ w) - y\nemit t(X) @ r\nemit sum(r ^ 3 + r)\nemit r", 0}, // r has other readers
		{"Y = X[0..127, :]\nemit t(Y) @ (sigmoid(Y @ w) - y[0..127, :])", 0},      // too few panels
	} {
		c, err := compileTiny(tinyTable(t), data+p.text, 1, false, []string{"rounds"})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(c.Plan.Graph.String(), "panels.along("); n != p.along {
			t.Errorf("%s: %d products along rows, want %d", p.text, n, p.along)
		}
		var rs runs
		for _, technique := range []string{"", "SS", "GSS", "STATIC"} {
			rs = append(rs, runs{{1, 1, nil, false, technique}, {1, 3, nil, false, technique}, {1, 2, []string{"fuse-epilogues"}, false, technique}}...)
		}
		for ranks := 2; ranks <= 3; ranks++ {
			rs = append(rs, runs{{ranks, 2, nil, false, ""}}...)
		}
		if _, err := rs.differ(tinyTable(t), data+p.text); err != nil {
			t.Errorf("%s: %v", p.text, err)
		}
	}
}

// The factor that a product makes on its way counts in the memory of a plan, though no node reads it.
func TestMemoryOfAFactorOnTheWay(t *testing.T) {
	const text = "X = materialize(rand(256, 4, seed = 1))\nemit t(X) @ exp(X @ rand(4, 1, seed = 3))"
	for without, want := range map[string]int64{"": 8 * (256*4 + 4 + 256 + 4), "fuse-epilogues": 8 * (256*4 + 256 + 4)} {
		c, err := compileTiny(tinyTable(t), text, 1, false, strings.Fields(without))
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.LeastMemory(c.Plan).Most(); got != want {
			t.Errorf("without %q a plan takes %d bytes, want %d", without, got, want)
		}
	}
}
