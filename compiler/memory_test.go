package compiler_test

import (
	"context"
	"fmt"
	"testing"

	"flow/compiler"
	"flow/kernels"
	"flow/runtime/local"
	"flow/stdlib"
)

// Fusion saves the memory that it says it does: how many matrices of n x n are lent in all, fused
// and not. The bytes printed are the same, on any number of workers.
func TestFusionLendsLess(t *testing.T) {
	const n = 800 // large enough that scalars and lines do not count, and for blocks of rows
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text     string
		fused, unfused int
	}{
		{"several reductions of a chain", `
X = materialize(rand(n, n, seed = 1))
Y = sqrt(X * 2 + 1) - 0.5
emit sum(Y)
emit max(Y)
emit norm(Y)
emit sum(rowmean(Y))`, 1, 5},
		{"stored and reduced", `
X = materialize(rand(n, n, seed = 1))
Y = sqrt(X * 2 + 1)
emit sum(Y)
emit Y[3, 4]`, 2, 4},
		{"rows and columns of a cheap chain", `
X = materialize(rand(n, n, seed = 1))
D = X * 2 - 1
emit sum(colsum(D))
emit sum(rowmax(D))`, 1, 3},
		{"softmax", `
X = rand(n, n, seed = 1)
E = exp(X - rowmax(X))
P = E / rowsum(E)
emit sum(P * log(P))
emit P[3, 4..6]`, 2, 6},
		{"reductions of what is made by place", `
X = rand(n, n, seed = 1)
emit sum(sqrt(X) * ones(n, n) + fill(2, n, n))
emit mean(X)
emit sum(colsum(0.5 * seq(0, n * n) + 1))
emit max(eye(n) - rand(n, n, seed = 2))`, 0, 6},
		{"stored of what is made by place", `
Y = sqrt(rand(n, n, seed = 1)) + ones(n, n)
emit Y[3, 4]
emit norm(Y)`, 1, 3},
		{"a chain on a product", `
X = materialize(rand(40_000, 16, seed = 1))
W = materialize(rand(16, 16, seed = 2))
Y = X @ W + rand(1, 16, seed = 3) > 0.5
emit sum(X)
emit count(materialize(Y))`, 1, 3},
		{"a chain on a product, in place of its left factor", `
X = materialize(rand(40_000, 16, seed = 1))
W = materialize(rand(16, 16, seed = 2) - 0.5)
Y = max(X @ W, 0.1)
Z = max(materialize(Y) @ W, 0.2)
emit sum(materialize(Z))`, 3, 5},
		{"made dearly and read twice", `
X = randn(n, n, seed = 1)
emit sum(colsum(X * 2))
emit sum(rowmax(X * 2))
emit sum(X * 3)`, 1, 3},
	} {
		text := fmt.Sprintf("n = %d\n%s\n", n, c.text)
		var printed string
		for k, disable := range [][]string{nil, {"fuse", "row-blocks", "fuse-epilogues", "group"}} {
			r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Disable: disable, Verify: true, Std: stdlib.Files})
			if ds.HasErrors() {
				t.Fatal(c.name, ds)
			}
			for workers := 1; workers <= 8; workers++ {
				p := &printer{}
				pool := local.NewPool(workers)
				rep, err := local.RunPlan(context.Background(), pool, r.Plan, local.EngineOptions{Env: p})
				pool.Close()
				if err != nil {
					t.Fatal(c.name, err)
				}
				if printed == "" {
					printed = p.out.String()
				} else if printed != p.out.String() {
					t.Errorf("%s, without %v on %d workers: %s, and before %s", c.name, disable, workers, p.out.String(), printed)
				}
				whole := int(rep.BytesLent+rep.BytesReused) / (8 * n * n)
				if want := []int{c.fused, c.unfused}[k]; k == 0 && whole != want || k == 1 && whole < want {
					t.Errorf("%s, without %v: %d matrices, want %d", c.name, disable, whole, want)
				}
			}
		}
	}
}
