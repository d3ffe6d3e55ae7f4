package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"flow/ir/loop"
	"flow/ir/loop/looptest"
	"flow/ir/types"
	"flow/ir/value"
)

// same reports equal bits, all nans being one.
func same(a, b *value.Dense) error {
	if a.Rows != b.Rows || a.Cols != b.Cols || a.Elem != b.Elem {
		return fmt.Errorf("%v and %v", a.Type(), b.Type())
	}
	for i := range a.Rows {
		for j := range a.Cols {
			if x, y := a.At(i, j), b.At(i, j); !x.Same(y) {
				return fmt.Errorf("element (%d, %d) is %v, want %v", i, j, x, y)
			}
		}
	}
	return nil
}

// TestAgainstDefinition compares random nests with the evaluator, on the whole window and on parts
// of it, and looks that nothing beside the window is written.
func TestAgainstDefinition(t *testing.T) {
	cases := 4000
	if testing.Short() {
		cases = 400
	}
	failed := 0
	for seed := range cases {
		if compare(t, uint64(seed)) {
			failed++
		}
	}
	if failed < cases/100 {
		t.Errorf("%d of %d nests failed", failed, cases)
	}
}

// TestSoakNests compares FLOW_SOAK_CASES other nests (make soak: a million).
func TestSoakNests(t *testing.T) {
	cases, err := strconv.Atoi(os.Getenv("FLOW_SOAK_CASES"))
	if err != nil {
		t.Skip("FLOW_SOAK_CASES is not set to a number")
	}
	first := uint64(time.Now().UnixNano())
	t.Logf("seeds from %d on", first)
	for k := range cases {
		compare(t, first+uint64(k))
	}
}

// compare runs the nest of a seed and compares its results with those of the evaluator. It reports
// whether the nest fails, by its definition.
func compare(t *testing.T, seed uint64) (fails bool) {
	t.Helper()
	x := looptest.Draw(seed)
	c, err := Compile(x.Nest)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, x.Nest)
	}
	out := x.Results()
	want, err := x.Nest.Eval(x.In, loop.Env{})
	w := c.Begin(x.In, out)
	var flagged bool
	rows, lanes := x.Rows, x.Lanes
	windows := [][4]int{{0, rows, 0, lanes}}
	if seed%3 == 0 {
		r, l := rows/2, lanes/3
		windows = [][4]int{{0, r, 0, l}, {r, rows, 0, l}, {0, r, l, lanes}, {r, rows, l, lanes}}
	}
	for _, v := range windows {
		f, err := w.Window(v[0], v[1], v[2], v[3], nil)
		if err != nil {
			t.Fatal(err)
		}
		flagged = flagged || f
	}
	if !flagged {
		w.Finish()
	}
	w.Free()
	if flagged != (err != nil) {
		t.Fatalf("seed %d: failed = %v, the definition says %v\n%s", seed, flagged, err, x.Nest)
	}
	if flagged {
		return true
	}
	for k, d := range out {
		if err := same(d, want[k].(*value.Dense)); err != nil {
			t.Fatalf("seed %d, result %d: %v\n%s", seed, k, err, x.Nest)
		}
		if err := x.Untouched(k, d); err != nil {
			t.Fatalf("seed %d, result %d: %v\n%s", seed, k, err, x.Nest)
		}
	}
	return false
}

// TestFunctions compares all functions of the library with the evaluator. A second operand that is
// the same everywhere may have a way of its own.
func TestFunctions(t *testing.T) {
	for _, name := range (loop.Standard{}).Names() {
		f := loop.Standard{}.Function(name)
		args := []string{"v0", "v1"}[:len(f.Params)]
		n := parse(t, `
nest(%0: f64[], %1: f64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = load %1[i, 0]
  v2 = call `+name+`(`+strings.Join(args, ", ")+`)
  store out0[i, 0] v2
} : (f64[%0.rows, 1])`)
		for _, second := range []float64{0, 2, 3, 1.5, 0.5, -1} {
			if second != 0 && len(args) == 1 {
				continue
			}
			const count = 411
			x, y := looptest.Numbers(count, uint64(len(name))), looptest.Numbers(count, 99)
			if strings.HasSuffix(name, "32") { // what they take are f32 that are no subnormal ones
				for _, d := range []*value.Dense{x, y} {
					for k, v := range d.F64 {
						if d.F64[k] = float64(float32(v)); math.Abs(d.F64[k]) < 0x1p-126 {
							d.F64[k] = 0
						}
					}
				}
			}
			for k := range y.F64 {
				if second != 0 {
					y.F64[k] = second
				}
			}
			in := []value.Value{x, y}
			out := value.New(types.F64, count, 1)
			w := compile(t, n).Begin(in, []*value.Dense{out})
			if flagged, err := w.Window(0, 1, 0, count, nil); flagged || err != nil {
				t.Fatal(flagged, err)
			}
			want, err := n.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if err := same(out, want[0].(*value.Dense)); err != nil {
				t.Errorf("%s, second operand %v: %v", name, second, err)
			}
		}
	}
}

func parse(t testing.TB, text string) *loop.Nest {
	t.Helper()
	n, err := loop.Parse(text, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func compile(t testing.TB, n *loop.Nest) *Code {
	t.Helper()
	c, err := Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// drawn draws a matrix of e. Integers are from 0 to 8, so that they can be subscripts.
func drawn(r *rand.Rand, e types.Elem, rows, cols int) *value.Dense {
	d := value.New(e, rows, cols)
	for i := range rows {
		for j := range cols {
			switch {
			case e == types.I64:
				d.Set(i, j, value.I64(int64(r.IntN(9))))
			case e == types.Bool:
				d.Set(i, j, value.Bool(r.IntN(2) == 0))
			case r.IntN(9) == 0:
				d.Set(i, j, value.F64(math.Ldexp(r.NormFloat64(), r.IntN(900)-450)).Convert(e))
			case r.IntN(40) == 0:
				d.Set(i, j, value.F64([]float64{math.NaN(), math.Inf(1), math.Copysign(0, -1)}[r.IntN(3)]).Convert(e))
			default:
				d.Set(i, j, value.F64(float64(r.IntN(50)-20)/8).Convert(e))
			}
		}
	}
	return d
}
