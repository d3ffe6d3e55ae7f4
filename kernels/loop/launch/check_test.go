package launch

import (
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestTargets runs the tests of windows again on the interpreter, and with machine code checked:
// the environment is read once a process.
func TestTargets(t *testing.T) {
	for _, set := range []string{Variable + "=" + Interp, CheckVariable + "=" + CheckValue} {
		c := exec.Command(os.Args[0], "-test.run=^(TestWindows|TestStopped|TestPlaced|TestDifference)$", "-test.v")
		c.Env = append(os.Environ(), set)
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestWindows") {
			t.Errorf("%s: %v\n%.3000s", set, err, out)
		}
	}
}

func begin(t *testing.T, text string, in []value.Value, out []*value.Dense) *Run {
	t.Helper()
	n, err := loop.Parse(text, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(n).Begin(in, out)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const scaledNest = `
nest(%0: f64[], %1: f64) (i: 0..%0.rows, j: 0..%0.cols-1) {
  v0 = load %0[i, j+1]
  v1 = load %1
  v2 = mul v0, v1
  store out0[i, j] v2
  reduce out1[i, 0] v2
  reduce out2[0, 0] v0
} : (f64[%0.rows, %0.cols-1], sum f64[%0.rows, 1], max f64[1, 1])`

const storedNest = `
nest(%0: f64[], %1: f64) (i: 0..%0.rows, j: 0..%0.cols-1) {
  v0 = load %0[i, j+1]
  v1 = load %1
  v2 = mul v0, v1
  store out0[i, j] v2
} : (f64[%0.rows, %0.cols-1])`

func counted(rows, cols int) *value.Dense {
	d := value.New(types.F64, rows, cols)
	for k := range d.F64 {
		d.F64[k] = float64(k%97) - 40
	}
	return d
}

// TestPlaced: operands and results that a worker has part by part, and a scalar that changes, on
// every target. The words of the block of arguments are what counts.
func TestPlaced(t *testing.T) {
	const rows, cols, height = 30, 50, 7
	x := counted(rows, cols)
	whole := &value.Dense{Elem: types.F64, Rows: rows, Cols: cols, Stride: cols}
	to := &value.Dense{Elem: types.F64, Rows: rows, Cols: cols - 1, Stride: cols - 1}
	w := begin(t, storedNest, []value.Value{whole, value.F64(1)}, []*value.Dense{to}).Worker()
	defer w.Free()
	if Checks() && w.check == nil && w.beside == nil {
		t.Fatal("nothing is checked")
	}
	for i := 0; i < rows; i += height {
		n := min(height, rows-i)
		part, out := x.View(i, 0, n, cols).Clone(), value.New(types.F64, n, cols+3)
		place := func(number int, d *value.Dense) {
			a := w.args[firstOperand+wordsOfOperand*number:]
			a[0], a[1] = uint64(uintptr(base(d)))-uint64(8*i*d.Stride), uint64(8*d.Stride)
		}
		place(0, part)
		place(2, out)
		w.args[firstOperand+wordsOfOperand] = math.Float64bits(float64(i))
		if flagged, err := w.Window(i, i+n, 0, cols-1, nil); flagged || err != nil {
			t.Fatal(flagged, err)
		}
		for r := range n {
			for j := range cols - 1 {
				if got, want := out.At(r, j).F, x.At(i+r, j+1).F*float64(i); got != want {
					t.Fatalf("(%d, %d) is %v, want %v", i+r, j, got, want)
				}
			}
		}
	}
}

// TestDifference: what machine code gives and the interpreter does not is a bug that ends the
// process, of a stored result and of reduced ones.
func TestDifference(t *testing.T) {
	if slices.Equal(Targets(), []string{Interp}) || os.Getenv(Variable) == Interp {
		t.Skip("there is no machine code to check")
	}
	for _, c := range []struct {
		name, text string
		wrong      func(out []*value.Dense)
		want       string
	}{
		{"nothing", scaledNest, func([]*value.Dense) {}, ""},
		{"nothing", storedNest, func([]*value.Dense) {}, ""},
		{"stored", storedNest, func(out []*value.Dense) { out[0].F64[1] += 1 }, "BUG: machine code of a loop differs from the interpreter: element (0, 1) of result 0 is "},
		{"stored beside reduced", scaledNest, func(out []*value.Dense) { out[0].F64[5] = 0.5 }, "element (0, 5) of result 0 is 0.5, and the interpreter gives -"},
		{"of a row", scaledNest, func(out []*value.Dense) { out[1].F64[2] = 0.5 }, "element (2, 0) of result 1 is 0.5, and the interpreter gives 128.75"},
		{"of all", scaledNest, func(out []*value.Dense) { out[2].F64[0] = 57 }, "element (0, 0) of result 2 is 57, and the interpreter gives 56"},
	} {
		x := counted(3, 80)
		out := []*value.Dense{value.New(types.F64, 3, 79), value.New(types.F64, 3, 1), value.New(types.F64, 1, 1)}
		if c.text == storedNest {
			out = out[:1]
		}
		r := begin(t, c.text, []value.Value{x, value.F64(0.25)}, out)
		w := r.Worker()
		if w.check == nil {
			w.check = newCheck(r)
		}
		call := w.call
		stored := strings.HasPrefix(c.name, "stored")
		w.call = func(w *Worker) {
			if call(w); stored {
				c.wrong(out)
			}
		}
		got := caught(func() {
			if flagged, err := w.Window(0, 3, 0, 79, nil); flagged || err != nil {
				t.Fatal(flagged, err)
			}
			check := w.check
			w.check = nil
			w.Finish()
			if !stored {
				c.wrong(out)
			}
			check.finish()
		})
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// caught is the text of a panic, or nothing.
func caught(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = r.(string)
		}
	}()
	f()
	return ""
}
