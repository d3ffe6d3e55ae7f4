package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// One exponent for all takes the short ways and gives the definition.
func TestUniformPowers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	power, _ := Function2Named("pow")
	for _, y := range []float64{2, 3, 1.5, 0.5, -1, 0, 2.25} {
		for _, sign := range []float64{0, 1} { // no negative element, some
			x := make([]float64, 700)
			x32 := make([]float32, len(x))
			b, b32 := make([]float64, len(x)), make([]float32, len(x))
			for i := range x {
				x[i] = math.Abs(math.Ldexp(r.NormFloat64(), r.IntN(200)-100))
				if sign == 1 && i%3 == 0 {
					x[i] = -x[i]
				}
				x32[i], b[i], b32[i] = float32(x[i]), y, float32(y)
			}
			x[3], x[4], x[5], x[6] = math.Copysign(0, -1), math.NaN(), math.Inf(1), 0
			x[300] = math.Inf(1 - 2*int(sign))
			got, got32 := append([]float64(nil), x...), append([]float32(nil), x32...)
			power.LoopF64()(got, got, b) // in place
			power.LoopF32()(got32, got32, b32)
			for i := range x {
				want, want32 := Pow(x[i], y), float32(Pow32(float64(x32[i]), y))
				if math.Float64bits(got[i]) != math.Float64bits(want) && (got[i] == got[i] || want == want) {
					t.Fatalf("%v ^ %v = %v, want %v", x[i], y, got[i], want)
				}
				if got32[i] != want32 && (got32[i] == got32[i] || want32 == want32) {
					t.Fatalf("f32 %v ^ %v = %v, want %v", x32[i], y, got32[i], want32)
				}
			}
		}
	}
}
