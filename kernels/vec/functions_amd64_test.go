package vec

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// Both machines give the bits of the definition, for any number of elements, in place too, and in float32.
func TestFunctionsOnMachines(t *testing.T) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	wide := haveAVX512
	defer func() { haveAVX512 = wide }()
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 1, -1, 0x1p-1022, math.MaxFloat64,
		-math.MaxFloat64, 1e22, 0x1p30, 709.782712893384, 710.4758600739439, -745.1332191019411, 0x1p-54, 0x1p-28, math.Sqrt2, -.29, 0x1.6ac5b262ca1ffp+849,
		.5, -.5, 2.5, 0x1p60, 0x1p61, .7, 2, 4, math.Nextafter(1, 2)}
	r := rand.New(rand.NewPCG(31, 32))
	for _, f := range Functions {
		loop, loop32 := f.LoopF64(), f.LoopF32()
		for round := range 400 {
			n := 512
			if round%2 == 0 {
				n = r.IntN(300)
			}
			x, x32 := make([]float64, n), make([]float32, n)
			for i := range x {
				switch round % 5 {
				case 0:
					x[i] = math.Float64frombits(r.Uint64())
				case 1:
					x[i] = special[r.IntN(len(special))]
				default:
					x[i] = argument(r, f, i)
				}
				x32[i] = float32(x[i])
			}
			for _, haveAVX512 = range []bool{wide, false} {
				got, got32 := append([]float64(nil), x...), append([]float32(nil), x32...)
				loop(got, got)
				loop32(got32, got32)
				for i := range x {
					if want := f.F(x[i]); !same(got[i], want) {
						t.Fatalf("%s(%v) = %v, want %v; element %d of %d, AVX-512 %v", f.Name, x[i], got[i], want, i, n, haveAVX512)
					}
					if want := float32(f.F32(float64(x32[i]))); !same(float64(got32[i]), float64(want)) {
						t.Fatalf("f32 %s(%v) = %v, want %v; element %d of %d, AVX-512 %v", f.Name, x32[i], got32[i], want, i, n, haveAVX512)
					}
				}
			}
		}
	}
}

// In float32 the machines give the function of float32 rounded once more, for every argument if FLOW_EVERY_F32 is set (minutes), else for
// one of some thousands.
func TestFunctionsOfEveryFloat32(t *testing.T) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	wide := haveAVX512
	defer func() { haveAVX512 = wide }()
	step := uint64(9973)
	if os.Getenv("FLOW_EVERY_F32") != "" {
		step = 1
	}
	x, want, got := make([]float32, 1<<12), make([]float32, 1<<12), make([]float32, 1<<12)
	for _, f := range Functions {
		loop, plain := f.LoopF32(), Map1F32(f.F32)
		for bits := uint64(0); bits < 1<<32; {
			for i := range x {
				x[i] = math.Float32frombits(uint32(bits))
				bits += step
			}
			plain(want, x)
			for _, haveAVX512 = range []bool{wide, false} {
				loop(got, x)
				for i := range x {
					if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
						t.Fatalf("%s(%v) = %v, want %v; AVX-512 %v", f.Name, x[i], got[i], want[i], haveAVX512)
					}
				}
			}
		}
	}
}

// BenchmarkFunctions is a slab in the first-level cache: by the machine, by the definition, and package math's.
func BenchmarkFunctions(b *testing.B) {
	x, y := make([]float64, 512), make([]float64, 512)
	for i := range x {
		x[i] = .01 + float64(i)/100
	}
	library := map[string]func(float64) float64{"exp": math.Exp, "expm1": math.Expm1, "tanh": math.Tanh, "sinh": math.Sinh, "cosh": math.Cosh,
		"sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		"log":     math.Log, "log2": math.Log2, "log10": math.Log10, "log1p": math.Log1p, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan,
		"asin": math.Asin, "acos": math.Acos, "atan": math.Atan, "cbrt": math.Cbrt,
		"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) }}
	wide := haveAVX512
	defer func() { haveAVX512 = wide }()
	for _, f := range Functions {
		for _, way := range []struct {
			name string
			run  func(dst, a []float64)
			wide bool
		}{{"avx512", f.LoopF64(), true}, {"avx2", f.LoopF64(), false}, {"go", Map1F64(f.F), wide}, {"math", Map1F64(library[f.Name]), wide}} {
			b.Run(f.Name+"/"+way.name, func(b *testing.B) {
				if haveAVX512 = way.wide; way.wide && !wide {
					b.Skip("no AVX-512")
				}
				for b.Loop() {
					way.run(y, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/elem")
			})
		}
	}
}

// BenchmarkFunctions32 is the same of float32, on the machines.
func BenchmarkFunctions32(b *testing.B) {
	x, y := make([]float32, 512), make([]float32, 512)
	for i := range x {
		x[i] = .01 + float32(i)/700
	}
	wide := haveAVX512
	defer func() { haveAVX512 = wide }()
	for _, f := range Functions {
		loop := f.LoopF32()
		for _, way := range []string{"avx512", "avx2"} {
			b.Run(f.Name+"/"+way, func(b *testing.B) {
				if haveAVX512 = way == "avx512"; haveAVX512 && !wide {
					b.Skip("no AVX-512")
				}
				for b.Loop() {
					loop(y, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/elem")
			})
		}
	}
}

// The same of functions of two numbers, of which either may be the result's memory.
func TestFunctionsOfTwoOnMachines(t *testing.T) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	wide := haveAVX512
	defer func() { haveAVX512 = wide }()
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 1, -1, 2, 3, -3, 1.5, .5, 0x1p-1022,
		math.MaxFloat64, -math.MaxFloat64, 1e22, 0x1p53, 0x1p53 - 1, .1, -.1, 7, 1e-300, 1e300, -2.5}
	r := rand.New(rand.NewPCG(41, 42))
	for _, f := range Functions2 {
		loop, loop32 := f.LoopF64(), f.LoopF32()
		for round := range 400 {
			n := round // every tail
			x, y, x32, y32 := make([]float64, n), make([]float64, n), make([]float32, n), make([]float32, n)
			for i := range x {
				switch round % 4 {
				case 0:
					x[i], y[i] = math.Float64frombits(r.Uint64()), math.Float64frombits(r.Uint64())
				case 1:
					x[i], y[i] = special[r.IntN(len(special))], special[r.IntN(len(special))]
				case 2:
					x[i], y[i] = anyPair(r)
				default:
					x[i], y[i] = pair(r, f, i)
				}
				x32[i], y32[i] = float32(x[i]), float32(y[i])
			}
			for _, haveAVX512 = range []bool{wide, false} {
				first, second := append([]float64(nil), x...), append([]float64(nil), y...)
				first32, second32 := append([]float32(nil), x32...), append([]float32(nil), y32...)
				loop(first, first, y)
				loop(second, x, second)
				loop32(first32, first32, y32)
				loop32(second32, x32, second32)
				for i := range x {
					if want := f.F(x[i], y[i]); !same(first[i], want) || !same(second[i], want) {
						t.Fatalf("%s(%v, %v) = %v and %v, want %v; element %d of %d, AVX-512 %v", f.Name, x[i], y[i], first[i], second[i], want, i, n, haveAVX512)
					}
					want := float64(float32(f.F32(float64(x32[i]), float64(y32[i]))))
					if !same(float64(first32[i]), want) || !same(float64(second32[i]), want) {
						t.Fatalf("f32 %s(%v, %v) = %v, want %v; element %d of %d, AVX-512 %v", f.Name, x32[i], y32[i], first32[i], want, i, n, haveAVX512)
					}
				}
			}
		}
	}
}

// BenchmarkFunctionsOfTwo is a slab in the first-level cache: by the machine, by the definition, and package math's.
func BenchmarkFunctionsOfTwo(b *testing.B) {
	x, y, z := make([]float64, 512), make([]float64, 512), make([]float64, 512)
	for i := range x {
		x[i], y[i] = .01+float64(i)/100, 2.2-float64(i)/300
	}
	library := map[string]func(x, y float64) float64{"pow": math.Pow, "atan2": math.Atan2, "mod": math.Mod,
		"idiv": func(x, y float64) float64 { return math.Floor(x / y) }}
	wide := haveAVX512
	defer func() { haveAVX512 = wide }()
	for _, f := range Functions2 {
		for _, way := range []struct {
			name string
			run  func(dst, a, b []float64)
			wide bool
		}{{"avx512", f.LoopF64(), true}, {"avx2", f.LoopF64(), false}, {"go", Map2F64(f.F), wide}, {"math", Map2F64(library[f.Name]), wide}} {
			b.Run(f.Name+"/"+way.name, func(b *testing.B) {
				if haveAVX512 = way.wide; way.wide && !wide {
					b.Skip("no AVX-512")
				}
				for b.Loop() {
					way.run(z, x, y)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/elem")
			})
		}
	}
}
