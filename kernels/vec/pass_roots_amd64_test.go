package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The numbers that are found by their remainders are those nearest to the middles.
func TestNearMiddles(t *testing.T) {
	seen := map[float64]bool{}
	for _, x := range nearMiddles(1024) {
		if x < 1 || x >= 4 || seen[x] {
			t.Fatalf("%x, once more %v", x, seen[x])
		}
		seen[x] = true
		root := new(big.Float).SetPrec(300).Sqrt(new(big.Float).SetPrec(300).SetFloat64(x))
		m, _ := new(big.Float).SetMantExp(root, 53).Int(nil)
		m.SetBit(m, 0, 1) // the odd number below or above
		far := new(big.Float).SetMantExp(new(big.Float).SetPrec(300).SetInt(m), -53)
		far.Sub(far, root)
		j, _ := far.Mul(far, root).Float64() // |M 2^-53 - root| root = |j| 2^-107
		if j = math.Abs(math.Ldexp(j, 107)); j > 1024.5 || math.Abs(j-math.Round(j)) > 1e-6 {
			t.Errorf("%x is %v away", x, j)
		}
	}
	for _, x := range []float64{math.Nextafter(1, 2), math.Nextafter(4, 3)} { // by hand: M = 2^53 + 1 and 2^54 - 1, j = 1
		if !seen[x] {
			t.Errorf("%x is missing", x)
		}
	}
	if len(seen) < 256 {
		t.Errorf("only %d numbers", len(seen))
	}
}

// Roots are the processor's, whatever the numbers of a group are.
func TestPassSqrtBoth(t *testing.T) {
	if haveAVX512 && PassRoot() != PassSqrtBoth {
		t.Error("this processor's roots by multiply-adds are not right near the middles")
	}
	onEachSet(t, func(t *testing.T) {
		const groups = 200
		group := PassGroup()
		x, y := make([]float64, groups*group), make([]float64, groups*group)
		code := []PassStep{step(PassLoad, along(x)), step(PassSqrtBoth), step(PassStore, along(y)), {Op: PassEnd}}
		r := rand.New(rand.NewPCG(5, 7))
		near := nearMiddles(1 << 14)
		for round := range 60 {
			for g := range groups {
				lanes := x[g*group:][:group]
				for i := range lanes {
					switch v := near[r.IntN(len(near))]; r.IntN(4) {
					case 0:
						lanes[i] = math.Ldexp(v, 2*r.IntN(900)-900)
					case 1:
						lanes[i] = v
					default:
						lanes[i] = math.Ldexp(1+r.Float64(), r.IntN(1800)-899)
					}
				}
				for range g % 3 { // in two groups of three some are out of the range
					odd := []float64{0, math.Copysign(0, -1), -1, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, 0x1p-1022, 0x1p-901, 0x1.8p1000, math.MaxFloat64}
					lanes[r.IntN(group)] = odd[r.IntN(len(odd))]
				}
			}
			var s PassState
			s.Start()
			Pass(code, &s, groups)
			for i, v := range x {
				if want := math.Sqrt(v); math.Float64bits(y[i]) != math.Float64bits(want) && !(want != want && y[i] != y[i]) {
					t.Fatalf("round %d, lane %d: the root of %x is %x, want %x", round, i, v, y[i], want)
				}
			}
		}
	})
}
