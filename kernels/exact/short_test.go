package exact

import (
	"math/rand/v2"
	"testing"
)

func TestShort(t *testing.T) {
	sure := 0
	for name, gen := range kinds {
		r := rand.New(rand.NewPCG(5, uint64(len(name))))
		for range 60 {
			for range 32 {
				x := make([]float64, 1+r.IntN(128))
				for i := range x {
					x[i] = gen(r)
				}
				f, _ := oracle(x)
				if got := Of(x, false); !same(got, f) {
					t.Fatalf("%s: Of %v, want %v", name, got, f)
				}
				var s Sum
				for _, v := range x {
					h, l := Square(v)
					s.Add(h)
					s.Add(l)
				}
				if got := Of(x, true); !same(got, s.Round()) {
					t.Fatalf("%s: of squares %v, want %v", name, got, s.Round())
				}
				for k, want := range []float64{f, s.Round()} {
					if got, ok := bounded(x, k > 0); ok && !same(got, want) {
						t.Fatalf("%s: bounded %v, want %v", name, got, want)
					} else if ok {
						sure++
					}
				}
			}
		}
	}
	if sure < 10_000 {
		t.Errorf("%d sums are bounded", sure)
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
		_ = Of(x[:100], false)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
