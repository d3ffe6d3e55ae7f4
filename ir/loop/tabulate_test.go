package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/loop/looptest"
	"flow/ir/value"
)

// makes evaluates the nests of tables and gives the operands with the tables behind them.
func makes(t *testing.T, in []value.Value, list []loop.Tabulated) []value.Value {
	t.Helper()
	all := in
	for _, x := range list {
		out, err := x.Nest.Eval(in, loop.Env{})
		if err != nil {
			t.Fatalf("%v in the table\n%s", err, x.Nest)
		}
		all = append(all[:len(all):len(all)], out[0])
	}
	return all
}

// same compares what a nest gives with what it gives by tables.
func same(t *testing.T, n, m *loop.Nest, in []value.Value, list []loop.Tabulated) {
	t.Helper()
	want, err := n.Eval(in, loop.Env{})
	got, failed := m.Eval(makes(t, in, list), loop.Env{})
	if (err != nil) != (failed != nil) {
		t.Fatalf("%v, by tables %v\n%s\nby tables\n%s", err, failed, n, m)
	}
	for k := range want {
		a, b := want[k].(*value.Dense), got[k].(*value.Dense)
		for i := range a.Rows {
			for j := range a.Cols {
				if !a.At(i, j).Same(b.At(i, j)) {
					t.Fatalf("result %d: element (%d, %d) is %v, want %v\n%s\nby tables\n%s", k, i, j, b.At(i, j), a.At(i, j), n, m)
				}
			}
		}
	}
}

func always(int) bool { return true }

// TestTabulate: a value that depends on a round and on a number that every round lessens is read
// from a table, which has a place for each value of b + 2 a.
func TestTabulate(t *testing.T) {
	n, err := loop.Parse(`nest(%0: f64[], %1: f64, %2: i64) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = load %1
  v2 = i64 7
  v3, v4 = for a: 0..6 (v5 = v0, v6 = v2) {
    v7 = i64 2
    v8 = sub v6, v7
    v9 = for b: 0..%2 (v10 = v5) {
      v11 = index b
      v12 = sub v11, v6
      v13 = to_f64 v12
      v14 = call pow(v1, v13)
      v15 = mul v10, v14
      next v15
    }
    next v9, v8
  }
  store out0[i, 0] v3
} : (f64[%0.rows, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	m, list := loop.Tabulate(n, always)
	if len(list) != 1 || strings.Contains(m.String(), "pow") || strings.Contains(m.String(), "to_f64") {
		t.Fatalf("%d tables\n%s", len(list), m)
	}
	if got := list[0]; !got.Rows.Equal(loop.Num(1)) || !got.Cols.Equal(loop.Of(loop.ParamSym, 2).Plus(loop.Num(10))) || len(got.Rounds) != 2 {
		t.Errorf("a table of %v x %v", got.Rows, got.Cols)
	}
	same(t, n, m, []value.Value{looptest.Numbers(5, 1), value.F64(1.01), value.I64(4)}, list)
	for k := range n.Params {
		_, list := loop.Tabulate(n, func(p int) bool { return p != k })
		if none := len(list) == 0; none != (k > 0) {
			t.Errorf("operand %d changes while the nest runs: %d tables", k, len(list))
		}
	}
}

// TestTabulateTogether: values that depend on the same index have one table, and a nest makes them.
func TestTabulateTogether(t *testing.T) {
	n, err := loop.Parse(`nest(%0: f64[]) (i: 0..%0.rows, k: 0..%0.cols) {
  v0 = index k
  v1 = to_f64 v0
  v2 = load %0[i, k]
  v3 = call cos(v1)
  v4 = mul v2, v3
  v5 = f64 2
  v6 = mul v5, v1
  v7 = call cos(v6)
  v8 = mul v4, v7
  v9 = index i
  v10 = to_f64 v9
  v11 = call sin(v10)
  v12 = sub v8, v11
  v13 = for a: 0..3 (v14 = v12) {
    v15 = index a
    v16 = to_f64 v15
    v17 = mul v16, v1
    v18 = call exp(v17)
    v19 = add v14, v18
    next v19
  }
  store out0[i, k] v13
} : (f64[%0.rows, %0.cols])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	m, list := loop.Tabulate(n, always)
	if len(list) != 3 || strings.Contains(m.String(), "call") {
		t.Fatalf("%d tables\n%s", len(list), m)
	}
	two := loop.Of(loop.ColsSym, 0)
	for k, want := range []struct {
		rows, cols loop.Lin
		values     int
	}{{loop.Num(2), two, 2}, {loop.Num(1), loop.Of(loop.RowsSym, 0), 1}, {two, loop.Num(3), 1}} {
		if got := list[k]; !got.Rows.Equal(want.rows) || !got.Cols.Equal(want.cols) || got.Values != want.values {
			t.Errorf("table %d: %v x %v for %d values", k, got.Rows, got.Cols, got.Values)
		}
	}
	same(t, n, m, []value.Value{looptest.Numbers(5, 7)}, list)
}

// TestTabulateRandom: nests give by tables what they gave.
func TestTabulateRandom(t *testing.T) {
	tables := 0
	for seed := range uint64(4000) {
		c := looptest.Draw(seed)
		m, list := loop.TabulateFrom(c.Nest, always, 1)
		tables += len(list)
		if len(list) > 0 {
			same(t, c.Nest, m, c.In, list)
		}
	}
	if tables < 400 {
		t.Errorf("%d tables", tables)
	}
}

// TestTabulateLines: a value that depends on two indices through one linear form has a place for each
// value of the form; another one has a place for each pair.
func TestTabulateLines(t *testing.T) {
	for _, c := range []struct {
		body       string // from v8 on, by the indices v6 = a of 0..6 and v7 = b of 0..5, and v1 = 2
		rows, cols int64
	}{
		{"sub v6, v7; to_f64 v8; call exp(v9)", 1, 10},
		{"sub v7, v6; mul v8, v8; to_f64 v9; call exp(v10)", 1, 10},
		{"mul v6, v1; sub v7, v8; to_f64 v9; sub v8, v7; to_f64 v11; mul v10, v12; call exp(v13)", 1, 15},
		{"mul v6, v1; mul v7, v1; add v8, v9; load %1[a+b, 0]; to_f64 v10; add v11, v12; call exp(v13)", 1, 10},
		{"sub v6, v7; add v6, v7; mul v8, v9; to_f64 v10; call exp(v11)", 6, 5},
		{"add v6, v7; load %1[a, 0]; to_f64 v8; add v9, v10; call exp(v11)", 6, 5},
		{"mul v6, v7; to_f64 v8; call exp(v9)", 6, 5},
		{"i64 9000000; mul v6, v8; add v9, v7; to_f64 v10; call exp(v11)", 6, 5},
	} {
		text, last := "", 8
		for _, x := range strings.Split(c.body, "; ") {
			text += fmt.Sprintf("v%d = %s\n", last, x)
			last++
		}
		n, err := loop.Parse(strings.NewReplacer("BODY", text, "LAST", fmt.Sprint("v", last-1), "NEXT", fmt.Sprint("v", last)).Replace(`nest(%0: f64[], %1: f64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = i64 2
  v2 = for a: 0..6 (v3 = v0) {
    v4 = for b: 0..5 (v5 = v3) {
      v6 = index a
      v7 = index b
      BODY
      NEXT = mul v5, LAST
      next NEXT
    }
    next v4
  }
  store out0[i, 0] v2
} : (f64[%0.rows, 1])`), loop.Standard{})
		if err != nil {
			t.Fatalf("%v in %s", err, c.body)
		}
		m, list := loop.Tabulate(n, always)
		if len(list) != 1 || !list[0].Rows.Equal(loop.Num(c.rows)) || !list[0].Cols.Equal(loop.Num(c.cols)) {
			t.Errorf("%d tables, want one of %d x %d: %s\n%s", len(list), c.rows, c.cols, c.body, m)
			continue
		}
		same(t, n, m, []value.Value{looptest.Numbers(3, 1), looptest.Numbers(12, 1)}, list)
	}
}
