package sparsity

// This file estimates triangles, whose rows differ in length, and the work of their rows in products.

// both returns the side that two matrices have in common.
func both(a, b *Estimate) Side {
	if a.Side == b.Side {
		return a.Side
	}
	return Anywhere
}

// Triangle estimates the part of a matrix on one side of the diagonal. Row i keeps the columns up to i,
// or from i on. Which columns have nonzeros is taken to be the same in all rows.
func (e Estimate) Triangle(side Side) Estimate {
	rows, cols := make([]float64, e.Rows), make([]float64, e.Cols)
	across := before(e.Cols, func(j int) float64 { return e.col.share(j, e.Cols, e.NNZ) })
	down := before(e.Rows, func(i int) float64 { return e.row.share(i, e.Rows, e.NNZ) })
	for i := range rows {
		rows[i] = float64(e.InRow(i) * kept(across, side == Below, i))
	}
	for j := range cols {
		cols[j] = float64(e.col.share(j, e.Cols, e.NNZ) * kept(down, side == Above, j))
	}
	t := Counts(rows, cols)
	t.Basis, t.MostRow, t.MostCol = max(e.Basis, Estimated), e.MostRow, e.MostCol
	if e.Rows == e.Cols {
		t.Side = side
	}
	return t
}

// before returns the sums of the first k of n numbers, for each k.
func before(n int, of func(k int) float64) []float64 {
	sum := make([]float64, n+1)
	for k := range n {
		sum[k+1] = sum[k] + of(k)
	}
	return sum
}

// kept returns which part of all numbers is among the first k + 1, or else from number k on.
func kept(before []float64, first bool, k int) float64 {
	n := len(before) - 1
	switch {
	case before[n] == 0:
		return 0
	case first:
		return before[min(k+1, n)] / before[n]
	}
	return 1 - before[min(k, n)]/before[n]
}

// RowsWork returns the multiplications of each row of a @ b, for sparse matrices, and of all: for each
// nonzero of a those in its row of b.
func RowsWork(a, b *Estimate) (work []float64, sum float64) {
	in := func(k int) float64 { // nonzeros of column k in one of the rows that have it
		n := a.col.share(k, a.Cols, a.NNZ)
		switch a.Side {
		case Below:
			n /= float64(a.Rows - k)
		case Above:
			n /= float64(k + 1)
		}
		return n
	}
	met := before(a.Cols, func(k int) float64 { return float64(in(k) * b.InRow(k)) })
	all := before(a.Cols, in)
	work = make([]float64, a.Rows)
	for i := range work {
		lo, hi := 0, a.Cols // the columns in which the row may have nonzeros
		switch a.Side {
		case Below:
			hi = min(i+1, hi)
		case Above:
			lo = min(i, hi)
		}
		if n := all[hi] - all[lo]; n > 0 {
			work[i] = float64(a.InRow(i)*float64(met[hi]-met[lo])) / n
			sum += work[i]
		}
	}
	return work, sum
}
