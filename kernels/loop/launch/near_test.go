package launch

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
)

const nearRowsNest = `
nest(%0: f64[]) (i: 0..%0.rows, j: 0..COLS) {
  v0 = load %0[i, j]
  v1 = mul v0, v0
  store out0[i, j] v1
  reduce out1[i, 0] v0
  reduce out2[i, 0] v1
  reduce out3[i, 0] v0
} : (f64[%0.rows, COLS], sum f64[%0.rows, 1], mean f64[%0.rows, 1], max f64[%0.rows, 1])`

// Sums and means of rows are exact, whatever the sizes of their numbers are, and most windows of
// ordinary numbers are near sums.
func TestNearRows(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 48))
	uniform := func(int) float64 { return r.Float64() }
	for _, c := range []struct {
		name string
		of   func(row int) float64
		near bool // at least the last window
	}{
		{"uniform", uniform, true},
		{"normal", func(int) float64 { return r.NormFloat64() }, true},
		{"tiny", func(int) float64 { return 1e-30 * r.Float64() }, true},
		{"huge", func(int) float64 { return 1e30 * r.Float64() }, true},
		{"a row of another size", func(i int) float64 { return math.Ldexp(r.Float64(), map[bool]int{true: 60}[i == 7]) }, true},
		{"rows of all sizes", func(i int) float64 { return math.Ldexp(r.Float64(), 40*(i%5)) }, false},
		{"of all sizes", func(int) float64 { return math.Ldexp(r.NormFloat64(), r.IntN(300)-150) }, false},
		{"a nan", func(i int) float64 { return map[bool]float64{true: math.NaN()}[i == 3] + r.Float64() }, true},
		{"zeros", func(int) float64 { return 0 }, false},
	} {
		for _, cols := range []string{"64", "75", "200", "1024"} {
			n, err := loop.Parse(strings.ReplaceAll(nearRowsNest, "COLS", cols), loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			l := New(n)
			if !l.nearRows {
				t.Fatal("the sums of a nest are not near sums of rows")
			}
			const rows = 40
			x := value.New(types.F64, rows, int(n.Space[1].Range.To.Const))
			width := x.Cols
			out := []*value.Dense{value.New(types.F64, rows, width), value.New(types.F64, rows, 1), value.New(types.F64, rows, 1), value.New(types.F64, rows, 1)}
			for k := range x.F64 {
				x.F64[k] = c.of(k / width)
			}
			run, err := l.Begin([]value.Value{x}, out)
			if err != nil {
				t.Fatal(err)
			}
			doubted := map[[2]int]bool{} // the number of the sum, and the row
			interpreted := false
			for range depthWindows/2 + 5 {
				clear(doubted)
				w := run.Worker()
				w.Doubted = func(k, r0, r1, _, _ int) error {
					for i := r0; i < r1; i++ {
						doubted[[2]int{k, i}] = true
					}
					return nil
				}
				for _, at := range [][2]int{{0, 16}, {16, rows}} {
					if flagged, err := w.Window(at[0], at[1], 0, width, nil); flagged || err != nil {
						t.Fatal(flagged, err)
					}
				}
				interpreted = w.beside != nil
				w.Finish()
				w.Free()
			}
			if at := l.depth.at.Load(); !interpreted && c.near != (at == 0) {
				t.Errorf("%s, %s columns: levels at %d", c.name, cols, at)
			}
			for i := range rows {
				row, squares := x.F64[i*width:][:width], out[0].F64[i*width:][:width]
				for k, want := range []float64{exact.Of(row, false), exact.Of(squares, false) / float64(width)} {
					got := out[1+k].F64[i]
					if !doubted[[2]int{k, i}] && math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
						t.Fatalf("%s, %s columns, row %d: result %d is %v, want %v", c.name, cols, i, 1+k, got, want)
					}
				}
			}
			if len(doubted) > 2*rows/40 && c.near {
				t.Errorf("%s, %s columns: %d sums are in doubt", c.name, cols, len(doubted))
			}
		}
	}
}

// Sums in branches, of f32, and of rows of few, many or an unknown number of columns are no near sums
// of rows.
func TestNotNearRows(t *testing.T) {
	for name, change := range map[string][2]string{
		"of few columns":   {"COLS", "63"},
		"of many columns":  {"COLS", "8193"},
		"of a size of run": {"COLS", "%0.cols"},
		"in a branch":      {"reduce out1[i, 0] v0", "if v2 {\n reduce out1[i, 0] v0\n } else {\n }"},
		"of f32":           {"f64", "f32"},
	} {
		text := strings.ReplaceAll(nearRowsNest, change[0], change[1])
		text = strings.Replace(text, "  store", "  v2 = lt v0, v1\n  store", 1)
		n, err := loop.Parse(strings.ReplaceAll(text, "COLS", "200"), loop.Standard{})
		if err != nil {
			t.Fatal(name, err)
		}
		if New(n).nearRows {
			t.Errorf("sums %s are near sums", name)
		}
	}
}
