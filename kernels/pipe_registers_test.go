package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
)

// A sum over elements whose sizes change on the way, which the cascades take in turn, is that of
// the exact accumulator.
func TestSumOfChangingSizes(t *testing.T) {
	const block, blocks = loopUnit, 24
	r := rand.New(rand.NewPCG(51, 52))
	x := value.New(types.F64, 1, block*blocks+77)
	for i := range x.F64 {
		v := r.Float64() - 0.25
		switch i / block {
		case 2:
			v *= 0x1p-300
		case 3: // wide: neither cascade
			v = math.Ldexp(v, r.IntN(600)-300)
		case 21:
			v *= 0x1p20
		}
		x.F64[i] = v
	}
	d := fused()[1]
	c := &op.Call{Def: d, In: []value.Value{x}, Type: types.ScalarOf(types.F64),
		Body:  &op.Program{In: []op.Operand{{Elem: types.F64}}, Steps: []op.Step{{Def: elementwiseRow("abs"), Args: []int{0}, Elem: types.F64}}},
		Attrs: op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str("sum")}, op.Attr{Name: "rows", Val: op.Int(1)}, op.Attr{Name: "cols", Val: op.Int(x.Cols)})}
	if err := d.Kernel(c); err != nil {
		t.Fatal(err)
	}
	var want exact.Sum
	for _, v := range x.F64 {
		want.Add(math.Abs(v))
	}
	if got := c.Out.(value.Scalar).F; got != want.Round() {
		t.Errorf("sum is %v, want %v", got, want.Round())
	}
}

func elementwiseRow(name string) *op.Def {
	for _, d := range elementwiseRows() {
		if d.Name == name {
			return d
		}
	}
	return nil
}
