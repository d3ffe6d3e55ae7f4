//go:build linux && amd64

package amd64

import (
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestLanesFirst: rows of few columns are no rows of lanes; a column in one piece and long rows are.
func TestLanesFirst(t *testing.T) {
	parse := func(text string) *loop.Nest {
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	add := parse(`
nest(%0: f64[], %1: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = load %1[i, 0]
  v2 = add v0, v1
  store out0[i, j] v2
} : (f64[%0.rows, %0.cols])`)
	call := parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = call exp(v0)
  store out0[i, j] v1
} : (f64[%0.rows, %0.cols])`)
	ragged := parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..i+1) {
  v0 = load %0[i, j]
  store out0[i, j] v0
} : (f64[%0.rows, %0.cols])`)
	sum := parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  reduce out0[i, 0] v0
} : (sum f64[%0.rows, 1])`)
	for _, c := range []struct {
		n          *loop.Nest
		unit       bool
		rows, cols int
		want       bool
	}{{add, false, 100000, 1, true}, {add, false, 100000, 3, false}, {call, false, 100000, 3, true}, {add, true, 100000, 1, true}, {add, false, 100000, 300, false}, {add, false, 2, 100000, false},
		{add, false, 1, 1, false}, {ragged, false, 100000, 2, false}, {sum, false, 100000, 2, false}} {
		unit := Layout{Unit: c.unit}
		if got := LanesFirst(c.n, []Layout{unit, unit}, []Layout{unit}, c.rows, c.cols); got != c.want {
			t.Errorf("%d x %d: the lanes are first is %v, want %v\n%s", c.rows, c.cols, got, c.want, c.n)
		}
	}
}

// TestFlat evaluates whole rows as one row of lanes where the code allows it, and looks which nests do.
func TestFlat(t *testing.T) {
	m := need(t, avx2)
	for _, c := range []struct {
		body string
		flat bool
	}{
		{"v1 = load %1\nv2 = add v0, v1\nstore out0[i, j] v2", true},
		{"v1 = load %0[i, 0]\nv2 = add v0, v1\nstore out0[i, j] v2", false},
		{"v1 = index j\nv2 = to_f64 v1\nstore out0[i, j] v2", false},
		{"v1 = for q: 0..3 (v2 = v0) {\nv3 = mul v2, v2\nnext v3\n}\nstore out0[i, j] v1", true},
		{"v1 = for q: 0..j (v2 = v0) {\nv3 = mul v2, v2\nnext v3\n}\nstore out0[i, j] v1", false},
	} {
		n, err := loop.Parse("nest(%0: f64[], %1: f64) (i: 0..%0.rows, j: 0..%0.cols) {\nv0 = load %0[i, j]\n"+c.body+"\n} : (f64[%0.rows, %0.cols])", loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		x := value.New(types.F64, 9, 5)
		for k := range x.F64 {
			x.F64[k] = float64(k)
		}
		in, out := []value.Value{x, value.F64(0.5)}, value.New(types.F64, 9, 5)
		f, err := compile(m, avx2, n, in, []*value.Dense{out})
		if err != nil {
			t.Fatal(err)
		}
		if got := Flat(n); got != c.flat {
			t.Errorf("flat is %v, want %v\n%s", got, c.flat, n)
		}
		if !c.flat {
			continue
		}
		f.run(0, 1, 2*5, 8*5) // rows 2 to 7
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 9 {
			for j := range 5 {
				w := want[0].(*value.Dense).At(i, j)
				if i < 2 || i >= 8 {
					w = value.F64(0)
				}
				if !out.At(i, j).Same(w) {
					t.Errorf("(%d, %d) is %v, want %v\n%s", i, j, out.At(i, j), w, n)
				}
			}
		}
	}
}
