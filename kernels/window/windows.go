package window

// This file cuts a result into windows: the iterations of a loop over its elements.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
)

const (
	// LeafElements is about how many elements are the least that a worker is given: some
	// microseconds of work, so that a claim of a hundred nanoseconds does not count.
	LeafElements = 1 << 14
	// LongRow is from how many columns on rows are cut: a matrix of few long rows would have too
	// few windows.
	LongRow = 1 << 16
)

// Windows is how the index space of a rows x cols result is cut into N iterations, of which Leaf
// are the fewest that a worker is given. An iteration is one row, and of its columns one of Segs
// segments of Width columns.
type Windows struct{ N, Leaf, Segs, Width int }

// Of cuts a dense result of type t. It depends on the shape alone, and is empty where the shape is
// not known. With a transposed operand (trans) leaves are multiples of the 64 rows that are turned
// at a time.
func Of(t types.Type, trans bool) Windows {
	if !t.IsDense() || !t.Known() || t.Rows == 0 || t.Cols == 0 {
		return Windows{}
	}
	w := Windows{N: t.Rows, Segs: 1, Width: t.Cols}
	if t.Cols >= 2*LongRow {
		w.Segs = (t.Cols + LongRow - 1) / LongRow
		w.Width = LongRow
		w.N = t.Rows * w.Segs
	}
	w.Leaf = max(1, LeafElements/w.Width)
	if trans && w.Segs == 1 {
		w.Leaf = (w.Leaf + dense.Panel - 1) / dense.Panel * dense.Panel
	}
	return w
}

// Each calls f with the parts of a matrix of so many columns that windows lo..hi-1 are: rows together where
// they are whole, else one piece of a row after the other. It returns the first error.
func (w *Windows) Each(lo, hi, cols int, f func(r Rect) error) error {
	if w.Segs == 1 {
		return f(Rect{lo, 0, hi - lo, w.Width})
	}
	for ; lo < hi; lo++ {
		j := lo % w.Segs * w.Width
		if err := f(Rect{lo / w.Segs, j, 1, min(w.Width, cols-j)}); err != nil {
			return err
		}
	}
	return nil
}

// InputSpace cuts the only operand of a reduction.
func InputSpace(c *op.Call) Windows {
	t := c.In[0].Type()
	if !t.IsDense() {
		return Windows{}
	}
	return Of(t, false)
}

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
