package move

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/window"
)

// This file defines how the row cut finds its window: a slice of a size that only the run knows.
// Sizes that are known before the run (attribute size) are kept; the others end where the second
// number of the pair says.

// CutType is the type rule of cut. It has the sizes that are known.
func CutType(s *op.Sig) (types.Type, error) {
	t, err := subscripted(s)
	if err != nil {
		return t, err
	}
	size, through := s.Attrs.Ints("size"), s.Attrs.Ints("through")
	if len(size) != 2 || len(through) != 2 || len(s.In) != 5 {
		return t, op.Faultf(1, define.CodeAttr, "cut needs two bounds, a size and an end for rows and for columns")
	}
	known := func(n int64) int {
		if n < 0 {
			return types.Unknown
		}
		return int(n)
	}
	return types.DenseOf(t.Elem, known(size[0]), known(size[1])), subscriptTypes(s)
}

// cutReads is the rows of the window.
func cutReads(a *op.Attrs) op.RowsRead {
	size, through := a.Ints("size")[0], a.Ints("through")[0]
	if size >= 0 {
		return op.RowsRead{FromArg: 1, Count: int(size)}
	}
	return op.RowsRead{FromArg: 1, EndArg: 2, Count: int(through & 1), All: through == 2}
}

// cutWork is that of reading and writing half of the matrix: nothing is known of the part.
func cutWork(s *op.Sig, _ types.Type) op.Work {
	if !s.In[0].Known() {
		return op.Work{}
	}
	return op.Work{Bytes: float64(s.In[0].Bytes())}
}

// cutRange is the first index and the number of indices of axis k (0: rows) of a matrix with n of
// them.
func cutRange(c *op.Call, k, n int) (at, size int, err error) {
	lo, hi, what := c.Scalar(1+2*k).I, c.Scalar(2+2*k).I, [...]string{"row", "column"}[k]
	if known := c.Attrs.Ints("size")[k]; known >= 0 {
		at, ok := stretch(lo, int(known), n)
		if !ok {
			return 0, 0, outOfWindow(what, lo, int(known), n)
		}
		return at, int(known), nil
	}
	if c.Attrs.Ints("through")[k] == 2 {
		return 0, n, nil
	}
	from, to := lo, hi
	if from < 0 {
		from += int64(n)
	}
	if to < 0 {
		to += int64(n)
	}
	if c.Attrs.Ints("through")[k] == 1 && to < math.MaxInt64 { // which is outside with or without
		to++
	}
	if from < 0 || to > int64(n) || from > to {
		return 0, 0, outOfCut(what, from, to, n)
	}
	return int(from), int(to - from), nil
}

// outOfCut is the failure of a range whose end the program may have left out.
func outOfCut(what string, from, to int64, n int) error {
	if from > to && to == int64(n) {
		return define.BadIndex("%ss from %d on of a matrix with %d", what, from, n)
	}
	return define.BadIndex("%ss %d to %d of a matrix with %d", what, from, to, n)
}

// CutWindow returns the window of a cut of a matrix of so many rows and columns. It fails if the window is
// not within the matrix.
func CutWindow(c *op.Call, rows, cols int) (w window.Rect, err error) {
	if w.Row, w.Rows, err = cutRange(c, 0, rows); err == nil {
		w.Col, w.Cols, err = cutRange(c, 1, cols)
	}
	return w, err
}

// CutRef is the definition of cut. It copies the window.
func CutRef(c *op.Call) (value.Value, error) {
	a := c.Dense(0)
	w, err := CutWindow(c, a.Rows, a.Cols)
	if err != nil {
		return nil, err
	}
	return a.View(w.Row, w.Col, w.Rows, w.Cols).Clone(), nil
}

// cutElements are those of the window.
func cutElements(e *op.Elements) op.Element {
	x, size, through := e.In[0], e.Attrs.Ints("size"), e.Attrs.Ints("through")
	axis := func(k int, n loop.Lin) (from, many loop.Lin) {
		if size[k] >= 0 {
			return e.Index(1+2*k, int(size[k]), n), loop.Num(size[k])
		}
		if through[k] == 2 {
			return loop.Num(0), n
		}
		return e.Window(1+2*k, 2+2*k, through[k] == 1, n)
	}
	row, rows := axis(0, x.Rows)
	col, cols := axis(1, x.Cols)
	e.Size(rows, cols)
	return func(i, j loop.Lin) loop.Val { return x.At(row.Plus(i), col.Plus(j)) }
}
