package vec

import (
	"math/rand/v2"
	"testing"
)

// TestTranspose compares the transposition in registers with the plain loop, for random shapes. It must
// write nothing else.
func TestTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		rows, cols := 1+r.IntN(40), 1+r.IntN(40)
		ld, lds := cols+r.IntN(9), rows+r.IntN(9)
		src := make([]float64, cols*lds)
		for i := range src {
			src[i] = r.Float64()
		}
		want, got := make([]float64, rows*ld), make([]float64, rows*ld)
		transpose(want, ld, src, lds, rows, cols)
		Transpose(got, ld, src, lds, rows, cols)
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%d x %d, rows %d and %d apart: element %d", rows, cols, ld, lds, i)
			}
		}
	}
}
