package interp

import (
	"math"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// shapes are loops in the words of nobody's program.
var shapes = []struct{ name, text string }{
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
	{"narrow", `
nest(%0: f64[], %1: f64, %2: f64) (i: 0..%0.rows, j: 0..2) {
  v0 = load %0[i, j]
  v1 = load %1
  v2 = mul v0, v1
  store out0[i, j] v2
} : (f64[%0.rows, %0.cols-2])`},
	{"row sums", `
nest(%0: f64[], %1: f64, %2: f64) (i: 0..%0.rows, j: 0..%0.cols-2) {
  v0 = load %0[i, j]
  v1 = mul v0, v0
  reduce out0[i, 0] v1
} : (sum f64[%0.rows, 1])`},
	{"sums inside", `
nest(%0: f64[], %1: f64, %2: f64) (i: 0..%0.cols) {
  v0 = f64 0
  v1 = for q: 0..%0.rows (v2 = v0) {
    v3 = load %0[q, i]
    v4 = add v2, v3
    next v4
  }
  store out0[i, 0] v1
} : (f64[%0.cols, 1])`},
}

func BenchmarkWindow(b *testing.B) {
	const rows, cols = 16, 1026
	x := value.New(types.F64, rows, cols)
	for k := range x.F64 {
		x.F64[k] = math.Mod(float64(k)*0.618, 2) - 1
	}
	in := []value.Value{x, value.F64(1.5), value.F64(2.5)}
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			n := parse(b, s.text)
			w := compile(b, n).Begin(in, []*value.Dense{value.New(types.F64, cols, cols-2)})
			r1, l1 := rows, cols-2
			if len(n.Space) == 1 {
				r1, l1 = 1, cols
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if flagged, err := w.Window(0, r1, 0, l1, nil); flagged || err != nil {
					b.Fatal(flagged, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(rows*(cols-2)), "ns/point")
		})
	}
	// What the loops of package vec alone take for the chain, on registers of a batch.
	b.Run("chain by loops", func(b *testing.B) {
		var one, two, t [batchLanes]float64
		vec.Fill(one[:], 1.5)
		vec.Fill(two[:], 2.5)
		out, root := make([]float64, len(x.F64)), vec.Map1F64(math.Sqrt)
		b.ResetTimer()
		for range b.N {
			for at := 0; at+batchLanes <= len(x.F64); at += batchLanes {
				vec.Mul(t[:], x.F64[at:at+batchLanes], one[:])
				vec.Add(t[:], t[:], two[:])
				root(t[:], t[:])
				vec.Mul(t[:], t[:], two[:])
				vec.Sub(out[at:at+batchLanes], t[:], one[:])
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(x.F64)), "ns/point")
	})
}

// TestAllocations: a window allocates nothing once buffers have grown.
func TestAllocations(t *testing.T) {
	x := value.New(types.F64, 16, 1026)
	for k := range x.F64 {
		x.F64[k] = math.Mod(float64(k)*0.618, 2) - 1
	}
	in := []value.Value{x, value.F64(1.5), value.F64(2.5)}
	for _, s := range shapes {
		n := parse(t, s.text)
		w := compile(t, n).Begin(in, []*value.Dense{value.New(types.F64, 1026, 1024)})
		r1, l1 := 16, 1024
		if len(n.Space) == 1 {
			r1, l1 = 1, 1026
		}
		stopped := func() bool { return false }
		if a := testing.AllocsPerRun(3, func() { w.Window(0, r1, 0, l1, stopped) }); a != 0 {
			t.Errorf("%s: a window allocates %v times", s.name, a)
		}
	}
}
