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

// TestGroups compares the reductions by group with their definitions: on columns that are views, keys
// of floats with nan and fractions, sums that are not finite or too wide for a pair of floats, and
// groups of no rows.
func TestGroups(t *testing.T) {
	rows := []*op.Def{row(t, "group.sum"), row(t, "group.min"), row(t, "group.max"), row(t, "group.var"), row(t, "group.stddev")}
	r := rand.New(rand.NewPCG(95, 96))
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0x1p-1074, 1e300, -1e300, 1e-300}
	for i := range 1000 {
		row := rows[i%len(rows)]
		n, k := 1+r.IntN(3000), 1+r.IntN(2)
		in := []value.Value{value.Bool(r.IntN(3) > 0)}
		e := []types.Elem{types.F64, types.F64, types.I64, types.Bool, types.Str}[r.IntN(5)]
		if i%len(rows) > 2 {
			e = types.F64
		} else if i%len(rows) > 0 {
			e = []types.Elem{types.F64, types.I64}[r.IntN(2)]
		}
		if e != types.Str {
			x := value.New(e, n, 3)
			for i := range n {
				wide := int64(r.Uint64())
				if e == types.Bool {
					wide &= 1
				}
				x.Set(i, 1, value.Scalar{Elem: e, I: wide, F: r.NormFloat64() * math.Ldexp(1, r.IntN(80)*r.IntN(2))})
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
			lo, by, many = append(lo, r.IntN(9)-4), append(by, []int{1, 1, -1, 2, -3}[r.IntN(5)]), append(many, 1+r.IntN(6)+40*(i%97/96))
		}
		attrs := op.MakeAttrs(rowtest.Attr("by", op.Ints(by...)), rowtest.Attr("lo", op.Ints(lo...)), rowtest.Attr("n", op.Ints(many...)))
		if _, ok := rowtest.Check(t, row, attrs, in); !ok {
			t.Fatalf("%s%v of %v is refused", row.Name, attrs, in)
		}
	}
}
