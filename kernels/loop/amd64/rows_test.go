//go:build linux && amd64

package amd64

import (
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestRows compares nests whose rows have lanes of their own with the evaluator: matrices,
// triangles, one point.
func TestRows(t *testing.T) {
	nests := map[string]string{
		"matrix times vector": `
nest(%0: f64[], %1: f64[]) (i: 0..%1.rows, j: 0..%1.cols) {
  v0 = load %1[i, j]
  v1 = load %0[j, 0]
  v2 = mul v0, v1
  reduce out0[i, 0] v2
} : (sum f64[%1.rows, 1])`,
		"columns": `
nest(%0: f64[], %1: f64[]) (i: 0..%1.rows, j: 0..%1.cols) {
  v0 = load %1[i, j]
  reduce out0[j, 0] v0
  v1 = load %0[i, 0]
  v2 = mul v0, v1
  store out1[i, j] v2
} : (max f64[%1.cols, 1], f64[%1.rows, %1.cols])`,
		"triangle": `
nest(%0: f64[], %1: f64[]) (i: 0..%1.rows, j: i+1..2*i) {
  v0 = load %0[i, 0]
  v1 = load %0[j, 0]
  v2 = sub v0, v1
  store out0[i, j] v2
  reduce out1[i, 0] v2
} : (f64[%1.rows, %0.rows], sum f64[%1.rows, 1])`,
		"matrix times matrix": `
nest(%0: f64[], %1: f64[]) (i: 0..%1.rows, j: 0..3) {
  v0 = f64 0
  v1 = for p: 0..%1.cols (v2 = v0) {
    v3 = load %1[i, p]
    v4 = load %0[p, j]
    v5 = fma v3, v4, v2
    next v5
  }
  store out0[i, j] v1
} : (f64[%1.rows, 3])`,
		"one point": `
nest(%0: f64[], %1: f64[]) () {
  v0 = f64 0
  v1 = for q: 0..%0.rows (v2 = v0) {
    v3 = load %0[q, 0]
    v4 = add v2, v3
    next v4
  }
  store out0[0, 0] v1
} : (f64[1, 1])`,
		"one point, places that the run tells": `
nest(%0: f64[], %1: f64[]) () {
  local w0 f64[3, 4]
  local w1 bool[4, 1]
  local w2 f32[4, 1]
  v0 = load %1[0, 3]
  v1 = to_i64 v0
  v2 = for q: 0..12 (v3 = v1) {
    v4 = load %0[v3+q, v3]
    v5 = load %1[q, v3]
    v6 = lt v4, v5
    v7 = to_f32 v4
    store w0[v3, q-q+1] v4
    store w1[v3+1, 0] v6
    store w2[v3, 0] v7
    v8 = to_i64 v5
    v9 = load w0[v8, 1]
    v10 = load w1[v8+1, 0]
    v11 = load w2[v8, 0]
    v12 = to_f64 v11
    v13 = add v9, v12
    store out0[0, q] v13
    store out1[0, q] v10
    next v8
  }
} : (f64[1, 12], bool[1, 12])`,
	}
	const rows, cols = 21, 60
	r := rand.New(rand.NewPCG(1, 9))
	x := value.New(types.F64, cols, 3)
	for k := range x.F64 {
		x.F64[k] = float64(r.IntN(100)) / 8
	}
	a := value.New(types.F64, rows, cols)
	for k := range a.F64 {
		a.F64[k] = float64(r.IntN(9)) / 4
	}
	in := []value.Value{x, a}
	for _, target := range []*target{avx512, avx2} {
		if !has(target) {
			continue
		}
		m := need(t, target)
		for name, text := range nests {
			nest, err := loop.Parse(text, loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := nest.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			for _, fuel := range []uint64{0, 3} {
				var out []*value.Dense
				for _, w := range want {
					out = append(out, value.New(w.Type().Elem, w.Type().Rows, w.Type().Cols))
				}
				c, err := compile(m, target, nest, in, out)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				c.fuel = fuel
				last := rows
				if len(nest.Space) < 2 {
					last = 1
				}
				lanes := cols
				switch {
				case len(nest.Space) == 1:
					lanes = rows
				case name == "matrix times matrix":
					lanes = 3
				}
				c.run(0, last/2, 0, lanes)
				c.run(last/2, last, 0, lanes)
				if !c.finish() {
					t.Errorf("%s: a sum lost something", name)
				}
				for k := range out {
					if err := same(out[k], want[k].(*value.Dense)); err != nil {
						t.Errorf("%s, %s, result %d: %v", target.name, name, k, err)
					}
				}
			}
		}
	}
}

// TestColumnsSideBySide: AVX2 reads and writes four columns of four rows as vectors, and those of a table by key.
// It takes columns that are fewer one by one.
func TestColumnsSideBySide(t *testing.T) {
	const four = `nest(%0: f64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 1]
  v1 = load %0[i, 2]
  v2 = load %0[i, 3]
  v3 = load %0[i, COLUMN]
  v4 = mul v0, v1
  v5 = mul v2, v3
  store out0[i, 2] v3
  store out0[i, 3] v4
  store out0[i, 1] v5
  store out0[i, 0] v0
} : (f64[%0.rows, 4])`
	for column, want := range map[string][2]int{"4": {8, 0}, "6": {4, 6}} { // in the code of two vectors
		n, err := loop.Parse(strings.ReplaceAll(four, "COLUMN", column), loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := List(AVX2, n, make([]Layout, 1), make([]Layout, 1), Schedule{together: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{strings.Count(l.Text, "VUNPCK"), strings.Count(l.Text, "VMOVHPD")}; got[0] != want[0] || got[1] < want[1] {
			t.Errorf("column %s: %d instructions that turn a square, %d moves of an element, want %v:\n%s", column, got[0], got[1], want, l.Text)
		}
		if !has(avx2) {
			continue
		}
		x := value.New(types.F64, 45, 9)
		for k := range x.F64 {
			x.F64[k] = float64(k*k%97) - 40
		}
		in, out := []value.Value{x}, value.New(types.F64, x.Rows, 4)
		f, err := compile(need(t, avx2), avx2, n, in, []*value.Dense{out})
		if err != nil {
			t.Fatal(err)
		}
		f.run(0, 1, 0, x.Rows)
		all, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := same(out, all[0].(*value.Dense)); err != nil {
			t.Errorf("column %s: %v", column, err)
		}
	}
}

// TestRowsFromLines: rows that begin within a line of a cache have a first vector of fewer lanes, which
// touches nothing before them. All starts in a line and windows of all lengths near the shortest give
// what Eval gives.
func TestRowsFromLines(t *testing.T) {
	m := need(t, avx512)
	for e, index := range map[types.Elem]string{
		types.F64: "v1 = index j\nv2 = load %1[i, 0]\nv3 = mul v1, v2\nv4 = to_f64 v3",
		types.F32: "v1 = mul v0, v0\nv2 = add v1, v0\nv3 = add v2, v2\nv4 = mul v3, v1",
	} {
		text := strings.ReplaceAll(`nest(%0: E[], %1: i64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  INDEX
  v5 = add v0, v4
  v6 = load %0[i, 0]
  v7 = lt v6, v0
  store out0[i, j] v5
  store out1[i, j] v7
} : (E[%0.rows, %0.cols], bool[%0.rows, %0.cols])`, "E[", e.String()+"[")
		n, err := loop.Parse(strings.ReplaceAll(text, "INDEX", index), loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		lanes := 64 / e.Size()
		x := value.New(e, 2*lanes+1, (avx512.line+3)*lanes+5)
		for i := range x.Rows {
			for j := range x.Cols {
				x.Set(i, j, value.F64(float64((i*7+j)%11)).Convert(e))
			}
		}
		by := value.New(types.I64, x.Rows, 1)
		for i := range x.Rows {
			by.Set(i, 0, value.I64(int64(i)))
		}
		in := []value.Value{x, by}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, plan := range []Schedule{{}, {Stream: true}, {together: 1}} {
			out := []*value.Dense{value.New(e, x.Rows, x.Cols), value.New(types.Bool, x.Rows, x.Cols)}
			f, err := compileAs(plan, m, avx512, n, in, out, loop.FastLevels)
			if err != nil {
				t.Fatal(err)
			}
			for from := range lanes {
				for _, fuel := range []uint64{0, 3} {
					f.fuel = fuel
					for _, d := range out {
						fill(d, 0)
					}
					to := min(x.Cols, from+avx512.line*lanes+5*from-3)
					f.run(0, x.Rows, from, to)
					for k, d := range out {
						w := want[k].(*value.Dense)
						for i := range d.Rows {
							for j := range d.Cols {
								y := value.F64(0).Convert(d.Elem)
								if j >= from && j < to {
									y = w.At(i, j)
								}
								if !d.At(i, j).Same(y) {
									t.Fatalf("%v, %+v, window of %d to %d, result %d: element (%d, %d) is %v, want %v", e, plan, from, to, k, i, j, d.At(i, j), y)
								}
							}
						}
					}
				}
			}
		}
		l, err := List(AVX512, n, make([]Layout, 2), make([]Layout, 2), Schedule{})
		if err != nil || !strings.Contains(l.Text, "ANDQ $0x3f") {
			t.Errorf("%v: rows begin where they are: %v\n%s", e, err, l.Text)
		}
		if strings.Contains(l.Text, "SUBQ AX, SI") {
			t.Errorf("%v: the first vector of a row holds masked lanes before the row, which may be in no page\n%s", e, l.Text)
		}
	}
}
