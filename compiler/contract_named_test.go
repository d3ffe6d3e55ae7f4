package compiler_test

import (
	"context"
	"testing"

	"flow/compiler"
	"flow/kernels"
)

// A product that a statement named is a value of its own, inside a function as outside: moving
// lines into a function changes no bit. One that is written where it is used accumulates, also
// across a call.
func TestNamedProducts(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	const head = "A = rand(5, 5, seed = 1)\nC = rand(5, 5, seed = 2)\n"
	for _, c := range []struct {
		program string
		gemms   int
	}{
		{"P = A @ A\nemit C - P", 0},
		{"fn f(C, A) {\n P = A @ A\n C - P\n}\nemit f(C, A)", 0},
		{"fn f(C, A) {\n P = A @ A\n C - P\n}\nfn g(C, A) {\n x = f(C, A)\n x + A\n}\nD = g(C, A)\nemit D", 0},
		{"fn f(C, A) {\n P = A @ A\n C - P\n}\nemit C - f(C - A @ A, A)", 1},
		{"emit C - A @ A", 1},
		{"fn f(C, A) = C - A @ A\nemit f(C, A)", 1},
		{"fn p(A) = A @ A\nemit C - p(A)", 1},
		{"fn p(A) {\n x = A + 1\n x @ A\n}\nemit C - p(A)", 1},
	} {
		r, ds := compiler.Compile(context.Background(), "c.flow", []byte(head+c.program), compiler.Options{Table: table, Verify: true})
		if ds.HasErrors() {
			t.Errorf("%s: %v", c.program, ds)
			continue
		}
		n := 0
		for i := range r.Program.Nodes {
			if r.Program.Nodes[i].Op.Name == "gemm" {
				n++
			}
		}
		if n != c.gemms {
			t.Errorf("%s\nhas %d products that accumulate, want %d", c.program, n, c.gemms)
		}
	}
}
