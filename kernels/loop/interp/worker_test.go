package interp

import (
	"errors"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestStopped: a window whose loop never ends gives up when the run is stopped.
func TestStopped(t *testing.T) {
	for _, body := range []string{`
  for k: forever {
    v0 = load %0[i, 0]
    store w0[0, 0] v0
  }`, `
  v0 = load %0[i, 0]
  v1 = for k: forever (v2 = v0) {
    v3 = add v2, v0
    v4 = lt v3, v2
    break v4
    next v3
  }`, `
  v0 = load %0[i, 0]
  v1 = for k: 0..1000000000000 (v2 = v0) {
    v3 = add v2, v0
    next v3
  }`} {
		n := parse(t, "nest(%0: f64[]) (i: 0..%0.rows) {\n  local w0 f64[1, 1]"+body+"\n} : ()")
		w := compile(t, n).Begin([]value.Value{value.New(types.F64, 700, 1)}, nil)
		asked := 0
		flagged, err := w.Window(0, 1, 0, 700, func() bool { asked++; return asked > 3 })
		if flagged || !errors.Is(err, loop.ErrStopped) || asked != 4 {
			t.Errorf("%s\n  flagged %v, error %v, asked %d times", body, flagged, err, asked)
		}
	}
}

// TestUnsupported: what the package cannot run is refused with a reason.
func TestUnsupported(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"nest() (i: forever) {\n} : ()", "interp: no code for index i of the space without bounds known before the first point"},
		{"nest(%0: f64[]) (i: 0..%0.rows) {\n  v0 = load %0[i, 0]\n  store out0[i, 0] v0\n  v1 = load %0[i, 0]\n  store out1[i, 0] v1\n} : (f64[%0.rows, 1] over %0, f64[%0.rows, 1])",
			"interp: no code for a load of %0 after a store to a result that shares its memory"},
	} {
		_, err := Compile(parse(t, c.text))
		var u *Unsupported
		if !errors.As(err, &u) || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestWindowOfRange: a window takes the values of an index that are in it, whatever the step is.
func TestWindowOfRange(t *testing.T) {
	for _, by := range []int64{1, 2, 3, 7, -1, -2, -5} {
		for from := int64(-3); from < 12; from++ {
			for to := int64(-3); to < 12; to++ {
				for lo := int64(0); lo < 10; lo += 3 {
					hi := lo + 4
					var want []int64
					for i := from; by > 0 && i < to || by < 0 && i > to; i += by {
						if i >= lo && i < hi {
							want = append(want, i)
						}
					}
					first, n := within(from, to, by, lo, hi)
					if n != int64(len(want)) || n > 0 && first != want[0] {
						t.Fatalf("%d..%d by %d within %d..%d: %d from %d on, want %v", from, to, by, lo, hi, n, first, want)
					}
				}
			}
		}
	}
}

// TestRounds: also at the ends of the integers.
func TestRounds(t *testing.T) {
	const least, most = -1 << 63, 1<<63 - 1
	for _, c := range []struct {
		from, to, by int64
		want         uint64
	}{{0, 0, 1, 0}, {0, 7, 3, 3}, {0, 6, 3, 2}, {7, 0, -3, 3}, {least, most, 1, 1<<64 - 1}, {most, least, -1, 1<<64 - 1}, {5, 4, 1, 0}, {0, most, most, 1}, {least, most, most, 3}, {most, least, least, 2}} {
		if n := rounds(c.from, c.to, c.by); n != c.want {
			t.Errorf("%d..%d by %d has %d rounds, want %d", c.from, c.to, c.by, n, c.want)
		}
	}
}

// TestPlace: windows of a matrix that is in memory part by part, beside a result that is, and a
// scalar that changes.
func TestPlace(t *testing.T) {
	n := parse(t, `
nest(%0: f64[], %1: f64) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = load %1
  v2 = mul v0, v1
  store out0[i, j] v2
} : (f64[%0.rows, %0.cols])`)
	const rows, cols, part = 6, 40, 9
	whole := value.Dense{Elem: types.F64, Rows: rows, Cols: cols, Stride: cols} // without memory
	w := compile(t, n).Begin([]value.Value{&whole, value.F64(2)}, []*value.Dense{&whole})
	for i := 0; i < rows; i += 2 {
		for j := 0; j < cols; j += part {
			width := min(part, cols-j)
			a, b := value.New(types.F64, 2, part), value.New(types.F64, 2, part+3)
			for k := range a.F64 {
				a.F64[k] = float64(100*i + j + k)
			}
			w.Place(0, a, i*a.Stride+j)
			w.Place(2, b, i*b.Stride+j)
			w.Scalar(1, f64Word(float64(i)))
			if flagged, err := w.Window(i, i+2, j, j+width, nil); flagged || err != nil {
				t.Fatal(flagged, err)
			}
			for r := range 2 {
				for c := range width {
					if got, want := b.At(r, c).F, float64(i)*a.At(r, c).F; got != want {
						t.Fatalf("(%d, %d) is %v, want %v", i+r, j+c, got, want)
					}
				}
			}
		}
	}
}
