package launch

import (
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
)

// TestJoined: narrow rows that go side by side have the same elements, in every window and wherever
// they lie.
func TestJoined(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[], %1: f64[], %2: bool[], %3: f32[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = load %1[0, j]
  v2 = load %2[0, j]
  v3 = load %3[i, j]
  v4 = to_f64 v3
  v5 = select v2, v4, v1
  v6 = add v0, v5
  store out0[i, j] v6
  store out1[i, j] v2
} : (f64[%0.rows, %0.cols], bool[%0.rows, %0.cols])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 2100
	random, joins := rand.New(rand.NewPCG(3, 4)), 0
	for _, cols := range []int{2, 3, 5, 8, 13, 20, 63, 64} {
		made := func(e types.Elem, rows, gap int) *value.Dense {
			d := value.New(e, rows, cols+gap)
			for k := range rows * (cols + gap) {
				d.Set(k/(cols+gap), k%(cols+gap), value.I64(random.Int64N(2)+random.Int64N(5)*int64(e)/2).Convert(e))
			}
			var v value.Dense
			d.Window(&v, 0, 0, rows, cols)
			return &v
		}
		for _, gap := range []int{0, 1} {
			in := []value.Value{made(types.F64, rows, gap), made(types.F64, 1, 1), made(types.Bool, 3, 0), made(types.F32, rows, 0)}
			want, err := n.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				r0 := random.IntN(rows)
				r1, l1 := r0+1+random.IntN(rows-r0), cols-random.IntN(2)
				out := []*value.Dense{value.New(types.F64, rows, cols), value.New(types.Bool, rows, cols)}
				run, err := New(n).Begin(in, out)
				if err != nil {
					t.Fatal(err)
				}
				w := run.Worker()
				if w.joins(r0, r1, 0, l1) > 0 {
					joins++
				}
				if flagged, err := w.Window(r0, r1, 0, l1, nil); flagged || err != nil {
					t.Fatal(flagged, err)
				}
				w.Free()
				for k, d := range out {
					for i := range rows {
						for j := range cols {
							v := want[k].(*value.Dense).At(i, j)
							if i < r0 || i >= r1 || j >= l1 {
								v = value.I64(0).Convert(d.Elem)
							}
							if !d.At(i, j).Same(v) {
								t.Fatalf("rows %d to %d of %d columns, gap %d: result %d at (%d, %d) is %v, want %v", r0, r1, l1, gap, k, i, j, d.At(i, j), v)
							}
						}
					}
				}
			}
		}
	}
	if target, _ := Target(); joins == 0 && target != Interp {
		t.Error("no window was joined")
	}
}

// TestSumsOfNarrowRows: a window of narrow rows with an operand that is one row has its exact sum,
// wherever its rows begin and end. Its rows do not go side by side: the words of a sum are no row.
func TestSumsOfNarrowRows(t *testing.T) {
	const rows = 5000
	random := rand.New(rand.NewPCG(5, 6))
	for _, e := range []types.Elem{types.F32, types.F64} {
		n, err := loop.Parse(strings.ReplaceAll(`
nest(%0: E[], %1: E[], %2: E) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = load %1[0, j]
  v2 = load %2
  v3 = sub v0, v1
  v4 = mul v3, v2
  reduce out0[0, 0] v4
} : (sum E[1, 1])`, "E", e.String()), loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		for _, cols := range []int{2, 3, 5, 8, 20} {
			x, y, s := value.New(e, rows, cols), value.New(e, 1, cols), value.F64(0.75).Convert(e)
			for k := range rows * cols {
				x.Set(k/cols, k%cols, value.F64(random.Float64()).Convert(e))
				y.Set(0, k%cols, value.F64(0.5))
			}
			run, err := New(n).Begin([]value.Value{x, y, s}, []*value.Dense{value.New(e, 1, 1)})
			if err != nil {
				t.Fatal(err)
			}
			skipInterpreted(t, run)
			var got, want exact.Sum
			add := func(to *exact.Sum, r0, r1, l0, l1 int) {
				for i := r0; i < r1; i++ {
					for j := l0; j < l1; j++ {
						v := value.F64(x.At(i, j).F-0.5).Convert(e).F * 0.75
						to.Add(value.F64(v).Convert(e).F)
					}
				}
			}
			w := run.Worker()
			w.Doubted = func(_, r0, r1, l0, l1 int) error { add(&got, r0, r1, l0, l1); return nil }
			for range 20 {
				r0 := random.IntN(rows)
				r1 := r0 + 1 + random.IntN(rows-r0)
				if flagged, err := w.Window(r0, r1, 0, cols, nil); flagged || err != nil {
					t.Fatal(flagged, err)
				}
				add(&want, r0, r1, 0, cols)
			}
			acc := value.New(types.I64, 1, exact.Words)
			w.Put(0, acc)
			sum := exact.FromWords(acc.I64)
			got.Merge(&sum)
			if g, v := value.F64(got.Round()), value.F64(want.Round()); !g.Same(v) {
				t.Errorf("%v, %d columns: the sum is %v, want %v", e, cols, g, v)
			}
			w.Free()
		}
	}
}
