package move

// This file defines the rows of subscripts that are vectors: pick.rows and pick.cols, which take
// rows or columns by a list of positions, and places, which makes such a list of a mask.

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

func picks() []*op.Def {
	at := []op.Arg{{Name: "a", Doc: "n x m"}, {Name: "at", Doc: "k x 1 positions, i64"}}
	columns := func(name, doc string, eg op.Example, place func(p int64, axis, n int) (int, error), fromEnd bool) *op.Def {
		return &op.Def{
			Name: name, Hidden: true, Doc: doc, Args: at, Eg: []op.Example{eg},
			Type: PickType(1), Ref: PickRef(1, place), Laws: op.Pure, Rate: "copy", Cost: define.CopyWork, Kernel: pickColumnsKernel(place),
			Loop: window.Loop(pickColumnsKernel(place), window.Rows, window.Whole), Elements: PlacesElements(1, fromEnd), Along: func(*op.Attrs) []int { return []int{0} },
		}
	}
	// a failure names the row of the transpose
	byRow := func(p int64, _, n int) (int, error) { return FromEither(p, 0, n) }
	return []*op.Def{
		{
			Name: "pick.rows", Hidden: true,
			Doc: "pick.rows is the rows of a matrix at the positions of a column, in that order, repeated as they are; negative positions count from the end. " +
				"The compiler writes it for `x[[2, 0], :]` and `x[x > 0, :]`.",
			Args: at,
			Eg:   []op.Example{{Program: "x = reshape(seq(0, 6), 3, 2)\nemit x[[2, 0, -1], :]", Output: "4 5\n0 1\n4 5\n"}},
			Type: PickType(0), Ref: PickRef(0, FromEither), Laws: op.Pure, Rate: "copy", Cost: define.CopyWork, Kernel: pickRowsKernel,
			Loop: window.Loop(pickRowsKernel, window.Whole, window.Rows), Elements: PlacesElements(0, true), Along: func(*op.Attrs) []int { return []int{1} }, Numbers: 1,
		},
		columns("pick.cols", "pick.cols is the columns of a matrix at the positions of a column, as pick.rows its rows. The compiler writes it for `x[:, [2, 0]]`.",
			op.Example{Program: "x = reshape(seq(0, 6), 2, 3)\nemit x[:, [2, 0]]", Output: "2 0\n5 3\n"}, FromEither, true),
		columns("pick.turned", "pick.turned is t(pick.rows(t(a), at)), with the failures of pick.rows. It makes no transpose.",
			op.Example{Program: "x = reshape(seq(0, 6), 2, 3)\nemit t(t(x)[[2, 0], :])", Output: "2 0\n5 3\n"}, byRow, true),
		columns("take.turned", "take.turned is t(take(t(a), at)), with the failures of take. It makes no transpose.",
			op.Example{Program: "x = reshape(seq(0, 6), 2, 3)\nemit t(take(t(x), [2, 0]))", Output: "2 0\n5 3\n"}, FromStart, false),
		{
			Name: "places", Hidden: true,
			Doc: "places is the positions at which a mask, a vector of n truth values, is true, as a column. The compiler writes it for `x[x > 0, :]`, " +
				"with the number of rows or columns of x as n.",
			Args: []op.Arg{{Name: "mask", Doc: "n truth values"}, {Name: "n", Doc: "i64"}, {Name: "axis", Attr: true, Kind: op.IntVal, Doc: "0: of rows, 1: of columns"}},
			Eg:   []op.Example{{Program: "x = [3, -1, 2]\nemit x[x > 0]", Output: "3\n2\n"}},
			Type: placesType, Ref: placesRef, Laws: op.Pure, Rate: "copy",
			Cost: func(s *op.Sig, _ types.Type) op.Work {
				n := define.ElementCount(s.In[0])
				return op.Work{Flops: n, Bytes: 9 * n}
			},
			Kernel: placesKernel, Chooses: true, MostRows: define.CountOfFirst,
		},
		define.ByDefinition(&op.Def{
			Name: "rank.rows", Hidden: true,
			Doc: "rank.rows is the rows that rank turn - 1 has of a matrix whose rows the run has chosen. Of a matrix with the rows of all ranks it is one " +
				"of as many windows as ranks.",
			Args: []op.Arg{{Name: "x", Doc: "n x m"}, {Name: "turn", Attr: true, Kind: op.IntVal, Doc: "the rank, counted from 1"},
				{Name: "shared", Attr: true, Kind: op.IntVal, Doc: "the number of ranks"}},
			Type: func(s *op.Sig) (types.Type, error) {
				return types.DenseOf(s.In[0].Elem, types.Unknown, s.In[0].Cols), nil
			},
			MostRows: func(s *op.Sig) int { return s.In[0].Rows/max(1, s.Attrs.Int("shared")) + 1 },
			Ref:      rankRows, Laws: op.Pure, Rate: "copy", Cost: define.CopyWork,
		}),
	}
}

// indexedBy names what the axes count, for messages.
var indexedBy = [2]string{"row", "column"}

// vectorLength is the number of elements of a type that is a row or a column, or may be one:
// types.Unknown where only the run knows.
func vectorLength(t types.Type) (n int, ok bool) {
	switch {
	case t.Cols == 1:
		return t.Rows, true
	case t.Rows == 1:
		return t.Cols, true
	case t.Rows == types.Unknown || t.Cols == types.Unknown:
		return types.Unknown, true
	}
	return 0, false
}

// PickType returns the type rule of a selection along an axis (0: rows). Operand 1 is a column of i64.
func PickType(axis int) func(s *op.Sig) (types.Type, error) {
	return func(s *op.Sig) (types.Type, error) {
		at := s.In[1]
		t, err := pickedFrom(s)
		switch {
		case err != nil:
			return t, err
		case !at.IsDense() || at.Elem != types.I64:
			f := op.Faultf(1, define.CodeKind, "positions are a vector of i64, and a mask is one of bool; this is %s", at)
			if at.IsDense() && at.Elem.IsFloat() {
				f = f.WithHelp("i64(x) converts")
			}
			return t, f
		case !define.Agree(at.Cols, 1):
			return t, op.Faultf(1, define.CodeShape, "positions are a column or a row; this is %s", at)
		case axis == 1:
			return types.DenseOf(t.Elem, t.Rows, at.Rows), nil
		}
		return types.DenseOf(t.Elem, at.Rows, t.Cols), nil
	}
}

// pickedFrom is the type of what a selection selects from, a dense matrix.
func pickedFrom(s *op.Sig) (types.Type, error) {
	if t := s.In[0]; !t.IsDense() {
		return t, op.Faultf(0, define.CodeKind, "positions, masks and ranges with a step are subscripts of dense matrices; this is %s", t)
	}
	return s.In[0], nil
}

// Places returns the positions of operand 1 as places along an axis of n. They are the operand's own
// memory where none counts from the end. place returns the place that position p means, or the failure
// of the program.
func Places(c *op.Call, axis, n int, place func(p int64, axis, n int) (int, error)) ([]int64, error) {
	v := c.Dense(1)
	if v.Stride == 1 && !slices.ContainsFunc(v.I64[:v.Rows], func(p int64) bool { return uint64(p) >= uint64(n) }) {
		return v.I64[:v.Rows], nil
	}
	at := make([]int64, v.Rows)
	for i := range at {
		p, err := place(v.I64[i*v.Stride], axis, n)
		if err != nil {
			return nil, err
		}
		at[i] = int64(p)
	}
	return at, nil
}

func pickRowsKernel(c *op.Call) error {
	x, rows := c.Dense(0), c.Dense(1)
	if rows.Rows == 0 || TakeInto(c.Result(), x, rows) == nil {
		return nil
	}
	at, err := Places(c, 0, x.Rows, FromEither) // some count from the end
	if err != nil {
		return err
	}
	return TakeInto(c.Result(), x, Column(at))
}

// Column returns a list as a column in the same memory.
func Column(x []int64) *value.Dense {
	return &value.Dense{Elem: types.I64, Rows: len(x), Cols: 1, Stride: 1, I64: x}
}

func pickColumnsKernel(place func(p int64, axis, n int) (int, error)) func(c *op.Call) error {
	return func(c *op.Call) error {
		x, out := c.Dense(0), c.Result()
		at, err := Places(c, 1, x.Cols, place)
		if err != nil {
			return err
		}
		take := dense.ForElem(x.Elem, takeColumns[float64], takeColumns[float32], takeColumns[int64], takeColumns[uint8])
		take(out, x, at)
		return nil
	}
}

// takeColumns copies the columns of matrix from at the places in at to matrix into.
func takeColumns[T dense.Cell](into, from *value.Dense, at []int64) {
	out, x := dense.GridOf[T](into), dense.GridOf[T](from)
	for i := range out.Rows {
		to, from := out.Row(i), x.Row(i)
		for k, p := range at {
			to[k] = from[p]
		}
	}
}

// PickRef returns the definition of a selection along an axis (0: rows). place returns the place that
// position p of n means, or the failure of the program.
func PickRef(axis int, place func(p int64, axis, n int) (int, error)) func(c *op.Call) (value.Value, error) {
	return func(c *op.Call) (value.Value, error) {
		x, v := c.Dense(0), c.Dense(1)
		at := make([]int, v.Rows)
		for k := range at {
			var err error
			if at[k], err = place(v.At(k, 0).I, axis, [...]int{x.Rows, x.Cols}[axis]); err != nil {
				return nil, err
			}
		}
		if axis == 0 {
			return RowsRef(x, at), nil
		}
		t := types.DenseOf(x.Elem, x.Rows, len(at))
		return define.Placed(t, func(i, j int) value.Scalar { return x.At(i, at[j]) }), nil
	}
}

// FromEither returns the place of position p of n. Negative positions count from the end.
func FromEither(p int64, axis, n int) (int, error) {
	at := p
	if p < 0 {
		at += int64(n)
	}
	if uint64(at) >= uint64(n) {
		return 0, define.BadIndex("%s %d of a matrix with %d %ss", indexedBy[axis], p, n, indexedBy[axis])
	}
	return int(at), nil
}

// PlacesElements returns Elements of op.Def for a selection along an axis (0: rows): operand 1 is a
// column of positions of rows of operand 0. Negative positions count from the end if fromEnd is set.
// The loop checks each position where it reads it if it reads all of them (op.Elements.All), and else
// all before the first element.
func PlacesElements(axis int, fromEnd bool) func(e *op.Elements) op.Element {
	return func(e *op.Elements) op.Element {
		x, at := e.In[0], e.In[1]
		length := x.Rows
		if axis == 1 {
			length = x.Cols
		}
		least := loop.Num(0)
		if fromEnd {
			least = length.Times(-1)
		}
		first, end := e.Number(least), e.Number(length)
		inside := func(p loop.Val) loop.Val {
			return e.B.Op(loop.And, e.B.Op(loop.Le, first, p), e.B.Op(loop.Lt, p, end))
		}
		if n := at.Rows; !e.All && (!n.Known() || n.Const > 0) {
			e.B.Check(0, e.Fold(loop.All, types.Bool, n, loop.Num(1), func(i, _ loop.Lin) []loop.Val {
				return []loop.Val{inside(at.At(i, loop.Num(0)))}
			}))
		}
		place := func(i loop.Lin) loop.Lin {
			p := at.At(i, loop.Num(0))
			if e.All {
				e.B.Check(0, inside(p), p)
			}
			if fromEnd {
				below := e.B.Op(loop.Lt, p, e.B.Const(types.I64, 0))
				p = e.B.Op(loop.Select, below, e.B.Op(loop.Add, p, e.Number(length)), p)
			}
			return loop.Of(loop.ValSym, int(p))
		}
		if axis == 1 {
			e.Size(x.Rows, at.Rows)
			return func(i, j loop.Lin) loop.Val { return x.At(i, place(j)) }
		}
		e.Size(at.Rows, x.Cols)
		return func(i, j loop.Lin) loop.Val { return x.At(place(i), j) }
	}
}

func placesType(s *op.Sig) (types.Type, error) {
	t := s.In[0]
	n, ok := vectorLength(t)
	switch {
	case !t.IsDense() || t.Elem != types.Bool:
		return t, op.Faultf(0, define.CodeKind, "a mask is a dense vector of bool; this is %s", t)
	case !ok:
		f := op.Faultf(0, define.CodeShape, "a mask is a column or a row, of one truth value for each %s; this is %s", indexedBy[s.Attrs.Int("axis")], t)
		return t, f.WithHelp("ifelse(mask, x, 0) chooses element by element; any and all, rowany and colall make one of many")
	}
	if len(s.Consts) > 1 && n != types.Unknown {
		if have, is := s.Consts[1].(value.Scalar); is && have.I != int64(n) {
			return t, op.Faultf(0, define.CodeShape, "a mask of %d for %d %ss", n, have.I, indexedBy[s.Attrs.Int("axis")])
		}
	}
	return types.DenseOf(types.I64, types.Unknown, 1), nil
}

// maskOf is the mask's truth values in order, as many as n says.
func maskOf(c *op.Call) (*value.Dense, error) {
	m := c.Dense(0)
	if n := c.Scalar(1).I; int64(m.Rows*m.Cols) != n || m.Rows != 1 && m.Cols != 1 && n != 0 {
		return nil, op.Failf(define.CodeShape, "a mask of %d x %d for %d %ss", m.Rows, m.Cols, n, indexedBy[c.Attrs.Int("axis")]).
			WithHelp("a mask is a column or a row, of one truth value for each row or column")
	}
	return m, nil
}

func placesKernel(c *op.Call) error {
	m, err := maskOf(c)
	if err != nil {
		return err
	}
	lo, hi := define.OwnRows(c, m.Rows*m.Cols)
	if m.Cols == 1 && m.Stride > 1 { // they lie apart
		m = m.View(lo, 0, hi-lo, 1).Clone()
		m.Bool = append(make([]uint8, lo, hi), m.Bool...)
	}
	mask, count := m.Bool[lo:hi], 0
	for ; len(mask) >= 8; mask = mask[8:] {
		count += bits.OnesCount64(binary.LittleEndian.Uint64(mask))
	}
	for _, is := range mask {
		count += int(is)
	}
	out := define.NewOut(c, count, 1)
	list, k, at := out.I64, 0, lo
	if mask = m.Bool[:hi]; count < (hi-lo)/4 { // most of eight neighbours are false
		for ; at+8 <= hi; at += 8 {
			for w := binary.LittleEndian.Uint64(mask[at:]); w != 0; w &= w - 1 {
				list[k] = int64(at + bits.TrailingZeros64(w)/8)
				k++
			}
		}
	}
	// Every place is written, and the next one writes over it where the mask is false: a branch
	// would be foretold wrongly for half of the elements of a random mask.
	for ; k < count; at++ {
		list[k] = int64(at)
		k += int(mask[at])
	}
	c.Out = out
	return nil
}

// rankRows returns a copy of operand 0. On a rank (Call.Lo < Hi) these are all rows, else the window of
// rank turn - 1.
func rankRows(c *op.Call) (value.Value, error) {
	x := c.Dense(0)
	lo, hi := 0, x.Rows
	if c.Lo == c.Hi {
		lo, hi = op.WindowOf(c.Attrs.Int("turn")-1, c.Attrs.Int("shared"), x.Rows, op.Val{})
	}
	return x.View(lo, 0, hi-lo, x.Cols).Clone(), nil
}

func placesRef(c *op.Call) (value.Value, error) {
	m, err := maskOf(c)
	if err != nil {
		return nil, err
	}
	var list []int64
	at := int64(0)
	for i := range m.Rows {
		for j := range m.Cols {
			if m.At(i, j).True() {
				list = append(list, at)
			}
			at++
		}
	}
	out := value.New(types.I64, len(list), 1)
	for i, p := range list {
		out.Set(i, 0, value.I64(p))
	}
	return out, nil
}

// RowsRef is the definition of take: the rows of x at those places.
func RowsRef(x *value.Dense, at []int) *value.Dense {
	return define.Placed(types.DenseOf(x.Elem, len(at), x.Cols), func(i, j int) value.Scalar { return x.At(at[i], j) })
}

// FromStart returns row number p of n as a place. It fails if p is negative or too large. The help
// differs from that of subscripts, which count negative numbers from the end.
func FromStart(p int64, _, n int) (int, error) {
	if p < 0 || p >= int64(n) {
		return 0, define.BadIndex("take: row %d of a matrix of %d rows", p, n).
			WithHelp("take counts rows from 0; x[rows, :] counts negative numbers back from the end")
	}
	return int(p), nil
}

// TakeInto makes out the rows of x that the column rows names.
func TakeInto(out, x, rows *value.Dense) error {
	take := dense.ForElem(x.Elem, takeRows[float64], takeRows[float32], takeRows[int64], takeRows[uint8])
	return take(out, x, rows)
}

// takeRows copies the rows of matrix from whose numbers the column rows holds to matrix to.
func takeRows[T dense.Cell](to, from, rows *value.Dense) error {
	out, x := dense.GridOf[T](to), dense.GridOf[T](from)
	if x.Cols == 1 && x.LD == 1 && out.LD == 1 && rows.Stride == 1 {
		if at := takeCells(out.X[:out.Rows], x.X[:x.Rows], rows.I64); at < out.Rows {
			_, err := FromStart(rows.I64[at], 0, x.Rows)
			return err
		}
		return nil
	}
	for i := range out.Rows {
		p := rows.I64[i*rows.Stride]
		if uint64(p) >= uint64(x.Rows) {
			_, err := FromStart(p, 0, x.Rows)
			return err
		}
		if x.Cols == 1 { // a call of copy for each number would cost three times what the number does
			out.X[i*out.LD] = x.X[int(p)*x.LD]
		} else {
			copy(out.Row(i), x.Row(int(p)))
		}
	}
	return nil
}

// takeCells sets out[i] to x[rows[i]] up to the first place that x does not have, and returns how many
// it has set. It is the plainest loop: a processor looks some hundred instructions ahead, so that the
// fewer an element takes, the more cache misses are on the way at a time.
func takeCells[T dense.Cell](out, x []T, rows []int64) int {
	for i, p := range rows[:len(out)] {
		if uint64(p) >= uint64(len(x)) {
			return i
		}
		out[i] = x[p]
	}
	return len(out)
}
