package blas

// This file tests the emulated single-precision FMA against exact arithmetic.

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFMA32RoundsOnce(t *testing.T) {
	check := func(x, y, z float32) {
		got, want := fma32(x, y, z), bigFMA(x, y, z)
		if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
			t.Fatalf("fma32(%x, %x, %x) = %x, want %x", x, y, z, got, want)
		}
	}
	// 1 + 2^-24 lies in the middle between 1 and the next value; the last term decides, far below a
	// float64's end.
	tiny := float32(math.Ldexp(1, -60))
	for _, e := range []float32{0, tiny, -tiny} {
		check(1+0x1p-12, 1-0x1p-12, e) // 1 - 2^-24
		check(0x1p-12, 0x1p-12, 1+0x1p-23)
		check(e, 0x1p-20, 1+0x1p-23)
		check(1+0x1p-23, 0x1p-24, e)
	}
	r := rand.New(rand.NewPCG(5, 6))
	twice := 0
	for range 300000 {
		// Few significant bits and wide exponents meet the middle often.
		draw := func() float32 {
			return float32(math.Ldexp(float64(r.IntN(1<<13)-1<<12), r.IntN(50)-25))
		}
		x, y, z := draw(), draw(), draw()
		if r.IntN(4) == 0 {
			y *= 0x1p-60
			x *= 0x1p-60 // results among the subnormals
			z *= 0x1p-120
		}
		if r.IntN(2) == 0 {
			// A product just off the middle of two neighbours of z, by less than a float64 beside z
			// can hold.
			d := float32(math.Ldexp(float64(1+r.IntN(4)), -20-r.IntN(4)))
			x, y = 1+d, (1-d)*0x1p-24
			z = 1 + float32(r.IntN(1<<23))*0x1p-23
			if r.IntN(2) == 0 {
				x = -x
			}
		}
		check(x, y, z)
		check(math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()))
		if naive := float32(float64(x)*float64(y) + float64(z)); naive != fma32(x, y, z) {
			twice++
		}
	}
	if twice == 0 {
		t.Error("no draw was one that two roundings get wrong: the test shows nothing")
	}
}
