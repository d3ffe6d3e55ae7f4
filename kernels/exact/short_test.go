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

// Sums need no heap: their buffers stay on the stack of the caller.
func TestSumsDoNotAllocate(t *testing.T) {
	x, f := make([]float64, 5000), make([]float32, 5000)
	for i := range x {
		x[i], f[i] = float64(i)/3, float32(i)/3
	}
	var s Sum
	var cols [BlockCols]Sum
	if n := testing.AllocsPerRun(10, func() {
		s.AddSlice(x)
		s.AddSquares(x)
		s.AddSlice32(f)
		AddColumns(cols[:], x, BlockCols, 70, false)
		_ = Of(x[:100]) + OfSquares(x[:100])
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
