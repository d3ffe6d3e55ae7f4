package exact

// This file sums short rows side by side: they are turned, so that a lane of a vector cascade has a
// row of its own and nothing is to be added across lanes.

import (
	"math"

	"flow/kernels/vec"
)

const (
	// RowsAtOnce is how many rows are summed side by side.
	RowsAtOnce = 32
	// LongestRow is the longest row that is: of longer ones the terms of a cascade of their own
	// cost less than turning them.
	LongestRow = 512
)

// Rows sums up to RowsAtOnce rows of at most LongestRow elements. A zero Rows is ready; its memory
// is used again.
type Rows struct {
	turned []float64 // element k of row i at k*RowsAtOnce + i
	n      int
	terms  vec.Terms
}

// RowSums is the sums of the elements of rows, or of their squares: that of row i is S[i] + T[i] +
// U[i], exactly, unless Lost[i] is not zero.
type RowSums struct {
	S, T, U, Lost [RowsAtOnce]float64
}

// Turn takes rows of n elements, ld apart.
func (r *Rows) Turn(x []float64, ld, rows, n int) {
	if rows > RowsAtOnce || n > LongestRow {
		panic("BUG: block of rows too large")
	}
	need := n * RowsAtOnce
	if cap(r.turned) < need {
		r.turned = make([]float64, need, max(need, 64*RowsAtOnce))
	}
	r.turned, r.n = r.turned[:need], n
	if rows < RowsAtOnce { // what is not among them must not spoil their cascades
		clear(r.turned)
	}
	if n > 0 && rows > 0 {
		vec.TransposeF64(r.turned, RowsAtOnce, x, ld, n, rows)
	}
}

// Sum sums the rows that have been turned, or their squares as AddSquares takes them.
func (r *Rows) Sum(to *RowSums, squares bool) {
	for j := 0; j < RowsAtOnce; {
		cols, levels, done, ok := 0, 0, 0, false
		if r.n > 0 {
			cols, levels, done, ok = vec.CascadeColumns(r.turned[j:], RowsAtOnce, r.n, squares, &r.terms)
		}
		if cols == 0 || done < r.n {
			r.sumColumns(to, squares)
			return
		}
		copy(to.S[j:j+cols], r.terms[:])
		copy(to.T[j:j+cols], r.terms[cols:])
		if levels > 2 {
			copy(to.U[j:j+cols], r.terms[2*cols:])
		} else {
			clear(to.U[j : j+cols])
		}
		clear(to.Lost[j : j+cols])
		if !ok {
			lost := r.terms[levels*cols:]
			lanes := vec.Lanes()
			for k := range cols {
				to.Lost[j+k] = math.Abs(lost[k%lanes])
			}
		}
		j += cols
	}
}

// sumColumns is Sum without vectors.
func (r *Rows) sumColumns(to *RowSums, squares bool) {
	*to = RowSums{}
	for k := range r.n {
		for j, v := range r.turned[k*RowsAtOnce:][:RowsAtOnce] {
			h, l := v, 0.0
			if squares {
				h, l = Square(v)
			}
			for _, v := range [2]float64{h, l} {
				var e float64
				to.S[j], e = twoSum(to.S[j], v)
				to.T[j], e = twoSum(to.T[j], e)
				to.U[j], e = twoSum(to.U[j], e)
				to.Lost[j] = math.Float64frombits(math.Float64bits(to.Lost[j]) | inexact(e)>>1)
			}
		}
	}
}

// Round is the float64 nearest to the sum of row i, if ok.
func (s *RowSums) Round(i int) (sum float64, ok bool) {
	if s.Lost[i] != 0 {
		return 0, false
	}
	if s.U[i] == 0 {
		return s.S[i] + s.T[i], true
	}
	return round3(s.S[i], s.T[i], s.U[i])
}

// Round32 is the float32 nearest to it, if ok.
func (s *RowSums) Round32(i int) (sum float32, ok bool) {
	return float32(s.S[i]), s.Lost[i] == 0 && s.T[i] == 0 && s.U[i] == 0
}

// Parts is the sum of row i, if ok.
func (s *RowSums) Parts(i int) (p Parts, ok bool) {
	return Parts{Term: [3]float64{s.S[i], s.T[i], s.U[i]}}, s.Lost[i] == 0
}
