package vec

import (
	"math"
	"math/big"
	"testing"
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
