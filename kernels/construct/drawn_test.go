package construct

import (
	"math"
	"runtime"
	"testing"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/loop/launch"
)

// paysFrom sets launch.PaysFrom for the rest of a test.
func paysFrom(t *testing.T, steps int64) {
	before := launch.PaysFrom
	launch.PaysFrom = steps
	t.Cleanup(func() { launch.PaysFrom = before })
}

// Loops make the elements of the definitions, in whole matrices and in windows with gaps between their
// rows: machine code, and interpreted ones.
func TestDrawnByLoops(t *testing.T) {
	windows := []struct{ n, m, r0, c0, rows, cols, gap int }{
		{300, 700, 0, 0, 300, 700, 0}, {300, 700, 5, 0, 90, 700, 0},
		{50, 70, 3, 5, 40, 33, 0}, {50, 70, 3, 5, 9, 65, 7},
		{5000, 1, 17, 0, 4000, 1, 0}, {5000, 1, 0, 0, 65, 1, 2},
		{1, 5000, 0, 3, 1, 4001, 0}, {1 << 40, 3, 1 << 39, 1, 100, 2, 1},
	}
	tried := 0
	for _, d := range Rows() {
		if d.Draw == nil && d.Name != "rand_spd" && d.Name != "synth_linear" || d.Alike != nil {
			continue
		}
		tried++
		for seed, w := range windows {
			ints := map[string]int{"n": w.n, "m": w.m, "seed": seed - 3, "lo": -1 << 62, "hi": 1<<62 + 12345, "a": -7, "b": 3*w.n - 7, "step": 3, "d": w.m - 1}
			switch d.Name {
			case "eye", "rand_spd":
				if ints["n"] = max(w.n, w.m); w.n > 5000 {
					continue
				}
			case "synth_linear":
				if w.n > 5000 || w.m < 2 {
					continue
				}
			case "seq":
				if w.m != 1 {
					continue
				}
			}
			var list []op.Attr
			for _, a := range d.Args {
				v := op.Int(ints[a.Name])
				if a.Name == "noise" || a.Name == "step" && seed%2 == 1 {
					v = op.Float(0.1)
				}
				list = append(list, op.Attr{Name: a.Name, Val: v})
			}
			a := op.MakeAttrs(list...).With("at", op.Ints(w.r0, w.c0, w.rows, w.cols))
			if d.Name == "seq" && seed%2 == 1 { // of f64
				a = a.With("b", op.Float(float64(w.n)))
			}
			typ, err := d.Type(&op.Sig{Def: d, Attrs: a})
			if err != nil {
				t.Fatal(d.Name, err)
			}
			want, err := d.Ref(&op.Call{Def: d, Attrs: a, Type: typ})
			if err != nil {
				t.Fatal(err)
			}
			for _, steps := range []int64{math.MaxInt64, 0} {
				paysFrom(t, steps)
				out := value.New(typ.Elem, w.rows, w.cols+w.gap).View(0, w.gap, w.rows, w.cols)
				if err := d.Kernel(&op.Call{Def: d, Attrs: a, Type: typ, Out: out}); err != nil {
					t.Fatal(err)
				}
				for i := range w.rows {
					for j := range w.cols {
						if w := want.(*value.Dense).At(i, j); out.At(i, j) != w {
							t.Fatalf("%s %v: element (%d, %d) is %v, want %v", d.Name, a, i, j, out.At(i, j), w)
						}
					}
				}
			}
		}
	}
	if tried != 8 {
		t.Errorf("%d rows are drawn by loops, want 8", tried)
	}
}

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
