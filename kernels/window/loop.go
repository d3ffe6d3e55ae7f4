package window

// This file runs rows as loops whose kernels take windows: a chunk is the kernel itself on a part
// of the result and on the parts of the operands that it needs. What part of an operand that is,
// the row says. The iterations are windows of the result, cut by its shape.

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
)

// Part is which window of an operand a window of the result needs.
type Part uint8

const (
	Same Part = iota // the same window
	Rows             // the same rows, all columns
	Cols             // the same columns, all rows
	// WideCols is Cols for loops that are as fast as memory. They take many columns at a time, because
	// memory is slow in short pieces.
	WideCols
	Turned // rows and columns exchanged
	Across // the columns whose numbers are those of the rows, all rows
	Whole  // all of it; of the first operand also: the result is cut between rows only
)

// Loop is the Loop of a kernel with a dense result that computes a window of it from parts of its
// operands; of places beyond the end of the list all of the operand. A constructor has no operands:
// its window is in the attribute at.
func Loop(kernel func(c *op.Call) error, parts ...Part) *op.Loop {
	idle := &sync.Pool{}
	return &op.Loop{
		Light: true,
		Rows: func(_ *op.Sig, out types.Type) int {
			if len(parts) > 0 && (parts[0] == Turned || parts[0] == Cols || parts[0] == WideCols) {
				return 0
			}
			return out.Rows
		},
		RowsEach: func(*op.Call) (rows, iterations int) {
			if len(parts) > 0 && (parts[0] == Rows || parts[0] == Same) {
				return 1, 1 // where rows are cut, Space has more iterations than rows
			}
			return 0, 0
		},
		Space: func(c *op.Call) (n, leaf int) {
			w := windowsFor(c, parts)
			return w.N, w.Leaf
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			l, ok := idle.Get().(*windowBody)
			if !ok {
				l = &windowBody{idle: idle, kernel: kernel, parts: parts}
			}
			l.c, l.Windows, l.cols = c, windowsFor(c, parts), byColumns(c, parts)
			for len(l.by) < workers {
				l.by = append(l.by, windowWorker{})
			}
			return l, nil
		},
	}
}

// windowsFor cuts the result of a call. A reduction of rows or columns does the work of its
// operand.
func windowsFor(c *op.Call, parts []Part) Windows {
	for _, v := range c.In {
		if v.Type().Kind == types.Matrix && !v.Type().IsDense() {
			return Windows{}
		}
	}
	w := Of(c.Type, len(parts) > 0 && parts[0] == Turned)
	if w.N == 0 || len(parts) == 0 || len(c.In) == 0 || c.In[0].Type().Kind != types.Matrix {
		return w
	}
	switch in := c.In[0].Type(); parts[0] {
	case Rows:
		w = Windows{N: c.Type.Rows, Segs: 1, Width: c.Type.Cols, Leaf: max(1, LeafElements/max(in.Cols, 1))}
	case Whole, Across:
		w = Windows{N: c.Type.Rows, Segs: 1, Width: c.Type.Cols, Leaf: max(1, LeafElements/max(c.Type.Cols, 1))}
	case Turned:
		if byColumns(c, parts) { // a window of one long row would be a column of the operand
			w = Windows{N: c.Type.Cols, Segs: c.Type.Cols, Width: 1, Leaf: (LeafElements/c.Type.Rows/dense.Panel + 1) * dense.Panel}
		}
	case Cols: // of columns no fewer than fill the lines of memory that they are read by
		w = Windows{N: c.Type.Cols, Segs: c.Type.Cols, Width: 1, Leaf: max(leastCols, LeafElements/max(in.Rows, 1))}
	case WideCols:
		w = Windows{N: c.Type.Cols, Segs: c.Type.Cols, Width: 1, Leaf: max(WideColumns(c.Type.Cols), LeafElements/max(in.Rows, 1))}
	}
	return w
}

// byColumns reports whether an iteration is a column of the result.
func byColumns(c *op.Call, parts []Part) bool {
	return len(parts) > 0 && (parts[0] == Cols || parts[0] == WideCols || parts[0] == Turned && c.Type.Rows < c.Type.Cols)
}

// leastCols is a cache line of f64, twice.
const leastCols = 16

// WideColumns is how many of cols columns are a leaf where they are read as fast as memory gives them:
// some 50, and so many that leaves are about equal. Of 20000 x 200 elements of f64 strips of 16
// columns took five times as long as whole rows (November 2026).
func WideColumns(cols int) int {
	if cols >= 4096 {
		return 512
	}
	leaves := max(1, cols/96*2) // even: there are often two workers
	return (cols/leaves + leastCols - 1) / leastCols * leastCols
}

type windowBody struct {
	Windows
	idle   *sync.Pool
	kernel func(c *op.Call) error
	parts  []Part
	c      *op.Call
	cols   bool // an iteration is a column
	by     []windowWorker
}

// windowWorker is a worker's call of the kernel, and the memory behind it.
type windowWorker struct {
	call op.Call
	in   []value.Value
	view []value.Dense
	out  value.Dense
	at   []int64 // the attribute, of constructors
	from Rect
	_    [128]byte
}

// bind makes the worker's call.
func (w *windowWorker) bind(l *windowBody) {
	c := l.c
	w.call = *c
	for len(w.view) < len(c.In) {
		w.view = append(w.view, value.Dense{})
		w.in = append(w.in, nil)
	}
	w.call.In = w.in[:len(c.In)]
	for k, v := range c.In {
		w.call.In[k] = v
		if _, dense := v.(*value.Dense); dense && k < len(l.parts) && l.parts[k] != Whole {
			w.call.In[k] = &w.view[k]
		}
	}
	w.call.Out = &w.out
	if len(c.In) == 0 {
		r0, c0 := Origin(c.Attrs)
		w.from = Rect{r0, c0, c.Type.Rows, c.Type.Cols}
		w.call.Attrs = c.Attrs.With("at", op.Ints(0, 0, 0, 0))
		w.at = w.call.Attrs.Ints("at")
	}
}

func (l *windowBody) Chunk(worker, lo, hi int) error {
	w := &l.by[worker]
	if w.call.Def == nil {
		w.bind(l)
	}
	if l.cols {
		return w.window(l, Rect{0, lo, l.c.Type.Rows, hi - lo})
	}
	return l.Each(lo, hi, l.c.Type.Cols, func(r Rect) error { return w.window(l, r) })
}

// window runs the kernel on a part of the result.
func (w *windowWorker) window(l *windowBody, r Rect) error {
	i, j, rows, cols := r.Row, r.Col, r.Rows, r.Cols
	l.c.Result().Window(&w.out, i, j, rows, cols)
	w.call.Type = w.out.Type()
	for k := range w.call.In {
		d, dense := l.c.In[k].(*value.Dense)
		if !dense || k >= len(l.parts) {
			continue
		}
		v := &w.view[k]
		switch l.parts[k] {
		case Same:
			d.Window(v, i, j, rows, cols)
		case Rows:
			d.Window(v, i, 0, rows, d.Cols)
		case Cols, WideCols:
			d.Window(v, 0, j, d.Rows, cols)
		case Turned:
			d.Window(v, j, i, cols, rows)
		case Across:
			d.Window(v, 0, i, d.Rows, rows)
		}
	}
	if w.at != nil {
		w.at[0], w.at[1], w.at[2], w.at[3] = int64(w.from.Row+i), int64(w.from.Col+j), int64(rows), int64(cols)
	}
	return l.kernel(&w.call)
}

// RectLoop is the Loop of a kernel that makes any window of its result by itself.
func RectLoop(f func(c *op.Call, w Rect)) *op.Loop {
	return Rects(func(c *op.Call) (func(w Rect), error) { return func(w Rect) { f(c, w) }, nil })
}

// Rects is RectLoop of a kernel that begin prepares for a call.
func Rects(begin func(c *op.Call) (func(w Rect), error)) *op.Loop {
	return &op.Loop{
		Light: true,
		Rows:  op.RowsOfResult,
		RowsEach: func(c *op.Call) (rows, iterations int) {
			if Of(c.Type, false).N != c.Type.Rows { // rows are cut
				return 0, 0
			}
			return 1, 1
		},
		Space: func(c *op.Call) (n, leaf int) {
			w := Of(c.Type, false)
			if w.N > 0 && w.N*w.Width > dearElements {
				s := &op.Sig{Def: c.Def, Attrs: c.Attrs}
				for _, v := range c.In {
					s.In = append(s.In, v.Type())
				}
				w.Leaf = LeafOf(w.Leaf, 1+int(c.Def.Cost(s, c.Type).Flops)/(4*c.Type.Count()))
			}
			return w.N, w.Leaf
		},
		Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
			f, err := begin(c)
			return &rectBody{Of(c.Type, false), c.Type.Cols, f}, err
		},
	}
}

// RectKernel is the kernel that makes all of the result by f.
func RectKernel(f func(c *op.Call, w Rect)) func(c *op.Call) error {
	return func(c *op.Call) error {
		f(c, Rect{0, 0, c.Type.Rows, c.Type.Cols})
		return nil
	}
}

type rectBody struct {
	Windows
	cols int
	f    func(w Rect)
}

func (l *rectBody) Chunk(_, lo, hi int) error {
	return l.Each(lo, hi, l.cols, func(r Rect) error { l.f(r); return nil })
}

func (l *rectBody) End() error { return nil }

// CopyRect makes window w of dst a copy of src from (i, j) on, of dst's element type.
func CopyRect(dst *value.Dense, w Rect, src *value.Dense, i, j int) {
	var to, from value.Dense
	dst.Window(&to, w.Row, w.Col, w.Rows, w.Cols)
	src.Window(&from, i, j, w.Rows, w.Cols)
	if src.Elem == dst.Elem {
		to.CopyFrom(&from)
	} else {
		to.CopyFrom(dense.Widened(&from, dst.Elem))
	}
}

func (l *windowBody) End() error {
	for i := range l.by {
		w := &l.by[i]
		w.call, w.out, w.at = op.Call{}, value.Dense{}, nil
		clear(w.in)
		clear(w.view)
	}
	l.c = nil
	l.idle.Put(l)
	return nil
}

const (
	// LeafElements is about how many elements are the least that a worker is given: some
	// microseconds of work, so that a claim of a hundred nanoseconds does not count.
	LeafElements = 1 << 14
	// LongRow is from how many columns on rows are cut: a matrix of few long rows would have too
	// few windows.
	LongRow = 1 << 16
)

const (
	// leafSteps is the most steps of an element of a loop whose leaves have LeafElements. A step is four
	// operations, or one that does not follow from costs.
	leafSteps = 6
	// dearElements is the most elements that are little work whatever they cost.
	dearElements = 1 << 12
)

// LeafOf returns about how many elements a leaf has: least, or fewer if an element takes more than
// leafSteps steps. So a leaf takes some microseconds, whatever an element does.
func LeafOf(least, steps int) int { return max(1, least*leafSteps/max(leafSteps, steps)) }

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

// Each calls f with the parts of a matrix of so many columns that windows lo..hi-1 are: rows together
// where they are whole, else one piece of a row after the other. It returns the first error.
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
