//go:build linux && amd64

package amd64

import (
	"errors"
	"fmt"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestLocalsAcrossBlocks: what a local held before a block is not what it holds after one that
// stores to it, nor in its next round.
func TestLocalsAcrossBlocks(t *testing.T) {
	for name, body := range map[string]string{
		"round": `
  v4 = i64 3
  store w0[0, 1] v4
  v5, v6 = for q: 0..v1 (v7 = v4, v8 = v4) {
    v9 = load w0[0, 1]
    v10 = add v9, v1
    store w0[0, 1] v10
    next v10, v9
  }
  v11 = load w0[0, 1]
  v12 = add v11, v6`,
		"branch": `
  v4 = lt v1, v2
  v5 = if v4 {
    store w0[0, 1] v2
    yield v1
  } else {
    yield v2
  }
  v6 = load w0[0, 1]
  v7 = i64 100
  v8 = lt v7, v1
  if v8 {
    store w0[0, 0] v2
  } else {
  }
  v9 = load w0[0, 0]
  v10 = add v6, v9
  v11 = i64 0
  v12 = add v10, v5`,
	} {
		n, err := loop.Parse(`
nest(%0: i64[]) (i: 0..%0.rows) {
  local w0 i64[1, 2]
  v0 = i64 7
  v1 = load %0[i, 0]
  v2 = i64 4
  v3 = add v1, v2`+body+`
  store out0[i, 0] v12
} : (i64[%0.rows, 1])`, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		x := value.New(types.I64, 37, 1)
		for k := range x.I64 {
			x.I64[k] = int64(k % 7)
		}
		want, err := n.Eval([]value.Value{x}, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range those(avx512, avx2) {
			out := value.New(types.I64, 37, 1)
			f, err := compile(need(t, target), target, n, []value.Value{x}, []*value.Dense{out})
			if err != nil {
				t.Fatal(err)
			}
			f.run(0, 1, 0, 37)
			if err := same(out, want[0].(*value.Dense)); err != nil {
				t.Errorf("%s, %s: %v", name, target.name, err)
			}
		}
	}
}

// TestFilledLocals: the one point of a nest may have a large local if it begins by filling it. Where it
// fills only some of its elements, the others are zero, whatever an earlier call has left there.
func TestFilledLocals(t *testing.T) {
	const rows = 40_000 // eight times that is more than maxLocalBytes
	for _, c := range []struct {
		local, to int
		compiles  bool
	}{{rows, rows, true}, {2 * rows, 2 * rows, true}, {8 * rows, 8 * rows, true}, {600, 600, true}, {600, 599, true}, {8 * rows, 8*rows - 1, false}} {
		n, err := loop.Parse(fmt.Sprintf(`
nest(%%0: f64[], %%1: f64[]) () {
  local w0 f64[%d, 1]
  for p: 0..%d {
    v0 = load %%0[p, 0]
    store w0[p, 0] v0
  }
  for q: 0..%%1.rows {
    v1 = load %%1[q, 0]
    store w0[3*q, 0] v1
  }
  for r: 0..%d {
    v2 = load w0[r, 0]
    store out0[r, 0] v2
  }
} : (f64[%d, 1])`, c.local, c.to, c.local, c.local), loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		if filled := loop.Filled(n)[0]; filled != (c.local == c.to) {
			t.Errorf("%d of %d elements are filled: %v", c.to, c.local, filled)
		}
		x, y := value.New(types.F64, c.local, 1), value.New(types.F64, 150, 1)
		for k := range x.F64 {
			x.F64[k] = float64(k + 1)
		}
		for _, target := range those(avx512, avx2) {
			out := value.New(types.F64, c.local, 1)
			f, err := compile(need(t, target), target, n, []value.Value{x, y}, []*value.Dense{out})
			if u := (*Unsupported)(nil); errors.As(err, &u) != !c.compiles {
				t.Fatalf("%s, %d of %d elements are filled: %v", target.name, c.to, c.local, err)
			}
			if !c.compiles {
				continue
			}
			for k := range f.scratch {
				f.scratch[k] = 0xa5
			}
			copy(f.behind, guardBytes)
			f.run(0, 1, 0, 1)
			want, err := n.Eval([]value.Value{x, y}, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if err := same(out, want[0].(*value.Dense)); err != nil {
				t.Errorf("%s, %d of %d elements are filled: %v", target.name, c.to, c.local, err)
			}
		}
	}
}
