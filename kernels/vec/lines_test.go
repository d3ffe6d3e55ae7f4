package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Products of sparse rows and lines of any number of columns, read ahead or not, for any range of
// columns, are the chains of their definition.
func TestSparseLines(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for trial := range 240 {
		rows, n, width := r.IntN(40), 1+r.IntN(120), []int{1, 1, 2, 7, 8, 9, 16, 17, 24, 31, 32, 33, 70, 0}[r.IntN(14)]
		ptr, col := []int64{int64(r.IntN(5))}, []int32(nil)
		for range ptr[0] {
			col = append(col, int32(n-1))
		}
		for range rows {
			share := []float64{0, 0.02, 0.2, 0.6, 1}[r.IntN(5)]
			for j := range n {
				if r.Float64() < share {
					col = append(col, int32(j))
				}
			}
			ptr = append(ptr, int64(len(col)))
		}
		if trial%4 != 0 {
			for range r.IntN(60) {
				col = append(col, int32(n-1))
			}
		}
		number := func() float64 {
			return []float64{r.NormFloat64(), r.NormFloat64(), math.Exp(20 * r.NormFloat64()), 0, math.Copysign(0, -1), math.Inf(1), math.NaN()}[min(r.IntN(60), 6-r.IntN(2)*4)]
		}
		var val []float64
		if trial%3 != 0 {
			val = make([]float64, len(col))
			for k := range val {
				val[k] = number()
			}
		}
		matrix := func(rows int) Lines {
			l := Lines{Cols: width, Stride: width + r.IntN(3)}
			l.X = make([]float64, rows*l.Stride)
			for k := range l.X {
				l.X[k] = number()
			}
			return l
		}
		same := func(what string, got, want Lines) {
			t.Helper()
			for k, x := range want.X {
				if y := got.X[k]; math.Float64bits(x) != math.Float64bits(y) && (x == x || y == y) {
					t.Fatalf("%s of %d rows, %d columns, %d wide: element %d is %v, not %v", what, rows, n, width, k, y, x)
				}
			}
		}
		step := func(k int64, x, sum float64) float64 {
			if val == nil {
				return sum + x
			}
			return math.FMA(val[k], x, sum)
		}
		b, got := matrix(n), matrix(rows)
		want := Lines{slices.Clone(got.X), got.Cols, got.Stride}
		DotLines(got, ptr, col, val, b)
		for i := range rows {
			for c := range width {
				sum := 0.0
				for k := ptr[i]; k < ptr[i+1]; k++ {
					sum = step(k, b.row(int(col[k]))[c], sum)
				}
				want.row(i)[c] = sum
			}
		}
		same("DotLines", got, want)
		lo := int32(r.IntN(n + 1))
		hi := lo + int32(r.IntN(n-int(lo)+1))
		if trial%2 == 0 {
			lo, hi = 0, int32(n)
		}
		b, got = matrix(rows), matrix(n)
		want = Lines{slices.Clone(got.X), got.Cols, got.Stride}
		for i := range rows {
			for k := ptr[i]; k < ptr[i+1]; k++ {
				if j := col[k]; lo <= j && j < hi {
					for c, x := range b.row(i) {
						want.row(int(j))[c] = step(k, x, want.row(int(j))[c])
					}
				}
			}
		}
		if width == 1 && got.Stride == 1 && b.Stride == 1 {
			sum := slices.Clone(got.X)
			AddRowsF64(sum, ptr, col, val, b.X, lo, hi)
			same("AddRowsF64", Lines{sum, 1, 1}, want)
		}
		AddLines(got, ptr, col, val, b, lo, hi)
		same("AddLines", got, want)
	}
}
