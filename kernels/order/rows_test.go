package order

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// TestFirst: the first places of rows in order are those of the definition, for all types, ties, nan,
// zeros of both signs, and rows that come in order or in reverse.
func TestFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	odd := []float64{math.NaN(), math.Copysign(0, -1), 0, math.Inf(1), math.Inf(-1), 1}
	draws := []func(i int) float64{
		func(int) float64 { return r.NormFloat64() },
		func(int) float64 { return odd[r.IntN(len(odd))] },
		func(int) float64 { return float64(r.IntN(9)) },
		func(i int) float64 { return float64(i) },
		func(i int) float64 { return float64(-i) },
	}
	for range 40 {
		n := 1 + r.IntN(200)
		rows := firstPart*(n+selectBlock/4) + r.IntN(3*selectBlock)
		for k, draw := range draws {
			for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
				x := value.New(e, rows, 2)
				for i := range rows {
					if v := draw(i); e.IsFloat() || v == v && !math.IsInf(v, 0) {
						x.Set(i, 1, value.F64(v).Convert(e))
					}
				}
				a := op.MakeAttrs(op.Attr{Name: "by", Val: op.Int(1)}, op.Attr{Name: "desc", Val: op.Bool(r.IntN(2) == 0)})
				from := r.IntN(n)
				room, want := ordering(), orderRef(x, a)
				at := room.of(x, a, []Span{{from, n}})
				if len(at) == rows {
					t.Fatalf("%d rows of %d are not kept aside", n, rows)
				}
				for i := from; i < n; i++ {
					if at[i] != int64(want[i]) {
						t.Fatalf("draw %d of %v, %d rows, %v: place %d has row %d, want %d", k, e, rows, a, i, at[i], want[i])
					}
				}
				room.free()
			}
		}
	}
}
