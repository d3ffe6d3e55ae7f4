package window

// This file runs rows as loops whose kernels take windows: a chunk is the kernel itself on a part
// of the result and on the parts of the operands that it needs. What part of an operand that is,
// the row says.

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
	Same     Part = iota // the same window
	Rows                 // the same rows, all columns
	Cols                 // the same columns, all rows
	WideCols             // the same, of loops that are as fast as memory: few columns at a time would be read in pieces too short for it
	Turned               // rows and columns exchanged
	Across               // the columns whose numbers are those of the rows, all rows
	Whole                // all of it; of the first operand also: the result is cut between rows only
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
		Space: func(c *op.Call) (n, leaf int) {
			w := windowsFor(c, parts)
			return w.N, w.Leaf
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			l, ok := idle.Get().(*windowBody)
			if !ok {
				l = &windowBody{idle: idle, kernel: kernel, parts: parts}
			}
			l.begin(c, workers)
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

func (l *windowBody) begin(c *op.Call, workers int) {
	l.c = c
	l.Windows = windowsFor(c, l.parts)
	l.cols = byColumns(c, l.parts)
	for len(l.by) < workers {
		l.by = append(l.by, windowWorker{})
	}
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
		Space: func(c *op.Call) (n, leaf int) {
			w := Of(c.Type, false)
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
