package kernels

import (
	"math"
	"testing"

	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/construct"
	"flow/kernels/loop/launch"
)

// Loops make the elements of the definitions, in whole matrices and in windows with gaps between their rows:
// machine code, and interpreted ones.
func TestDrawnByLoops(t *testing.T) {
	windows := []struct{ n, m, r0, c0, rows, cols, gap int }{
		{300, 700, 0, 0, 300, 700, 0}, {300, 700, 5, 0, 90, 700, 0},
		{50, 70, 3, 5, 40, 33, 0}, {50, 70, 3, 5, 9, 65, 7},
		{5000, 1, 17, 0, 4000, 1, 0}, {5000, 1, 0, 0, 65, 1, 2},
		{1, 5000, 0, 3, 1, 4001, 0}, {1 << 40, 3, 1 << 39, 1, 100, 2, 1},
	}
	tried := 0
	for _, d := range new(engine).draws(construct.Rows()) {
		if d.Draw == nil && d.Name != "synth_linear" || d.Alike != nil {
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
				before := launch.PaysFrom
				launch.PaysFrom = steps
				t.Cleanup(func() { launch.PaysFrom = before })
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
