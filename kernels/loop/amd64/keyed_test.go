//go:build linux && amd64

package amd64

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// keyedNest counts rows by key, rows for which a condition holds, and adds an integer and the
// columns of a matrix. Its operands are the keys, which are checked, and the matrix.
func keyedNest(keys, cols int) *loop.Nest {
	b := loop.New()
	key := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.I64)}
	x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.F64)}
	i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: loop.Of(loop.RowsSym, 0), By: 1}))
	k := b.Load(key, i, loop.Num(0))
	number := func(n int) loop.Val { return b.Const(types.I64, loop.Word(n)) }
	b.Check(0, b.Op(loop.And, b.Op(loop.Le, number(0), k), b.Op(loop.Lt, k, number(keys))), k)
	table := func(c loop.Class, e types.Elem, size int) loop.Mem {
		return loop.Mem{Kind: loop.ResultMem, N: b.Reduced(c, e, loop.Num(int64(size)), loop.Num(1))}
	}
	at := loop.Of(loop.ValSym, int(k))
	first := b.Load(x, i, loop.Num(0))
	above := b.Op(loop.Lt, b.Const(types.F64, math.Float64bits(0.25)), first)
	b.Reduce(table(loop.Count, types.I64, keys), at, loop.Num(0), b.Const(types.Bool, 1))
	b.Reduce(table(loop.Count, types.I64, keys), at, loop.Num(0), above)
	b.Reduce(table(loop.Sum, types.I64, keys), at, loop.Num(0), b.Op(loop.Mul, k, k))
	b.Reduce(table(loop.Sum, types.I64, keys), at, loop.Num(0), number(-3))
	sums := table(loop.Chain, types.F64, keys*cols)
	for j := range int64(cols) {
		v := first
		if j > 0 {
			v = b.Load(x, i, loop.Num(j))
		}
		b.Reduce(sums, at.Times(int64(cols)).Plus(loop.Num(j)), loop.Num(0), b.Const(types.F64, math.Float64bits(1)), v)
	}
	return b.Nest
}

// TestTablesOfRows demands that the base of a table is written before the lanes of each vector
// count in it. A Zen 4 is ten times slower otherwise: see addEach.
func TestTablesOfRows(t *testing.T) {
	n, err := loop.Parse(`nest(%0: i64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = i64 9
  v2 = lt v0, v1
  v3 = i64 0
  v4 = le v3, v0
  v5 = and v2, v4
  check 0 v5
  v6 = bool true
  reduce out0[i, v0] v6
} : (count i64[%0.rows, 9])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	step := regexp.MustCompile(`(?m)INCQ 0\((\w+)\)\(R11\*8\)|(?:MOVQ|LEAQ) .*, (\w+)$`)
	for _, target := range []Target{AVX512, AVX2} {
		l, err := List(target, n, make([]Layout, 1), make([]Layout, 1), Schedule{})
		if err != nil {
			t.Fatal(err)
		}
		written, counts := map[string]int{}, 0
		for _, m := range step.FindAllStringSubmatch(l.Text, -1) {
			switch {
			case m[1] != "":
				if written[m[1]]++; written[m[1]] > l.Lanes {
					t.Fatalf("%s: %s is the base of more than %d counts:\n%s", target, m[1], l.Lanes, l.Text)
				}
				counts++
			case m[2] != "":
				written[m[2]] = 0
			}
		}
		if counts == 0 {
			t.Errorf("%s: nothing is counted:\n%s", target, l.Text)
		}
	}
}

// TestKeyed compares contributions by key with their meaning: sums of floats in the order of the
// rows, in windows that begin and end anywhere, and keys of which some are none.
func TestKeyed(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		for parts := range 4 {
			t.Run(fmt.Sprintf("%s, %d", target.name, parts), func(t *testing.T) {
				m := need(t, target)
				for seed := range uint64(40) {
					keyed(t, rand.New(rand.NewPCG(seed, 5)), func(n *loop.Nest, in []value.Value, out []*value.Dense) *compiled {
						f, err := compileAs(Schedule{together: parts}, m, target, n, in, out, loop.FastLevels)
						if err != nil {
							t.Fatal(err)
						}
						return f
					})
				}
			})
		}
	}
}

func keyed(t *testing.T, r *rand.Rand, compiled func(n *loop.Nest, in []value.Value, out []*value.Dense) *compiled) {
	t.Helper()
	rows, keys, cols := 1+r.IntN(90), 1+r.IntN(9), 1+r.IntN(20)
	key, x := value.New(types.I64, rows, 1), value.New(types.F64, rows, cols)
	for i := range key.I64 {
		key.I64[i] = r.Int64N(int64(keys))
	}
	for i := range x.F64 {
		x.F64[i] = math.Ldexp(r.Float64()-0.5, r.IntN(90)-45)
	}
	bad := r.IntN(4) == 0
	if bad {
		key.I64[r.IntN(rows)] = []int64{-1, int64(keys), math.MinInt64, 1 << 60}[r.IntN(4)]
	}
	n, in := keyedNest(keys, cols), []value.Value{key, x}
	if err := n.Verify(); err != nil {
		t.Fatal(err)
	}
	want, err := n.Eval(in, loop.Env{})
	if bad != (err != nil) {
		t.Fatalf("the definition says %v of a bad key: %v", err, bad)
	}
	var out []*value.Dense
	for _, res := range n.Results {
		out = append(out, value.New(res.Elem, int(res.Rows.Const), 1))
	}
	f := compiled(n, in, out)
	cut := r.IntN(rows + 1)
	if flagged := f.run(0, 1, 0, cut); f.run(0, 1, cut, rows) || flagged {
		if !bad {
			t.Fatal("no key is bad, and the code says so")
		}
		return
	}
	if f.finish(); bad {
		t.Fatal("the code found no bad key")
	}
	for k, d := range out {
		if err := same(d, want[k].(*value.Dense)); err != nil {
			t.Fatalf("result %d of %d rows, %d keys, cut at %d: %v", k, rows, keys, cut, err)
		}
	}
}
