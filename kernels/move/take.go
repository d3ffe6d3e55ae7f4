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
	out := value.New(x.Elem, len(at), x.Cols)
	for i, p := range at {
		for j := range x.Cols {
			out.Set(i, j, x.At(p, j))
		}
	}
	return out
}

// FromStart returns row number p of n as a place. It fails if p is negative or too large.
func FromStart(p int64, _, n int) (int, error) {
	if p < 0 || p >= int64(n) {
		return 0, define.BadIndex("take: row %d of a matrix of %d rows", p, n)
	}
	return int(p), nil
}

// TakeInto makes out the rows of x that the column rows names.
func TakeInto(out, x, rows *value.Dense) error {
	at := dense.GridOf[int64](rows)
	switch x.Elem {
	case types.F64:
		return takeRows(dense.GridOf[float64](out), dense.GridOf[float64](x), at)
	case types.F32:
		return takeRows(dense.GridOf[float32](out), dense.GridOf[float32](x), at)
	case types.Bool:
		return takeRows(dense.GridOf[uint8](out), dense.GridOf[uint8](x), at)
	}
	return takeRows(dense.GridOf[int64](out), dense.GridOf[int64](x), at)
}

// takeRows copies the rows of x that rows names.
func takeRows[T dense.Cell](out, x dense.Grid[T], rows dense.Grid[int64]) error {
	for i := range out.Rows {
		p := rows.X[i*rows.LD]
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
