package flow_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"flow"
)

// A transpose that a product takes up is dropped, and what stands behind it moves up: but for the
// asserts of functions called there, which the emits below wait for.
func TestAssertBesideProduct(t *testing.T) {
	const head = "fn g(P) {\n assert all(P < 1), \"not below 1\"\n P + 1\n}\nA = rand(3, 2)\n"
	for _, c := range []struct {
		program string
		fails   bool
	}{
		{"emit t(A) @ g(A)", false},
		{"emit t(A) @ g(2 + A)", true},
		{"fn h(A) = t(A) @ g(2 + A)\nB = h(A)\nemit 1", true},
		{"iterate x = 0.0 times 2 { next x = sum(t(A) @ g(A + x)) }\nemit x", true},
		{"B = t(A) @ g(A)\nC = t(B) @ (if B[0,0] > 0 { g(2 * B) } else { B })\nemit C", true},
	} {
		p, err := flow.Compile(context.Background(), "c.flow", []byte(head+c.program), flow.CompileOptions{Verify: true})
		if err != nil {
			t.Errorf("%s: %v", c.program, err)
			continue
		}
		var out bytes.Buffer
		_, err = p.Run(context.Background(), flow.RunOptions{Stdout: &out, Threads: 2})
		if failed := err != nil && strings.Contains(err.Error(), "not below 1"); failed != c.fails || failed && out.Len() > 0 {
			t.Errorf("%s: %v, printed %q", c.program, err, out.String())
		}
	}
}
