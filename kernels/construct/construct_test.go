package construct

import (
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// Constructors that claim one value for all elements make it everywhere.
func TestAlike(t *testing.T) {
	n := 0
	for _, d := range Rows() {
		if d.Alike == nil {
			continue
		}
		n++
		a := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(2)}, op.Attr{Name: "m", Val: op.Int(3)}, op.Attr{Name: "x", Val: op.Float(2.5)})
		v := d.Alike(a)
		want := v.F
		if v.Kind == op.IntVal {
			want = float64(v.I)
		}
		out := value.New(types.F64, 2, 3)
		if err := d.Kernel(&op.Call{Def: d, Attrs: a, Type: out.Type(), Out: out}); err != nil {
			t.Fatal(err)
		}
		for i, x := range out.F64 {
			if x != want {
				t.Errorf("%s: element %d is %v, and all are said to be %v", d.Name, i, x, want)
			}
		}
	}
	if n < 3 {
		t.Errorf("only %d constructors have elements that are alike", n)
	}
}
