package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// hardWords are integers at which arithmetic modulo 2^64, conversions and divisions by way of float64 may go wrong.
var hardWords = []int64{0, 1, -1, 2, -2, 3, 7, -7, 10, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1 << 62, -1 << 62, 1<<62 + 1,
	1 << 53, 1<<53 + 1, 1<<53 - 1, -1<<53 - 1, 1 << 32, 1<<32 - 1, -1 << 32, 1<<31 - 1, 1 << 31, 3037000499, 3037000500, math.MaxInt64 - 511, math.MaxInt64 - 512,
	1<<54 + 1, 1<<54 + 3, 1<<60 + 1<<36 + 1, 1<<60 + 1<<36 - 1, 1<<60 + 1<<36, -1<<60 - 1<<36 - 1, -1<<60 - 1<<36 + 1, -1<<60 - 1<<36,
	1<<60 + 3<<36, 1<<60 + 3<<36 - 1, 1<<24 + 1, 1<<25 + 3, 1<<53 + 1<<29 + 1, 1<<53 + 1<<29, 1<<52 + 1, 6148914691236517205, -6148914691236517206, 4611686018427387905}

func anyWord(r *rand.Rand) int64 {
	switch r.IntN(4) {
	case 0:
		return hardWords[r.IntN(len(hardWords))]
	case 1:
		return int64(r.Uint64()) >> r.IntN(64)
	case 2:
		return hardWords[r.IntN(len(hardWords))] + int64(r.IntN(7)-3)
	}
	return int64(r.IntN(2000) - 1000)
}

// onBoth runs f with AVX-512, if there is any, and with AVX2.
func onBoth(t *testing.T, f func(t *testing.T)) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	was := haveAVX512
	defer func() { haveAVX512 = was }()
	if was {
		t.Run("AVX-512", f)
	}
	haveAVX512 = false
	t.Run("AVX2", f)
}

// Both machines do on int64 what Go does.
func TestWordLinks(t *testing.T) {
	all := ^uint64(0)
	sign := func(a int64) int64 {
		switch {
		case a < 0:
			return -1
		case a > 0:
			return 1
		}
		return 0
	}
	links := map[uint64]func(a, b int64) int64{
		LinkAddWords: func(a, b int64) int64 { return a + b }, LinkSubWords: func(a, b int64) int64 { return a - b },
		LinkSubWordsFrom: func(a, b int64) int64 { return b - a }, LinkMulWords: func(a, b int64) int64 { return a * b },
		LinkNegWords: func(a, b int64) int64 { return -a }, LinkAbsWords: func(a, b int64) int64 { return sign(a) * a },
		LinkMinWords: func(a, b int64) int64 { return min(a, b) }, LinkMaxWords: func(a, b int64) int64 { return max(a, b) },
		LinkSignWords: func(a, b int64) int64 { return sign(a) }, LinkRectifyWords: func(a, b int64) int64 { return max(a, 0) },
	}
	relations := map[uint64]func(a, b int64) bool{
		LinkEqualWords: func(a, b int64) bool { return a == b }, LinkNotEqualWords: func(a, b int64) bool { return a != b },
		LinkLessWords: func(a, b int64) bool { return a < b }, LinkLessEqualWords: func(a, b int64) bool { return a <= b },
		LinkGreaterWords: func(a, b int64) bool { return a > b }, LinkGreaterEqualWords: func(a, b int64) bool { return a >= b },
		LinkNonZeroWords: func(a, b int64) bool { return a != 0 },
	}
	onBoth(t, func(t *testing.T) {
		const n = 4096
		r := rand.New(rand.NewPCG(71, 72))
		a, b, got, words := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
		truths := make([]uint8, n)
		p := func(v []int64) unsafe.Pointer { return unsafe.Pointer(&v[0]) }
		for i := range a {
			a[i], b[i] = anyWord(r), anyWord(r)
			if i%5 == 0 {
				b[i] = a[i]
			}
		}
		for link, f := range links {
			ChainF64([]Link{{LinkLoad, p(a), all}, {link, p(b), all}, {LinkStore, p(got), all}, {Op: LinkEnd}}, n)
			for i := range got {
				if want := f(a[i], b[i]); got[i] != want {
					t.Fatalf("link %d of %d and %d: %d, want %d", link, a[i], b[i], got[i], want)
				}
			}
		}
		for link, f := range relations {
			ChainF64([]Link{{LinkLoad, p(a), all}, {link, p(b), all}, {LinkStoreTruths, unsafe.Pointer(&truths[0]), all}, {Op: LinkWordOfTruth},
				{LinkStore, p(words), all}, {Op: LinkEnd}}, n)
			for i := range got {
				if want := bit(f(a[i], b[i])); truths[i] != want || words[i] != int64(want) {
					t.Fatalf("link %d of %d and %d: %d and %d, want %d", link, a[i], b[i], truths[i], words[i], want)
				}
			}
		}
	})
}

// Divisions are exact for all integers, of every number of them, and see divisors of 0.
func TestWordDivisions(t *testing.T) {
	onBoth(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(73, 74))
		for round := range 700 {
			n := round % 350
			a, b, got, want := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
			for i := range a {
				a[i] = anyWord(r)
				for b[i] == 0 {
					b[i] = anyWord(r)
				}
				if i%7 == 0 { // next to a multiple
					a[i] = a[i]/b[i]*b[i] + int64(r.IntN(3)-1)
				}
			}
			for k, f := range []struct{ loop, plain func(dst, a, b []int64) }{{IDivI64, floorDivs}, {ModI64, mods}, {CeilDivI64, ceilDivs}} {
				f.plain(want, a, b)
				f.loop(got, a, b)
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("division %d of %d by %d: %d, want %d; element %d of %d", k, a[i], b[i], got[i], want[i], i, n)
					}
				}
			}
		}
		a, b := make([]int64, 192), make([]int64, 192)
		Fill(b, 3)
		for at := range b {
			var zeros Failures
			code := []Link{{LinkLoad, unsafe.Pointer(&a[0]), ^uint64(0)}, {LinkOther, unsafe.Pointer(&zeros), 0},
				{LinkModWords, unsafe.Pointer(&b[0]), ^uint64(0)}, {Op: LinkEnd}}
			ChainF64(code, len(b))
			if zeros != (Failures{}) {
				t.Fatal("a divisor of 3 counts as 0")
			}
			b[at] = 0
			ChainF64(code, len(b))
			if b[at] = 3; zeros == (Failures{}) {
				t.Fatalf("a divisor of 0 at %d is not seen", at)
			}
		}
	})
}

// Conversions between the lanes' types are those of Go, of numbers that are integers.
func TestLaneConversions(t *testing.T) {
	hard := []float64{0, math.Copysign(0, -1), .5, -.5, .9999999999999999, -.9999999999999999, 1.5, -1.5, 2.5, 0x1p31, -0x1p31, 0x1p32 - .5, 0x1p52 - .5,
		0x1p52 + 1, 0x1p53 - 1, -0x1p53 + 1, 0x1p62, -0x1p62, 0x1.fffffffffffffp62, -0x1.fffffffffffffp62, 0x1p63, -0x1p63, 0x1.8p63, -0x1.0000000000001p63,
		1e300, -1e300, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, 1e-40, 3.4028235677973366e+38, 16777217, 1.00000005960464477539}
	all := ^uint64(0)
	onBoth(t, func(t *testing.T) {
		const n = 4096
		r := rand.New(rand.NewPCG(75, 76))
		x, y, z, u := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		w, got := make([]int64, n), make([]int64, n)
		f, g := make([]float32, n), make([]float32, n)
		for i := range x {
			switch i % 3 {
			case 0:
				x[i] = hard[r.IntN(len(hard))]
			case 1:
				x[i] = math.Ldexp(r.Float64()-.5, r.IntN(70))
			default:
				x[i] = math.Float64frombits(r.Uint64())
			}
			w[i], f[i] = anyWord(r), math.Float32frombits(r.Uint32())
		}
		words := slices.Clone(x)
		for i, v := range words {
			if !IsWord(v) {
				words[i] = float64(w[i]) / 2
			}
		}
		var none Failures
		run := func(code ...Link) { ChainF64(append(code, Link{Op: LinkEnd}), n) }
		run(Link{LinkLoad, unsafe.Pointer(&words[0]), all}, Link{LinkOther, unsafe.Pointer(&none), 0}, Link{Op: LinkWordOfNumber},
			Link{LinkStore, unsafe.Pointer(&got[0]), all},
			Link{LinkLoad, unsafe.Pointer(&w[0]), all}, Link{Op: LinkNumberOfWord}, Link{LinkStore, unsafe.Pointer(&y[0]), all},
			Link{LinkLoad, unsafe.Pointer(&x[0]), all}, Link{LinkStoreFloats, unsafe.Pointer(&g[0]), all}, Link{Op: LinkRoundFloats},
			Link{LinkStore, unsafe.Pointer(&z[0]), all},
			Link{LinkLoad, unsafe.Pointer(&w[0]), all}, Link{Op: LinkFloatOfWord}, Link{LinkStore, unsafe.Pointer(&u[0]), all})
		if none != (Failures{}) {
			t.Fatal("integers count as none")
		}
		for i := range x {
			if want := int64(words[i]); got[i] != want {
				t.Fatalf("int64(%v) = %d, want %d", words[i], got[i], want)
			}
			if want := float64(w[i]); y[i] != want {
				t.Fatalf("float64(%d) = %v, want %v", w[i], y[i], want)
			}
			if want := float32(w[i]); u[i] != float64(want) {
				t.Fatalf("float32(%d) = %v, want %v", w[i], u[i], want)
			}
			if want := float32(x[i]); !same(float64(g[i]), float64(want)) || !same(z[i], float64(want)) {
				t.Fatalf("float32(%v) = %v and %v, want %v", x[i], g[i], z[i], want)
			}
		}
		run(Link{LinkLoadFloats, unsafe.Pointer(&f[0]), all}, Link{LinkStore, unsafe.Pointer(&y[0]), all}, Link{LinkStoreFloats, unsafe.Pointer(&g[0]), all})
		for i := range f {
			if !same(y[i], float64(f[i])) || !same(float64(g[i]), float64(f[i])) {
				t.Fatalf("%v comes as %v and goes as %v", f[i], y[i], g[i])
			}
		}
	})
}

// A number that is no int64 is seen at every place, and the least and the greatest that are one are not.
func TestLaneWordsOutside(t *testing.T) {
	outside := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0x1p63, -0x1.0000000000001p63, 1e300, -1e300}
	inside := []float64{-0x1p63, 0x1.fffffffffffffp62, -.5}
	onBoth(t, func(t *testing.T) {
		x, got := make([]float64, 192), make([]int64, 192)
		for at := range x {
			for _, v := range append(outside, inside...) {
				clear(x)
				x[at] = v
				first, bad := v, !IsWord(v)
				if at+70 < len(x) { // another group's
					if x[at+70] = -1e200; !bad {
						first, bad = -1e200, true
					}
				}
				var none Failures
				ChainF64([]Link{{LinkLoad, unsafe.Pointer(&x[0]), ^uint64(0)}, {LinkOther, unsafe.Pointer(&none), 0}, {Op: LinkWordOfNumber},
					{LinkStore, unsafe.Pointer(&got[0]), ^uint64(0)}, {Op: LinkEnd}}, len(x))
				if seen := none != (Failures{}); seen != bad || Words(make([]int64, len(x)), x) == bad {
					t.Fatalf("%v at %d: a failure is %v", v, at, seen)
				}
				if IsWord(v) && got[at] != int64(v) {
					t.Fatalf("%v at %d is %d", v, at, got[at])
				}
				for _, found := range none { // the first says which element it is
					if found != 0 {
						if got := math.Float64frombits(found); !same(got, first) {
							t.Fatalf("%v at %d is told as %v", first, at, got)
						}
						break
					}
				}
			}
		}
	})
}
