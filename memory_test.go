package flow

import (
	"os"
	"testing"

	"flow/ir/plan"
)

// A chain of twenty elementwise operators on a matrix takes the memory of one matrix, whether it is
// fused or each operator writes where its operand lay; two and a fifth are what it may take. The
// buffer pool counts, so nothing else on the machine matters.
func TestMemoryOfAChain(t *testing.T) {
	const bytes = 8 * 2048 * 2048
	text, err := os.ReadFile("bench/chain.flow")
	if err != nil {
		t.Fatal(err)
	}
	for _, disable := range [][]string{nil, {"fuse"}, {"fuse", "partition"}} {
		p, err := Compile(t.Context(), "chain.flow", text, CompileOptions{Disable: disable, Set: []Setting{{Name: "n", Text: "2048"}}})
		if err != nil {
			t.Fatal(err)
		}
		report, err := p.Run(t.Context(), RunOptions{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		switch peak := report.Ranks[0].BytesPeak; {
		case peak < bytes:
			t.Errorf("without %v: %d bytes at most, which is less than the matrix", disable, peak)
		case 10*peak > 22*bytes:
			t.Errorf("without %v: %d bytes at most, more than 2.2 matrices", disable, peak)
		}
	}
}

// TestMemoryOfSparseInLoops: the memory of a sparse matrix that a loop makes from one outside is predicted
// from the entries of the outer one, here at most 100 000 of 12 bytes, and row pointers.
func TestMemoryOfSparseInLoops(t *testing.T) {
	p := compiled(t, "W = f64(rand_graph(30000, 100000, seed = 1))\n"+
		"iterate r = fill(1.0, 30000, 1) times 20 {\n  next r = t(W) @ r\n}\nemit max(r)\n", 2)
	for rank, peak := range plan.LeastMemory(p.Compiled().Plan).Peak {
		if peak > 4<<20 {
			t.Errorf("rank %d takes %d bytes", rank, peak)
		}
	}
}
