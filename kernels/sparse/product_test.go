package sparse

import (
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// TestProductsWithZeros: a product of two sparse matrices does not store the sums that come out as
// zero, on one worker and on several.
func TestProductsWithZeros(t *testing.T) {
	d := rowtest.RowNamed(t, define.Resolved(sparseProducts()), "sp.matmul")
	r := rand.New(rand.NewPCG(71, 72))
	signs := func(rows, cols int) *value.CSR {
		x := value.New(types.F64, rows, cols)
		for k := range x.F64 {
			x.F64[k] = float64(r.IntN(3) - 1)
		}
		return define.KeptRef(x)
	}
	for _, rows := range []int{7, 300} {
		c := &op.Call{Def: d, In: []value.Value{signs(rows, 12), signs(12, 9)}, Type: types.SparseOf(types.F64, rows, 9)}
		want, err := d.Ref(c)
		if err != nil {
			t.Fatal(err)
		}
		if n := want.(*value.CSR).NNZ(); n > rows*8 {
			t.Fatalf("%d of %d sums are not zero", n, rows*9)
		}
		if err := d.Kernel(c); err != nil {
			t.Fatal(err)
		}
		if msg := rowtest.Differ(c.Out, want); msg != "" {
			t.Errorf("%d rows: %s", rows, msg)
		}
		rowtest.CheckLoop(t, c, want)
	}
}

// TestProductIntoColumn: the product of a dense matrix and a sparse column may be stored in a
// column of a wider matrix, where each row of the result is one element.
func TestProductIntoColumn(t *testing.T) {
	d := rowtest.RowNamed(t, define.Resolved(sparseProducts()), "sp.matmul")
	a, b := value.New(types.F64, 4, 3), value.NewCSR(types.F64, 3, 1, 2)
	for k := range a.F64 {
		a.F64[k] = float64(k)
	}
	copy(b.Ptr, []int64{0, 1, 1, 2})
	copy(b.F64, []float64{2, 5})
	c := &op.Call{Def: d, In: []value.Value{a, b}, Type: types.DenseOf(types.F64, 4, 1)}
	want, err := d.Ref(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Out = value.New(types.F64, 4, 6).View(0, 2, 4, 1)
	if err := d.Kernel(c); err != nil {
		t.Fatal(err)
	}
	if msg := rowtest.Differ(c.Out, want); msg != "" {
		t.Error(msg)
	}
}
