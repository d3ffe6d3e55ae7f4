package launch

import (
	"math"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
)

// BenchmarkReduce sums numbers of similar size in windows that a second-level cache holds; slice is
// what package exact takes for it.
func BenchmarkReduce(b *testing.B) {
	const n, window = 1 << 16, 1 << 13
	x := value.New(types.F64, n, 1)
	for k := range x.F64 {
		x.F64[k] = math.Mod(float64(k)*0.618, 2) - 1
	}
	perElement := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
	}
	for _, class := range []string{"sum", "mean", "var", "norm", "min", "argmin"} {
		b.Run(class, func(b *testing.B) {
			args, out := "v0", "f64"
			if class == "argmin" {
				args, out = "v0, v1", "i64"
			}
			nest, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = index i
  reduce out0[0, 0] `+args+`
} : (`+class+" "+out+`[1, 1])`, loop.Standard{})
			if err != nil {
				b.Fatal(err)
			}
			d := value.New(nest.Results[0].Elem, 1, 1)
			r, err := New(nest).Begin([]value.Value{x}, []*value.Dense{d})
			if err != nil {
				b.Skip(err)
			}
			w := r.Worker()
			b.ResetTimer()
			for range b.N {
				for at := 0; at < n; at += window {
					if flagged, err := w.Window(0, 1, at, at+window, nil); flagged || err != nil {
						b.Fatal(flagged, err)
					}
				}
			}
			perElement(b)
		})
	}
	b.Run("slice", func(b *testing.B) {
		for range b.N {
			exact.Of(x.F64, false)
		}
		perElement(b)
	})
}
