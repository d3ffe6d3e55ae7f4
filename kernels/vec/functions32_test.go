package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// This file compares the functions of float32 with those of float64, which are compared with values
// of high precision: these are 2^29 times as fine.

// ulps32 is how far y, rounded to float32, is from want in units of its last place; the distance to
// which y itself adds is returned, too. Where that says nothing, both must be the same.
func ulps32(t *testing.T, y, want float64, at ...float64) float64 {
	t.Helper()
	z := float64(float32(y))
	if math.IsNaN(z) || math.IsInf(z, 0) || z == 0 || want == 0 {
		if w := float64(float32(want)); !same(z, w) {
			// half way between the greatest float32 and what would follow, or at the least one,
			// either is as near
			if math.Abs(want-y) > math.Abs(want)*0x1p-30 {
				t.Errorf("at %v: %v, want %v", at, z, w)
			}
		}
		return 0
	}
	unit := math.Ldexp(1, max(math.Ilogb(z)-23, -149))
	return math.Abs(z-want) / unit
}

// arguments32 is float32 arguments: the hard ones, those of any bits, and those of argument.
func arguments32(r *rand.Rand, f Function[One], n int) []float64 {
	x := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 0x1p-149, -0x1p-149, 0x1p-126, math.MaxFloat32, -math.MaxFloat32,
		.5, -.5, 2.5, 0x1p30, 0x1p31, 88.72284, 88.7229, -87.33655, -103.97, -104.1, 89.41598, 89.416, 0x1.fffffep-1, 0x1.000002p0, -0x1.fffffep-1}
	for k := range n {
		switch k % 3 {
		case 0:
			x = append(x, float64(math.Float32frombits(r.Uint32())))
		default:
			x = append(x, float64(float32(argument(r, f, k))))
		}
	}
	return x
}

// No function of float32 is farther from the exact value than is said of them, and their values at
// the ends are those of float64.
func TestFunctions32AreAccurate(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	n := 150_000
	if testing.Short() {
		n = 30_000
	}
	for _, f := range Functions {
		worst, at := 0.0, 0.0
		for _, x := range arguments32(r, f, n) {
			if u := ulps32(t, f.F32(x), f.F(x), x); u > worst {
				worst, at = u, x
			}
		}
		t.Logf("%-8s %.5f ulp at %v", f.Name, worst, at)
		if worst > Ulps32 || worst < .45 && f.Name != "sigmoid" {
			t.Errorf("f32 %s: %v ulp at %v (%x); %v is what it says", f.Name, worst, at, at, Ulps32)
		}
	}
	special := arguments32(r, Functions[0], 0)
	for _, f := range Functions2[:2] {
		worst, at := 0.0, [2]float64{}
		try := func(x, y float64) {
			if u := ulps32(t, f.F32(x, y), f.F(x, y), x, y); u > worst {
				worst, at = u, [2]float64{x, y}
			}
		}
		for _, x := range append(special, 2, 3, 1.5, -3, 7, -2.5, 16777215, -0x1p24) {
			for _, y := range append(special, 2, 3, 1.5, -3, 7, -2.5, 16777215, -0x1p24) {
				try(x, y)
			}
		}
		for k := range n {
			x, y := pair(r, f, k)
			if f.Name == "pow" && k%3 != 0 {
				x = math.Ldexp(1+r.Float64(), r.IntN(250)-126)
				if k%3 == 1 {
					x = .5 + r.Float64()
				}
				x = float64(float32(x))
				y = (200*r.Float64() - 100) / math.Log(x)
			} else if k%5 == 0 {
				x, y = float64(math.Float32frombits(r.Uint32())), float64(math.Float32frombits(r.Uint32()))
			}
			try(float64(float32(x)), float64(float32(y)))
		}
		t.Logf("%-8s %.5f ulp at %v", f.Name, worst, at)
		if worst > Ulps32 || worst < .45 {
			t.Errorf("f32 %s: %v ulp at %v; %v is what it says", f.Name, worst, at, Ulps32)
		}
	}
}
