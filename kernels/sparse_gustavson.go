package kernels

// This file defines the product of two sparse matrices, row by row (F. Gustavson, Two fast algorithms for sparse
// matrices, ACM TOMS 4(3), 1978): row i of the product is the sum of the rows of b that row i of a names, gathered in a
// dense row of which only the columns that were touched are looked at again.

import (
	"slices"

	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
)

func gustavson(a, b *value.CSR, e types.Elem) *value.CSR {
	switch e {
	case types.F64:
		return spgemm(a, b, e, numbersOf[float64](a, e), numbersOf[float64](b, e), blas.FMA[float64])
	case types.F32:
		return spgemm(a, b, e, numbersOf[float32](a, e), numbersOf[float32](b, e), blas.FMA[float32])
	}
	return spgemm(a, b, e, numbersOf[int64](a, e), numbersOf[int64](b, e), stepI64)
}

func spgemm[T cell](a, b *value.CSR, e types.Elem, x, y []T, step func(x, y, z T) T) *value.CSR {
	out := value.NewCSR(e, a.Rows, b.Cols, 0)
	var vals []T
	sum := make([]T, b.Cols)
	seen := make([]int, b.Cols) // 1 + the last row that touched the column
	var touched []int32
	for i := range a.Rows {
		touched = touched[:0]
		rows, at := a.Row(i)
		for p, k := range rows {
			u := T(1)
			if x != nil {
				u = x[at+p]
			}
			cols, from := b.Row(int(k))
			for q, j := range cols {
				if seen[j] != i+1 {
					seen[j], sum[j] = i+1, 0
					touched = append(touched, j)
				}
				v := T(1)
				if y != nil {
					v = y[from+q]
				}
				sum[j] = step(u, v, sum[j])
			}
		}
		slices.Sort(touched)
		for _, j := range touched {
			if sum[j] != 0 {
				out.Col = append(out.Col, j)
				vals = append(vals, sum[j])
			}
		}
		out.Ptr[i+1] = int64(len(out.Col))
	}
	switch v := any(vals).(type) {
	case []float64:
		out.F64 = v
	case []float32:
		out.F32 = v
	case []int64:
		out.I64 = v
	}
	return out
}
