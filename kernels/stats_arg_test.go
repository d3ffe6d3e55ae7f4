package kernels

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

// The place of an extreme is that of the definition where it stands in another block than its
// equals, before or behind a nan.
func TestPlacesOfExtremes(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	all := rows(t)
	for try := range 60 {
		e := elemsUnderTest[try%4]
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

// Whatever is replaced by recode, of every type, near one another or far apart: the definition's
// bits.
func TestRecodeIsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 74))
	d := rowtest.RowNamed(t, rows(t), "recode")
	for try := range 80 {
		e := elemsUnderTest[try%4]
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
