package vec

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// Both machines compare, combine and select as the plain loops do, and bring truths from bytes and to them.
func TestTruthLinks(t *testing.T) { onBoth(t, truthLinks) }

func truthLinks(t *testing.T) {
	const n = 384
	all := ^uint64(0)
	r := rand.New(rand.NewPCG(61, 62))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 2.5, -2.5, .5, math.SmallestNonzeroFloat32, 3.5}
	x, y, a, b := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	truths := make([]uint8, n)
	for i := range x {
		x[i], y[i] = special[r.IntN(len(special))], special[r.IntN(len(special))]
		a[i], b[i], truths[i] = r.NormFloat64(), r.NormFloat64(), uint8(r.IntN(2))
	}
	f := func(v []float64) unsafe.Pointer { return unsafe.Pointer(&v[0]) }
	got, want, mask := make([]uint8, n), make([]uint8, n), make([]float64, n)
	for _, c := range []struct {
		link uint64
		loop func(dst []uint8, a, b []float64)
	}{
		{LinkEqual, Eq[float64]}, {LinkNotEqual, Ne[float64]}, {LinkLess, Lt[float64]}, {LinkLessEqual, Le[float64]}, {LinkGreater, Gt[float64]}, {LinkGreaterEqual, Ge[float64]},
		{LinkIsNaN, func(dst []uint8, a, _ []float64) { Ne(dst, a, a) }},
		{LinkNonZero, func(dst []uint8, a, _ []float64) { NonZero(dst, a) }},
		{LinkIsInf, func(dst []uint8, a, _ []float64) {
			for i, v := range a {
				dst[i] = bit(math.IsInf(v, 0))
			}
		}},
	} {
		c.loop(want, x, y)
		ChainF64([]Link{{LinkLoad, f(x), all}, {c.link, f(y), all}, {LinkStore, f(mask), all},
			{LinkStoreTruths, unsafe.Pointer(&got[0]), all}, {Op: LinkEnd}}, n)
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("link %d of %v and %v: %d", c.link, x[i], y[i], got[i])
			}
		}
		selections(t, mask, want, a, b)
		for _, g := range []struct {
			link uint64
			loop func(dst, a, b []uint8)
		}{{LinkAnd, And}, {LinkOr, Or}, {LinkNot, func(dst, a, b []uint8) { Not(dst, b) }}} {
			both, numbers := make([]uint8, n), make([]float64, n)
			g.loop(both, want, truths)
			ChainF64([]Link{{LinkLoadTruths, unsafe.Pointer(&truths[0]), all}, {g.link, f(mask), all},
				{LinkStoreTruths, unsafe.Pointer(&got[0]), all}, {LinkOfTruth, nil, 0}, {LinkStore, f(numbers), all}, {Op: LinkEnd}}, n)
			for i := range got {
				if got[i] != both[i] || numbers[i] != float64(both[i]) {
					t.Fatalf("logic %d of %d and %d: %d %v", g.link, want[i], truths[i], got[i], numbers[i])
				}
			}
		}
	}
	for _, c := range []struct {
		link uint64
		f    func(float64) float64
	}{{LinkSign, Sign}, {LinkRound, math.RoundToEven}, {LinkFloor, math.Floor}, {LinkCeil, math.Ceil},
		{LinkRectify, func(x float64) float64 {
			if x <= 0 {
				return 0
			}
			return x
		}}} {
		y := make([]float64, n)
		ChainF64([]Link{{LinkLoad, f(x), all}, {Op: c.link}, {LinkStore, f(y), all}, {Op: LinkEnd}}, n)
		for i := range y {
			if !same(y[i], c.f(x[i])) {
				t.Fatalf("link %d of %v: %v", c.link, x[i], y[i])
			}
		}
	}
}

// selections are the three forms of a where want holds, b elsewhere; mask is want in lanes.
func selections(t *testing.T, mask []float64, want []uint8, a, b []float64) {
	t.Helper()
	all := ^uint64(0)
	f := func(v []float64) unsafe.Pointer { return unsafe.Pointer(&v[0]) }
	picked := make([]float64, len(a))
	for k, code := range [][]Link{
		{{LinkLoad, f(mask), all}, {LinkOther, f(a), all}, {LinkChoose, f(b), all}},
		{{LinkLoad, f(a), all}, {LinkOther, f(mask), all}, {LinkThen, f(b), all}},
		{{LinkLoad, f(b), all}, {LinkOther, f(mask), all}, {LinkElse, f(a), all}},
	} {
		ChainF64(append(code, Link{LinkStore, f(picked), all}, Link{Op: LinkEnd}), len(a))
		for i := range picked {
			if want[i] == 1 && picked[i] != a[i] || want[i] == 0 && picked[i] != b[i] {
				t.Fatalf("selection %d of %v, %v, %v: %v", k, want[i], a[i], b[i], picked[i])
			}
		}
	}
}
