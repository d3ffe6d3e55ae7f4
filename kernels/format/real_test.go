package format

import (
	"math"
	"os"
	"testing"

	"flow/ir/types"
)

// shared is where the real inputs lie beside a checkout; tests of them are skipped elsewhere.
const shared = "../../../shared/data/"

func TestRealMatrixMarket(t *testing.T) {
	path := shared + "bcsstk13.mtx.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skip("the real inputs are not here")
	}
	h, err := Stat(path, Options{})
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
	path := shared + "winequality.csv"
	if _, err := os.Stat(path); err != nil {
		t.Skip("the real inputs are not here")
	}
	d, err := Read(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Rows != 6497 || d.Cols != 13 || d.At(0, 0).F != 7.4 || d.At(6496, 11).F != 6 || d.At(6496, 12).F != 2 {
		t.Errorf("%v, first %v, last %v", d.Type(), d.At(0, 0), d.At(6496, 12))
	}
}
