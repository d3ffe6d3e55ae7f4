package encode

import (
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// TestWeights compares ctable with weights or crop with its definition. Codes and weights take several
// blocks, lie in a column of a matrix, or are invalid.
func TestWeights(t *testing.T) {
	row := rowtest.RowNamed(t, define.Resolved(Rows()), "ctable.weights")
	r := rand.New(rand.NewPCG(5, 6))
	numbers := []types.Elem{types.F64, types.F32, types.I64, types.Bool}
	done := 0
	for k := range 200 {
		rows, n, m := r.IntN(1500), 1+r.IntN(9), 1+r.IntN(9)
		column := func(k int) *value.Dense {
			x := rowtest.RandomDense(r, numbers[r.IntN(3)], rows, 3).View(0, 1, rows, 1)
			for i := range rows {
				x.Set(i, 0, value.I64(r.Int64N(int64(k))).Convert(x.Elem))
			}
			return x
		}
		in := []value.Value{column(n), column(m)}
		attrs := []op.Attr{rowtest.Attr("n", op.Int(n)), rowtest.Attr("m", op.Int(m))}
		switch k % 4 {
		case 0:
			attrs = append(attrs, rowtest.Attr("sparse", op.Bool(true)))
		case 1:
			attrs = nil
		case 2: // codes beyond the table, negative ones too
			in[0] = column(2*n + 1)
			for i := range rows {
				if a := in[0].(*value.Dense); a.Elem == types.I64 && r.IntN(5) == 0 {
					a.Set(i, 0, value.I64(-1))
				}
			}
			attrs = append(attrs, rowtest.Attr("crop", op.Bool(r.IntN(4) > 0)))
		}
		if k%4 != 2 || r.IntN(2) == 0 {
			w := rowtest.RandomDense(r, numbers[r.IntN(4)], rows, 2)
			in = append(in, w.View(0, r.IntN(2), rows, 1))
		}
		if rows > 0 && r.IntN(9) == 0 {
			x := in[r.IntN(2)].(*value.Dense)
			x.Set(r.IntN(rows), 0, value.F64([]float64{-2, 0.5, 100}[r.IntN(3)]).Convert(x.Elem))
		}
		if _, ok := rowtest.Check(t, row, op.MakeAttrs(attrs...), in); ok {
			done++
		}
	}
	if done < 120 {
		t.Errorf("only %d calls succeeded", done)
	}
}
