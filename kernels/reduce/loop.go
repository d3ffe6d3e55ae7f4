package reduce

// This file runs identical as a loop.

import (
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/window"
)

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
