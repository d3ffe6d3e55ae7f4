//go:build linux && amd64

package amd64

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestDifferences combines what tells words to differ in random ways: few values, so that operands of
// one instruction are the same or die at it, and many that live on, so that some are in memory.
func TestDifferences(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		if !has(target) {
			continue
		}
		m := need(t, target)
		r := rand.New(rand.NewPCG(7, 11))
		for range 150 {
			x := value.New(types.I64, 1, 37)
			for i := range x.I64 {
				x.I64[i] = int64(r.Uint64())
			}
			n := 1 + r.IntN(40)
			var body []string
			for k := range n {
				body = append(body, fmt.Sprintf("v%d = load %%0[0, j+%d]", k, k%5))
			}
			to := n + 3 + r.IntN(60)
			for k := n; k < to; k++ {
				near := func() int { return max(0, k-1-r.IntN(4)) }
				a, b := near(), r.IntN(k)
				if r.IntN(2) == 0 {
					a, b = b, near()
				}
				body = append(body, fmt.Sprintf("v%d = %s v%d, v%d", k, []string{"xor", "or", "xor", "or", "and", "add"}[r.IntN(6)], a, b))
			}
			for k := range n { // they live to the end
				body = append(body, fmt.Sprintf("v%d = add v%d, v%d", to+k, to+k-1, k))
			}
			text := "nest(%0: i64[]) (i: 0..1, j: 0..32) {\n" + strings.Join(body, "\n") + fmt.Sprintf("\nstore out0[i, j] v%d\n} : (i64[1, 32])", to+n-1)
			nest, err := loop.Parse(text, loop.Standard{})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			out := value.New(types.I64, 1, 32)
			f, err := compile(m, target, nest, []value.Value{x}, []*value.Dense{out})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			f.run(0, 1, 0, 29)
			f.run(0, 1, 29, 32)
			want, err := nest.Eval([]value.Value{x}, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			for j := range 32 {
				if got, y := out.At(0, j), want[0].(*value.Dense).At(0, j); !got.Same(y) {
					t.Fatalf("%s: column %d is %v, want %v\n%s", target.name, j, got, y, text)
				}
			}
		}
	}
}
