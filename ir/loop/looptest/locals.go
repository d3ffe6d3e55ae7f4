package looptest

// This file draws locals and their loads and stores.

import (
	"fmt"

	"flow/ir/types"
)

// localRows and localCols are the sizes of locals: powers of two, so that the low bits of a value
// are a valid subscript.
const localRows, localCols = 2, 4

// declareLocals draws up to two locals. Some have the size of an operand.
func (d *drawing) declareLocals() {
	d.keen = d.IntN(3) == 0
	for range d.IntN(4) - 1 {
		e := d.elem()
		rows := fmt.Sprint(localRows)
		if d.IntN(3) == 0 {
			rows = fmt.Sprintf("%%0.rows+%d", localRows)
		}
		cols := fmt.Sprint(localCols)
		if d.IntN(3) == 0 {
			cols = fmt.Sprintf("%%0.rows+%d", localCols)
		}
		d.line("local w%d %v[%s, %s]", len(d.locals), e, rows, cols)
		d.locals = append(d.locals, e)
	}
}

// local stores into a local or loads from it.
func (d *drawing) local() {
	k := d.IntN(len(d.locals))
	at := fmt.Sprintf("w%d[%s, %s]", k, d.subscript(localRows), d.subscript(localCols))
	if d.IntN(2) == 0 {
		d.line("store %s v%d", at, d.of(d.locals[k]))
		return
	}
	d.line("v%d = load %s", d.fresh(d.locals[k]), at)
}

// subscript draws a place below n, a power of two: constant, from an inner loop, or from the data.
func (d *drawing) subscript(n int) string {
	if d.keen && d.IntN(4) > 0 { // the same few elements again and again
		return "1"
	}
	switch d.IntN(4) {
	case 0:
		x := d.of(types.I64)
		mask := d.fresh(types.I64)
		d.line("v%d = i64 %d", mask, n-1)
		place := d.fresh(types.I64)
		d.line("v%d = and v%d, v%d", place, x, mask)
		return fmt.Sprintf("v%d", place)
	case 1:
		if q := d.inner(n); q != "" {
			return q
		}
	}
	return fmt.Sprint(d.IntN(n))
}

// round is the index of an inner loop, below end.
type round struct {
	name string
	end  int
}

// inner returns the index of an enclosing loop that stays below n, or "".
func (d *drawing) inner(n int) string {
	for _, q := range d.open {
		if q.end <= n && d.IntN(2) == 0 {
			return q.name
		}
	}
	return ""
}
