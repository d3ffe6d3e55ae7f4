package vec

import (
	"math"
	"math/rand/v2"
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
		-math.MaxFloat64, 1e22, 0x1p30, 709.782712893384, 710.4758600739439, -745.1332191019411, 0x1p-54, 0x1p-28, math.Sqrt2, -.29, 0x1.6ac5b262ca1ffp+849}
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
					if want := float32(f.F(float64(x32[i]))); !same(float64(got32[i]), float64(want)) {
						t.Fatalf("f32 %s(%v) = %v, want %v; element %d of %d, AVX-512 %v", f.Name, x32[i], got32[i], want, i, n, haveAVX512)
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
		"log":     math.Log, "log2": math.Log2, "log10": math.Log10, "log1p": math.Log1p, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan}
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
