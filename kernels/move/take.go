package move

// This file defines take on rows that are known: the copies behind take, sort and subscripts by a list.

import (
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// RowsRef is the definition of take: the rows of x at those places.
func RowsRef(x *value.Dense, at []int) *value.Dense {
	return define.Placed(types.DenseOf(x.Elem, len(at), x.Cols), func(i, j int) value.Scalar { return x.At(at[i], j) })
}

// FromStart returns row number p of n as a place. It fails if p is negative or too large. The help differs
// from that of subscripts, which count negative numbers from the end.
func FromStart(p int64, _, n int) (int, error) {
	if p < 0 || p >= int64(n) {
		return 0, define.BadIndex("take: row %d of a matrix of %d rows", p, n).
			WithHelp("take counts rows from 0; x[rows, :] counts negative numbers back from the end")
	}
	return int(p), nil
}

// TakeInto makes out the rows of x that the column rows names.
func TakeInto(out, x, rows *value.Dense) error {
	take := dense.ForElem(x.Elem, takeRows[float64], takeRows[float32], takeRows[int64], takeRows[uint8])
	return take(out, x, rows)
}

// takeRows copies the rows of matrix from whose numbers the column rows holds to matrix to.
func takeRows[T dense.Cell](to, from, rows *value.Dense) error {
	out, x := dense.GridOf[T](to), dense.GridOf[T](from)
	for i := range out.Rows {
		p := rows.I64[i*rows.Stride]
		if uint64(p) >= uint64(x.Rows) {
			_, err := FromStart(p, 0, x.Rows)
			return err
		}
		if x.Cols == 1 { // a call of copy for each number would cost three times what the number does
			out.X[i*out.LD] = x.X[int(p)*x.LD]
		} else {
			copy(out.Row(i), x.Row(int(p)))
		}
	}
	return nil
}
