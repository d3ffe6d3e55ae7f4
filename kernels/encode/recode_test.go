package encode

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// Whatever is replaced by recode, of every type, near one another or far apart: the definition's
// bits.
func TestRecodeIsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 74))
	d := rowtest.RowNamed(t, define.Resolved(Rows()), "recode")
	for try := range 80 {
		e := []types.Elem{types.F64, types.F32, types.I64, types.Bool}[try%4]
		spread := []float64{5, 1e3, 1e12}[r.IntN(3)]
		some := func() value.Scalar { return value.F64(math.Round(spread * (r.Float64() - .3))).Convert(e) }
		x, from, to := value.New(e, 40, 30), value.New(e, 12, 1), value.New(e, 12, 1)
		for k := range 12 {
			from.Set(k, 0, some())
			to.Set(k, 0, some())
		}
		if e.IsFloat() {
			from.Set(3, 0, define.Number(e, math.NaN()))
			from.Set(4, 0, define.Number(e, math.Copysign(0, -1)))
		}
		for i := range x.Rows {
			for j := range x.Cols {
				if x.Set(i, j, some()); r.IntN(2) == 0 {
					x.Set(i, j, from.At(r.IntN(12), 0))
				}
			}
		}
		c := &op.Call{Def: d, In: []value.Value{x, from, to}, Type: x.Type()}
		want, err := d.Ref(c)
		if err != nil {
			t.Fatal(err)
		}
		c.Out = value.New(e, x.Rows, x.Cols)
		if err := d.Kernel(c); err != nil {
			t.Fatal(err)
		}
		if !value.Same(c.Out, want) {
			t.Fatalf("recode of %v, spread %v", e, spread)
		}
	}
}
