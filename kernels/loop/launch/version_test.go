package launch

import (
	"math"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestExponents: code is made for some exponents and divisors, and for no more; with all of them a loop
// gives what the definition gives.
func TestExponents(t *testing.T) {
	for _, c := range []struct {
		name, elem, step string
		value            func(k int) value.Scalar
		runs             int // of code for some value: Run.Again keeps code that fits where integers stay
	}{
		{"exponents", "f64", "call pow(v0, v1)", func(k int) value.Scalar { return value.F64(float64(k - 2)) }, mostFixed},
		{"divisors", "i64", "idiv v0, v1", func(k int) value.Scalar { return value.I64(int64(2*k - 7)) }, 3 * mostFixed},
		{"divisors of remainders", "i64", "mod v0, v1", func(k int) value.Scalar { return value.I64(int64(k*k + 1)) }, 3 * mostFixed},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := loop.Parse(strings.ReplaceAll(`
nest(%0: T[], %1: T, %2: T) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = load %1
  v2 = `+c.step+`
  v3 = load %2
  v4 = mul v2, v3
  store out0[i, j] v4
} : (T[%0.rows, %0.cols])`, "T", c.elem), loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			madeForSome(t, n, c.value, c.runs)
		})
	}
}

// madeForSome runs a nest whose operand 1 has seven values in turn, four times.
func madeForSome(t *testing.T, n *loop.Nest, number func(k int) value.Scalar, runs int) {
	defer func(old int) { FixedFrom = old }(FixedFrom)
	FixedFrom = 100
	e := n.Results[0].Elem
	x, l := value.New(e, 3, 20), New(n)
	for k := range 60 {
		if e == types.I64 {
			x.I64[k] = int64(k*k*k%101) - 50
		} else {
			x.F64[k] = math.Ldexp(float64(k%13-4), k%7-3)
		}
	}
	var r Run
	r.Stays = 7
	seen := map[uint64]int{}
	for round := range 4 {
		for k := range 7 {
			in := []value.Value{x, number(k), value.F64(float64(round))}
			if e == types.I64 {
				in[2] = value.I64(int64(round))
			}
			want, err := n.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			out := value.New(e, 3, 20)
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
				t.Errorf("%v in round %d: %v, want %v", number(k), round, out, want[0])
			}
			seen[r.made.which]++
		}
	}
	if l.fixed != mostFixed || seen[2] != runs || seen[0] != 28-runs {
		t.Errorf("code for %d values; runs of code for certain values of each set of operands: %v", l.fixed, seen)
	}
}
