package flow

import (
	"os"
	"testing"
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
