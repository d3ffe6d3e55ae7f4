package kernels

// This file runs reductions as loops: every worker has an accumulator of its own, which needs no lock, and End joins them. Accumulators are
// exact, so nothing depends on who added what.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

// inputSpace cuts the only operand of a reduction.
func inputSpace(c *op.Call) windows {
	t := c.In[0].Type()
	if !t.IsDense() {
		return windows{}
	}
	return windowsOf(t, false)
}

// loop is the Loop of a whole reduction.
func (w whole) loop() *op.Loop {
	return &op.Loop{
		Light: true,
		Space: func(c *op.Call) (n, leaf int) {
			s := inputSpace(c)
			return s.n, s.leaf
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			return &wholeBody{windows: inputSpace(c), w: w, c: c, in: c.Dense(0), by: make([]wholeWorker, workers)}, nil
		},
	}
}

type wholeBody struct {
	windows
	w  whole
	c  *op.Call
	in *value.Dense
	by []wholeWorker
}

type wholeWorker struct {
	acc  *value.Dense // nil until the worker's first chunk
	view value.Dense
	_    [128]byte
}

// Chunk adds windows lo..hi-1 to the worker's accumulator.
func (l *wholeBody) Chunk(worker, lo, hi int) error {
	w := &l.by[worker]
	if w.acc == nil {
		t := l.w.acc(l.in.Elem)
		w.acc = value.New(t.Elem, t.Rows, t.Cols)
		l.w.empty(w.acc)
	}
	if l.segs == 1 {
		l.in.Window(&w.view, lo, 0, hi-lo, l.width)
		l.w.part(w.acc, &w.view)
		return nil
	}
	for ; lo < hi; lo++ {
		j := lo % l.segs * l.width
		l.in.Window(&w.view, lo/l.segs, j, 1, min(l.width, l.in.Cols-j))
		l.w.part(w.acc, &w.view)
	}
	return nil
}

// End joins the accumulators.
func (l *wholeBody) End() error {
	var acc *value.Dense
	for i := range l.by {
		switch b := l.by[i].acc; {
		case b == nil:
		case acc == nil:
			acc = b
		default:
			l.w.join(acc, b)
		}
	}
	l.c.Out = l.w.done(acc, l.c.Type.Elem, l.in.Rows*l.in.Cols)
	return nil
}

// colLoop is the Loop of a reduction of columns. Many columns are shared out among the workers; of few long ones each worker
// reduces its rows, and the results are joined column by column.
func (w whole) colLoop(kernel func(c *op.Call) error) *op.Loop {
	byColumn := windowLoop(kernel, partCols)
	long := func(c *op.Call) bool {
		t := c.In[0].Type()
		return t.IsDense() && t.Known() && t.Cols > 0 && t.Cols < manyCols && t.Rows > manyCols
	}
	return &op.Loop{
		Light: true,
		Space: func(c *op.Call) (n, leaf int) {
			if !long(c) {
				return byColumn.Space(c)
			}
			t := c.In[0].Type()
			leaf = max(leafElements/t.Cols, exact.BlockRows)
			return t.Rows, leaf / exact.BlockRows * exact.BlockRows
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			if !long(c) {
				return byColumn.Begin(c, workers)
			}
			return &colBody{w: w, c: c, in: c.Dense(0), by: make([]colWorker, workers)}, nil
		},
	}
}

// manyCols is from how many columns on they are shared out. An exact sum is 550 bytes, so fewer fit into the second-level cache.
const manyCols = 512

type colBody struct {
	w  whole
	c  *op.Call
	in *value.Dense
	by []colWorker
}

// colWorker has one of both: exact sums of float columns, or an accumulator a column.
type colWorker struct {
	sums []exact.Sum
	accs []*value.Dense
	cols *columnSums
	_    [128]byte
}

// Chunk adds rows lo..hi-1 to the worker's columns.
func (l *colBody) Chunk(worker, lo, hi int) error {
	w := &l.by[worker]
	rows := l.in.View(lo, 0, hi-lo, l.in.Cols)
	if l.w.exactFloats(l.in) {
		if w.sums == nil {
			w.sums, w.cols = make([]exact.Sum, l.in.Cols), newColumnSums(l.in)
		}
		w.cols.add(w.sums, rows, l.w.name == "norm")
		return nil
	}
	if w.accs == nil {
		w.accs = l.w.emptyColumns(l.in)
	}
	l.w.addColumns(w.accs, rows)
	return nil
}

// End joins the workers' columns.
func (l *colBody) End() error {
	out := l.c.Result()
	var first *colWorker
	for i := range l.by {
		w := &l.by[i]
		switch {
		case w.sums == nil && w.accs == nil:
		case first == nil:
			first = w
		default:
			for j := range w.sums {
				first.sums[j].Merge(&w.sums[j])
			}
			for j := range w.accs {
				l.w.join(first.accs[j], w.accs[j])
			}
		}
	}
	for j := range first.sums {
		l.w.putColumn(out, j, &first.sums[j], l.in.Rows)
	}
	for j, acc := range first.accs {
		out.Set(0, j, l.w.done(acc, out.Elem, l.in.Rows))
	}
	return nil
}

// exactFloats reports a sum of floats.
func (w whole) exactFloats(a *value.Dense) bool {
	return a.Elem.IsFloat() && (w.name == "sum" || w.name == "mean" || w.name == "norm")
}

// columnSums adds the columns of blocks of a matrix to sums. buf holds a block of f32 as f64.
type columnSums struct{ buf []float64 }

func newColumnSums(a *value.Dense) *columnSums {
	c := &columnSums{}
	if a.Elem == types.F32 {
		c.buf = make([]float64, exact.BlockRows*exact.BlockCols)
	}
	return c
}

// add adds column j of a, or its squares, to sums[j].
func (c *columnSums) add(sums []exact.Sum, a *value.Dense, squares bool) {
	for j0 := 0; j0 < a.Cols; j0 += exact.BlockCols {
		n := min(exact.BlockCols, a.Cols-j0)
		for i0 := 0; i0 < a.Rows; i0 += exact.BlockRows {
			rows := min(exact.BlockRows, a.Rows-i0)
			x, ld := c.buf, n
			if x == nil {
				x, ld = a.F64[i0*a.Stride+j0:], a.Stride
			} else {
				for i := range rows {
					at := (i0+i)*a.Stride + j0
					vec.Convert(x[i*n:i*n+n], a.F32[at:at+n])
				}
			}
			exact.AddColumns(sums[j0:j0+n], x, ld, rows, squares)
		}
	}
}

// sameLoop is the Loop of identical: a worker's verdict each.
func sameLoop() *op.Loop {
	return &op.Loop{
		Light: true,
		Space: func(c *op.Call) (n, leaf int) {
			if c.In[0].Type() != c.In[1].Type() {
				return 0, 0
			}
			s := inputSpace(c)
			return s.n, s.leaf
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			return &sameBody{windows: inputSpace(c), c: c, by: make([]sameWorker, workers)}, nil
		},
	}
}

type sameBody struct {
	windows
	c  *op.Call
	by []sameWorker
}

type sameWorker struct {
	differ bool
	a, b   value.Dense
	_      [128]byte
}

func (l *sameBody) Chunk(worker, lo, hi int) error {
	w, a, b := &l.by[worker], l.c.Dense(0), l.c.Dense(1)
	for ; lo < hi && !w.differ; lo++ {
		i, j := lo/l.segs, lo%l.segs*l.width
		a.Window(&w.a, i, j, 1, min(l.width, a.Cols-j))
		b.Window(&w.b, i, j, 1, min(l.width, a.Cols-j))
		w.differ = !value.Same(&w.a, &w.b)
	}
	return nil
}

func (l *sameBody) End() error {
	differ := false
	for i := range l.by {
		differ = differ || l.by[i].differ
	}
	l.c.Out = value.Bool(!differ)
	return nil
}
