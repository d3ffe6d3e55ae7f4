package exact

import (
	"math/rand/v2"
	"testing"
)

func TestShort(t *testing.T) {
	for name, gen := range kinds {
		r := rand.New(rand.NewPCG(5, uint64(len(name))))
		for range 60 {
			for range 32 {
				x := make([]float64, 1+r.IntN(128))
				for i := range x {
					x[i] = gen(r)
				}
				if f, _ := oracle(x); !same(Of(x), f) {
					t.Fatalf("%s: Of %v, want %v", name, Of(x), f)
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
	if n := testing.AllocsPerRun(10, func() {
		s.AddSlice(x)
		s.AddSquares(x)
		s.AddSlice32(f)
		_ = Of(x[:100])
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
