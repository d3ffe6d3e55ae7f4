package sparse

// This file cuts the rows of sparse matrices for loops. Rows of graphs differ in length by orders
// of magnitude, so iterations of most loops are units: ranges of rows of about the same cost, found by
// bisection of the running sum of costs (D. Merrill and M. Garland, Merge-based parallel sparse
// matrix-vector multiplication, SC 2016). A row is never divided. The type determines how many units
// there are. The data determine where they begin, which shows in no bit.

import (
	"sort"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// sparseUnits is how many units a loop has: enough for hundreds of workers, and few enough that
// claiming them costs some microseconds.
const sparseUnits = 1024

// UnitSpace returns the index space of a loop over units of the rows of a matrix of type t. Few rows
// are one unit.
func UnitSpace(t types.Type) (n, leaf int) {
	if t.Rows < 256 {
		return 1, 1
	}
	return min(sparseUnits, t.Rows/16), 1
}

// unitLoop returns a Loop over units of the rows of the result.
func unitLoop(begin func(c *op.Call, units, workers int) op.LoopBody) *op.Loop {
	return &op.Loop{
		Space: func(c *op.Call) (n, leaf int) { return UnitSpace(c.Type) },
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			n, _ := UnitSpace(c.Type)
			return begin(c, n, workers), nil
		},
	}
}

// RowCut is rows cut into units. Before(i) is the cost of rows 0..i-1 and ascends.
type RowCut struct {
	Rows, Units int
	Before      func(i int) int64
	first       int // the first row of the first unit
}

// cutByEntries cuts the rows of matrices of one number of rows by the entries of all, and one for
// the row itself.
func cutByEntries(units int, of ...*value.CSR) RowCut {
	return RowCut{Rows: of[0].Rows, Units: units, Before: func(i int) int64 {
		n := int64(i)
		for _, m := range of {
			n += m.Ptr[i] - m.Ptr[0]
		}
		return n
	}}
}

// cutFilled is cutByEntries without the rows before the first entry and behind the last one. The part
// of a matrix that a rank has is empty in the rows of other ranks. These rows took as long as some of
// its own: web-NotreDame has 4.6 entries a row. It would be wrong for a loop that has something to do
// at an empty row.
func cutFilled(units int, of ...*value.CSR) RowCut {
	c := cutByEntries(units, of...)
	first, last := c.Rows, 0
	for _, m := range of {
		if m.NNZ() > 0 {
			first = min(first, sort.Search(m.Rows, func(i int) bool { return m.Ptr[i+1] > m.Ptr[0] }))
			last = max(last, sort.Search(m.Rows, func(i int) bool { return m.Ptr[i] == m.Ptr[m.Rows] }))
		}
	}
	c.first, c.Rows = min(first, last), last
	return c
}

// evenly cuts rows of about the same cost.
func evenly(units, rows int) RowCut {
	return RowCut{Rows: rows, Units: units, Before: func(i int) int64 { return int64(i) }}
}

// begin is the first row of unit u.
func (c *RowCut) begin(u int) int {
	if u >= c.Units {
		return c.Rows
	}
	// Quotient and remainder, since cost times units may be more than an int64.
	skipped, n := c.Before(c.first), int64(c.Units)
	total := c.Before(c.Rows) - skipped
	from := skipped + total/n*int64(u) + total%n*int64(u)/n
	return c.first + sort.Search(c.Rows-c.first, func(i int) bool { return c.Before(c.first+i) >= from })
}

// UnitLoop runs one or several passes over all rows, unit by unit.
type UnitLoop struct {
	RowCut
	Passes []Pass
	pass   int
}

// Pass is a pass over all rows. Run makes rows lo..hi-1. After all rows one worker calls Then, unless
// it is nil. last: no other pass follows.
type Pass struct {
	Run  func(worker, lo, hi int) error
	Then func() (last bool, err error)
}

func (l *UnitLoop) Chunk(worker, lo, hi int) error {
	lo, hi = l.begin(lo), l.begin(hi)
	if lo == hi {
		return nil
	}
	return l.Passes[l.pass].Run(worker, lo, hi)
}

// Next calls Then of this pass and begins the next one, if again.
func (l *UnitLoop) Next() (again bool, err error) {
	last := false
	if then := l.Passes[l.pass].Then; then != nil {
		last, err = then()
	}
	l.pass++
	return !last && l.pass < len(l.Passes) && err == nil, err
}

func (l *UnitLoop) End() error { return nil }

// rowsShared is Rows of a loop over rowSpace.
func rowsShared(t types.Type) int {
	n, _ := rowSpace(t)
	return n
}

// rowSpace is the index space of loops over the rows of a sparse matrix. Rows differ in length by
// orders of magnitude, so leaves are small: what evens out is the technique's affair.
func rowSpace(t types.Type) (n, leaf int) {
	if t.Rows < 256 { // one leaf: no loop, unless ranks share it
		return max(0, t.Rows), 256
	}
	return t.Rows, 64
}
