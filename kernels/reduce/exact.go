package reduce

// This file reduces rows and columns by way of exact sums: sum, mean, norm, var and stddev.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

// The sums that a reduction is made of: of the elements, of their squares.
var (
	ofElements = []bool{false}
	ofSquares  = []bool{true}
	ofBoth     = []bool{false, true}
)

// exactParts says of which exact sums a reduction of elements of e is made, and which are of
// squares; nil if it is not.
func (w Whole) exactParts(e types.Elem) (squares []bool) {
	switch w.Class {
	case loop.Sum:
		if e.IsFloat() {
			return ofElements
		}
	case loop.Mean:
		return ofElements
	case loop.Norm:
		return ofSquares
	case loop.Var, loop.Stddev:
		return ofBoth
	}
	return nil
}

// ofSums is the result for n elements, as one of e, of the sums of exactParts.
func (w Whole) ofSums(s, q *exact.Sum, n int, e types.Elem) float64 {
	switch w.Class {
	case loop.Norm:
		return math.Sqrt(s.Round())
	case loop.Mean:
		return s.Round() / float64(n)
	case loop.Var:
		return exact.VarianceOf(s, q, n, e == types.F32)
	case loop.Stddev:
		return math.Sqrt(exact.VarianceOf(s, q, n, false))
	}
	if e == types.F32 {
		return float64(s.Round32())
	}
	return s.Round()
}

// PutFloat sets element i of a contiguous vector of floats.
func PutFloat(out *value.Dense, i int, x float64) {
	if out.Elem == types.F32 {
		out.F32[i] = float32(x)
	} else {
		out.F64[i] = x
	}
}

// exactRows is memory for sums of rows.
type exactRows struct {
	turned       exact.Rows
	sums, square exact.RowSums
	one          [2]exact.Sum
	wide         []float64
}

// exactRows reduces each row. Elements are taken as float64, which is what the language widens them
// to.
func (w Whole) exactRows(out, a *value.Dense, room *Room) {
	if room.exact == nil {
		room.exact = &exactRows{}
	}
	r := room.exact
	for i := 0; i < a.Rows; i += exact.RowsAtOnce {
		n := min(exact.RowsAtOnce, a.Rows-i)
		x, ld := floats(a, i, 0, n, a.Cols, &r.wide)
		if a.Cols <= exact.LongestRow && n > 1 {
			r.sideBySide(w, out, i, x, ld, n, a.Cols)
			continue
		}
		for k := range n {
			PutFloat(out, (i+k)*out.Stride, r.alone(w, x[k*ld:][:a.Cols], out.Elem))
		}
	}
}

// sideBySide reduces n short rows, from row i of the result on.
func (r *exactRows) sideBySide(w Whole, out *value.Dense, i int, x []float64, ld, n, cols int) {
	r.turned.Turn(x, ld, n, cols)
	r.turned.Sum(&r.sums, w.Class == loop.Norm)
	both := w.Class == loop.Var || w.Class == loop.Stddev
	if both {
		r.turned.Sum(&r.square, true)
	}
	for k := range n {
		var v float64
		var ok bool
		switch {
		case both:
			s, exactly := r.sums.Parts(k)
			q, squares := r.square.Parts(k)
			if exactly && squares {
				v, ok = exact.Variance(&s, &q, cols, out.Elem == types.F32 && w.Class == loop.Var)
			}
			if w.Class == loop.Stddev {
				v = math.Sqrt(v)
			}
		case w.Class == loop.Sum && out.Elem == types.F32:
			var f float32
			f, ok = r.sums.Round32(k)
			v = float64(f)
		default:
			v, ok = r.sums.Round(k)
			switch w.Class {
			case loop.Norm:
				v = math.Sqrt(v)
			case loop.Mean:
				v /= float64(cols)
			}
		}
		if !ok {
			v = r.alone(w, x[k*ld:][:cols], out.Elem)
		}
		PutFloat(out, (i+k)*out.Stride, v)
	}
}

// alone reduces one row.
func (r *exactRows) alone(w Whole, x []float64, e types.Elem) float64 {
	switch w.Class {
	case loop.Norm:
		return math.Sqrt(exact.OfSquares(x))
	case loop.Mean:
		return exact.Of(x) / float64(len(x))
	case loop.Var, loop.Stddev:
		s, q := &r.one[0], &r.one[1]
		s.Reset()
		q.Reset()
		s.AddSlice(x)
		q.AddSquares(x)
		return w.ofSums(s, q, len(x), e)
	}
	if e == types.F32 {
		return float64(exact.Of32(x))
	}
	return exact.Of(x)
}

// floats is rows x cols elements of a from (i, j) on as float64, rows ld apart: where they lie or,
// of other elements, in wide.
func floats(a *value.Dense, i, j, rows, cols int, wide *[]float64) (x []float64, ld int) {
	if rows == 0 || cols == 0 {
		return nil, 0
	}
	at := i*a.Stride + j
	if a.Elem == types.F64 {
		return a.F64[at:], a.Stride
	}
	*wide = slices.Grow((*wide)[:0], rows*cols)
	x = (*wide)[:rows*cols]
	for k := range rows {
		to, from := x[k*cols:][:cols], at+k*a.Stride
		switch a.Elem {
		case types.F32:
			vec.Convert(to, a.F32[from:])
		case types.Bool:
			vec.Convert(to, a.Bool[from:])
		default:
			vec.F64OfI64(to, a.I64[from:])
		}
	}
	return x, cols
}

// columnSums is the sums of columns that a reduction is made of.
type columnSums struct {
	w       Whole
	elem    types.Elem
	squares []bool
	of      [2][]exact.Sum // by the places in squares
	wide    []float64
	ints    []int64
}

// begin starts n columns of elements of e.
func (c *columnSums) begin(w Whole, e types.Elem, n int) {
	c.w, c.elem, c.squares = w, e, w.exactParts(e)
	for k := range c.squares {
		c.of[k] = dense.Resized(c.of[k], n)
		for j := range c.of[k] {
			c.of[k][j].Reset()
		}
	}
}

// add adds column k of a to the sums of column j+k.
func (c *columnSums) add(j int, a *value.Dense) {
	if c.w.Class == loop.Mean && c.elem == types.I64 { // exactly, though floats may not hold them
		c.addInts(j, a)
		return
	}
	for p, squares := range c.squares {
		c.addBlock(c.of[p][j:], a, squares)
	}
}

// addBlock adds the elements of a, or their squares, to the sums of its columns, by cascades that
// keep all bits.
func (c *columnSums) addBlock(sums []exact.Sum, a *value.Dense, squares bool) {
	for k := 0; k < a.Cols; k += exact.BlockCols {
		n := min(exact.BlockCols, a.Cols-k)
		for i := 0; i < a.Rows; i += exact.BlockRows {
			rows := min(exact.BlockRows, a.Rows-i)
			x, ld := floats(a, i, k, rows, n, &c.wide)
			exact.AddColumns(sums[k:k+n], x, ld, rows, squares)
		}
	}
}

// addInts adds the integers of a to the sums from column j on: as integers, while these hold all
// sums of so many rows.
func (c *columnSums) addInts(j int, a *value.Dense) {
	const rows = 1 << 12
	c.ints = dense.Resized(c.ints, a.Cols)
	for i0 := 0; i0 < a.Rows; i0 += rows {
		clear(c.ints)
		for i := i0; i < min(i0+rows, a.Rows); i++ {
			x := a.I64[i*a.Stride:][:a.Cols]
			if a.Cols > 0 && (vec.LeastI64(x) < -1<<50 || vec.GreatestI64(x) > 1<<50) {
				for k, v := range x {
					c.of[0][j+k].AddInt(v)
				}
				continue
			}
			vec.AddI64(c.ints, c.ints, x)
		}
		for k, v := range c.ints {
			c.of[0][j+k].AddInt(v)
		}
	}
}

// merge takes in the sums of the same columns.
func (c *columnSums) merge(o *columnSums) {
	for k := range c.squares {
		for j := range c.of[k] {
			c.of[k][j].Merge(&o.of[k][j])
		}
	}
}

// put writes the results of the columns, of so many rows, to out from column j on.
func (c *columnSums) put(out *value.Dense, j, rows int) {
	for k := range c.of[0] {
		s := &c.of[0][k]
		q := s
		if len(c.squares) > 1 {
			q = &c.of[1][k]
		}
		PutFloat(out, j+k, c.w.ofSums(s, q, rows, out.Elem))
	}
}
