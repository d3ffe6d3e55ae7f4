package compiler_test

import (
	"testing"

	"flow/ir/op"
	"flow/kernels"
	"flow/runtime/dist/transport/mem"
)

// Rows of an input that ranks share go with the iterations in which ranks help each other. Values that
// many points compute alike are in no table where they follow from such rows.
func TestHelpWithSharedInputs(t *testing.T) {
	kernels.LoopsFrom(0)
	defer kernels.LoopsFrom(0)
	const text = `X = parfor i in 0..97, j in 0..3 { sin(i * 0.37 + j) ^ 2 }
Y = rand(80, 1, seed = 2)
z = parfor i in 0..97, j in 0..80 {
  iterate a = Y[j, 0], k = 0 until k > 5 or a > 9.0 { next a = a * 0.5 + erf(X[i, 0] * 1.5)
    next k = k + 1 }
  a
}
w = parfor i in 0..97 {
  iterate a = X[i, 0], k = 0 until k > 20 + 2000 * (i // 60) { next a = a * 0.99 + X[i, 2]
    next k = k + 1 }
  a + z[i, 4]
}
emit w
emit z
emit sum(X)`
	before := helpedChunks.Load()
	for _, ranks := range []int{2, 3, 5} {
		c, err := compileTiny(tinyTable(t), text, ranks, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		carry := 0
		for _, n := range c.Plan.Graph.Nodes {
			carry += len(n.Attrs.Ints(op.CarryAttr))
		}
		if carry != 3 {
			t.Errorf("%d ranks: %d inputs give rows with iterations, not X twice and z", ranks, carry)
		}
		want := evaluated("the meaning", c.Program)
		for k := range 4 {
			out, err := runOver(mem.New(ranks, slowTransports[k]), c, 1+k%2)
			if err != nil || out != want.out {
				t.Errorf("%d ranks, transport %d: %v, %s", ranks, k, err, difference(want.out, out))
			}
		}
	}
	if helpedChunks.Load() == before {
		t.Error("no rank has helped another one")
	}
}
