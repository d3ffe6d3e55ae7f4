package launch

import (
	"math"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// placed keeps a matrix alive, and off the stack, which may move.
var placed *value.Dense

// TestPlacedAgain: a window whose sums have to be made again by deep states reads operands where
// Place says, for these states too.
func TestPlacedAgain(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  reduce out0[i, 0] v0
} : (sum f64[%0.rows, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	x := value.New(types.F64, 2, 40)
	placed = x
	for k := range x.F64 {
		x.F64[k] = math.Ldexp(float64(k*7%11-5), k*29%300)
	}
	want, err := n.Eval([]value.Value{x}, loop.Env{})
	if err != nil {
		t.Fatal(err)
	}
	sum := value.New(types.F64, 2, 1)
	r, err := New(n).Begin([]value.Value{value.New(types.F64, 2, 40)}, []*value.Dense{sum})
	if err != nil {
		t.Fatal(err)
	}
	w := r.Worker()
	if !w.Direct() {
		t.Skip("windows run what Begin was told")
	}
	w.Place(0, x, 0, 0)
	if flagged, err := w.Window(0, 2, 0, 40, nil); flagged || err != nil {
		t.Fatal(flagged, err)
	}
	if w.Finish(); !same(sum, want[0].(*value.Dense)) || w.deep == nil {
		t.Errorf("sums %v, want %v, summed again: %v", sum, want[0], w.deep != nil)
	}
	w.Free()
}
