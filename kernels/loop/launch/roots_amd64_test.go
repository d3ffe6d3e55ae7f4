//go:build linux

package launch

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"flow/kernels/loop/amd64"
)

// The roots nearest to the middle between two numbers are what they are said to be, and none is
// left out of a range that can be searched.
func TestHardRoots(t *testing.T) {
	const most = 4096
	hard := hardRoots(most)
	if len(hard) < most/8 {
		t.Fatalf("only %d numbers have such roots", len(hard))
	}
	seen := map[float64]bool{}
	for _, x := range hard {
		if x < 1 || x >= 4 || seen[x] {
			t.Fatalf("%x, once more %v", x, seen[x])
		}
		seen[x] = true
		root := new(big.Float).SetPrec(200).Sqrt(new(big.Float).SetPrec(200).SetFloat64(x))
		y := math.Sqrt(x)
		toward := math.Inf(1)
		if root.Cmp(big.NewFloat(y)) < 0 {
			toward = math.Inf(-1)
		}
		middle := new(big.Float).SetPrec(200).Add(big.NewFloat(y), big.NewFloat(math.Nextafter(y, toward)))
		middle.Quo(middle, big.NewFloat(2))
		square := new(big.Float).SetPrec(200).Mul(middle, middle)
		apart, _ := square.Sub(square, big.NewFloat(x)).Float64()
		if units := math.Abs(math.Ldexp(apart, 106)); units > most || units != math.Trunc(units) {
			t.Errorf("the root of %v is not near the middle of two numbers: %v units", x, units)
		}
	}
	for _, want := range []float64{math.Nextafter(1, 2), math.Nextafter(4, 0)} { // by hand: the middles 1 + 2^-53 and 2 - 2^-53, a unit away
		if !seen[want] {
			t.Errorf("%x is not among them", want)
		}
	}
}

// Roots by products are the processor's, whatever the numbers are, as far as their range goes.
func TestRootsByProducts(t *testing.T) {
	if target, _ := Target(); target != string(amd64.AVX512) {
		t.Skip("no AVX-512")
	}
	if !rootsHold() {
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
	x = append(x, 0, math.Copysign(0, -1), -1, math.Inf(1), math.NaN(), 5e-324, 0x1p-901, 0x1p1001, math.MaxFloat64)
	for e := -1074; e < 1024; e += 3 {
		x = append(x, math.Ldexp(1+r.Float64(), e))
	}
	y, err := rootsByProducts(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range x {
		if want := math.Sqrt(v); math.Float64bits(y[i]) != math.Float64bits(want) && (y[i] == y[i] || want == want) {
			t.Fatalf("the root of %x is %x, want %x", v, y[i], want)
		}
	}
}
