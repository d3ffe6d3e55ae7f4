//go:build linux && amd64

package amd64

import (
	"math/rand/v2"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestRows compares nests whose rows have lanes of their own with the evaluator: entries of sparse
// rows, triangles, one point.
func TestRows(t *testing.T) {
	nests := map[string]string{
		"matrix times vector": `
nest(%0: f64[], %1: sparse f64[]) (i: 0..%1.rows, p: row(%1, i)) {
  v0 = column p
  v1 = entry %1 p
  v2 = load %0[v0, 0]
  v3 = mul v1, v2
  reduce out0[i, 0] v3
} : (sum f64[%1.rows, 1])`,
		"columns": `
nest(%0: f64[], %1: sparse f64[]) (i: 0..%1.rows, p: row(%1, i)) {
  v0 = column p
  v1 = entry %1 p
  reduce out0[v0, 0] v1
  v2 = load %0[i, 0]
  v3 = mul v1, v2
  store out1[i, v0] v3
} : (max f64[%1.cols, 1], f64[%1.rows, %1.cols])`,
		"triangle": `
nest(%0: f64[], %1: sparse f64[]) (i: 0..%1.rows, j: i+1..2*i) {
  v0 = load %0[i, 0]
  v1 = load %0[j, 0]
  v2 = sub v0, v1
  store out0[i, j] v2
  reduce out1[i, 0] v2
} : (f64[%1.rows, %0.rows], sum f64[%1.rows, 1])`,
		"matrix times matrix": `
nest(%0: f64[], %1: sparse f64[]) (i: 0..%1.rows, j: 0..3) {
  v0 = fold chain p: row(%1, i) {
    v1 = column p
    v2 = entry %1 p
    v3 = load %0[v1, j]
    yield v2, v3
  }
  store out0[i, j] v0
} : (f64[%1.rows, 3])`,
		"the last common column but one": `
nest(%0: f64[], %1: sparse f64[]) (i: 0..%1.rows) {
  v0 = i64 -1
  v1, v2 = for q: both(%1, i, %1, 20-i) (v3 = v0, v4 = v0) {
    v5 = column q
    next v5, v3
  }
  store out0[i, 0] v2
} : (i64[%1.rows, 1])`,
		"one point": `
nest(%0: f64[], %1: sparse f64[]) () {
  v0 = fold sum q: 0..%0.rows {
    v1 = load %0[q, 0]
    yield v1
  }
  store out0[0, 0] v0
} : (f64[1, 1])`,
	}
	const rows, cols = 21, 60
	r := rand.New(rand.NewPCG(1, 9))
	x := value.New(types.F64, cols, 3)
	for k := range x.F64 {
		x.F64[k] = float64(r.IntN(100)) / 8
	}
	a := value.NewCSR(types.F64, rows, cols, rows*cols)
	n := 0
	for i := range rows {
		for j := range cols {
			if r.IntN(rows) < i { // the first row is empty
				a.Col[n], a.F64[n] = int32(j), float64(1+r.IntN(9))/4
				n++
			}
		}
		a.Ptr[i+1] = int64(n)
	}
	in := []value.Value{x, a}
	for _, target := range []*target{avx512, avx2} {
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
