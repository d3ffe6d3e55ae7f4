package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPlaces: searches and conversions agree with plain loops, at every length and on each instruction
// set.
func TestPlaces(t *testing.T) {
	nan, zero := math.NaN(), math.Copysign(0, -1)
	sets(func(name string) {
		r := rand.New(rand.NewPCG(18, 8))
		for n := range 150 {
			x, y, k := make([]float64, n), make([]float32, n), make([]int64, n)
			for i := range n {
				x[i] = []float64{0, 1, zero, nan, math.Inf(1), 5e-324, 7}[r.IntN(7)]
				y[i], k[i] = float32(x[i]), int64(r.IntN(3))-1
				if r.IntN(3) == 0 {
					k[i] = int64(r.Uint64())
				}
			}
			wide, wider := make([]float64, n), make([]float64, n)
			Convert(wide, y)
			for i := range wider {
				wider[i] = float64(y[i])
			}
			for i := range n {
				if math.Float64bits(wide[i]) != math.Float64bits(wider[i]) && wide[i] == wide[i] {
					t.Fatalf("%s: %v becomes %v", name, y[i], wide[i])
				}
			}
			for _, v := range []float64{0, zero, 1, 7, nan, -3} {
				if got, want := Index(x, v), slices.Index(x, v); got != want {
					t.Fatalf("%s: %v in %v is at %d", name, v, x, got)
				}
				if got, want := Index(y, float32(v)), slices.Index(y, float32(v)); got != want {
					t.Fatalf("%s: %v in %v is at %d", name, v, y, got)
				}
			}
			for _, v := range append([]int64{-1, 0, 1, 5}, k...) {
				if got, want := Index(k, v), slices.Index(k, v); got != want {
					t.Fatalf("%s: %d in %v is at %d", name, v, k, got)
				}
			}
		}
	})
}
