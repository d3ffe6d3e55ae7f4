package exact

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Sums of scattered elements, of parts that are merged, are the exact sums, or said to be lost.
func TestScattered(t *testing.T) {
	for name, gen := range kinds {
		r := rand.New(rand.NewPCG(31, uint64(len(name))))
		kept := 0
		for range 40 {
			const columns, parts = 9, 3
			var all [columns][]float64
			var pairs [parts][columns]Pair
			for part := range parts {
				at, x := make([]int32, r.IntN(200)), make([]float64, 200)
				for k := range at {
					at[k] = int32(r.IntN(columns))
					x[k] = gen(r)
					if v := all[at[k]]; r.IntN(3) == 0 && len(v) > 0 {
						x[k] = -v[r.IntN(len(v))]
					}
					all[at[k]] = append(all[at[k]], x[k])
				}
				AddScattered(pairs[part][:], at, x)
			}
			for j := range columns {
				sum := pairs[0][j]
				for _, p := range pairs[1:] {
					sum.Merge(p[j])
				}
				if sum.Lost() {
					continue
				}
				kept++
				want, want32 := oracle(all[j])
				if got := sum.Round(); !same(got, want) || sum.Round32() != want32 {
					t.Fatalf("%s: %v: %v, want %v", name, all[j], got, want)
				}
			}
		}
		if name == "uniform" && kept == 0 {
			t.Errorf("%s: every sum is lost", name)
		}
	}
	sum := make([]Pair, 1)
	if AddScattered(sum, []int32{0, 0}, []float64{math.Inf(1), 1}); !sum[0].Lost() {
		t.Error("infinity is summed")
	}
}
