package exact

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/kernels/vec"
)

// The vector sum of three numbers is the exact sum rounded once: near halves of a unit, with cancellation, with zeros of either
// sign and subnormal numbers.
func TestSum3(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	number := func() float64 {
		switch r.IntN(8) {
		case 0:
			return math.Copysign(0, float64(r.IntN(2))-0.5)
		case 1:
			return math.Ldexp(float64(1-2*r.IntN(2)), r.IntN(120)-60)
		case 2:
			return math.Ldexp(r.NormFloat64(), -1060-r.IntN(10))
		case 3:
			return math.Ldexp(float64(1+r.Int64N(1<<53)), -r.IntN(110))
		case 4:
			return math.Ldexp(float64(2*r.Int64N(1<<53)+1-1<<53), -53+r.IntN(3))
		}
		return math.Ldexp(r.NormFloat64(), r.IntN(80)-40)
	}
	const n = 64
	a, b, c, dst := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for range 20000 {
		for k := range n {
			a[k], b[k], c[k] = number(), number(), number()
			if r.IntN(6) == 0 {
				c[k] = -a[k]
			}
			if r.IntN(6) == 0 {
				b[k] = math.Nextafter(a[k], 0) - a[k]
			}
			if r.IntN(6) == 0 { // half a unit of a, and a little more or less
				b[k] = (math.Nextafter(a[k], math.Inf(1)) - a[k]) / 2
				c[k] = math.Ldexp(float64(r.IntN(3)-1), -200)
			}
		}
		done, ok := vec.Sum3F64(dst, a, b, c)
		if !ok {
			t.Fatal("finite numbers are refused")
		}
		for k := range done {
			if want := Of([]float64{a[k], b[k], c[k]}); math.Float64bits(dst[k]) != math.Float64bits(want) {
				t.Fatalf("%v + %v + %v = %v, want %v", a[k], b[k], c[k], dst[k], want)
			}
		}
	}
	a[3] = math.Inf(1)
	if done, ok := vec.Sum3F64(dst, a, b, c); done > 0 && ok {
		t.Error("infinity is summed")
	}
	b[5], a[3] = math.NaN(), 1
	if done, ok := vec.Sum3F64(dst, a, b, c); done > 0 && ok {
		t.Error("NaN is summed")
	}
}
