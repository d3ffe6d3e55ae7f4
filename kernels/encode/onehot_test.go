package encode

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// codesIn is a column of codes 0..k-1 of element type e, sometimes with one that is none.
func codesIn(r *rand.Rand, e types.Elem, n, k int) *value.Dense {
	a := rowtest.RandomDense(r, e, n, 1)
	for i := range n {
		a.Set(i, 0, value.I64(r.Int64N(int64(k))).Convert(e))
	}
	if n > 0 && r.IntN(8) == 0 {
		a.Set(r.IntN(n), 0, value.I64([]int64{-1, int64(k), int64(k) + 5}[r.IntN(3)]).Convert(e))
	}
	return a
}

// What is computed of codes equals the definition by their matrix, as a kernel and as a loop, and
// fails as it does.
func TestSumsByCode(t *testing.T) {
	rows := define.Resolved(Rows())
	r := rand.New(rand.NewPCG(91, 92))
	odd := []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, math.Copysign(0, -1)}
	done := 0
	for range 150 {
		n, m, k := r.IntN(200), r.IntN(12), 1+r.IntN(9)
		x := rowtest.RandomDense(r, types.F64, n, m)
		for range r.IntN(6) * min(n, 1) * min(m, 1) {
			x.Set(r.IntN(n), r.IntN(m), value.F64(odd[r.IntN(len(odd))]))
		}
		a := codesIn(r, []types.Elem{types.I64, types.I64, types.F64}[r.IntN(3)], n, k)
		attrs := op.MakeAttrs(rowtest.Attr("k", op.Int(k)), rowtest.Attr("panel", op.Int(r.IntN(4)*r.IntN(100)))) // 0: of a sparse matrix of codes
		if _, ok := rowtest.Check(t, rowtest.RowNamed(t, rows, "onehot.sums"), attrs, []value.Value{a, x}); ok {
			done++
		}
		attrs = op.MakeAttrs(rowtest.Attr("k", op.Int(k)))
		rowtest.Check(t, rowtest.RowNamed(t, rows, "onehot.counts"), attrs, []value.Value{a})
		rowtest.Check(t, rowtest.RowNamed(t, rows, "onehot"), attrs, []value.Value{a})
	}
	if done < 100 {
		t.Errorf("only %d calls succeeded", done)
	}
}

// The first row that is no code fails, wherever it is, and no row behind it is looked at.
func TestFirstWrongCode(t *testing.T) {
	rows := define.Resolved(Rows())
	r := rand.New(rand.NewPCG(93, 94))
	for _, at := range []int{0, 1, 2, 511, 512, 599} {
		a := value.New(types.I64, 600, 1)
		for i := range a.I64 {
			a.I64[i] = r.Int64N(7)
		}
		a.I64[at], a.I64[599] = 7, -1
		for m := range 3 {
			attrs := op.MakeAttrs(rowtest.Attr("k", op.Int(7)), rowtest.Attr("panel", op.Int(0)))
			if _, ok := rowtest.Check(t, rowtest.RowNamed(t, rows, "onehot.sums"), attrs, []value.Value{a, value.New(types.F64, 600, m)}); ok {
				t.Errorf("row %d is no code, and sums of %d columns succeed", at, m)
			}
		}
		if _, ok := rowtest.Check(t, rowtest.RowNamed(t, rows, "onehot.counts"), op.MakeAttrs(rowtest.Attr("k", op.Int(7))), []value.Value{a}); ok {
			t.Errorf("row %d is no code, and counts succeed", at)
		}
	}
}
