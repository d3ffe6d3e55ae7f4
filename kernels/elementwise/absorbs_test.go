package elementwise

import (
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// Rows that say that zeros of an operand make zeros do so for ordinary numbers; what they say beyond
// that, of inf, nan and a divisor 0, is a rule for elements that a sparse matrix does not store.
func TestAbsorbs(t *testing.T) {
	n := 0
	for _, d := range Rows() {
		if d.Absorbs == op.NoZeros {
			continue
		}
		n++
		for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
			sig := &op.Sig{Def: d, In: []types.Type{types.ScalarOf(e), types.ScalarOf(e)}}
			out, err := d.Type(sig)
			if err != nil {
				continue
			}
			zero, three := value.I64(0).Convert(e), value.I64(3).Convert(e)
			pairs := [][]value.Scalar{{zero, three}}
			if d.Absorbs == op.EachZero {
				pairs = append(pairs, []value.Scalar{three, zero})
			}
			for _, x := range pairs {
				if y, err := define.ApplyElt(d, out.Elem, x); err != nil || y.True() {
					t.Errorf("%s of %v is %v (%v)", d.Name, x, y, err)
				}
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d rows absorb zeros", n)
	}
}
