package reduce

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
	"math"
	"math/rand/v2"
	"testing"
)

// The place of an extreme is that of the definition where it stands in another block than its
// equals, before or behind a nan.
func TestPlacesOfExtremes(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	all := Statistics()
	for try := range 60 {
		e := []types.Elem{types.F64, types.F32, types.I64, types.Bool}[try%4]
		x := value.New(e, 1+r.IntN(3), argBlock+r.IntN(2*argBlock))
		for i := range x.Rows {
			for j := range x.Cols {
				x.Set(i, j, value.F64(float64(r.IntN(1+try%3*1000))-3).Convert(e))
			}
		}
		if e.IsFloat() && try%8 > 3 {
			x.Set(r.IntN(x.Rows), r.IntN(x.Cols), define.Number(e, math.Copysign(0, -1)))
			for range try % 3 {
				x.Set(r.IntN(x.Rows), r.IntN(x.Cols), define.Number(e, math.NaN()))
			}
		}
		for _, name := range []string{"argmin", "argmax"} {
			c := &op.Call{Def: rowtest.RowNamed(t, all, name), In: []value.Value{x}, Type: types.ScalarOf(types.I64)}
			if err := c.Def.Kernel(c); err != nil {
				t.Fatal(err)
			}
			if want := firstExtreme(define.Elements(x), name == "argmin"); c.Out.(value.Scalar).I != want.I {
				t.Errorf("%s of %v: %v, want %v", name, x.Type(), c.Out, want)
			}
		}
	}
}
