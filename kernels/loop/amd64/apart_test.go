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

// columnsOfPoints returns nests of one point that add columns of a local, or of an operand, to columns
// of another local, and read a diagonal. size is that of the first local.
func columnsOfPoints(size string) (list []string) {
	for _, from := range []string{"w0", "%0"} {
		list = append(list, renumbered(strings.NewReplacer("SIZE", size, "FROM", from).Replace(`nest(%0: f64[], %1: i64, %2: i64, %3: i64) () {
  local w0 f64[SIZE]
  local w1 f64[43, 61]
  for r: 0..43 {
    for c: 0..61 {
      v0 = load %0[r, c]
      store w0[r, c] v0
      store w1[r, c] v0
    }
  }
  for round: 0..%1 {
    for r1: 0..43 {
      v1 = load FROM[r1, round+1]
      v2 = load FROM[r1, 28-round]
      v3 = add v1, v2
      store w1[r1, round] v3
    }
    for r2: 0..27 {
      v4 = load FROM[r2, r2]
      v5 = load FROM[r2+14, 3]
      v6 = sub v4, v5
      store w1[round, 2*r2] v6
    }
  }
  for r3: 0..43 {
    for c1: 0..61 {
      v7 = load w1[r3, c1]
      store out0[r3, c1] v7
    }
  }
} : (f64[43, 61])`)))
	}
	return list
}

// halved is a target with vectors of half the length.
func halved(of *target) *target {
	t := *of
	t.length, t.lanes = of.length-1, of.lanes/2
	return &t
}

// TestColumnsOfPoints: lanes that lie apart by the same distance are loaded and stored one by one.
// Only the last lanes are gathered and scattered.
func TestColumnsOfPoints(t *testing.T) {
	x, r := value.New(types.F64, 43, 61), rand.New(rand.NewPCG(1, 2))
	for i := range x.F64 {
		x.F64[i] = r.Float64()
	}
	in := []value.Value{x, value.I64(9), value.I64(43), value.I64(61)}
	for _, text := range append(columnsOfPoints("43, 61"), columnsOfPoints("%2, %3")...) {
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range those(avx512, halved(avx512), avx2, starved(avx512), starved(avx2)) {
			m, out := need(t, target), value.New(types.F64, x.Rows, x.Cols)
			f, err := compile(m, target, n, in, []*value.Dense{out})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			f.run(0, 1, 0, 1)
			if err := same(out, want[0].(*value.Dense)); err != nil {
				t.Fatalf("%s: %v\n%s", target.name, err, text)
			}
		}
		l, err := List(AVX512, n, make([]Layout, len(in)), make([]Layout, 1), Schedule{})
		if err != nil {
			t.Fatal(err)
		}
		if moves, gathers := strings.Count(l.Text, "VMOVHPD"), strings.Count(l.Text, "GATHERQPD")+strings.Count(l.Text, "SCATTERQPD"); moves == 0 || moves != 4*gathers { // the last lanes alone are gathered
			t.Errorf("%d moves of two lanes, %d gathers and scatters, of\n%s\n%s", moves, gathers, text, l.Text)
		}
	}
}
