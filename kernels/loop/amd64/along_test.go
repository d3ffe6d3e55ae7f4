//go:build linux && amd64

package amd64

import (
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestAlongAfterLoops: the rounds of a loop are lanes although a loop before it, over the same index,
// counts them one by one, or has no round and would have divided the same number.
func TestAlongAfterLoops(t *testing.T) {
	for name, text := range map[string]string{
		"the same index": `
nest(%0: i64, %1: f64[]) () {
  local w0 f64[1, 1]
  v0 = load %0
  v1 = i64 1
  v2 = load %1[0, 0]
  store w0[0, 0] v2
  for c: 0..%0 {
    v3 = load w0[0, 0]
    v4 = add v3, v2
    store w0[0, 0] v4
  }
  for d: 0..40 {
    v5 = index d
    v6 = mul v5, v5
    v7 = to_f64 v6
    v8 = load %1[d, 0]
    v9 = add v7, v8
    store out0[0, d] v9
  }
  v10 = load w0[0, 0]
  store out1[0, 0] v10
} : (f64[1, 40], f64[1, 1])`,
		"no round": `
nest(%0: i64, %1: f64[]) () {
  local w0 f64[40, 40]
  v0 = i64 3
  v1 = i64 33
  for r: 0..40 {
    v2 = index r
    v3 = add v0, v2
    for c: 0..r {
      v4 = mod v3, v1
      v5 = to_f64 v4
      v6 = load %1[0, c]
      v7 = add v5, v6
      store w0[r, c] v7
    }
    for d: r..40 {
      v8 = mod v3, v1
      v9 = to_f64 v8
      v10 = load %1[0, d]
      v11 = mul v9, v10
      store w0[r, d] v11
    }
  }
  for q: 0..40 {
    for p: 0..40 {
      v12 = load w0[q, p]
      store out0[q, p] v12
    }
  }
} : (f64[40, 40])`,
	} {
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		if name == "the same index" {
			shareIndex(n)
		}
		x := value.New(types.F64, 40, 40)
		for k := range x.F64 {
			x.F64[k] = float64(k%97) / 4
		}
		in := []value.Value{value.I64(10), x}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range those(avx512, avx2) {
			var out []*value.Dense
			for _, w := range want {
				d := w.(*value.Dense)
				out = append(out, value.New(d.Elem, d.Rows, d.Cols))
			}
			c, err := compile(need(t, target), target, n, in, out)
			if err != nil {
				t.Fatal(err)
			}
			c.run(0, 1, 0, 1)
			for k := range out {
				if err := same(out[k], want[k].(*value.Dense)); err != nil {
					t.Errorf("%s, %s, result %d: %v", target.name, name, k, err)
				}
			}
		}
	}
}

// shareIndex gives the second loop of a nest the index of the first, as the parts of a loop that is cut
// have it.
func shareIndex(n *loop.Nest) {
	var from, to loop.Sym
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		switch {
		case s.Loop != nil:
			from, to = loop.Sym{Kind: loop.IndexSym, N: s.Loop.Index.Name}, from
			if to.Kind == loop.IndexSym {
				s.Loop.Index.Name = to.N
			}
		case s.Code == loop.IndexOf && int(s.Imm) == from.N:
			s.Imm = loop.Word(to.N)
		}
		for k, f := range s.At {
			for i := range f.Terms {
				if t := &s.At[k].Terms[i]; t.Sym == from && to.Kind == loop.IndexSym {
					t.Sym = to
				}
			}
		}
	})
}
