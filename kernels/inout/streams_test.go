//go:build unix

package inout

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/rowtest"
)

// typed is the type that a row gives a call without inputs.
func typed(t *testing.T, d *op.Def, a *op.Attrs) types.Type {
	t.Helper()
	out, err := d.Type(&op.Sig{Def: d, Attrs: a})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNamedPipe: a pipe to which nobody writes is told by its name, once; what is written then is
// read once, and the type, the kernel and the definition have it.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.csv")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	waiting := make(chan string, 9)
	d := rowtest.RowNamed(t, Rows(&Input{Waiting: func(name string) { waiting <- name }}), "read")
	written := make(chan error, 1)
	go func() {
		if got := <-waiting; got != path {
			t.Errorf("waiting for %s, want %s", got, path)
		}
		written <- os.WriteFile(path, []byte("a,b\n1,2\n3,4\n"), 0)
	}()
	a := op.MakeAttrs(rowtest.Attr("path", op.Str(path)))
	if got := typed(t, d, a); got != types.DenseOf(types.F64, 2, 2) {
		t.Fatal(got)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	for range 2 { // a loop reads again
		if got := rowtest.CheckRow(t, d, a).(*value.Dense); got.At(1, 0).F != 3 {
			t.Errorf("%v", got.F64)
		}
	}
	if len(waiting) > 0 {
		t.Errorf("told again: %s", <-waiting)
	}
}

// TestStandardInput: all names of standard input are one stream, also for a second table over the
// same Input. A second reading would find nothing.
func TestStandardInput(t *testing.T) {
	in := &Input{Stdin: strings.NewReader("1,2\n3,4\n")}
	for range 2 {
		d := rowtest.RowNamed(t, Rows(in), "read")
		for _, name := range []string{"-", "/dev/stdin", "/dev/fd/0"} {
			if got := rowtest.CheckRow(t, d, op.MakeAttrs(rowtest.Attr("path", op.Str(name)))).(*value.Dense); got.At(1, 1).F != 4 {
				t.Errorf("%s: %v", name, got.F64)
			}
		}
	}
}

// TestCompressedTableIsReadOnce: the type of a compressed CSV takes all of it, and the run does not
// read the file again.
func TestCompressedTableIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, strings.Repeat("1,2\n", 1000))
	z.Close()
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	files := newFileCache(&Input{})
	d := readRow(files)
	a := op.MakeAttrs(rowtest.Attr("path", op.Str(path)))
	out := typed(t, d, a)
	if out != types.DenseOf(types.F64, 1000, 2) {
		t.Fatal(out)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	// Damage that keeps size and time would be noticed by whoever decompresses again.
	damaged := bytes.Clone(b.Bytes())
	damaged[len(damaged)/2] ^= 0xff
	if err := os.WriteFile(path, damaged, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	run := func() error {
		c := &op.Call{Attrs: a, Type: out}
		c.Out = value.New(types.F64, 1000, 2)
		return d.Kernel(c)
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	if len(files.parsed) > 0 {
		t.Error("the matrix is kept after it was handed out")
	}
	if err := run(); err == nil {
		t.Error("the file was not damaged: the test shows nothing")
	}
}

// TestManyReadersOfAStream: many readers of one stream wait for the one that reads it.
func TestManyReadersOfAStream(t *testing.T) {
	r, w := io.Pipe()
	d := rowtest.RowNamed(t, Rows(&Input{Stdin: r}), "read")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			out, err := d.Type(&op.Sig{Def: d, Attrs: op.MakeAttrs(rowtest.Attr("path", op.Str("-")))})
			if err != nil || out != types.DenseOf(types.F64, 1, 2) {
				t.Errorf("%v, %v", out, err)
			}
		})
	}
	io.WriteString(w, "1,2\n")
	w.Close()
	wg.Wait()
}
