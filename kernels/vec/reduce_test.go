package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sets runs f for each instruction set that this CPU has, and for none.
func sets(f func(name string)) {
	wide, narrow := haveAVX512, haveAVX2
	defer func() { haveAVX512, haveAVX2 = wide, narrow }()
	for _, s := range []struct {
		name         string
		wide, narrow bool
	}{{"plain", false, false}, {"AVX2", false, true}, {"AVX-512", true, true}} {
		if haveAVX512, haveAVX2 = s.wide, s.narrow; s.wide && !wide || s.narrow && !narrow {
			continue
		}
		f(s.name)
	}
}

// Every length and every place of the element that matters: each instruction set gives what the
// plain loops give.
func TestReductions(t *testing.T) {
	nan, zero := math.NaN(), math.Copysign(0, -1)
	sets(func(name string) {
		r := rand.New(rand.NewPCG(8, 8))
		for n := 1; n <= 200; n++ {
			x, y, k := make([]float64, n), make([]float32, n), make([]int64, n)
			for i := range x {
				x[i] = math.Ldexp(r.NormFloat64(), r.IntN(100)-50)
				y[i], k[i] = float32(x[i]), int64(r.Uint64())
				if r.IntN(8) == 0 {
					x[i], y[i], k[i] = 0, 0, 0
				}
			}
			for at := range n {
				kept, kept32, keptInt := x[at], y[at], k[at]
				for _, v := range []float64{kept, 0x1p900, -0x1p900, math.Inf(1), math.Inf(-1), nan, -nan, zero} {
					x[at], y[at], k[at] = v, float32(v), int64(math.Float64bits(v))
					checkReductions(t, name, x, y, k)
				}
				x[at], y[at], k[at] = kept, kept32, keptInt
			}
			for i := range x { // zeros of both signs
				x[i] = math.Copysign(0, r.Float64()-.5)
				y[i] = float32(x[i])
			}
			checkReductions(t, name, x, y, k)
		}
	})
}

// Rows that lie apart, and so many that they are not taken at once, give what each gives alone.
func TestReductionsOfRows(t *testing.T) {
	sets(func(name string) {
		r := rand.New(rand.NewPCG(9, 4))
		for _, shape := range [][2]int{{1, 1}, {3, 7}, {40, 8}, {5, 33}, {700, 100}, {2, 70000}} {
			rows, cols := shape[0], shape[1]
			ld := cols + 5
			x, out := make([]float64, rows*ld), make([]float64, rows)
			for i := range x {
				if x[i] = r.NormFloat64(); r.IntN(3) == 0 {
					x[i] = 0
				}
			}
			for _, c := range []struct {
				least bool
				one   func([]float64) float64
			}{{true, slices.Min[[]float64]}, {false, slices.Max[[]float64]}} {
				ExtremeRows(out, x, ld, cols, c.least)
				for i, got := range out {
					if want := c.one(x[i*ld:][:cols]); !same(got, want) {
						t.Fatalf("%s: row %d of %d x %d gives %v, want %v", name, i, rows, cols, got, want)
					}
				}
			}
		}
	})
}

func checkReductions(t *testing.T, name string, x []float64, y []float32, k []int64) {
	t.Helper()
	n := len(x)
	checkExtremes(t, name, x)
	checkExtremes(t, name, y)
	checkExtremes(t, name, k)
	var zx, zy, zk int
	for i := range n {
		if x[i] == 0 {
			zx++
		}
		if y[i] == 0 {
			zy++
		}
		if k[i] == 0 {
			zk++
		}
	}
	if a, b, c := CountNonZero(x), CountNonZero(y), CountNonZero(k); int(a) != n-zx || int(b) != n-zy || int(c) != n-zk {
		t.Fatalf("%s: counts %d, %d, %d of %v, %v, %v", name, a, b, c, x, y, k)
	}
}

func checkExtremes[T Number](t *testing.T, name string, x []T) {
	t.Helper()
	if got, want := Extreme(x, true), slices.Min(x); !same(float64(got), float64(want)) {
		t.Fatalf("%s: the least of %v is %v", name, x, got)
	}
	if got, want := Extreme(x, false), slices.Max(x); !same(float64(got), float64(want)) {
		t.Fatalf("%s: the greatest of %v is %v", name, x, got)
	}
}

// A block of a pipeline in the first-level cache.
func BenchmarkReductions(b *testing.B) {
	x := make([]float64, 3<<10)
	for i := range x {
		x[i] = float64(i * 7919 % 3001)
	}
	sets(func(name string) {
		for _, f := range []struct {
			name string
			f    func() float64
		}{{"least", func() float64 { return Extreme(x, true) }}, {"greatest", func() float64 { return Extreme(x, false) }},
			{"count", func() float64 { return float64(CountNonZero(x)) }}} {
			b.Run(f.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(8 * len(x)))
				for b.Loop() {
					if f.f() < 0 {
						b.Fatal("negative")
					}
				}
			})
		}
	})
}
