package interp

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// compareWith runs a nest beside the evaluator and reports that both failed.
func compareWith(t *testing.T, c *Code, n *loop.Nest, in []value.Value, cut bool, r *rand.Rand) bool {
	t.Helper()
	want, err := n.Eval(in, loop.Env{})
	var failure *loop.Failure
	if err != nil && !errors.As(err, &failure) {
		t.Fatal(err)
	}
	operands := append([]value.Value(nil), in...)
	out := make([]*value.Dense, len(n.Results))
	for k, res := range n.Results {
		switch {
		case res.Over >= 0:
			out[k] = in[res.Over].(*value.Dense).Clone()
			operands[res.Over] = out[k]
		default:
			rows, cols := sizeOf(want, k)
			out[k] = value.New(res.Elem, rows, cols)
		}
	}
	rows, cols := in[0].Type().Rows, in[0].Type().Cols
	windows := [][4]int{{0, rows, 0, max(rows, cols)}}
	if len(n.Space) == 1 {
		windows = [][4]int{{0, 1, 0, max(rows, cols)}}
	} else if len(n.Space) == 0 {
		windows = [][4]int{{0, 1, 0, 1}}
	}
	if n.Space != nil && n.Names[n.Space[0].Name] == "j" { // columns first
		windows[0][1] = max(windows[0][1], cols)
	}
	workers := []*Worker{c.Begin(operands, out)}
	if cut && len(n.Space) > 0 {
		workers = append(workers, c.Begin(operands, out), c.Begin(operands, out))
		windows = cutWindows(windows[0], len(n.Space) == 1, n.Space[0].Range.By < 0, r)
	}
	flagged := false
	for _, v := range windows {
		w := workers[0]
		if ordered := strings.Contains(n.String(), "chain f64[%0.cols"); !ordered {
			w = workers[r.IntN(len(workers))]
		}
		f, err := w.Window(v[0], v[1], v[2], v[3], func() bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		flagged = flagged || f
	}
	if flagged != (err != nil) {
		t.Fatalf("failed = %v, the definition says %v", flagged, err)
	}
	if flagged {
		return true
	}
	for _, w := range workers[1:] {
		workers[0].Merge(w)
		w.Free()
	}
	workers[0].Finish()
	workers[0].Free()
	for k := range n.Results {
		if err := same(out[k], want[k].(*value.Dense)); err != nil {
			t.Fatalf("result %d of %d x %d, windows %v: %v", k, rows, cols, windows, err)
		}
	}
	return false
}

// sizeOf is the size of a result, or enough where the nest fails.
func sizeOf(want []value.Value, k int) (rows, cols int) {
	if want == nil {
		return 1 << 10, 1 << 10
	}
	t := want[k].Type()
	return t.Rows, t.Cols
}

// cutWindows cuts a window into parts, in the order of the points.
func cutWindows(v [4]int, one, descending bool, r *rand.Rand) (out [][4]int) {
	if one {
		for l := v[2]; l < v[3]; {
			next := min(v[3], l+1+r.IntN(400))
			out = append(out, [4]int{0, 1, l, next})
			l = next
		}
		return out
	}
	for i := v[0]; i < v[1]; {
		next := min(v[1], i+1+r.IntN(60))
		part := [4]int{i, next, v[2], v[3]}
		if next == i+1 && v[3] > 2 { // a part of a row
			out = append(out, [4]int{i, next, v[2], v[3] / 2})
			part[2] = v[3] / 2
		}
		out = append(out, part)
		i = next
	}
	if descending {
		for a, b := 0, len(out)-1; a < b; a, b = a+1, b-1 {
			out[a], out[b] = out[b], out[a]
		}
	}
	return out
}

// A loop runs on one lane, which leaves it inside of the body. Then it runs on four lanes, and some of
// them have no round.
func TestLeftInsideTheBody(t *testing.T) {
	n, err := loop.Parse(`nest(%0: i64[], %1: i64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = i64 0
  v2 = for q: 0..v0 (v3 = v1) {
    v4 = load %1[i, j]
    v5 = lt v0, v4
    break v5
    v6 = add v3, v4
    next v6
  }
  store out0[i, j] v2
} : (i64[%0.rows, %0.cols])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	rounds := &value.Dense{Elem: types.I64, Rows: 1, Cols: 5, Stride: 5, I64: []int64{3, 0, 3, 0, 3}}
	added := &value.Dense{Elem: types.I64, Rows: 1, Cols: 5, Stride: 5, I64: []int64{9, 1, 2, 1, 2}}
	in, out := []value.Value{rounds, added}, []*value.Dense{value.New(types.I64, 1, 5)}
	want, err := n.Eval(in, loop.Env{})
	if err != nil {
		t.Fatal(err)
	}
	w := c.Begin(in, out)
	for _, lanes := range [][2]int{{0, 1}, {1, 5}} {
		if flagged, err := w.Window(0, 1, lanes[0], lanes[1], nil); flagged || err != nil {
			t.Fatal(flagged, err)
		}
	}
	w.Free()
	if err := same(out[0], want[0].(*value.Dense)); err != nil {
		t.Fatal(err)
	}
}
