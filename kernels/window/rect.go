package window

// This file defines Rect, a rectangle of a matrix, and the attributes that hold one.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// Rect is a rectangle of a matrix, as in the attribute `at`.
type Rect struct{ Row, Col, Rows, Cols int }

// RectOf reads the attribute; ok is false when it is absent.
func RectOf(a *op.Attrs, name string) (w Rect, ok bool) {
	at := a.Ints(name)
	if len(at) != 4 {
		return w, false
	}
	return Rect{int(at[0]), int(at[1]), int(at[2]), int(at[3])}, true
}

// Within reports that w lies in a rows x cols matrix, as far as that is known.
func (w Rect) Within(rows, cols int) bool {
	fits := func(first, n, size int) bool {
		return first >= 0 && n >= 0 && (size == types.Unknown || first <= size-n)
	}
	return fits(w.Row, w.Rows, rows) && fits(w.Col, w.Cols, cols)
}

// Of returns the view of d that w is.
func (w Rect) Of(d *value.Dense) *value.Dense { return d.View(w.Row, w.Col, w.Rows, w.Cols) }

// Origin is the first row and column of the block that the attributes ask for.
func Origin(a *op.Attrs) (r0, c0 int) {
	if at := a.Ints("at"); len(at) == 4 {
		return int(at[0]), int(at[1])
	}
	return 0, 0
}
