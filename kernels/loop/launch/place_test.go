package launch

import (
	"errors"
	"math"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// placed keeps a matrix alive, and off the stack, which may move.
var placed *value.Dense

// TestPlacedAgain: a window whose sums have to be made again with more levels reads operands where
// Place says.
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
	if w.Finish(); !same(sum, want[0].(*value.Dense)) || len(w.deeper) == 0 {
		t.Errorf("sums %v, want %v, summed again: %v", sum, want[0], len(w.deeper) > 0)
	}
	w.Free()
}

// TestNarrowedSweepIsProved: a sweep that is made at one place alone reads an operand there. Its
// accesses are proved for the whole sweep, since the place is known in the loop alone.
func TestNarrowedSweepIsProved(t *testing.T) {
	for shift, want := range map[string]error{"r": nil, "r-3": ErrOutside} {
		n, err := loop.Parse(`nest(%0: f64[], %1: i64) (i: 0..%0.rows) {
  local w0 f64[8, 1]
  v0 = load %1
  for r: 0..8 {
    v1 = index r
    v2 = eq v1, v0
    v3 = load %0[`+shift+`, 0]
    v4 = load w0[r, 0]
    v5 = select v2, v3, v4
    store w0[r, 0] v5
  }
  v6 = load w0[0, 0]
  store out0[i, 0] v6
} : (f64[%0.rows, 1])`, nil)
		if err != nil {
			t.Fatal(err)
		}
		l := New(n)
		if text := l.Nest().String(); strings.Contains(text, "for ") {
			t.Errorf("the sweep is whole:\n%s", text)
		}
		out := value.New(types.F64, 8, 1)
		if _, err := l.Begin([]value.Value{value.New(types.F64, 8, 1), value.I64(0)}, []*value.Dense{out}); !errors.Is(err, want) {
			t.Errorf("at %s: %v, want %v", shift, err, want)
		}
	}
}
