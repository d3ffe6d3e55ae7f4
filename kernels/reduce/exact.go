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

// widener holds a row or a column converted to float64, because exact sums take float64.
type widener []float64

func (w *widener) floats(line *value.Dense) []float64 {
	n := line.Cols
	x := slices.Grow((*w)[:0], n)[:n]
	switch *w = x; line.Elem {
	case types.F32:
		vec.Convert(x, line.F32)
	case types.Bool:
		vec.Convert(x, line.Bool)
	case types.I64:
		vec.F64OfI64(x, line.I64[:n])
	default:
		return line.F64[:n]
	}
	return x
}

// ints reports whether sums of elements of e are sums of integers, which float64 may not represent.
func (w Whole) ints(e types.Elem) bool { return e == types.I64 && w.Class == loop.Mean }

// addFloats adds numbers, or their squares, to an exact sum.
func addFloats(sum *exact.Sum, x []float64, squares bool) {
	if squares {
		sum.AddSquares(x)
	} else {
		sum.AddSlice(x)
	}
}

// exactRows reduces each row. It sums a short row without an accumulator where that loses no bit.
func (w Whole) exactRows(out, a *value.Dense, r *Room) {
	list := w.exactParts(a.Elem)
	for i := range a.Rows {
		a.Window(&r.row, i, 0, 1, a.Cols)
		r.sums = [2]exact.Sum{}
		switch {
		case a.Cols == 0: // and perhaps no memory
		case w.ints(a.Elem):
			r.sums[0].AddInts(r.row.I64[:a.Cols])
		default:
			x := r.wide.floats(&r.row)
			var parts [2]exact.Parts
			sure := true
			for k, squares := range list {
				ok := false
				parts[k], ok = exact.PartsOf(x, squares)
				sure = sure && ok
			}
			if sure && w.PutParts(out, i, a.Cols, parts) {
				continue
			}
			for k, squares := range list {
				addFloats(&r.sums[k], x, squares)
			}
		}
		PutFloat(out, i, w.ofSums(&r.sums[0], &r.sums[1], a.Cols, out.Elem))
	}
}

// columnSums is the sums of columns that a reduction is made of.
type columnSums struct {
	w       Whole
	squares []bool
	of      [2][]exact.Sum // by the places in squares
	turned  *value.Dense
	wide    widener
}

// begin starts n columns of elements of e.
func (c *columnSums) begin(w Whole, e types.Elem, n int) {
	c.w, c.squares = w, w.exactParts(e)
	for k := range c.squares {
		c.of[k] = dense.Resized(c.of[k], n)
		clear(c.of[k])
	}
}

// add adds column k of a to sums number from to number to-1 of column j+k. Columns are turned, so
// that each is in one piece.
func (c *columnSums) add(j int, a *value.Dense, from, to int) {
	if c.turned == nil || c.turned.Elem != a.Elem || c.turned.Rows*c.turned.Cols < a.Rows*a.Cols {
		c.turned = value.New(a.Elem, a.Cols, a.Rows)
	}
	t := *c.turned
	t.Rows, t.Cols, t.Stride = a.Cols, a.Rows, a.Rows
	dense.TurnInto(&t, a)
	var line value.Dense
	for k := range a.Cols {
		t.Window(&line, k, 0, 1, a.Rows)
		if c.w.ints(a.Elem) {
			c.of[0][j+k].AddInts(line.I64[:a.Rows])
			continue
		}
		x := c.wide.floats(&line)
		for p := from; p < to; p++ {
			addFloats(&c.of[p][j+k], x, c.squares[p])
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
