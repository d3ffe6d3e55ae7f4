package format

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"flow/ir/types"
)

// large is the path of a larger real input: in FLOW_DATA, or in ../shared/data beside the project.
// The test is skipped where it is not there.
func large(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("FLOW_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here; FLOW_DATA names the folder of the larger inputs", path)
	}
	return path
}

// inputs is where the small real inputs lie, which every checkout has.
const inputs = "../../testdata/inputs/"

func TestPenguins(t *testing.T) {
	d, err := Read(inputs+"penguins.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Rows != 342 || d.Cols != 5 || d.At(0, 0).F != 39.1 || d.At(341, 3).F != 3775 || d.At(341, 4).F != 2 {
		t.Errorf("%v, first %v, last %v %v", d.Type(), d.At(0, 0), d.At(341, 3), d.At(341, 4))
	}
}

func TestKarate(t *testing.T) {
	m, err := ReadGraph(inputs+"karate.txt", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Rows != 34 || m.NNZ() != 78 || m.At(0, 1).I != 1 || m.At(1, 0).I != 0 || m.At(32, 33).I != 1 {
		t.Errorf("%v of %d edges", m.Type(), m.NNZ())
	}
}

func TestRealMatrixMarket(t *testing.T) {
	path := large(t, "bcsstk13.mtx.gz")
	h, err := statOf(path, Options{})
	if err != nil || h != (Header{Elem: types.F64, Rows: 2003, Cols: 2003}) {
		t.Fatal(h, err)
	}
	d, err := Read(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	nonzeros, squares := 0, 0.0
	for i := range d.Rows {
		row := 0.0 // by rows, because one long sum is off by more than the tolerance
		for j := range d.Cols {
			x := d.F64[i*d.Stride+j]
			if x != d.F64[j*d.Stride+i] {
				t.Fatalf("[%d,%d] is not symmetric", i, j)
			}
			if x != 0 {
				nonzeros++
				row += x * x
			}
		}
		squares += row
	}
	if nonzeros != 83883 || math.Abs(math.Sqrt(squares)/7.536390473474842e12-1) > 1e-14 {
		t.Errorf("%d non-zeros, norm %v", nonzeros, math.Sqrt(squares))
	}
}

func TestRealCSV(t *testing.T) {
	path := large(t, "winequality.csv")
	d, err := Read(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Rows != 6497 || d.Cols != 13 || d.At(0, 0).F != 7.4 || d.At(6496, 11).F != 6 || d.At(6496, 12).F != 2 {
		t.Errorf("%v, first %v, last %v", d.Type(), d.At(0, 0), d.At(6496, 12))
	}
}
