package launch

import (
	"math"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestExponents: code is made for some exponents, and for no more; with all of them a loop gives what the
// definition gives.
func TestExponents(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[], %1: f64, %2: f64) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = load %1
  v2 = call pow(v0, v1)
  v3 = load %2
  v4 = mul v2, v3
  store out0[i, j] v4
} : (f64[%0.rows, %0.cols])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	defer func(old int) { FixedFrom = old }(FixedFrom)
	FixedFrom = 100
	x, l := value.New(types.F64, 3, 20), New(n)
	for k := range x.F64 {
		x.F64[k] = math.Ldexp(float64(k%13-4), k%7-3)
	}
	var r Run
	r.Stays = 7
	seen := map[uint64]int{}
	for round := range 4 {
		for k := range 7 {
			in := []value.Value{x, value.F64(float64(k - 2)), value.F64(float64(round))}
			want, err := n.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			out := value.New(types.F64, 3, 20)
			if bound := r.loop != nil && r.Again(in, []*value.Dense{out}); !bound {
				if err := l.Bind(&r, in, []*value.Dense{out}); err != nil {
					t.Fatal(err)
				}
			}
			w := r.Worker()
			if _, err := w.Window(0, 3, 0, 20, nil); err != nil {
				t.Fatal(err)
			}
			w.Free()
			if !same(out, want[0].(*value.Dense)) {
				t.Errorf("exponent %d in round %d: %v, want %v", k-2, round, out, want[0])
			}
			seen[r.made.which]++
		}
	}
	if l.fixed != mostFixed || seen[2] != mostFixed || seen[0] != 28-mostFixed {
		t.Errorf("code for %d exponents; runs of code for certain values of each set of operands: %v", l.fixed, seen)
	}
}
