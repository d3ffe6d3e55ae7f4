package format

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// A part of a .npy file is the same part of the matrix in it.
func TestReadPart(t *testing.T) {
	dir := t.TempDir()
	for k, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool, types.F64, types.F32, types.I64, types.Bool} {
		d := value.New(e, 9, 7)
		for i := range 9 {
			for j := range 7 {
				d.Set(i, j, value.F64(float64((i*7+j)%5)-1).Convert(e))
			}
		}
		path := filepath.Join(dir, "x.npy")
		byColumns := k >= 4
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		stored := d
		if byColumns {
			stored = value.New(e, 7, 9)
			for i := range 9 {
				for j := range 7 {
					stored.Set(j, i, d.At(i, j))
				}
			}
		}
		if err := Write(file, path, stored, Options{}); err != nil || file.Close() != nil {
			t.Fatal(err)
		}
		if byColumns {
			storedByColumns(t, path, 7, 9)
		}
		parts := [][4]int{{0, 0, 9, 7}, {2, 0, 4, 7}, {8, 6, 1, 1}, {3, 2, 5, 4}, {9, 0, 0, 7}}
		if byColumns { // shorter runs are not read alone
			parts = [][4]int{{0, 0, 9, 7}, {0, 3, 9, 2}, {0, 6, 9, 1}}
		}
		for _, at := range parts {
			out := value.New(e, at[2], at[3]+2).View(0, 1, at[2], at[3])
			for i := range out.Rows {
				for j := range out.Cols {
					out.Set(i, j, value.F64(1).Convert(e)) // memory of the pool has anything
				}
			}
			if !ReadPart(path, Options{}, out, at[0], at[1]) {
				t.Fatalf("%v: part %v is not read", e, at)
			}
			for i := range out.Rows {
				for j := range out.Cols {
					if out.At(i, j) != d.At(at[0]+i, at[1]+j) {
						t.Fatalf("%v: element (%d, %d) of %v is %v, not %v", e, i, j, at, out.At(i, j), d.At(at[0]+i, at[1]+j))
					}
				}
			}
		}
		for _, at := range [][4]int{{0, 0, 10, 7}, {4, 4, 2, 4}, {-1, 0, 2, 2}} {
			if ReadPart(path, Options{}, value.New(e, at[2], at[3]), at[0], at[1]) {
				t.Errorf("%v: part %v is read of a 9 x 7 matrix", e, at)
			}
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{whole[:len(whole)-1], append(whole, 0), whole[:40], nil} {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			if ReadPart(path, Options{}, value.New(e, 1, 1), 0, 0) {
				t.Errorf("%v: a damaged file of %d bytes is read in parts", e, len(text))
			}
		}
	}
	if ReadPart(filepath.Join(dir, "none.npy"), Options{}, value.New(types.F64, 1, 1), 0, 0) {
		t.Error("there is no such file")
	}
}

// storedByColumns makes the rows x cols matrix in a .npy file its transpose, stored by columns.
func storedByColumns(t *testing.T, path string, rows, cols int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte("False"), []byte("True "), 1)
	b = bytes.Replace(b, fmt.Appendf(nil, "(%d, %d)", rows, cols), fmt.Appendf(nil, "(%d, %d)", cols, rows), 1)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Rows of a large matrix that is stored by columns are read alone.
func TestReadRowsOfColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	d := value.New(types.F64, 5, 400)
	for k := range d.F64 {
		d.F64[k] = float64(k)
	}
	var b bytes.Buffer
	if err := Write(&b, path, d, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	storedByColumns(t, path, 5, 400)
	var read atomic.Int64
	out := value.New(types.F64, 70, 2)
	if !ReadPart(path, Options{Read: &read}, out, 300, 3) || read.Load() > 70*2*8+512 {
		t.Fatalf("%d bytes are read", read.Load())
	}
	for i := range out.Rows {
		for j := range out.Cols {
			if out.F64[i*2+j] != d.F64[(3+j)*400+300+i] {
				t.Fatalf("element (%d, %d) is %v", i, j, out.F64[i*2+j])
			}
		}
	}
	if ReadPart(path, Options{}, value.New(types.F64, 7, 2), 300, 3) {
		t.Error("runs of 56 bytes are read alone")
	}
}

// TestReadPartInSpans reads parts of narrow rows, in spans of many rows, and of wide rows, without the
// unwanted bytes.
func TestReadPartInSpans(t *testing.T) {
	for _, size := range [][2]int{{20_000, 3}, {30, 900}} {
		n, m := size[0], size[1]
		path := filepath.Join(t.TempDir(), "x.npy")
		d := value.New(types.I64, n, m)
		for k := range d.I64 {
			d.I64[k] = int64(k)
		}
		var b bytes.Buffer
		if err := Write(&b, path, d, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, at := range [][4]int{{0, m - 1, n, 1}, {5, 0, n - 7, 2}, {n - 1, 1, 1, 2}} {
			var read atomic.Int64
			out := value.New(types.I64, at[2], at[3]+1).View(0, 1, at[2], at[3])
			if !ReadPart(path, Options{Read: &read}, out, at[0], at[1]) {
				t.Fatalf("part %v of %v is not read", at, size)
			}
			if want := d.View(at[0], at[1], at[2], at[3]); !value.Same(out, want) {
				t.Errorf("part %v of %v differs", at, size)
			}
			if most := int64(1024 + 8*at[2]*at[3]); m == 900 && read.Load() > most {
				t.Errorf("part %v of %v takes %d bytes, more than %d", at, size, read.Load(), most)
			}
		}
	}
}
