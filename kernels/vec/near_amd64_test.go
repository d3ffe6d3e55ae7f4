package vec

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// The near cascade is exact when it says so, and says so for elements that are near one another in size.
func TestNearSums(t *testing.T) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	r := rand.New(rand.NewPCG(11, 11))
	uniform := func(int) float64 { return r.Float64() }
	for _, c := range []struct {
		name string
		e    int
		n    int
		x    func(i int) float64
		ok   bool // expected; of false only the claim is checked
	}{
		{"uniform", 0, NearCount, uniform, true},
		{"the largest of one sign", 0, NearCount, func(int) float64 { return 1 - 0x1p-53 }, true},
		{"the largest of the other sign", 0, NearCount, func(int) float64 { return -1 + 0x1p-53 }, true},
		{"of changing sign", 2, 4096, func(int) float64 { return 4 * (r.Float64() - .5) }, true},
		{"all bits that there is room for", 0, NearCount, func(int) float64 { return (1 + r.Float64()) * 0x1p-24 }, true},
		{"bits too small", 0, 640, func(int) float64 { return (1 + r.Float64()) * 0x1p-40 }, false},
		{"one bit too small", 0, NearCount, func(i int) float64 { return map[bool]float64{true: 0x1p-80}[i == 777] }, false},
		{"too large", 0, NearCount, func(int) float64 { return 32 * r.Float64() }, false},
		{"out and back", 0, 640, func(i int) float64 { return map[int]float64{5: 0x1p40 / 3, 70: -0x1p40 / 3}[i] + r.Float64() }, false},
		{"out and back slowly", 0, 1 << 15, func(i int) float64 { return (20 + r.Float64()) * float64(1-i>>14<<1) }, false},
		{"to the edge of the binade and back", 0, 640, func(i int) float64 { return map[int]float64{64: 0x1p13, 128: -0x1p13}[i&^63] }, false},
		{"larger than where it begins", 0, 640, func(i int) float64 { return map[int]float64{3: 0x1p15 + 0x1p-40, 67: -0x1p15}[i] }, false},
		{"tiny", -1070, 640, func(int) float64 { return r.Float64() * 0x1p-1060 }, false},
		{"huge", 1023, 640, func(int) float64 { return math.MaxFloat64 }, false},
		{"a NaN", 0, 640, func(i int) float64 { return map[bool]float64{true: math.NaN()}[i == 600] }, false},
		{"infinities", 0, 640, func(i int) float64 { return map[int]float64{9: math.Inf(1), 73: math.Inf(-1)}[i] }, false},
	} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = c.x(i)
		}
		wide := haveAVX512
		for round, lanes := range []int{4, 8, 8, -8} { // -8: by the machine for all links
			if haveAVX512 = lanes != 4 && wide; lanes != 4 && !wide {
				continue
			}
			state := NewTerms()
			state.Near(c.e)
			load := []uint64{LinkLoad, LinkLoadAsk}[round&1] // past the end, too
			code := []Link{{load, unsafe.Pointer(&x[0]), ^uint64(0)}, {Op: LinkNearSum, Base: unsafe.Pointer(state)}}
			if lanes < 0 {
				code = append(code, Link{Op: LinkAbs})
			}
			ChainF64(append(code, Link{Op: LinkEnd}), c.n)
			n, ok := ChainNearSum(state, c.e)
			if c.ok && !ok {
				t.Errorf("%s, %d lanes: not exact", c.name, lanes)
			}
			if ok && !exactSum(state[:n], x, false) {
				t.Errorf("%s, %d lanes: the sum claims to be exact and is not", c.name, lanes)
			}
		}
		haveAVX512 = wide
	}
}

func TestNearSumsOfAllSizes(t *testing.T) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	r := rand.New(rand.NewPCG(12, 12))
	yes, no := 0, 0
	for range 300 {
		x := make([]float64, 64*(1+r.IntN(20)))
		spread := 1 + r.IntN(90)
		for i := range x {
			x[i] = math.Ldexp(r.NormFloat64(), r.IntN(spread)-spread/2)
		}
		e := r.IntN(40) - 10
		state := NewTerms()
		state.Near(e)
		load := []uint64{LinkLoad, LinkLoadAsk}[r.IntN(2)]
		ChainF64([]Link{{load, unsafe.Pointer(&x[0]), ^uint64(0)}, {Op: LinkNearSum, Base: unsafe.Pointer(state)}, {Op: LinkEnd}}, len(x))
		n, ok := ChainNearSum(state, e)
		if !ok {
			no++
			continue
		}
		yes++
		if !exactSum(state[:n], x, false) {
			t.Fatalf("%d elements over %d powers of two, e = %d: the sum claims to be exact and is not", len(x), spread, e)
		}
	}
	if yes < 20 || no < 20 {
		t.Errorf("%d sums were exact and %d were not: both should be seen", yes, no)
	}
}
