package format

import (
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/types"
)

// TestRelocatedEdges: edges of several parts get to their rows, each row in the order of the file.
func TestRelocatedEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for trial := range 30 {
		n, parts := 1+rng.IntN(20), make([]Entries, rng.IntN(4))
		want := make([][]int32, n)
		for p := range parts {
			var row, col []int32
			for range rng.IntN(60) {
				i, j := rng.Int32N(int32(n)), rng.Int32N(int32(n))
				row, col = append(row, i), append(col, j)
				want[i] = append(want[i], j)
			}
			parts[p] = Entries{Row: bytesOf(row), Col: bytesOf(col)}
		}
		m, err := Task{Edges: true}.Relocated(types.SparseOf(types.Bool, n, n), parts)
		if err != nil {
			t.Fatal(err)
		}
		for i, list := range want {
			if got, _ := m.Row(i); !slices.Equal(got, list) {
				t.Fatalf("trial %d, row %d: columns %v, not %v", trial, i, got, list)
			}
		}
	}
}
