package order

import (
	"math"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// TestBelow: the kernel that halves counts what the definition counts, of integers that f64 does not
// tell apart, of both zeros, nan and infinities, and of a number of another type.
func TestBelow(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ints := []value.Scalar{value.I64(-1 << 63), value.I64(0), value.I64(1 << 53), value.I64(1<<53 + 1), value.I64(1<<63 - 1)}
	floats := []value.Scalar{value.F64(-inf), value.F64(math.Copysign(0, -1)), value.F64(0), value.F64(1 << 53), value.F64(3.5), value.F64(inf), value.F64(nan)}
	column := func(e types.Elem, x ...value.Scalar) *value.Dense {
		d := value.New(e, len(x), 1)
		for i, v := range x {
			d.Set(i, 0, v)
		}
		return d
	}
	d := below()
	for _, sorted := range []*value.Dense{
		column(types.I64), column(types.I64, value.I64(0)), column(types.I64, ints[0], ints[1], ints[1], ints[2], ints[3], ints[3], ints[4]),
		column(types.F64, floats[0], floats[2], floats[1], floats[4], floats[4], floats[3], floats[5], floats[6], floats[6]),
	} {
		for _, x := range append(ints, floats...) {
			for _, equal := range []bool{false, true} {
				c := &op.Call{In: []value.Value{x, sorted}, Type: types.ScalarOf(types.I64), Attrs: op.MakeAttrs(op.Attr{Name: "equal", Val: op.Bool(equal)})}
				want, err := d.Ref(c)
				if err != nil {
					t.Fatal(err)
				}
				if err := d.Kernel(c); err != nil || c.Out != want {
					t.Errorf("below %v, equal %v, in %v: %v, %v, want %v", x, equal, sorted, c.Out, err, want)
				}
			}
		}
	}
}
