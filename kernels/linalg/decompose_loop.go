package linalg

// This file runs the computations of package spectrum as loops: their passes, and one more that
// stores the result.

import (
	"math"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/spectrum"
)

// decomposed is one execution.
type decomposed struct {
	c       *op.Call
	m       *spectrum.Machine // nil: there is nothing to compute
	columns int
	write   func(lo, hi int) // columns lo..hi-1 of what the result is made of
	end     func()
	writing bool
}

// LeastShared is from which greater side of a matrix on a decomposition is shared among workers.
const LeastShared = 160

// decomposedLoop is the Loop of a row that begin begins, with the result in out.
func decomposedLoop(begin func(c *op.Call, out *value.Dense, workers int) (*decomposed, error)) *op.Loop {
	return &op.Loop{
		Space: func(c *op.Call) (n, leaf int) {
			switch t := c.In[0].Type(); {
			case t.Count() == 0:
				return 0, 0
			case max(t.Rows, t.Cols) < LeastShared: // one leaf: no loop
				return spectrum.Slots, spectrum.Slots
			}
			return spectrum.Slots, 1
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			var out *value.Dense
			if c.Type.IsDense() {
				out = c.Result()
			}
			return begin(c, out, workers)
		},
	}
}

func (d *decomposed) Chunk(worker, lo, hi int) error {
	switch {
	case d.writing:
		for ; lo < hi; lo++ {
			if from, to := lo*d.columns/spectrum.Slots, (lo+1)*d.columns/spectrum.Slots; from < to {
				d.write(from, to)
			}
		}
	case d.m != nil:
		d.m.Chunk(worker, lo, hi)
	}
	return nil
}

func (d *decomposed) Next() (again bool, err error) {
	if d.writing {
		return false, nil
	}
	if d.m != nil {
		if again, err = d.m.Next(); err != nil {
			return false, op.Failf("E606", "%s: %v", d.c.Def.Source(), err)
		} else if again {
			return true, nil
		}
	}
	d.writing = d.write != nil
	return d.writing, nil
}

func (d *decomposed) End() error {
	if d.end != nil {
		d.end()
	}
	if d.m != nil {
		d.m.Free()
	}
	return nil
}

var _ op.Passes = (*decomposed)(nil)

// finiteCopy is the first input as f64 without gaps; what is not finite fails. lower: above the
// diagonal nothing is read, and there are zeros.
func finiteCopy(c *op.Call, lower bool) (dense.Grid[float64], error) {
	return finiteRows(c, 0, c.Dense(0).Rows, lower)
}

// finiteRows is finiteCopy of rows from..to-1 of the first input.
func finiteRows(c *op.Call, from, to int, lower bool) (dense.Grid[float64], error) {
	return copyRows(c, from, to, lower, func(i, j int, x float64) error { return notFinite(c, i, j, x) })
}

// notFinite is the failure for an element of a matrix. For a hidden row it names the word in the
// program (the attribute `of`).
func notFinite(c *op.Call, i, j int, x float64) error {
	of := c.Def.Source()
	if c.Def.Hidden {
		of = c.Attrs.Str("of")
	}
	return op.Failf("E508", "%s: element (%d, %d) is %v", of, i, j, value.F64(x)).
		WithHelp("replace(x, nan, 0) has 0 for every nan; clamp(x, lo, hi) brings inf and -inf between bounds")
}

// copyRows is finiteRows that fails only if bad does, for an element that is not finite.
func copyRows(c *op.Call, from, to int, lower bool, bad func(i, j int, x float64) error) (dense.Grid[float64], error) {
	a := c.Dense(0)
	g := dense.Grid[float64]{Rows: to - from, Cols: a.Cols, LD: a.Cols, X: make([]float64, (to-from)*a.Cols)}
	for i := from; i < to; i++ {
		row := g.Row(i - from)
		if len(row) == 0 {
			break
		}
		if lower {
			row = row[:i+1]
		}
		if a.Elem == types.F32 {
			for j, x := range a.F32[i*a.Stride:][:len(row)] {
				row[j] = float64(x)
			}
		} else {
			copy(row, a.F64[i*a.Stride:])
		}
		for j, x := range row {
			if math.Abs(x) <= math.MaxFloat64 {
				continue
			}
			if err := bad(i, j, x); err != nil {
				return g, err
			}
		}
	}
	return g, nil
}

// headPositive reports that the element of x that is greatest in size, the first of equals, is
// positive, or that there is none.
func headPositive(x []float64) bool {
	best := 0.0
	for _, v := range x {
		if math.Abs(v) > math.Abs(best) {
			best = v
		}
	}
	return best >= 0
}

// turnedRows is the number of f64 in a cache line. setColumns writes so many rows at a time.
const turnedRows = 8

// setColumns stores rows lo..hi-1 of v, each times -1 where negative says so, as those columns of
// out.
func setColumns(out *value.Dense, v dense.Grid[float64], lo, hi int, negative func(i int) bool) {
	sign := make([]float64, hi-lo)
	for i := range sign {
		sign[i] = 1
		if negative(lo + i) {
			sign[i] = -1
		}
	}
	for r0 := 0; r0 < v.Cols; r0 += turnedRows {
		for r := r0; r < min(r0+turnedRows, v.Cols); r++ {
			if out.Elem == types.F32 {
				to := out.F32[r*out.Stride+lo:][:hi-lo]
				for i := range to {
					to[i] = float32(v.X[(lo+i)*v.LD+r]*sign[i]) + 0
				}
				continue
			}
			to := out.F64[r*out.Stride+lo:][:hi-lo]
			for i := range to {
				to[i] = v.X[(lo+i)*v.LD+r]*sign[i] + 0 // no -0 from a changed sign
			}
		}
	}
}
