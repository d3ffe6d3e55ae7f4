package value

import (
	"math"
	"testing"

	"flow/ir/types"
)

func TestViewsAndBytes(t *testing.T) {
	for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
		d := Over(make([]byte, 8*12), e, 3, 4)
		for i := range 3 {
			for j := range 4 {
				d.Set(i, j, I64(int64(i*4+j)&1))
			}
		}
		v := d.View(1, 1, 2, 3)
		c := v.Clone()
		if !Same(v, c) || c.At(1, 2).Float() != d.At(2, 3).Float() {
			t.Errorf("%v: view and clone differ", e)
		}
		if len(c.Bytes()) != 6*e.Size() {
			t.Errorf("%v: %d bytes", e, len(c.Bytes()))
		}
		c.Set(0, 0, I64(1-int64(c.At(0, 0).Float())))
		if Same(v, c) {
			t.Errorf("%v: a changed element was not seen", e)
		}
	}
}

func TestSameIsBitwise(t *testing.T) {
	if Same(F64(0), F64(math.Copysign(0, -1))) || !Same(F64(math.NaN()), F64(math.NaN())) || Same(F64(1), I64(1)) {
		t.Error("Same must compare bits and types")
	}
}

func TestConvert(t *testing.T) {
	if F64(-2.7).Convert(types.I64).I != -2 || F64(0.1).Convert(types.F32).F != float64(float32(0.1)) || !I64(3).Convert(types.Bool).True() {
		t.Error("conversion")
	}
}
