package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Roots by products are the processor's, whatever the numbers are, as far as their range goes.
func TestForceRoots(t *testing.T) {
	if !haveAVX512 {
		t.Skip("no AVX-512")
	}
	if !forceRootsHold() {
		t.Error("this processor's roots by multiply-adds are not right near the middles")
	}
	r := rand.New(rand.NewPCG(5, 7))
	near := hardRoots(1 << 14)
	x := make([]float64, 1<<16)
	for i := range x {
		switch v := near[r.IntN(len(near))]; r.IntN(4) {
		case 0:
			x[i] = math.Ldexp(v, 2*r.IntN(900)-900)
		case 1:
			x[i] = v
		default:
			x[i] = math.Ldexp(1+r.Float64(), r.IntN(1800)-899)
		}
	}
	y := append([]float64(nil), x...)
	rootsOf(y)
	for i, v := range x {
		if want := math.Sqrt(v); y[i] != want {
			t.Fatalf("the root of %x is %x, want %x", v, y[i], want)
		}
	}
}
