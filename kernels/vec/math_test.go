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
	for _, y := range []float64{2, 3, 1.5, 0.5, -1, 0, 2.25, 6, -2.5, 15.5} {
		for _, sign := range []float64{0, 1} { // no negative element, some
			x := make([]float64, 700)
			b := make([]float64, len(x))
			for i := range x {
				x[i] = math.Abs(math.Ldexp(r.NormFloat64(), r.IntN(200)-100))
				if sign == 1 && i%3 == 0 {
					x[i] = -x[i]
				}
				b[i] = y
			}
			x[3], x[4], x[5], x[6] = math.Copysign(0, -1), math.NaN(), math.Inf(1), 0
			x[300] = math.Inf(1 - 2*int(sign))
			got := append([]float64(nil), x...)
			power.LoopF64()(got, got, b) // in place
			for i := range x {
				want := Pow(x[i], y)
				if math.Float64bits(got[i]) != math.Float64bits(want) && (got[i] == got[i] || want == want) {
					t.Fatalf("%v ^ %v = %v, want %v", x[i], y, got[i], want)
				}
			}
		}
	}
}
