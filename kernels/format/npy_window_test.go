package format

import (
	"os"
	"path/filepath"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// A part of a .npy file is the same part of the matrix in it.
func TestReadPart(t *testing.T) {
	dir := t.TempDir()
	for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
		d := value.New(e, 9, 7)
		for i := range 9 {
			for j := range 7 {
				d.Set(i, j, value.F64(float64((i*7+j)%5)-1).Convert(e))
			}
		}
		path := filepath.Join(dir, "x.npy")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(file, path, d, Options{}); err != nil || file.Close() != nil {
			t.Fatal(err)
		}
		for _, at := range [][4]int{{0, 0, 9, 7}, {2, 0, 4, 7}, {8, 6, 1, 1}, {3, 2, 5, 4}, {9, 0, 0, 7}} {
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
