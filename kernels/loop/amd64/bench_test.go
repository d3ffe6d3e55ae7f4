//go:build linux && amd64

package amd64

import (
	"math"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// benchmarks are loops in the words of nobody's program: a chain of arithmetic, a function, a stencil, an escape time.
var benchmarks = []struct{ name, text string }{
	{"chain", `
nest(%0: f64[], %1: f64, %2: f64) (i: 0..%0.rows, j: 0..%0.cols-2) {
  v0 = load %0[i, j]
  v1 = load %1
  v2 = mul v0, v1
  v3 = load %2
  v4 = add v2, v3
  v5 = sqrt v4
  v6 = mul v5, v3
  v7 = sub v6, v1
  store out0[i, j] v7
} : (f64[%0.rows, %0.cols-2])`},
	{"exp", `
nest(%0: f64[], %1: f64, %2: f64) (i: 0..%0.rows, j: 0..%0.cols-2) {
  v0 = load %0[i, j]
  v1 = call exp(v0)
  store out0[i, j] v1
} : (f64[%0.rows, %0.cols-2])`},
	{"stencil", `
nest(%0: f64[], %1: f64, %2: f64) (i: 0..%0.rows, j: 0..%0.cols-2) {
  v0 = load %0[i, j]
  v1 = load %0[i, j+1]
  v2 = load %0[i, j+2]
  v3 = add v0, v2
  v4 = f64 0.25
  v5 = mul v3, v4
  v6 = f64 0.5
  v7 = mul v1, v6
  v8 = add v5, v7
  store out0[i, j] v8
} : (f64[%0.rows, %0.cols-2])`},
	{"escape", `
nest(%0: f64[], %1: f64, %2: f64) (i: 0..%0.rows, j: 0..%0.cols-2) {
  v0 = load %0[i, j]
  v1 = f64 0
  v2, v3 = for k: 0..200 (v4 = v1, v5 = v1) {
    v6 = mul v4, v4
    v7 = f64 4
    v8 = lt v7, v6
    break v8
    v9 = mul v6, v4
    v10 = add v9, v0
    v11 = f64 1
    v12 = add v5, v11
    next v10, v12
  }
  store out0[i, j] v3
} : (f64[%0.rows, %0.cols-2])`},
}

func BenchmarkCode(b *testing.B) {
	m := needAVX512(b)
	const rows, cols = 16, 1026
	x := value.New(types.F64, rows, cols)
	for k := range x.F64 {
		x.F64[k] = math.Mod(float64(k)*0.618, 2) - 1
	}
	in := []value.Value{x, value.F64(1.5), value.F64(2.5)}
	for _, c := range benchmarks {
		b.Run(c.name, func(b *testing.B) {
			n, err := loop.Parse(c.text, loop.Standard{})
			if err != nil {
				b.Fatal(err)
			}
			out := value.New(types.F64, rows, cols-2)
			f, err := compile(m, avx512, n, in, []*value.Dense{out})
			if err != nil {
				b.Fatal(err)
			}
			for range b.N {
				f.run(0, rows, 0, cols-2)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(rows*(cols-2)), "ns/point")
			b.ReportMetric(float64(f.Size()), "bytes")
		})
	}
	b.Run("compile", func(b *testing.B) {
		n, err := loop.Parse(benchmarks[1].text, loop.Standard{})
		if err != nil {
			b.Fatal(err)
		}
		for range b.N {
			if _, err := compileFor(avx512, n, make([]Layout, 3), make([]Layout, 1)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
