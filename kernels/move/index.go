package move

// This file defines the rows of subscripts that only the run knows: element and window. Subscripts
// known before are attributes of item and slice.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/window"
)

func indexings() []*op.Def {
	at := []op.Arg{{Name: "a", Doc: "n x m"}, {Name: "i", Doc: "row, i64; a negative one counts from the end"},
		{Name: "j", Doc: "column, i64; a negative one counts from the end"}}
	return []*op.Def{
		{
			Name: "element", Hidden: true, Role: op.Picks,
			Doc:  "element is one element of a matrix as a scalar; the compiler writes it for `x[i, j]` with subscripts that only the run knows.",
			Args: at,
			Eg:   []op.Example{{Program: "x = 2 * eye(2)\nemit x[i64(sum(x)) - 3, 1]", Output: "2\n"}},
			Elements: func(e *op.Elements) op.Element {
				i, j := e.Index(1, 1, e.In[0].Rows), e.Index(2, 1, e.In[0].Cols)
				x := e.In[0].At(i, j)
				return func(loop.Lin, loop.Lin) loop.Val { return x }
			},
			Type: ElementType, Ref: ElementRef, Laws: op.Pure, Rate: "copy",
			Cost:     func(*op.Sig, types.Type) op.Work { return op.Work{Bytes: 8} },
			RowsRead: func(*op.Attrs) op.RowsRead { return op.RowsRead{FromArg: 1, Count: 1} },
			Kernel:   func(c *op.Call) (err error) { c.Out, err = ElementRef(c); return err },
		},
		{
			Name: "window", Hidden: true, Role: op.Windows,
			Doc:  "window is a part of a matrix of a size known before the run; the compiler writes it for `x[i..i+2, :]` where only the run knows i.",
			Args: append(at, op.Arg{Name: "size", Attr: true, Kind: op.IntsVal, Doc: "[rows, columns]"}),
			Eg:   []op.Example{{Program: "x = seq(0, 5)\ni = i64(sum(x)) - 8\nemit x[i..i + 2, :]", Output: "2\n3\n"}},
			Elements: func(e *op.Elements) op.Element {
				r, c := e.Index(1, e.Out.Rows, e.In[0].Rows), e.Index(2, e.Out.Cols, e.In[0].Cols)
				if e.Out.Count() > 0 { // all of it lies in the matrix, though perhaps little of it is read
					e.In[0].At(r, c)
					e.In[0].At(r.Plus(loop.Num(int64(e.Out.Rows-1))), c.Plus(loop.Num(int64(e.Out.Cols-1))))
				}
				return func(i, j loop.Lin) loop.Val { return e.In[0].At(i.Plus(r), j.Plus(c)) }
			},
			Type: WindowType, Ref: WindowRef, Laws: op.Pure | op.View, Rate: "copy", Cost: define.CopyWork,
			Kernel: func(c *op.Call) error {
				a := c.Dense(0)
				i, j, err := Corner(c, a.Rows, a.Cols)
				if err == nil {
					lo, hi := 0, c.Type.Rows
					if c.Hi > 0 { // a rank's own rows
						lo, hi = c.Lo, c.Hi
					}
					c.Result().View(lo, 0, hi-lo, c.Type.Cols).CopyFrom(a.View(i+lo, j, hi-lo, c.Type.Cols))
				}
				return err
			},
			RowsRead: func(a *op.Attrs) op.RowsRead { return op.RowsRead{FromArg: 1, Count: int(a.Ints("size")[0])} },
			Look:     lookAt,
		},
		{
			Name: "cut", Hidden: true,
			Doc: "cut is a part of a matrix of a size that the run knows; the compiler writes it for `x[0..k, :]` where only the run knows k.",
			Args: []op.Arg{at[0], {Name: "i", Doc: "first row, i64; negative ones count from the end"}, {Name: "k", Doc: "end of the rows, i64"},
				{Name: "j", Doc: "first column"}, {Name: "l", Doc: "end of the columns"},
				{Name: "size", Attr: true, Kind: op.IntsVal, Doc: "[rows, columns], negative where the end says it"},
				{Name: "through", Attr: true, Kind: op.IntsVal, Doc: "[rows, columns], 1 where the end is included, 2 where the window has all, 3 as 1 of a range that the program writes in descending order"}},
			Eg:   []op.Example{{Program: "x = seq(0, 5)\nk = i64(sum(x)) - 8\nemit x[0..k, :]\nemit x[k.., 0]", Output: "0\n1\n2\n3\n4\n"}},
			Type: CutType, Ref: CutRef, Laws: op.Pure | op.View, Rate: "copy", Cost: cutWork,
			Elements: cutElements, RowsRead: cutReads,
			Kernel: func(c *op.Call) (err error) { c.Out, err = CutRef(c); return err },
			Look:   lookCut,
		},
	}
}

// subscripted is the type of the matrix.
func subscripted(s *op.Sig) (types.Type, error) {
	t := s.In[0]
	if !t.IsDense() {
		return t, op.Faultf(0, define.CodeKind, "subscripts that only the run knows are of dense matrices; this is %s", t)
	}
	return t, nil
}

func subscriptTypes(s *op.Sig) error {
	for k, t := range s.In[1:] {
		if t != types.ScalarOf(types.I64) {
			return op.Faultf(k+1, define.CodeKind, "a subscript is an i64, this is %v", t)
		}
	}
	return nil
}

func ElementType(s *op.Sig) (types.Type, error) {
	t, err := subscripted(s)
	if err != nil {
		return t, err
	}
	return types.ScalarOf(t.Elem), subscriptTypes(s)
}

func WindowType(s *op.Sig) (types.Type, error) {
	t, err := subscripted(s)
	if err != nil {
		return t, err
	}
	size := s.Attrs.Ints("size")
	if len(size) != 2 || size[0] < 0 || size[1] < 0 {
		return t, op.Faultf(1, define.CodeAttr, "window needs size = [rows, columns]")
	}
	return types.DenseOf(t.Elem, int(size[0]), int(size[1])), subscriptTypes(s)
}

// outOfWindow is the failure of a range.
func outOfWindow(what string, i int64, size, n int) error {
	end := i + int64(size)
	if i > 0 && end < i {
		end = math.MaxInt64
	}
	return define.BadIndex("%ss %d to %d of a matrix with %d", what, i, end, n)
}

func ElementRef(c *op.Call) (value.Value, error) {
	a := c.Dense(0)
	i, j, err := ElementAt(c, a.Rows, a.Cols)
	if err != nil {
		return nil, err
	}
	return a.At(i, j), nil
}

// ElementAt returns the place that operands 1 and 2 of an element name, of a matrix of so many rows and
// columns. It fails outside.
func ElementAt(c *op.Call, rows, cols int) (i, j int, err error) {
	if i, err = FromEither(c.Scalar(1).I, 0, rows); err == nil {
		j, err = FromEither(c.Scalar(2).I, 1, cols)
	}
	return i, j, err
}

// lookAt is the part of the matrix that a window is.
func lookAt(c *op.Call) (*value.Dense, error) {
	i, j, err := Corner(c, c.Dense(0).Rows, c.Dense(0).Cols)
	if err != nil {
		return nil, err
	}
	return c.Dense(0).View(i, j, c.Type.Rows, c.Type.Cols), nil
}

func WindowRef(c *op.Call) (value.Value, error) {
	w, err := lookAt(c)
	if err != nil {
		return nil, err
	}
	return w.Clone(), nil
}

// stretch is the first of size indices from i on, of n; a range that crosses from negative indices
// to others does not exist, as it does not when its ends are known before the run. The one index -1
// is the last.
func stretch(i int64, size, n int) (at int, ok bool) {
	if i < 0 {
		if i+int64(size) >= 0 && size > 0 && i != -1 {
			return 0, false
		}
		i += int64(n)
	}
	return int(i), i >= 0 && i <= int64(n-size)
}

// Corner returns the first row and column of a window of a matrix of so many rows and columns. It fails
// if the window is not within the matrix.
func Corner(c *op.Call, rows, cols int) (i, j int, err error) {
	i, ok := stretch(c.Scalar(1).I, c.Type.Rows, rows)
	if !ok {
		return 0, 0, outOfWindow("row", c.Scalar(1).I, c.Type.Rows, rows)
	}
	if j, ok = stretch(c.Scalar(2).I, c.Type.Cols, cols); !ok {
		return 0, 0, outOfWindow("column", c.Scalar(2).I, c.Type.Cols, cols)
	}
	return i, j, nil
}

// The row cut is a slice of a size that only the run knows. Sizes that are known before the run
// (attribute size) are kept; the others end where the second number of the pair says.

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
	through := c.Attrs.Ints("through")[k]
	if through&1 == 1 && to < math.MaxInt64 { // which is outside with or without
		to++
	}
	if from < 0 || to > int64(n) || from > to {
		// An index before the first one is shown as the program has it.
		if from < 0 {
			from = lo
		}
		if through == 3 {
			return 0, 0, define.BadIndex("%ss %d down to %d of a matrix with %d", what, hi, from, n)
		}
		if from > to && to == int64(n) { // the program may have left out the end
			return 0, 0, define.BadIndex("%ss from %d on of a matrix with %d", what, from, n)
		}
		if to < 0 {
			to = hi
		}
		return 0, 0, define.BadIndex("%ss %d to %d of a matrix with %d", what, from, to, n)
	}
	return int(from), int(to - from), nil
}

// CutWindow returns the window of a cut of a matrix of so many rows and columns. It fails if the window
// is not within the matrix.
func CutWindow(c *op.Call, rows, cols int) (w window.Rect, err error) {
	if w.Row, w.Rows, err = cutRange(c, 0, rows); err == nil {
		w.Col, w.Cols, err = cutRange(c, 1, cols)
	}
	return w, err
}

// lookCut returns the window of a cut as a view.
func lookCut(c *op.Call) (*value.Dense, error) {
	a := c.Dense(0)
	w, err := CutWindow(c, a.Rows, a.Cols)
	if err != nil {
		return nil, err
	}
	return a.View(w.Row, w.Col, w.Rows, w.Cols), nil
}

// CutRef is the definition of cut. It copies the window.
func CutRef(c *op.Call) (value.Value, error) {
	w, err := lookCut(c)
	if err != nil {
		return nil, err
	}
	return w.Clone(), nil
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
		return e.Window(1+2*k, 2+2*k, through[k]&1 == 1, n)
	}
	row, rows := axis(0, x.Rows)
	col, cols := axis(1, x.Cols)
	e.Size(rows, cols)
	return func(i, j loop.Lin) loop.Val { return x.At(row.Plus(i), col.Plus(j)) }
}
