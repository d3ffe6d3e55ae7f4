package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Rows of every length, read ahead or not, give what the plain loops give.
func TestSparseRows(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for trial := range 60 {
		rows, n := r.IntN(200), 1+r.IntN(500)
		ptr := []int64{int64(r.IntN(5))}
		for range rows {
			length := r.IntN(12)
			switch r.IntN(20) {
			case 0:
				length = 0
			case 1:
				length = r.IntN(700)
			}
			ptr = append(ptr, ptr[len(ptr)-1]+int64(length))
		}
		entries := ptr[rows] + int64(r.IntN(200))
		if trial%4 == 0 {
			entries = ptr[rows]
		}
		col, val := make([]int32, entries), make([]float64, entries)
		for k := range col {
			col[k], val[k] = int32(r.IntN(n)), r.NormFloat64()
		}
		xi, xf := make([]int64, n), make([]float64, n)
		for k := range xi {
			xi[k], xf[k] = r.Int64()-r.Int64(), math.Exp(20*r.NormFloat64())
		}
		start := []int64{0, math.MinInt64, math.MaxInt64}[trial%3]
		most, least := make([]int64, rows), make([]int64, rows)
		sum, dot := make([]float64, rows), make([]float64, rows)
		longest := MaxRowsI64(most, ptr, col, xi, start)
		if l := MinRowsI64(least, ptr, col, xi, start); l != longest {
			t.Fatalf("longest rows %d and %d", longest, l)
		}
		SumRowsF64(sum, ptr, col, xf)
		DotRowsF64(dot, ptr, col, val, xf)
		odd := make([]float64, n) // numbers that an instruction treats otherwise than max and min do
		for k := range odd {
			odd[k] = []float64{xf[k], -xf[k], 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), -xf[k]}[r.IntN(7)]
			if trial%3 == 0 && r.IntN(40) == 0 {
				odd[k] = math.Float64frombits(0xfff8000000000000 | uint64(r.IntN(9)))
			}
		}
		for _, v := range [][]float64{nil, val} {
			got := [2][]float64{make([]float64, rows), make([]float64, rows)}
			if a, b := MaxRowsF64(got[0], ptr, col, v, odd), MinRowsF64(got[1], ptr, col, v, odd); a != longest || b != longest {
				t.Fatalf("longest rows %d, %d and %d", longest, a, b)
			}
			for i := range rows {
				want := [2]float64{}
				for k := ptr[i]; k < ptr[i+1]; k++ {
					p := odd[col[k]]
					if v != nil {
						p *= v[k]
					}
					want[0], want[1] = max(want[0], p), min(want[1], p)
				}
				for q, w := range want {
					if w += 0; math.Float64bits(w) != math.Float64bits(got[q][i]) && !(w != w && math.Float64bits(got[q][i]) == math.Float64bits(math.NaN())) {
						t.Fatalf("row %d of %d entries: %v, not %v", i, ptr[i+1]-ptr[i], got[q][i], w)
					}
				}
			}
		}
		want := int64(0)
		for i := range rows {
			a, b, s, d := start, start, 0.0, 0.0
			for k := ptr[i]; k < ptr[i+1]; k++ {
				a, b = max(a, xi[col[k]]), min(b, xi[col[k]])
				s, d = s+xf[col[k]], math.FMA(val[k], xf[col[k]], d)
			}
			want = max(want, ptr[i+1]-ptr[i])
			if most[i] != a || least[i] != b || sum[i] != s || dot[i] != d {
				t.Fatalf("row %d of %d entries: max %d %d, min %d %d, sum %v %v, dot %v %v", i, ptr[i+1]-ptr[i], most[i], a, least[i], b, sum[i], s, dot[i], d)
			}
		}
		if longest != want {
			t.Fatalf("the longest row is %d, not %d", longest, want)
		}
	}
}
