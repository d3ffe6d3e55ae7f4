//go:build linux && amd64

package amd64

import (
	"fmt"
	"math"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/loop/code"
)

// TestExtremeOfConstant compares min and max of special values and a constant, on either side, with
// their meaning.
func TestExtremeOfConstant(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		t.Run(string(target.name), func(t *testing.T) {
			m := need(t, target)
			for _, e := range []types.Elem{types.F64, types.F32} {
				in := value.New(e, len(edges), 1)
				for i, x := range edges {
					in.Set(i, 0, value.F64(x).Convert(e))
				}
				b := loop.New()
				x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, e)}
				rows := loop.Of(loop.RowsSym, x.N)
				i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: rows, By: 1}))
				v := b.Load(x, i, loop.Num(0))
				var out []*value.Dense
				var what []string
				for _, f := range []float64{0, math.Copysign(0, -1), 1, -2.5, math.Inf(1), math.Inf(-1), math.NaN()} {
					k := b.Const(e, loop.Word(math.Float64bits(f)))
					if e == types.F32 {
						k = b.Const(e, loop.Word(math.Float32bits(float32(f))))
					}
					for _, c := range []loop.Code{loop.Min, loop.Max} {
						for n, r := range []loop.Val{b.Op(c, v, k), b.Op(c, k, v)} {
							b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(e, rows, loop.Num(1))}, i, loop.Num(0), r)
							out = append(out, value.New(e, len(edges), 1))
							what = append(what, fmt.Sprintf("%s with %v, way %d", c.Operation().Name, f, n))
						}
					}
				}
				checkEdges(t, m, target, b.Nest, in, out, what)
			}
		})
	}
}

// TestExtremeOfSigns compares min and max of two special values. One or both of them are the result of
// an operation that never gives -0, with their meaning.
func TestExtremeOfSigns(t *testing.T) {
	type pick func(b *loop.Builder, x, y loop.Val) loop.Val
	one := func(b *loop.Builder, v loop.Val) loop.Val { return b.Op(loop.Add, b.Op(loop.Abs, v), v) }
	sides := map[string]pick{
		"x":         func(_ *loop.Builder, x, _ loop.Val) loop.Val { return x },
		"-x":        func(b *loop.Builder, x, _ loop.Val) loop.Val { return b.Op(loop.Neg, x) },
		"x*y":       func(b *loop.Builder, x, y loop.Val) loop.Val { return b.Op(loop.Mul, x, y) },
		"abs y":     func(b *loop.Builder, _, y loop.Val) loop.Val { return b.Op(loop.Abs, y) },
		"y*y":       func(b *loop.Builder, _, y loop.Val) loop.Val { return b.Op(loop.Mul, y, y) },
		"|y|+y":     func(b *loop.Builder, _, y loop.Val) loop.Val { return one(b, y) },
		"|x|+x - y": func(b *loop.Builder, x, y loop.Val) loop.Val { return b.Op(loop.Sub, one(b, x), y) },
		"x + y":     func(b *loop.Builder, x, y loop.Val) loop.Val { return b.Op(loop.Add, x, y) },
		"x - y":     func(b *loop.Builder, x, y loop.Val) loop.Val { return b.Op(loop.Sub, x, y) },
		"max of |x| and y": func(b *loop.Builder, x, y loop.Val) loop.Val {
			return b.Op(loop.Max, b.Op(loop.Abs, x), y)
		},
	}
	for _, target := range []*target{avx512, avx2} {
		t.Run(string(target.name), func(t *testing.T) {
			m := need(t, target)
			for _, e := range []types.Elem{types.F64, types.F32} {
				n := len(edges) * len(edges)
				in := value.New(e, n, 2)
				for i := range n {
					in.Set(i, 0, value.F64(edges[i/len(edges)]).Convert(e))
					in.Set(i, 1, value.F64(edges[i%len(edges)]).Convert(e))
				}
				b := loop.New()
				x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, e)}
				rows := loop.Of(loop.RowsSym, x.N)
				i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: rows, By: 1}))
				v, w := b.Load(x, i, loop.Num(0)), b.Load(x, i, loop.Num(1))
				var out []*value.Dense
				var what []string
				for left, f := range sides {
					for right, g := range sides {
						for _, c := range []loop.Code{loop.Min, loop.Max} {
							b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(e, rows, loop.Num(1))}, i, loop.Num(0), b.Op(c, f(b, v, w), g(b, v, w)))
							out = append(out, value.New(e, n, 1))
							what = append(what, fmt.Sprintf("%s of %s and %s", c.Operation().Name, left, right))
						}
					}
				}
				want, err := b.Nest.Eval([]value.Value{in}, loop.Env{})
				if err != nil {
					t.Fatal(err)
				}
				f, err := compile(m, target, b.Nest, []value.Value{in}, out)
				if err != nil {
					t.Fatal(err)
				}
				f.run(0, 1, 0, n)
				for k := range out {
					for i := range n {
						if x, y := out[k].At(i, 0), want[k].(*value.Dense).At(i, 0); !x.Same(y) {
							t.Errorf("%s, x = %v, y = %v: %v, want %v", what[k], in.At(i, 0), in.At(i, 1), x, y)
						}
					}
				}
			}
		})
	}
}

// TestChosenWords compares values that selects choose from two constants with a third constant. The
// value passes through another select, on either side.
func TestChosenWords(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		t.Run(string(target.name), func(t *testing.T) {
			m := need(t, target)
			for _, e := range []types.Elem{types.F64, types.I64} {
				in := value.New(types.F64, len(edges), 1)
				for i, x := range edges {
					in.Set(i, 0, value.F64(x))
				}
				b := loop.New()
				x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.F64)}
				rows := loop.Of(loop.RowsSym, x.N)
				i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: rows, By: 1}))
				v := b.Load(x, i, loop.Num(0))
				number := func(k int) loop.Val {
					if e == types.I64 {
						return b.Const(e, loop.Word(k))
					}
					return b.Const(e, loop.Word(math.Float64bits(float64(k))))
				}
				first := b.Op(loop.Lt, v, b.Const(types.F64, loop.Word(math.Float64bits(1))))
				second := b.Op(loop.Lt, b.Const(types.F64, loop.Word(math.Float64bits(-2))), v)
				two := b.Op(loop.Select, first, number(3), number(5))
				chosen := []loop.Val{two}
				for _, k := range []int{3, 5} {
					chosen = append(chosen, b.Op(loop.Select, second, two, number(k)), b.Op(loop.Select, second, number(k), two))
				}
				var out []*value.Dense
				var what []string
				for n, w := range chosen {
					for _, c := range []loop.Code{loop.Eq, loop.Ne, loop.Lt, loop.Le} {
						for _, k := range []int{2, 3, 4, 5} {
							for way, r := range []loop.Val{b.Op(c, w, number(k)), b.Op(c, number(k), w)} {
								b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(types.F64, rows, loop.Num(1))}, i, loop.Num(0), b.Op(loop.ToF64, r))
								out = append(out, value.New(types.F64, len(edges), 1))
								what = append(what, fmt.Sprintf("%s of choice %d and %d, way %d", c.Operation().Name, n, k, way))
							}
						}
					}
				}
				checkEdges(t, m, target, b.Nest, in, out, what)
			}
		})
	}
}

// checkEdges compares the machine code of a nest over the column in with its evaluation. Each result
// has an element for each row of in, and what describes it.
func checkEdges(t *testing.T, m *code.Memory, target *target, n *loop.Nest, in *value.Dense, out []*value.Dense, what []string) {
	t.Helper()
	want, err := n.Eval([]value.Value{in}, loop.Env{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := compile(m, target, n, []value.Value{in}, out)
	if err != nil {
		t.Fatal(err)
	}
	f.run(0, 1, 0, in.Rows)
	for k := range out {
		for i := range in.Rows {
			if x, y := out[k].At(i, 0), want[k].(*value.Dense).At(i, 0); !x.Same(y) {
				t.Errorf("%s of %v: %v gives %v, want %v", what[k], in.Elem, in.At(i, 0), x, y)
			}
		}
	}
}
