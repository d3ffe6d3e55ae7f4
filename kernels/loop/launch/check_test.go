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
	names := []string{"TestWindows", "TestStopped", "TestPlaced", "TestRangesOfScalars", "TestDifference",
		"TestPartialDifference", "TestPartialSums", "TestSumsOfLanes", "TestNearSizes", "TestNearRows"}
	for _, set := range []string{Variable + "=" + Interp, CheckVariable + "=" + CheckValue} {
		c := exec.Command(os.Args[0], "-test.run=^("+strings.Join(names, "|")+")$", "-test.v")
		c.Env = append(os.Environ(), set)
		out, err := c.CombinedOutput()
		ran := func(name string) bool { return strings.Contains(string(out), "=== RUN   "+name+"\n") }
		if missing := slices.DeleteFunc(slices.Clone(names), ran); err != nil || len(missing) > 0 {
			t.Errorf("%s: %v, without %v\n%.3000s", set, err, missing, out)
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

const summedNest = `
nest(%0: f64[], %1: i64, %2: i64) (j: 0..%0.cols) {
  v0 = f64 0
  v1 = for i: %1..%2 (v2 = v0) {
    v3 = load %0[i, j]
    v4 = add v2, v3
    next v4
  }
  store out0[0, j] v1
} : (f64[1, %0.cols])`

// bitsNest stores the bits of roots, and what is made of them: a negative number has a nan.
const bitsNest = `
nest(%0: f64[]) (j: 0..%0.cols-1) {
  v0 = load %0[0, j]
  v1 = sqrt v0
  v2 = bits v1
  store out0[0, j] v2
  v3 = i64 1
  v4 = xor v2, v3
  store out0[1, j] v4
} : (i64[2, %0.cols-1])`

// TestRangesOfScalars: where two scalars bound the rows of a window, the interpreter is lent the
// memory of these rows and no other.
func TestRangesOfScalars(t *testing.T) {
	const rows, cols, height = 40, 21, 9
	x := counted(rows, cols)
	whole := &value.Dense{Elem: types.F64, Rows: rows, Cols: cols, Stride: cols}
	out := value.New(types.F64, 1, cols)
	w := begin(t, summedNest, []value.Value{whole, value.I64(0), value.I64(rows)}, []*value.Dense{out}).Worker()
	defer w.Free()
	b := w.beside
	if w.check != nil {
		b = w.check.beside
	}
	if Checks() && b == nil {
		t.Fatal("nothing is checked")
	}
	for i := rows - height; i > 0; i -= height { // backwards: no range holds the next one
		part := x.View(i, 0, height, cols).Clone()
		w.Place(0, part, i, 0)
		w.Scalar(1, value.I64(int64(i)))
		w.Scalar(2, value.I64(int64(i+height)))
		if b != nil {
			b.follow(w, 0, 1, 0, cols)
			if got := b.parts[0].F64; len(got) != height*cols || &got[0] != &part.F64[0] {
				t.Fatalf("rows from %d: %d elements, want the %d of the part", i, len(got), height*cols)
			}
			b.let()
		}
		if flagged, err := w.Window(0, 1, 0, cols, nil); flagged || err != nil {
			t.Fatal(flagged, err)
		}
		for j := range cols {
			want := 0.0
			for r := range height {
				want += part.At(r, j).F
			}
			if got := out.At(0, j).F; got != want {
				t.Fatalf("rows from %d, column %d: %v, want %v", i, j, got, want)
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
		{"stored bits", bitsNest, func([]*value.Dense) {}, ""},
		// Column 0 holds a nan, column 45 the root of 5.
		{"stored bits of another nan", bitsNest, func(out []*value.Dense) { out[0].I64[0] ^= 5; out[0].I64[79] ^= 9 }, ""},
		{"stored bits of a number", bitsNest, func(out []*value.Dense) { out[0].I64[45] ^= 1 }, "element (0, 45) of result 0 is "},
		{"stored words of a number's bits", bitsNest, func(out []*value.Dense) { out[0].I64[79+45] ^= 1 }, "element (1, 45) of result 0 is "},
		{"of a row", scaledNest, func(out []*value.Dense) { out[1].F64[2] = 0.5 }, "element (2, 0) of result 1 is 0.5, and the interpreter gives 128.75"},
		{"of all", scaledNest, func(out []*value.Dense) { out[2].F64[0] = 57 }, "element (0, 0) of result 2 is 57, and the interpreter gives 56"},
	} {
		x := counted(3, 80)
		out := []*value.Dense{value.New(types.F64, 3, 79), value.New(types.F64, 3, 1), value.New(types.F64, 1, 1)}
		in, rows := []value.Value{x, value.F64(0.25)}, 3
		switch c.text {
		case storedNest:
			out = out[:1]
		case bitsNest:
			in, out, rows = in[:1], []*value.Dense{value.New(types.I64, 2, 79)}, 1
		}
		r := begin(t, c.text, in, out)
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
			if flagged, err := w.Window(0, rows, 0, 79, nil); flagged || err != nil {
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

// TestPartialDifference: states that a caller takes itself are compared, too: of columns, also where
// the worker is limited to some of them, and of all points. A forgotten state is no difference.
func TestPartialDifference(t *testing.T) {
	if slices.Equal(Targets(), []string{Interp}) || os.Getenv(Variable) == Interp {
		t.Skip("there is no machine code to check")
	}
	const rows, cols, first, n = 40, 90, 30, 20
	x := counted(rows, cols)
	columns := `
nest(%0: f64[]) (j: 0..%0.cols) {
  for i: 0..%0.rows {
    v0 = load %0[i, j]
    reduce out0[0, j] v0
    reduce out1[0, j] v0
  }
} : (sum f64[1, %0.cols], max f64[1, %0.cols])`
	all := `
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  reduce out0[0, 0] v0
  reduce out1[0, 0] v0
} : (sum f64[1, 1], max f64[1, 1])`
	for _, c := range []struct {
		name, text string
		wrong      func(w *Worker)
		want       string
	}{
		{"nothing", columns, func(*Worker) {}, ""},
		{"a sum", columns, func(w *Worker) { w.Sums(0).Adder(0, 7).Add(1) }, "element (0, 37) of result 0 is "},
		{"a maximum", columns, func(w *Worker) { w.Words(1)[n-1] ^= 1 }, "element (0, 49) of result 1 is "},
		{"a sum of all", all, func(w *Worker) { w.Sums(0).Adder(0, 0).Add(1e290) }, "element (0, 0) of result 0 is "},
		{"a maximum of all", all, func(w *Worker) { w.Words(1)[0] ^= 1 }, "element (0, 0) of result 1 is "},
	} {
		out := []*value.Dense{value.New(types.F64, 1, 1), value.New(types.F64, 1, 1)}
		height, lanes, l0 := rows, cols, 0
		if c.text == columns {
			head := value.Dense{Elem: types.F64, Rows: 1, Cols: cols, Stride: cols + 1}
			out, height, lanes, l0 = []*value.Dense{&head, &head}, 1, n, first
		}
		r := begin(t, c.text, []value.Value{x}, out)
		w := r.Worker()
		w.Doubted = func(k, r0, r1, l0, l1 int) error { return nil }
		if w.check == nil {
			w.check = newCheck(r)
		}
		got := caught(func() {
			for k, first := range []int{0, l0} { // the first is forgotten
				if c.text == columns {
					w.Columns(first, n)
				} else {
					w.Forget()
				}
				if flagged, err := w.Window(0, height, first, first+lanes, nil); flagged || err != nil {
					t.Fatal(flagged, err)
				}
				if k == 1 {
					c.wrong(w)
				}
				w.Sums(0)
				w.Words(1)
			}
		})
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		w.Free()
	}
}
