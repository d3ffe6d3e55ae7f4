package move

// This file defines reshape, cbind, rbind and reverse.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

func rearrangements() []*op.Def {
	rows := op.Str("rows")
	return []*op.Def{
		{
			Name: "reshape",
			Doc:  "reshape is the same elements, row after row, as an n x m matrix.",
			Args: []op.Arg{{Name: "a", Doc: "matrix of n * m elements"},
				{Name: "n", Attr: true, Kind: op.IntVal, Doc: "rows"}, {Name: "m", Attr: true, Kind: op.IntVal, Doc: "columns"}},
			Eg:       []op.Example{{Program: "emit reshape(eye(2), 1, 4)", Output: "1 0 0 1\n"}},
			Elements: reshapeElements,
			Type:     reshapeType, Ref: reshapeRef, Laws: op.Pure | op.Total | op.View, Rate: "copy", Cost: define.CopyWork,
			Kernel: window.RectKernel(reshapeRect), Loop: window.RectLoop(reshapeRect),
			RowSpan: func(s *op.Sig, out types.Type) op.RowSpan {
				return op.RowSpan{By: out.Cols, Hi: out.Cols, Per: s.In[0].Cols}
			},
			Look: func(c *op.Call) (*value.Dense, error) {
				a := c.Dense(0)
				if a.Stride != a.Cols || a.Rows == 0 {
					return nil, nil
				}
				d := *a
				d.Buf, d.Rows, d.Cols, d.Stride = nil, c.Type.Rows, c.Type.Cols, c.Type.Cols
				return &d, nil
			},
		},
		bind("cbind", op.Beside, "matrices side by side; all have the same number of rows.", "cbind(eye(2), ones(2, 1))", "1 0 1\n0 1 1\n", false),
		bind("rbind", op.Below, "matrices one below the other; all have the same number of columns.", "rbind(eye(2), ones(1, 2))", "1 0\n0 1\n1 1\n", true),
		{
			Name: "reverse",
			Doc:  "reverse is a matrix with its rows in reverse order; by = \"cols\" reverses the columns, by = \"both\" rows and columns.",
			Args: []op.Arg{{Name: "a", Doc: "n x m"},
				{Name: "by", Attr: true, Kind: op.StrVal, Default: &rows, Doc: `"rows", "cols" or "both"`}},
			Eg: []op.Example{{Program: "emit reverse(eye(2))", Output: "0 1\n1 0\n"}},
			Type: func(s *op.Sig) (types.Type, error) {
				t, err := define.DenseType(s)
				if err != nil {
					return t, err
				}
				return t, define.OneOf(1, "by", reverseBy(s.Attrs), "rows", "cols", "both")
			},
			Elements: strideElements, RowSpan: strideRows,
			Ref: StrideRef, Laws: op.Pure | op.Total | op.View | op.Involution, Rate: "copy", Cost: define.CopyWork,
			Kernel: window.RectKernel(strideRect), Loop: window.RectLoop(strideRect),
		},
		{
			Name: "stride", Hidden: true,
			Doc: "stride is every so many rows and columns of a matrix: from the first on, or for a negative step from the last on backwards. " +
				"The compiler writes it for `x[0.. by 2, :]`.",
			Args: []op.Arg{{Name: "a", Doc: "n x m"}, {Name: "rows", Attr: true, Kind: op.IntVal, Doc: "the step of rows"},
				{Name: "cols", Attr: true, Kind: op.IntVal, Doc: "the step of columns"}},
			Eg:       []op.Example{{Program: "x = reshape(seq(0, 6), 3, 2)\nemit x[0.. by 2, -1.. by -1]", Output: "1 0\n5 4\n"}},
			Type:     StrideType,
			Elements: strideElements, RowSpan: strideRows, Ref: StrideRef,
			Laws: op.Pure | op.Total | op.View, Rate: "copy", Cost: define.CopyWork,
			Kernel: window.RectKernel(strideRect), Loop: window.RectLoop(strideRect),
			Look: func(c *op.Call) (*value.Dense, error) {
				a := c.Dense(0)
				rows, cols := Steps(c.Attrs)
				if rows < 0 || cols != 1 || a.Rows == 0 {
					return nil, nil
				}
				apart := *a
				apart.Rows, apart.Stride = c.Type.Rows, a.Stride*rows
				return apart.View(0, 0, c.Type.Rows, c.Type.Cols), nil
			},
		},
	}
}

// bind returns the row rbind (down) or cbind. The result is what doc says.
func bind(name string, role op.Role, doc, example, output string, down bool) *op.Def {
	d := &op.Def{
		Name: name, Role: role, Doc: name + " is " + doc + " Element types meet as in arithmetic.",
		Args:     []op.Arg{{Name: "x", Rest: true, Doc: "matrices"}},
		Eg:       define.Eg(example, output),
		Elements: func(e *op.Elements) op.Element { return bindElements(e, down) },
		Type:     func(s *op.Sig) (types.Type, error) { return BindType(s, down) },
		Ref:      func(c *op.Call) (value.Value, error) { return BindRef(c, down) },
		Laws:     op.Pure | op.Total, Rate: "copy", Cost: define.CopyWork,
		Kernel: window.RectKernel(bindRect(down)), Loop: window.RectLoop(bindRect(down)),
	}
	if !down {
		d.Along = func(*op.Attrs) []int { return []int{op.AllInputs} }
	}
	return d
}

// Steps returns the steps of rows and of columns of a stride or a reverse. Neither is 0.
func Steps(a *op.Attrs) (rows, cols int) {
	if rows, cols = a.Int("rows"), a.Int("cols"); rows != 0 {
		return rows, cols
	}
	switch reverseBy(a) {
	case "rows":
		return -1, 1
	case "cols":
		return 1, -1
	}
	return -1, -1
}

// FirstOf returns the index, of 0..n-1, at which a stride with this step begins.
func FirstOf(n, step int) int {
	if step < 0 {
		return n - 1
	}
	return 0
}

// strideElements is Elements of a stride or a reverse. It returns nil for a stride whose operand has a
// size that only the run knows.
func strideElements(e *op.Elements) op.Element {
	x := e.In[0]
	rows, cols := Steps(e.Attrs)
	if !x.Type.Known() && max(rows, -rows, cols, -cols) > 1 {
		return nil
	}
	e.Size(x.Rows, x.Cols)
	at := func(i, n loop.Lin, step int) loop.Lin {
		if i = i.Times(int64(step)); step < 0 {
			i = n.Plus(loop.Num(-1)).Plus(i)
		}
		return i
	}
	return func(i, j loop.Lin) loop.Val { return x.At(at(i, x.Rows, rows), at(j, x.Cols, cols)) }
}

// strideRows is RowSpan of a stride or a reverse: the row of the operand that a row of the result
// reads.
func strideRows(s *op.Sig, _ types.Type) op.RowSpan {
	rows, _ := Steps(s.Attrs)
	first := FirstOf(s.In[0].Rows, rows)
	return op.RowSpan{By: rows, Lo: first, Hi: first + 1, Per: 1}
}

// StrideRef is the definition of stride and of reverse.
func StrideRef(c *op.Call) (value.Value, error) {
	a := c.Dense(0)
	rows, cols := Steps(c.Attrs)
	r, q := FirstOf(a.Rows, rows), FirstOf(a.Cols, cols)
	return define.Placed(c.Type, func(i, j int) value.Scalar { return a.At(r+i*rows, q+j*cols) }), nil
}

// StrideType is the type rule of stride: of n rows every step-th one is the ceiling of n / |step| rows,
// and columns alike. It fails if the operand is not dense, or if a step is 0.
func StrideType(s *op.Sig) (types.Type, error) {
	t, err := pickedFrom(s)
	count := func(n, step int) int {
		if n == types.Unknown {
			return n
		}
		step = max(step, -step)
		return n/step + min(1, n%step)
	}
	rows, cols := Steps(s.Attrs)
	if err == nil && (rows == 0 || cols == 0) {
		err = op.Faultf(0, define.CodeAttr, "a step is 0")
	}
	if err != nil {
		return t, err
	}
	return types.DenseOf(t.Elem, count(t.Rows, rows), count(t.Cols, cols)), nil
}

// strideRect makes window w of the result. A reverse is a stride with step -1.
func strideRect(c *op.Call, w window.Rect) {
	out, a := c.Result(), c.Dense(0)
	rows, cols := Steps(c.Attrs)
	stride := dense.ForElem(a.Elem, strideInto[float64], strideInto[float32], strideInto[int64], strideInto[uint8])
	stride(out, a, rows, cols, w)
}

// fewCols is the most columns for which a stride copies column by column.
const fewCols = 6

// strideInto makes window w of out, the stride of a with steps rows and cols.
func strideInto[T dense.Cell](out, a *value.Dense, rows, cols int, w window.Rect) {
	dst, src := dense.GridOf[T](out), dense.GridOf[T](a)
	from := (FirstOf(src.Rows, rows)+w.Row*rows)*src.LD + FirstOf(src.Cols, cols) + w.Col*cols
	to := w.Row*dst.LD + w.Col
	if w.Cols <= fewCols { // a row would cost more than its elements
		for j := range w.Cols {
			at, i := from+j*cols, to+j
			for range w.Rows {
				dst.X[i] = src.X[at]
				at, i = at+rows*src.LD, i+dst.LD
			}
		}
		return
	}
	for range w.Rows {
		row := dst.X[to : to+w.Cols]
		if cols == 1 {
			copy(row, src.X[from:])
		} else {
			at := from
			for j := range row {
				row[j] = src.X[at]
				at += cols
			}
		}
		from, to = from+rows*src.LD, to+dst.LD
	}
}

func reshapeType(s *op.Sig) (types.Type, error) {
	t, err := define.DenseType(s)
	if err != nil {
		return t, err
	}
	n, m := s.Attrs.Int("n"), s.Attrs.Int("m")
	if n < 0 || m < 0 {
		f := op.Faultf(1, define.CodeAttr, "reshape to %d x %d: a size is negative", n, m)
		if n == -1 && m > 0 && t.Count() >= 0 && t.Count()%m == 0 {
			return t, f.WithHelp("sizes are counted out: n is %d", t.Count()/m)
		} else if m == -1 && n > 0 && t.Count() >= 0 && t.Count()%n == 0 {
			return t, f.WithHelp("sizes are counted out: m is %d", t.Count()/n)
		}
		return t, f
	}
	if t.Known() && t.Count() != types.Times(n, m) {
		return t, op.Faultf(0, define.CodeShape, "%d x %d has %d elements, %d x %d has %s", t.Rows, t.Cols, t.Count(), n, m, define.InWords(n, m))
	}
	return types.DenseOf(t.Elem, n, m), nil
}

func reshapeRef(c *op.Call) (value.Value, error) {
	a, n, m := c.Dense(0), c.Attrs.Int("n"), c.Attrs.Int("m")
	return define.Placed(types.DenseOf(a.Elem, n, m), func(i, j int) value.Scalar {
		at := i*m + j
		return a.At(at/a.Cols, at%a.Cols)
	}), nil
}

// reshapeRect makes a window of a reshape. Rows without gaps between them count as one row, in the
// window as in the operand. So a column that is made of a slice takes whole rows of the slice at a
// time.
func reshapeRect(c *op.Call, w window.Rect) {
	out, a := *c.Result(), *c.Dense(0)
	if w.Cols == out.Cols && out.Stride == out.Cols {
		w = window.Rect{Col: w.Row * out.Cols, Rows: 1, Cols: w.Rows * out.Cols}
		inOneRow(&out)
	}
	if a.Stride == a.Cols {
		inOneRow(&a)
	}
	reshape := dense.ForElem(a.Elem, reshapeInto[float64], reshapeInto[float32], reshapeInto[int64], reshapeInto[uint8])
	reshape(&out, &a, w)
}

// inOneRow makes d, which has no gaps between its rows, a matrix of one row.
func inOneRow(d *value.Dense) {
	d.Rows, d.Cols = 1, d.Rows*d.Cols
	d.Stride = d.Cols
}

// reshapeInto makes window w of out from the elements of a. It copies runs that are in one row of both.
func reshapeInto[T dense.Cell](out, a *value.Dense, w window.Rect) {
	if w.Cols == 0 {
		return // a may have no columns by which a place could be divided
	}
	dst, src := dense.GridOf[T](out), dense.GridOf[T](a)
	for i := w.Row; i < w.Row+w.Rows; i++ {
		at := i*dst.Cols + w.Col
		from, col := at/src.Cols*src.LD, at%src.Cols
		for row := dst.X[i*dst.LD+w.Col:][:w.Cols]; len(row) > 0; from, col = from+src.LD, 0 {
			n := copy(row, src.X[from+col:from+src.Cols])
			row = row[n:]
		}
	}
}

// BindType is the type of matrices bound along rows (down) or columns.
func BindType(s *op.Sig, down bool) (types.Type, error) {
	if len(s.In) == 0 {
		return types.Type{}, op.Faultf(-1, define.CodeKind, "%s needs a matrix", s.Def.Source())
	}
	word, cross := "rows", func(t types.Type) int { return t.Rows }
	along := func(t *types.Type) *int { return &t.Cols }
	if down {
		word, cross = "columns", func(t types.Type) int { return t.Cols }
		along = func(t *types.Type) *int { return &t.Rows }
	}
	out := s.In[0]
	for i, t := range s.In {
		if !t.IsDense() {
			f := op.Faultf(i, define.CodeKind, "%s takes dense matrices; this is %s", s.Def.Source(), t)
			if t.IsScalar() {
				return out, f.WithHelp("[[x]] is the 1 x 1 matrix of a number, [[x, y]] the row of two")
			}
			return out, f
		}
		e, ok := types.Widen(out.Elem, t.Elem)
		if !ok {
			return out, op.Faultf(i, define.CodeElem, "%s of %s and %s", s.Def.Source(), out.Elem, t.Elem).WithHelp("convert one side: f64(x) or f32(x)")
		}
		if !define.Agree(cross(t), cross(out)) {
			return out, op.Faultf(i, define.CodeShape, "%s: %d and %d %s", s.Def.Source(), cross(s.In[0]), cross(t), word)
		}
		out.Elem = e
		if n := along(&out); i > 0 && *n != types.Unknown {
			if m := *along(&t); m == types.Unknown {
				*n = types.Unknown
			} else {
				*n = types.Plus(*n, m)
			}
		}
	}
	return out, nil
}

// BindRef is the definition of rbind (down) and cbind.
func BindRef(c *op.Call, down bool) (value.Value, error) {
	return define.Placed(c.Type, func(i, j int) value.Scalar {
		for k := range c.In {
			a := c.Dense(k)
			switch {
			case i < a.Rows && j < a.Cols:
				return a.At(i, j)
			case down:
				i -= a.Rows
			default:
				j -= a.Cols
			}
		}
		panic("BUG: the operands do not make up the result")
	}), nil
}

// bindRect returns a function that makes a window of the result. It copies each operand's part of the
// window.
func bindRect(down bool) func(c *op.Call, w window.Rect) {
	return func(c *op.Call, w window.Rect) {
		row, col := 0, 0 // where the operand begins in the result
		for k := range c.In {
			a := c.Dense(k)
			r0, r1 := max(w.Row, row), min(w.Row+w.Rows, row+a.Rows)
			c0, c1 := max(w.Col, col), min(w.Col+w.Cols, col+a.Cols)
			if r0 < r1 && c0 < c1 {
				window.CopyRect(c.Result(), window.Rect{Row: r0, Col: c0, Rows: r1 - r0, Cols: c1 - c0}, a, r0-row, c0-col)
			}
			if down {
				row += a.Rows
			} else {
				col += a.Cols
			}
		}
	}
}

// reverseBy is reverse's attribute; absent means rows.
func reverseBy(a *op.Attrs) string {
	if by := a.Str("by"); by != "" {
		return by
	}
	return "rows"
}

// reshapeElements are those of a vector, or of a matrix at places that are known before the run.
func reshapeElements(e *op.Elements) op.Element {
	if !e.In[0].Type.Known() {
		return nil
	}
	in, cols := e.In[0], int64(e.Out.Cols)
	return func(i, j loop.Lin) loop.Val {
		at := i.Times(cols).Plus(j)
		switch {
		case in.Type.Cols == 1:
			return in.At(at, loop.Num(0))
		case in.Type.Rows == 1:
			return in.At(loop.Num(0), at)
		case in.Type.Cols == e.Out.Cols:
			return in.At(i, j)
		case at.Known() && in.Type.Known():
			return in.At(loop.Num(at.Const/int64(in.Type.Cols)), loop.Num(at.Const%int64(in.Type.Cols)))
		case e.Rounds == nil: // a view is free there, and a division for each element is not
			panic(noElement("an element of `reshape` at a place that only the run knows"))
		}
		row := quotient(e.B, e.Number(at), in.Type.Count(), in.Type.Cols)
		r := loop.Of(loop.ValSym, int(row))
		return in.At(r, at.Plus(r.Times(int64(-in.Type.Cols))))
	}
}

// quotient returns k // by for 0 <= k < below. With m = ceil(2^40 / by), the product k m exceeds k
// 2^40 / by by less than k, which is less than 2^40 / by: its quotient by 2^40 is the same. k m has
// less than 62 bits.
func quotient(b *loop.Builder, k loop.Val, below, by int) loop.Val {
	number := func(n int) loop.Val { return b.Const(types.I64, uint64(n)) }
	const bits = 40
	if below <= 1<<20 && by <= 1<<20 {
		return b.Op(loop.Shr, b.Op(loop.Mul, k, number((1<<bits+by-1)/by)), number(bits))
	}
	return b.Op(loop.IDiv, k, number(by))
}

// bindElements are those of the operand that has the place.
func bindElements(e *op.Elements, below bool) op.Element {
	if slices.ContainsFunc(e.In, func(x op.Source) bool { return !x.Type.Known() }) {
		rows, cols := e.In[0].Rows, e.In[0].Cols
		for _, x := range e.In[1:] {
			if below {
				e.Agree(x.Cols, cols)
				rows = rows.Plus(x.Rows)
			} else {
				e.Agree(x.Rows, rows)
				cols = cols.Plus(x.Cols)
			}
		}
		e.Size(rows, cols)
	}
	var from func(in []op.Source, i, j loop.Lin) loop.Val
	from = func(in []op.Source, i, j loop.Lin) loop.Val {
		here := func() loop.Val { return define.ConvertBody(e.B, dense.Storage(e.Out.Elem), in[0].At(i, j)) }
		at, size := j, in[0].Cols
		if below {
			at, size = i, in[0].Rows
		}
		behind := func() loop.Val {
			if below {
				return from(in[1:], i.Plus(size.Times(-1)), j)
			}
			return from(in[1:], i, j.Plus(size.Times(-1)))
		}
		switch {
		case len(in) == 1 || at.Known() && size.Known() && at.Const < size.Const:
			return here()
		case at.Known() && size.Known():
			return behind()
		}
		return e.Below(at, size, here, behind)
	}
	return func(i, j loop.Lin) loop.Val { return from(e.In, i, j) }
}

// noElement is the panic of a row that has no element of its result for a loop, and why (op.NoElement).
type noElement string

func (n noElement) NoElement() string { return string(n) }

// layElements is the elements of a matrix laid out of windows. Groups of operators on whole
// matrices, which have no inner loops, take none: there the blocks are tasks.
func layElements(e *op.Elements) op.Element {
	if e.Rounds == nil {
		return nil
	}
	elem := dense.Storage(e.Out.Elem)
	if len(e.In) == 1 {
		if from, to := boxOf(e.Attrs, 0); to.Row == 0 && to.Col == 0 && from.Rows == e.Out.Rows && from.Cols == e.Out.Cols {
			return func(i, j loop.Lin) loop.Val {
				return define.ConvertBody(e.B, elem, e.In[0].At(i.Plus(loop.Num(int64(from.Row))), j.Plus(loop.Num(int64(from.Col)))))
			}
		}
	}
	if e.Out.Count() > define.Unrolled {
		return nil
	}
	m := make([][]loop.Val, e.Out.Rows)
	for i := range m {
		for range e.Out.Cols {
			m[i] = append(m[i], define.Numeral(e.B, elem, 0))
		}
	}
	for k := range e.In {
		from, to := boxOf(e.Attrs, k)
		for i := range from.Rows {
			for j := range from.Cols {
				m[to.Row+i][to.Col+j] = define.ConvertBody(e.B, elem, e.In[k].At(loop.Num(int64(from.Row+i)), loop.Num(int64(from.Col+j))))
			}
		}
	}
	return define.Picked(e, m)
}
