package sparse

// This file cuts the rows of sparse matrices for loops. Rows of graphs differ in length by orders
// of magnitude, so iterations of most loops are not rows but units: ranges of rows of about the
// same cost, found by bisection of the running sum of costs, which for entries is the row pointer
// that is there anyway (as D. Merrill and M. Garland, Merge-based parallel sparse matrix-vector
// multiplication, SC 2016, do). A row is never divided: one that costs more than a unit is a unit
// of its own, beside empty ones. How many units there are follows from the type; where they begin
// follows from the data, and shows in no bit.

import (
	"sort"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// sparseUnits is how many units a loop has: enough for hundreds of workers, and few enough that
// claiming them costs some microseconds.
const sparseUnits = 1024

// UnitSpace is the index space of loops over units of the rows of a matrix.
func UnitSpace(t types.Type) (n, leaf int) {
	if t.Rows < 256 {
		return 0, 0
	}
	return min(sparseUnits, t.Rows/16), 1
}

// RowCut is rows cut into units. Before(i) is the cost of rows 0..i-1 and ascends.
type RowCut struct {
	Rows, Units int
	Before      func(i int) int64
}

// cutByEntries cuts the rows of matrices of one number of rows by the entries of all, and one for
// the row itself.
func cutByEntries(units int, of ...*value.CSR) RowCut {
	return RowCut{of[0].Rows, units, func(i int) int64 {
		n := int64(i)
		for _, m := range of {
			n += m.Ptr[i] - m.Ptr[0]
		}
		return n
	}}
}

// begin is the first row of unit u.
func (c *RowCut) begin(u int) int {
	if u >= c.Units {
		return c.Rows
	}
	// Quotient and remainder, since cost times units may be more than an int64.
	total, n := c.Before(c.Rows), int64(c.Units)
	from := total/n*int64(u) + total%n*int64(u)/n
	return sort.Search(c.Rows, func(i int) bool { return c.Before(i) >= from })
}

// UnitLoop runs rows by units.
type UnitLoop struct {
	RowCut
	Run  func(worker, lo, hi int) error // rows lo..hi-1
	Then func() error                   // nil for none
}

// Chunk runs the rows of units lo..hi-1.
func (l *UnitLoop) Chunk(worker, lo, hi int) error {
	lo, hi = l.begin(lo), l.begin(hi)
	if lo == hi {
		return nil
	}
	return l.Run(worker, lo, hi)
}

// End finishes the loop.
func (l *UnitLoop) End() error {
	if l.Then == nil {
		return nil
	}
	return l.Then()
}

// passLoop is a UnitLoop of several passes, each over all rows. After pass k, which runs run[k],
// next[k] is called by one worker; the last pass is the one after which it says so, or the last
// there is.
type passLoop struct {
	RowCut
	pass int
	run  []func(worker, lo, hi int) error
	next []func() (last bool, err error)
}

func (l *passLoop) Chunk(worker, lo, hi int) error {
	lo, hi = l.begin(lo), l.begin(hi)
	if lo == hi {
		return nil
	}
	return l.run[l.pass](worker, lo, hi)
}

// Next goes on to the next pass.
func (l *passLoop) Next() (again bool, err error) {
	last, err := l.next[l.pass]()
	l.pass++
	return !last && l.pass < len(l.run) && err == nil, err
}

func (l *passLoop) End() error { return nil }

// AllOf runs every pass of a body over n units.
func AllOf(b op.LoopBody, n int) error {
	p, passes := b.(op.Passes)
	for again := true; again; {
		if err := b.Chunk(0, 0, n); err != nil {
			return err
		}
		again = false
		if passes {
			var err error
			if again, err = p.Next(); err != nil {
				return err
			}
		}
	}
	return b.End()
}
