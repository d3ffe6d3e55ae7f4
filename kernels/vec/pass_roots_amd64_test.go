package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Roots are the processor's, whatever the numbers of a group are.
func TestPassSqrtBoth(t *testing.T) {
	if haveAVX512 && PassRoot() != PassSqrtBoth {
		t.Error("this processor's roots by multiply-adds are not right near the middles")
	}
	onEachSet(t, func(t *testing.T) {
		const groups = 200
		group := PassGroup()
		x, y := make([]float64, groups*group), make([]float64, groups*group)
		code := []PassStep{step(PassLoad, along(x)), step(PassSqrtBoth), step(PassStore, along(y)), {Op: PassEnd}}
		r := rand.New(rand.NewPCG(5, 7))
		near := hardRoots(1 << 14)
		for round := range 60 {
			for g := range groups {
				lanes := x[g*group:][:group]
				for i := range lanes {
					switch v := near[r.IntN(len(near))]; r.IntN(4) {
					case 0:
						lanes[i] = math.Ldexp(v, 2*r.IntN(900)-900)
					case 1:
						lanes[i] = v
					default:
						lanes[i] = math.Ldexp(1+r.Float64(), r.IntN(1800)-899)
					}
				}
				for range g % 3 { // in two groups of three some are out of the range
					odd := []float64{0, math.Copysign(0, -1), -1, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, 0x1p-1022, 0x1p-901, 0x1.8p1000, math.MaxFloat64}
					lanes[r.IntN(group)] = odd[r.IntN(len(odd))]
				}
			}
			var s PassState
			s.Start()
			Pass(code, &s, groups)
			for i, v := range x {
				if want := math.Sqrt(v); math.Float64bits(y[i]) != math.Float64bits(want) && !(want != want && y[i] != y[i]) {
					t.Fatalf("round %d, lane %d: the root of %x is %x, want %x", round, i, v, y[i], want)
				}
			}
		}
	})
}
