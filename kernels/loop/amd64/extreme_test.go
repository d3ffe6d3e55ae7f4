//go:build linux && amd64

package amd64

import (
	"fmt"
	"math"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
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
				want, err := b.Nest.Eval([]value.Value{in}, loop.Env{})
				if err != nil {
					t.Fatal(err)
				}
				f, err := compile(m, target, b.Nest, []value.Value{in}, out)
				if err != nil {
					t.Fatal(err)
				}
				f.run(0, 1, 0, len(edges))
				for k := range out {
					for i := range edges {
						if x, y := out[k].At(i, 0), want[k].(*value.Dense).At(i, 0); !x.Same(y) {
							t.Errorf("%s of %v: %v gives %v, want %v", what[k], e, in.At(i, 0), x, y)
						}
					}
				}
			}
		})
	}
}
