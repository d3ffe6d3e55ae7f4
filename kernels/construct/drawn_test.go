package construct

import (
	"math"
	"runtime"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// The bodies of log and cos are math's, at the ends of their ranges and where their cases meet.
func TestDrawnFunctions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("math rounds otherwise here, and no loop runs")
	}
	around := func(list []float64, x, most float64) []float64 {
		for _, y := range []float64{math.Nextafter(x, 0), x, math.Nextafter(x, 10)} {
			if y >= 0 && y <= most {
				list = append(list, y)
			}
		}
		return list
	}
	var logs, angles []float64
	for k := range 54 {
		logs = around(around(logs, math.Ldexp(1, -k), 1), math.Ldexp(math.Sqrt2/2, -k), 1)
	}
	for k := range 9 {
		angles = around(angles, float64(k)*math.Pi/4, 2*math.Pi*(1-0x1p-53))
	}
	type body func(b draft, x loop.Val) loop.Val
	check := func(name string, in []float64, body body, want func(x float64) float64) {
		b := draft{loop.New()}
		x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.F64)}
		i := b.Index("i", loop.Range{Kind: loop.Steps, To: loop.Of(loop.RowsSym, x.N), By: 1})
		at := loop.Of(loop.IndexSym, i)
		out := loop.Mem{Kind: loop.ResultMem, N: b.Result(types.F64, loop.Of(loop.RowsSym, x.N), loop.Num(1))}
		b.Store(out, at, loop.Num(0), body(b, b.Load(x, at, loop.Num(0))))
		column := value.New(types.F64, len(in), 1)
		copy(column.F64, in)
		got, err := b.Nest.Eval([]value.Value{column}, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for k, y := range got[0].(*value.Dense).F64 {
			if w := want(in[k]); math.Float64bits(y) != math.Float64bits(w) {
				t.Errorf("%s(%v) is %v, want %v", name, in[k], y, w)
			}
		}
	}
	check("log", logs, draft.log, math.Log)
	check("cos", angles, draft.cos, math.Cos)
}
