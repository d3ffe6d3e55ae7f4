package kernels

// This file cuts the rows of sparse matrices for loops. Rows of graphs differ in length by orders of magnitude, so iterations of most loops are
// not rows but units: ranges of rows of about the same cost, found by bisection of the running sum of costs, which for entries is the
// row pointer that is there anyway (as D. Merrill and M. Garland, Merge-based parallel sparse matrix-vector multiplication, SC 2016, do).
// A row is never divided: one that costs more than a unit is a unit of its own, beside empty ones. How many units there are follows from the
// type; where they begin follows from the data, and shows in no bit.

import (
	"sort"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// sparseUnits is how many units a loop has: enough for hundreds of workers, and few enough that claiming them costs some microseconds.
const sparseUnits = 1024

// unitSpace is the index space of loops over units of the rows of a matrix.
func unitSpace(t types.Type) (n, leaf int) {
	if t.Rows < 256 {
		return 0, 0
	}
	return min(sparseUnits, t.Rows/16), 1
}

// rowCut is rows cut into units. before(i) is the cost of rows 0..i-1 and ascends.
type rowCut struct {
	rows, units int
	before      func(i int) int64
}

// cutByEntries cuts the rows of matrices of one number of rows by the entries of all, and one for the row itself.
func cutByEntries(units int, of ...*value.CSR) rowCut {
	return rowCut{of[0].Rows, units, func(i int) int64 {
		n := int64(i)
		for _, m := range of {
			n += m.Ptr[i] - m.Ptr[0]
		}
		return n
	}}
}

// begin is the first row of unit u.
func (c *rowCut) begin(u int) int {
	if u >= c.units {
		return c.rows
	}
	// Quotient and remainder, since cost times units may be more than an int64.
	total, n := c.before(c.rows), int64(c.units)
	from := total/n*int64(u) + total%n*int64(u)/n
	return sort.Search(c.rows, func(i int) bool { return c.before(i) >= from })
}

// unitLoop runs rows by units.
type unitLoop struct {
	rowCut
	run func(worker, lo, hi int) error // rows lo..hi-1
	end func() error                   // nil for none
}

func (l *unitLoop) Chunk(worker, lo, hi int) error {
	lo, hi = l.begin(lo), l.begin(hi)
	if lo == hi {
		return nil
	}
	return l.run(worker, lo, hi)
}

func (l *unitLoop) End() error {
	if l.end == nil {
		return nil
	}
	return l.end()
}

// passLoop is a unitLoop of several passes, each over all rows. After pass k, which runs run[k], next[k] is called by one worker; the
// last pass is the one after which it says so, or the last there is.
type passLoop struct {
	rowCut
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

// allOf runs every pass of a body over n units.
func allOf(b op.LoopBody, n int) error {
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
