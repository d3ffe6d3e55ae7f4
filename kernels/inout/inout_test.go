package inout

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/format"
	"flow/kernels/rowtest"
	"flow/kernels/window"
)

// memoryEnv keeps what a program prints and writes.
type memoryEnv struct {
	out   bytes.Buffer
	files map[string]*bytes.Buffer
	dir   string
}

func (e *memoryEnv) Stdout() io.Writer { return &e.out }

func (e *memoryEnv) Create(path string) (io.WriteCloser, error) {
	if strings.HasPrefix(path, "/nosuch/") {
		return nil, errors.New("no such directory")
	}
	e.files[path] = &bytes.Buffer{}
	return nopCloser{e.files[path]}, nil
}

func (e *memoryEnv) Path(path string) string { return filepath.Join(e.dir, path) }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// emitted runs emit's kernel and returns what it printed, which must be what its definition prints.
func emitted(t *testing.T, x value.Value, attrs *op.Attrs) string {
	t.Helper()
	d := rowtest.RowNamed(t, Rows(&Input{}), "emit")
	if _, err := d.Type(&op.Sig{Def: d, In: []types.Type{x.Type()}, Attrs: attrs}); err != nil {
		t.Fatal(err)
	}
	a, b := &memoryEnv{}, &memoryEnv{}
	if err := d.Kernel(&op.Call{In: []value.Value{x}, Attrs: attrs, Env: a, Type: types.EffectType()}); err != nil {
		t.Fatal(err)
	}
	if err := printRef(&op.Call{In: []value.Value{x}, Attrs: attrs, Env: b, Type: types.EffectType()}); err != nil {
		t.Fatal(err)
	}
	if a.out.String() != b.out.String() {
		t.Fatalf("kernel prints\n%s\nthe definition\n%s", a.out.String(), b.out.String())
	}
	return a.out.String()
}

func TestEmitText(t *testing.T) {
	m := value.New(types.F64, 2, 3)
	copy(m.F64, []float64{1, -0.5, math.NaN(), 1e300, math.Inf(-1), math.Copysign(0, -1)})
	labelled := op.MakeAttrs(rowtest.Attr("label", op.Str("X")))
	for _, c := range []struct {
		x     value.Value
		attrs *op.Attrs
		want  string
	}{
		{value.F64(0.1), nil, "0.1\n"},
		{value.F64(0.1), labelled, "X: 0.1\n"},
		{value.Scalar{Elem: types.F32, F: float64(float32(0.1))}, nil, "0.1\n"},
		{value.I64(-7), labelled, "X: -7\n"},
		{value.Bool(true), nil, "true\n"},
		{value.Str("a b"), labelled, "X: a b\n"},
		{m, nil, "     1 -0.5 nan\n1e+300 -inf  -0\n"},
		{m, labelled, "X:\n     1 -0.5 nan\n1e+300 -inf  -0\n"},
		{m.View(0, 1, 2, 1), nil, "-0.5\n-inf\n"},
		{value.New(types.Bool, 1, 2), nil, "false false\n"},
		{value.New(types.F32, 0, 2), labelled, "X:\n"},
	} {
		if got := emitted(t, c.x, c.attrs); got != c.want {
			t.Errorf("emit %v %v prints %q, want %q", c.x.Type(), c.attrs, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
		emitted(t, rowtest.RandomDense(r, e, 300, 50), nil) // more than one piece of text
	}
}

func TestEmitToFilesReadsBack(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(2, 2))
	for _, name := range []string{"a.mtx", "a.mtx.gz", "a.npy", "a.npy.gz", "a.csv", "a.csv.gz", "a.tsv"} {
		rows := Rows(&Input{})
		emit, read := rowtest.RowNamed(t, rows, "emit"), rowtest.RowNamed(t, rows, "read")
		for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
			x := rowtest.RandomDense(r, e, 5, 4)
			env := &memoryEnv{files: map[string]*bytes.Buffer{}, dir: dir}
			if err := emit.Kernel(&op.Call{In: []value.Value{x}, Attrs: op.MakeAttrs(rowtest.Attr("to", op.Str(name))), Env: env}); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, env.files[name].Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			got := rowtest.CheckRow(t, read, op.MakeAttrs(rowtest.Attr("path", op.Str(path))))
			back := value.New(e, 5, 4)
			for i := range 5 {
				for j := range 4 {
					back.Set(i, j, got.(*value.Dense).At(i, j))
				}
			}
			if !value.Same(back, x.Clone()) {
				t.Errorf("%s of %v: read back differs", name, e)
			}
		}
	}
}

func TestReadBlocksParseOnceAndForget(t *testing.T) {
	const n, m, b = 37, 23, 8
	path := filepath.Join(t.TempDir(), "x.csv")
	x := rowtest.RandomDense(rand.New(rand.NewPCG(3, 3)), types.F64, n, m)
	var text strings.Builder
	for i := range n {
		for j := range m {
			text.WriteString(x.At(i, j).String())
			text.WriteString(map[bool]string{true: "\n", false: ","}[j == m-1])
		}
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	files := newFileCache(&Input{})
	d := readRow(files)
	var wg sync.WaitGroup
	for i := 0; i < n; i += b {
		for j := 0; j < m; j += b {
			w := window.Rect{Row: i, Col: j, Rows: min(b, n-i), Cols: min(b, m-j)}
			wg.Go(func() {
				attrs := op.MakeAttrs(rowtest.Attr("path", op.Str(path)), rowtest.Attr("at", op.Ints(w.Row, w.Col, w.Rows, w.Cols)))
				out := value.New(types.F64, w.Rows, w.Cols)
				if err := d.Kernel(&op.Call{Attrs: attrs, Type: out.Type(), Out: out}); err != nil || !value.Same(out, w.Of(x)) {
					t.Errorf("block %v: %v", w, err)
				}
			})
		}
	}
	wg.Wait()
	if len(files.parsed) != 0 {
		t.Error("the matrix is kept after its last block")
	}
	rowtest.CheckRow(t, d, op.MakeAttrs(rowtest.Attr("path", op.Str(path)), rowtest.Attr("at", op.Ints(3, 4, 5, 6))))
	if len(files.parsed) != 1 {
		t.Error("the matrix is forgotten before its last block")
	}
	if err := os.WriteFile(path, []byte("1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out := value.New(types.F64, n, m)
	err := d.Kernel(&op.Call{Attrs: op.MakeAttrs(rowtest.Attr("path", op.Str(path))), Type: out.Type(), Out: out})
	if f, ok := err.(*op.Failure); !ok || f.Code != "E606" {
		t.Errorf("a file that changed under the program: %v", err)
	}
}

// Rows of a file that has changed since the program was checked are refused: other ranks may have rows
// of the old one.
func TestRowsOfAChangedFile(t *testing.T) {
	for _, x := range []struct {
		kind      fileKind
		form      string
		old, next string
	}{
		{graphFile, "txt", "0 1\n", "0 1\n1 0\n"},
		{sparseFile, "mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3.5\n"},
	} {
		path, files := filepath.Join(t.TempDir(), "g."+x.form), newFileCache(&Input{})
		put := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		put(x.old)
		o := format.Options{Form: x.form}
		rows := func() error {
			k, _ := files.keyOf(path, o, x.kind)
			_, err := files.sparseRows(&op.Call{Lo: 0, Hi: 1}, path, o, k)
			return err
		}
		var err error
		if x.kind == graphFile {
			_, err = files.graph(path, x.form)
		} else {
			a := op.MakeAttrs(rowtest.Attr("path", op.Str(path)), rowtest.Attr("sparse", op.Bool(true)), rowtest.Attr("form", op.Str(x.form)))
			_, err = files.readType(&op.Sig{Attrs: a})
		}
		if err != nil || rows() != nil {
			t.Fatalf("%s: %v, %v", x.form, err, rows())
		}
		put(x.next)
		if f, ok := rows().(*op.Failure); !ok || f.Code != "E606" {
			t.Errorf("%s: rows of a file that has changed: %v", x.form, rows())
		}
	}
}

func TestInOutFaults(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) op.Attr {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return rowtest.Attr("path", op.Str(p))
	}
	rows := Rows(&Input{})
	f64, boolean := types.ScalarOf(types.F64), types.ScalarOf(types.Bool)
	for _, c := range []struct {
		row      string
		attrs    *op.Attrs
		in       []types.Type
		code     string
		arg      int
		msg, hlp string
	}{
		{"read", op.MakeAttrs(put("data.mtx", ""), rowtest.Attr("path", op.Str(filepath.Join(dir, "dat.mtx")))), nil, "E501", 0, "no such file", "did you mean"},
		{"read", op.MakeAttrs(put("x.mtz", "")), nil, "E502", 0, `unknown format ".mtz"`, "did you mean .mtx?"},
		{"read", op.MakeAttrs(put("a.mtx", "%%MatrixMarket matrix array real generl\n1 1\n1\n")), nil, "E503", 0, `a.mtx:1:34: unknown symmetry "generl"`, ""},
		{"read", op.MakeAttrs(put("a.csv", "")), nil, "E504", 0, "the file is empty", "writes it still"},
		{"read", op.MakeAttrs(rowtest.Attr("path", op.Str("nowhere.npz.npy"))), nil, "E501", 0, "no such file", "relative to the directory"},
		{"read", op.MakeAttrs(put("a.npy", "PK")), nil, "E505", 0, "not an .npy file", "numpy.save"},
		{"read", op.MakeAttrs(put("a.mtx.gz", "\x1f\x8b\x08")), nil, "E506", 0, "compressed", ""},
		{"read", op.MakeAttrs(put("b.csv", "1,2\n"), rowtest.Attr("sep", op.Str("ab"))), nil, "E203", 3, "sep", ""},
		{"emit", op.MakeAttrs(rowtest.Attr("to", op.Str("x.cvs"))), []types.Type{f64}, "E502", 2, `unknown format ".cvs"`, "did you mean .csv?"},
		{"emit", op.MakeAttrs(rowtest.Attr("to", op.Str("x.csv"))), []types.Type{types.ScalarOf(types.Str)}, "E202", 0, "", ""},
		{"emit", op.MakeAttrs(rowtest.Attr("to", op.Str("x.csv")), rowtest.Attr("separator", op.Str(";"))), []types.Type{f64}, "E128", 2, "a sink has no argument `separator`", "sep"},
		{"emit", nil, []types.Type{types.EffectType()}, "E202", 0, "", ""},
		{"emit", nil, []types.Type{f64, f64}, "E202", 1, "", ""},
		{"assert", nil, []types.Type{f64}, "E202", 0, "assert takes one bool; this is f64", "compare"},
		{"assert", nil, []types.Type{boolean, boolean}, "E202", 1, "", ""},
	} {
		d := rowtest.RowNamed(t, rows, c.row)
		_, err := d.Type(&op.Sig{Def: d, In: c.in, Attrs: c.attrs})
		f, ok := err.(*op.Fault)
		if !ok || f.Code != c.code || f.Arg != c.arg || !strings.Contains(f.Msg, c.msg) || !strings.Contains(f.Help, c.hlp) {
			t.Errorf("%s%v: %#v, want %s at argument %d: %s; %s", c.row, c.attrs, err, c.code, c.arg, c.msg, c.hlp)
		}
	}
}

func TestEmitFailsWhereItCannotWrite(t *testing.T) {
	env := &memoryEnv{files: map[string]*bytes.Buffer{}}
	err := rowtest.RowNamed(t, Rows(&Input{}), "emit").Kernel(&op.Call{In: []value.Value{value.F64(1)}, Attrs: op.MakeAttrs(rowtest.Attr("to", op.Str("/nosuch/a.csv"))), Env: env})
	if f, ok := err.(*op.Failure); !ok || f.Code != "E507" {
		t.Errorf("%v", err)
	}
}

func TestAssert(t *testing.T) {
	d := rowtest.RowNamed(t, Rows(&Input{}), "assert")
	for _, rest := range [][]types.Type{{types.EffectType()}, {types.ScalarOf(types.Str), types.EffectType()}} {
		if _, err := d.Type(&op.Sig{Def: d, In: append([]types.Type{types.ScalarOf(types.Bool)}, rest...)}); err != nil {
			t.Error(err)
		}
	}
	for want, c := range map[string]*op.Call{
		"<nil>":                      {In: []value.Value{value.Bool(true)}},
		"assertion failed":           {In: []value.Value{value.Bool(false)}},
		"assertion failed: n is 3":   {In: []value.Value{value.Bool(false), value.Str("n is 3"), nil}},
		"assertion failed: X is odd": {In: []value.Value{value.Bool(false)}, Attrs: op.MakeAttrs(rowtest.Attr("message", op.Str("X is odd")))},
	} {
		err := d.Kernel(c)
		if got := "<nil>"; err != nil {
			got = err.Error()
			if f, ok := err.(*op.Failure); !ok || f.Code != "E603" || got != want {
				t.Errorf("%#v, want %s", err, want)
			}
		} else if got != want {
			t.Errorf("no failure, want %s", want)
		}
	}
}
