package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// The roots nearest to the middle between two numbers are what they are said to be, and none is left out of a range that can be searched.
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

// Square roots of a chain are correctly rounded: of what is hard, of numbers of all sizes, and of those that are beyond roots by products.
func TestChainRoots(t *testing.T) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	if haveAVX512 && rootRange == 0 {
		t.Error("this CPU's first guess does not do for roots by products: chains are slower than they could be")
	}
	r := rand.New(rand.NewPCG(71, 72))
	x := hardRoots(4096)
	for k := range 4096 {
		x = append(x, math.Ldexp(x[r.IntN(len(x))], 2*(r.IntN(1021)-520)), 1+3*r.Float64(), math.Float64frombits(r.Uint64()>>1))
		x = append(x, math.Float64frombits(math.Float64bits(0x1p-900)+uint64(k)-2048), float64(k), float64(k)*float64(k))
	}
	rest := []float64{math.MaxFloat64, math.Nextafter(1, 0), math.Nextafter(4, 0), 0x1p-1022}
	odd := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), -1, 5e-324, 0x1p-901}
	for len(x)%64 != 0 {
		x = append(x, rest[len(x)%len(rest)])
	}
	for range 32 { // an odd one among 64 ordinary ones, anywhere
		at := len(x)
		for range 64 {
			x = append(x, 1+r.Float64())
		}
		x[at+r.IntN(64)] = odd[r.IntN(len(odd))]
	}
	wide := haveAVX512
	defer func() { haveAVX512 = wide }()
	y := make([]float64, len(x))
	for _, lanes := range []int{4, 8} {
		if haveAVX512 = lanes == 8; haveAVX512 && !wide {
			continue
		}
		Fill(y, -1)
		all := ^uint64(0)
		code := []Link{{LinkLoad, unsafe.Pointer(&x[0]), all}, {Op: LinkSqrt}, {LinkStore, unsafe.Pointer(&y[0]), all}}
		ChainF64(append(code, Link{}), len(x))
		for k, v := range x {
			if want := math.Sqrt(v); !same(y[k], want) {
				t.Fatalf("%d lanes: the root of %v is %v, want %v", lanes, v, y[k], want)
			}
		}
	}
}
