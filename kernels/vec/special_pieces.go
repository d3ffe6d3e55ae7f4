package vec

// This file hands out the polynomials of special_tables.go, for code that computes these functions
// on vectors.

// Pieces is a table column by column: the first two columns are the constant of each piece as the
// sum of two numbers, then come the coefficients from the first power on. Element i of a column
// belongs to piece i.
type Pieces [][]float64

// SpecialPieces are the tables of the special functions.
var SpecialPieces = struct{ ErfcScaled, ErfOver, QuantileMiddle, QuantileTail Pieces }{
	columnsOf(erfcxOf[:], func(c *[9]float64) []float64 { return c[:] }),
	columnsOf(erfOver[:], func(c *[8]float64) []float64 { return c[:] }),
	columnsOf(quantileOver[:], func(c *[15]float64) []float64 { return c[:] }),
	columnsOf(quantileTail[:], func(c *[14]float64) []float64 { return c[:] }),
}

func columnsOf[C any](list []piece[C], coefficients func(c *C) []float64) Pieces {
	out := make(Pieces, 2+len(coefficients(&list[0].c)))
	for i := range list {
		p := &list[i]
		for k, x := range append([]float64{p.hi, p.lo}, coefficients(&p.c)...) {
			out[k] = append(out[k], x)
		}
	}
	return out
}
