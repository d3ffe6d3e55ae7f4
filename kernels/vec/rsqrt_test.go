package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The reciprocal root is within its bound over a whole period of its first guess, densely: by
// products of two numbers with their errors, which share nothing with its own steps. With y the
// result and t = 1 - x y^2, the distance to the root is y t/2 but for t^2.
func TestReciprocalRootEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	f, _ := FunctionNamed("rsqrt")
	worst, at := 0.0, 0.0
	n := 4_000_000
	if testing.Short() {
		n = 400_000
	}
	for k := range n {
		x := 1 + 3*(float64(k)+r.Float64())/float64(n)
		y := Rsqrt(x)
		q := y * y
		ql := math.FMA(y, y, -q)
		d := math.FMA(-x, q, 1) - x*ql
		unit := math.Nextafter(y, 2) - y
		if u := math.Abs(y*d/2) / unit; u > worst {
			worst, at = u, x
		}
	}
	t.Logf("%.4f ulp at %v", worst, at)
	if worst > f.Ulps || worst < .5 {
		t.Errorf("rsqrt(%v) is off by %v ulp; %v is what it says", at, worst, f.Ulps)
	}
	for range 10000 { // a power of 4 changes the exponent alone
		x, e := 1+3*r.Float64(), r.IntN(1022)-511
		if got, want := Rsqrt(math.Ldexp(x, 2*e)), math.Ldexp(Rsqrt(x), -e); got != want {
			t.Fatalf("rsqrt(%v * 4^%d) = %v, want %v", x, e, got, want)
		}
	}
}
