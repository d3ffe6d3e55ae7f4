package reduce

// This file runs reductions as loops: every worker has an accumulator of its own, which needs no
// lock, and End joins them. Accumulators are exact, so nothing depends on who added what.

import (
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/window"
)

// loop is the Loop of a whole reduction.
func (w Whole) loop() *op.Loop {
	return &op.Loop{
		Light: true,
		Space: func(c *op.Call) (n, leaf int) {
			s := window.InputSpace(c)
			return s.N, s.Leaf
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			return &wholeBody{Windows: window.InputSpace(c), w: w, c: c, in: c.Dense(0), by: make([]wholeWorker, workers)}, nil
		},
	}
}

type wholeBody struct {
	window.Windows
	w  Whole
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
		w.acc = l.w.Accumulator(l.in.Elem)
	}
	if l.Segs == 1 {
		l.in.Window(&w.view, lo, 0, hi-lo, l.Width)
		l.w.Part(w.acc, &w.view)
		return nil
	}
	for ; lo < hi; lo++ {
		j := lo % l.Segs * l.Width
		l.in.Window(&w.view, lo/l.Segs, j, 1, min(l.Width, l.in.Cols-j))
		l.w.Part(w.acc, &w.view)
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
			l.w.Join(acc, b)
		}
	}
	l.c.Out = l.w.Done(acc, l.c.Type.Elem, l.in.Rows*l.in.Cols)
	return nil
}

// sameLoop is the Loop of identical: a worker's verdict each.
func sameLoop() *op.Loop {
	return &op.Loop{
		Light: true,
		Space: func(c *op.Call) (n, leaf int) {
			if c.In[0].Type() != c.In[1].Type() {
				return 0, 0
			}
			s := window.InputSpace(c)
			return s.N, s.Leaf
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			return &sameBody{Windows: window.InputSpace(c), c: c, by: make([]sameWorker, workers)}, nil
		},
	}
}

type sameBody struct {
	window.Windows
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
		i, j := lo/l.Segs, lo%l.Segs*l.Width
		a.Window(&w.a, i, j, 1, min(l.Width, a.Cols-j))
		b.Window(&w.b, i, j, 1, min(l.Width, a.Cols-j))
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
