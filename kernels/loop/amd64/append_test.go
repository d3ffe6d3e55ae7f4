//go:build linux && amd64

package amd64

import (
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestAppend compares nests that append with the evaluator, in one window and in several: all rows,
// some, one element a row and more, every type.
func TestAppend(t *testing.T) {
	for name, body := range map[string]string{
		"all": `
  append out0 v0`,
		"some": `
  if v3 {
    append out0 v0
  } else {
  }`,
		"three": `
  if v3 {
    append out0 v0, v1, v0
  } else {
  }`,
	} {
		for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
			cols := "1"
			if name == "three" {
				cols = "3"
			}
			n, err := loop.Parse(`
nest(%0: `+e.String()+`[], %1: `+e.String()+`[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = load %1[i, j]
  v2 = index j
  v3 = lt v0, v1`+body+`
} : (append `+e.String()+`[37*%0.rows, `+cols+`])`, loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			const rows, width = 5, 37
			x, y := value.New(e, rows, width), value.New(e, rows, width)
			for i := range rows {
				for j := range width {
					x.Set(i, j, value.F64(float64((i*31+j*17)%23)).Convert(e))
					y.Set(i, j, value.F64(float64((i*13+j*29)%19)).Convert(e))
				}
			}
			want, err := n.Eval([]value.Value{x, y}, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			w := want[0].(*value.Dense)
			for _, target := range []*target{avx512, avx2} {
				out := value.New(e, rows*width+1, w.Cols)
				c, err := compile(need(t, target), target, n, []value.Value{x, y}, []*value.Dense{out})
				if err != nil {
					t.Fatalf("%s of %v: %v", name, e, err)
				}
				made := &c.args[argMemory+2*memoryWords+3]
				*made = 0
				c.fuel = 2
				c.run(0, 2, 0, width)
				c.run(2, rows, 0, width)
				if int(*made) != w.Rows {
					t.Errorf("%s of %v, %s: %d rows, want %d", name, e, target.name, *made, w.Rows)
					continue
				}
				if err := same(out.View(0, 0, w.Rows, w.Cols), w); err != nil {
					t.Errorf("%s of %v, %s: %v", name, e, target.name, err)
				}
				for k := range out.Cols {
					if !out.At(rows*width, k).Same(value.I64(0).Convert(e)) {
						t.Errorf("%s of %v, %s: a row behind the last was written", name, e, target.name)
					}
				}
			}
		}
	}
}
