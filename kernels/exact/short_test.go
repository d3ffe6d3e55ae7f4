package exact

import (
	"math/rand/v2"
	"testing"
)

func TestShortAndColumns(t *testing.T) {
	for name, gen := range kinds {
		r := rand.New(rand.NewPCG(5, uint64(len(name))))
		for range 60 {
			rows, cols := 1+r.IntN(BlockRows), 1+r.IntN(BlockCols)
			x := make([]float64, rows*cols)
			for i := range x {
				x[i] = gen(r)
			}
			sums, squares := make([]Sum, cols), make([]Sum, cols)
			AddColumns(sums, x, cols, rows, false)
			AddColumns(squares, x, cols, rows, true)
			for j := range cols {
				col := make([]float64, rows)
				for i := range rows {
					col[i] = x[i*cols+j]
				}
				f, g := oracle(col)
				if !same(Of(col), f) || !same(sums[j].Round(), f) {
					t.Fatalf("%s: Of %v, column %v, want %v", name, Of(col), sums[j].Round(), f)
				}
				if Of32(col) != g {
					t.Fatalf("%s: Of32 %v, want %v", name, Of32(col), g)
				}
				var q Sum
				q.AddSquares(col)
				if want := q.Round(); !same(OfSquares(col), want) || !same(squares[j].Round(), want) {
					t.Fatalf("%s: squares %v, %v, want %v", name, OfSquares(col), squares[j].Round(), want)
				}
			}
		}
	}
}
