package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Near sums of columns are exact or refused, on each instruction set, for every number of columns and elements of all sizes; of numbers that are
// near one another they are not refused.
func TestNearColumns(t *testing.T) {
	sets(func(name string) {
		r := rand.New(rand.NewPCG(28, 8))
		var near NearColumns
		vouched := 0
		for round := range 400 {
			rows, cols, ld := 1+r.IntN(MaxNearRows), 1+r.IntN(40), 0
			if round%4 > 0 {
				rows = 1 + r.IntN(20)
			}
			ld = cols + r.IntN(3)
			wide := []int{0, 0, 1, 20, 80, 1000}[r.IntN(6)]
			x, y := make([]float64, rows*ld), make([]float32, rows*ld)
			for k := range x {
				x[k] = math.Ldexp(r.NormFloat64(), r.IntN(wide+1)-wide/2)
				if r.IntN(40) == 0 {
					x[k] = 0
				}
				y[k] = float32(x[k])
			}
			if round%50 == 49 {
				k := r.IntN(rows)*ld + r.IntN(cols)
				x[k] = []float64{math.Inf(1), math.NaN()}[r.IntN(2)]
				y[k] = float32(x[k])
			}
			s, u := make([]float64, cols), make([]float64, cols)
			check := func(what string, ok bool, at func(k int) float64) {
				if !ok {
					return
				}
				if vouched++; name == "plain" {
					t.Fatal("summed without vectors")
				}
				for j := range cols {
					want := new(big.Float).SetPrec(4400)
					for i := range rows {
						if v := at(i*ld + j); v-v == 0 {
							want.Add(want, new(big.Float).SetFloat64(v))
						} else {
							t.Fatalf("%s: %s: %v is summed", name, what, v)
						}
					}
					got := new(big.Float).SetPrec(4400).SetFloat64(s[j])
					if got.Add(got, new(big.Float).SetFloat64(u[j])); got.Cmp(want) != 0 {
						t.Fatalf("%s: %s of %d x %d, column %d: %v + %v, want %v", name, what, rows, cols, j, s[j], u[j], want)
					}
				}
			}
			check("float64", near.Sum(s, u, x, ld, rows, cols), func(k int) float64 { return x[k] })
			check("float32", near.Sum32(s, u, y, ld, rows, cols, false), func(k int) float64 { return float64(y[k]) })
			check("squares", near.Sum32(s, u, y, ld, rows, cols, true), func(k int) float64 { return float64(y[k]) * float64(y[k]) })
		}
		if name != "plain" && vouched < 200 {
			t.Errorf("%s: only %d of 1200 sums", name, vouched)
		}
		t.Logf("%s: %d sums", name, vouched)
	})
}
