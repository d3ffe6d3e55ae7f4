package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/rowtest"
)

// TestGroupSums compares group.sums with its definition: on columns that are views, keys of floats with
// nan and fractions, and sums that are not finite or too wide for a pair of floats.
func TestGroupSums(t *testing.T) {
	row := row(t, "group.sums")
	r := rand.New(rand.NewPCG(95, 96))
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0x1p-1074, 1e300, -1e300, 1e-300}
	for range 300 {
		n, k := 1+r.IntN(3000), 1+r.IntN(2)
		in := []value.Value{value.Bool(r.IntN(3) > 0)}
		if e := []types.Elem{types.F64, types.F64, types.I64, types.Bool, types.Str}[r.IntN(5)]; e != types.Str {
			x := value.New(e, n, 3)
			for i := range n {
				x.Set(i, 1, value.Scalar{Elem: e, I: r.Int64N(2), F: r.NormFloat64() * math.Ldexp(1, r.IntN(80)*r.IntN(2))})
				if r.IntN(200) == 0 {
					x.Set(i, 1, value.Scalar{Elem: e, I: 1, F: odd[r.IntN(len(odd))]})
				}
			}
			in[0] = x.View(0, 1, n, 1)
		}
		var lo, by, many []int
		for range k {
			a := value.New([]types.Elem{types.I64, types.F64}[r.IntN(2)], n, 1+r.IntN(2))
			for i := range n {
				a.Set(i, 0, value.Scalar{Elem: a.Elem, I: r.Int64N(12) - 3, F: []float64{float64(r.Int64N(12) - 3), 0.5, math.NaN(), math.Copysign(0, -1)}[max(0, r.IntN(9)-5)]})
			}
			in = append(in, a.View(0, 0, n, 1))
			lo, by, many = append(lo, r.IntN(9)-4), append(by, []int{1, 1, -1, 2, -3}[r.IntN(5)]), append(many, 1+r.IntN(6))
		}
		attrs := op.MakeAttrs(rowtest.Attr("by", op.Ints(by...)), rowtest.Attr("lo", op.Ints(lo...)), rowtest.Attr("n", op.Ints(many...)))
		if _, ok := rowtest.Check(t, row, attrs, in); !ok {
			t.Fatalf("group.sums%v of %v is refused", attrs, in)
		}
	}
}
