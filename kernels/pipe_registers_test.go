package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
	"flow/kernels/rowtest"
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

// Long rows of numbers that are too far apart for the loop are summed again where they are: those of
// the operand itself, those that a chain makes, and those that are stored.
func TestLongRowsOfUnlikeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	x := value.New(types.F64, 12, 3*blockElems)
	for i := range x.F64 {
		x.F64[i] = math.Ldexp(r.Float64(), r.IntN(600)-300)
	}
	d := fused()[1]
	column := types.DenseOf(types.F64, x.Rows, 1)
	for _, steps := range [][]op.Step{nil, {{Def: elementwiseRow("neg"), Args: []int{0}, Elem: types.F64}}} {
		for _, fold := range []string{"rowsum rownorm", "store rowsum rownorm"} {
			c := &op.Call{Def: d, In: []value.Value{x}, Type: types.TupleOf(column, column),
				Body:  &op.Program{In: []op.Operand{{Elem: types.F64}}, Steps: steps},
				Attrs: op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str(fold)}, op.Attr{Name: "rows", Val: op.Int(x.Rows)}, op.Attr{Name: "cols", Val: op.Int(x.Cols)})}
			if fold[0] == 's' {
				c.Type = types.TupleOf(x.Type(), column, column)
			}
			alikeOnNests(t, c, fold)
		}
	}
}

// Long rows with a transposed operand are reduced in blocks of several rows. The last block of rows or
// columns may be smaller.
func TestLongRowsTransposed(t *testing.T) {
	m := &machine{in: []operand{{mode: op.Full}, {mode: op.Trans}}}
	for cols, want := range map[int]int{10: blockElems, 4096: turnedRows * 4096, 1 << 20: turnedElems} {
		if got := m.blockSize(cols); got != want {
			t.Errorf("a block of rows of %d has %d elements, want %d", cols, got, want)
		}
	}
	r := rand.New(rand.NewPCG(55, 56))
	x, y := value.New(types.F64, 2*turnedRows+3, blockElems+77), value.New(types.F64, blockElems+77, 2*turnedRows+3)
	for i := range x.F64 {
		x.F64[i], y.F64[i] = r.NormFloat64(), r.NormFloat64()
	}
	d := fused()[1]
	column := types.DenseOf(types.F64, x.Rows, 1)
	for _, fold := range []string{"rowsum rowmin", "rownorm rowmax", "store rowsum rowmax"} {
		c := &op.Call{Def: d, In: []value.Value{x, y}, Type: types.TupleOf(column, column),
			Body: &op.Program{In: []op.Operand{{Elem: types.F64}, {Elem: types.F64, Mode: op.Trans}},
				Steps: []op.Step{{Def: elementwiseRow("mul"), Args: []int{0, 1}, Elem: types.F64}}},
			Attrs: op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str(fold)}, op.Attr{Name: "rows", Val: op.Int(x.Rows)}, op.Attr{Name: "cols", Val: op.Int(x.Cols)})}
		if fold[0] == 's' {
			c.Type = types.TupleOf(x.Type(), column, column)
		}
		alikeOnNests(t, c, fold)
	}
}

// alikeOnNests compares the results of a call with the definition, in each way of running nests.
func alikeOnNests(t *testing.T, c *op.Call, fold string) {
	t.Helper()
	want := rowtest.Defined(t, c)
	onNests(t, func() {
		c.Out = nil
		if err := c.Def.Kernel(c); err != nil {
			t.Fatal(err)
		}
		for k, v := range c.Out.(value.Tuple) {
			if msg := rowtest.Differ(v, want.(value.Tuple)[k]); msg != "" {
				t.Errorf("result %d of %s, %d steps: %s", k, fold, len(c.Body.Steps), msg)
			}
		}
	})
}
