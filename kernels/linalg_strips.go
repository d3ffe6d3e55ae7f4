package kernels

// This file runs map.product by strips of rows: a strip of the product is made in the memory of a
// worker, which a cache has, and the chain takes it from there to the result. The right factor is
// packed once, for all strips and workers. So memory sees the left factor and what else the chain
// reads once, and the result once; stored, the product would be cleared, added to, read and
// overwritten.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/dense"
	"flow/kernels/linalg"
)

// stripElements is about how many elements of the product are made at a time: with the right factor
// they stay in a second-level cache.
const stripElements = 1 << 13

// stripRows is the rows of a strip: a multiple of those of every micro-tile and of those of
// transposed operands that are turned at a time.
func stripRows(out types.Type) int {
	return linalg.RoundUp(max(1, stripElements/out.Cols), dense.Panel)
}

// stripBody is one execution.
type stripBody[T dense.Precision] struct {
	f       *productMaps
	by      linalg.Solver[T]
	job     job  // the chain; its operand `place` is the strip at work
	height  int  // of a strip
	stream  bool // the result goes past the caches
	place   int
	acc     *value.Dense // or nil
	a, b    dense.Grid[T]
	tb, sub bool
	packed  []T // the right factor; nil where the kernels cannot
	shared  *linalg.Scratch
	by1     []stripWorker[T]
}

// stripWorker is a worker's part: a strip of the product, windows of the operands that lie along
// the rows, and a machine for the chain.
type stripWorker[T dense.Precision] struct {
	s     *linalg.Scratch
	m     *machine
	room  []T // for a strip, and TallCols elements behind it
	strip value.Dense
	in    []value.Value
	view  []value.Dense
	out   value.Dense
	_     [128]byte
}

func beginStrips[T dense.Precision](f *productMaps, by linalg.Solver[T], c *op.Call, workers int) *stripBody[T] {
	p := productIn(c.Attrs, c.Dense, len(c.In))
	out := c.Result()
	b := &stripBody[T]{f: f, by: by, height: min(stripRows(c.Type), out.Rows), place: c.Attrs.Int("place"), a: dense.GridOf[T](p.a), b: dense.GridOf[T](p.b),
		tb: p.tb, sub: c.Attrs.Bool("sub"), shared: f.Pool.Get(), by1: make([]stripWorker[T], workers)}
	b.job = job{p: c.Body, in: chainIn(c), rows: out.Rows, cols: out.Cols, elem: out.Elem, out: out, from: placeOf(c), alias: lendsMemory(c.In, out)}
	if c.Attrs.Bool("acc") {
		b.acc = c.Dense(b.place)
	}
	if by.Pack != nil {
		b.packed = by.Pack(&b.shared.Ws, b.tb, out.Cols, b.a.Cols, b.b.X, b.b.LD)
	}
	b.stream = b.job.streams()
	return b
}

// worker is the state of worker k, made with its first chunk.
func (b *stripBody[T]) worker(k int) *stripWorker[T] {
	w := &b.by1[k]
	if w.s == nil {
		w.s, w.m = b.f.Pool.Get(), b.f.run.machine()
		w.room = linalg.ScratchGrid[T](w.s, 1, b.height*b.job.cols+blas.TallCols).X
		w.in = append([]value.Value(nil), b.job.in...)
		w.view = make([]value.Dense, len(w.in))
	}
	return w
}

// Chunk makes rows lo..hi-1 of the result.
func (b *stripBody[T]) Chunk(worker, lo, hi int) error {
	w := b.worker(worker)
	for ; lo < hi; lo += b.height {
		n := min(b.height, hi-lo)
		w.product(b, lo, n)
		if err := w.chain(b, lo, n); err != nil {
			return err
		}
	}
	return nil
}

// product makes n rows of the product from row i on.
func (w *stripWorker[T]) product(b *stripBody[T], i, n int) {
	cols := b.job.cols
	c := dense.Grid[T]{Rows: n, Cols: cols, LD: cols, X: w.room[:n*cols]}
	w.strip = value.Dense{Elem: b.job.p.In[b.place].Elem, Rows: n, Cols: cols, Stride: cols}
	switch x := any(c.X).(type) {
	case []float64:
		w.strip.F64 = x
	case []float32:
		w.strip.F32 = x
	}
	if b.acc == nil {
		clear(c.X)
	} else {
		from := dense.GridOf[T](b.acc)
		for r := range n {
			copy(c.Row(r), from.Row(i+r))
		}
	}
	a := b.a.Part(i, 0, n, b.a.Cols)
	if b.packed != nil {
		b.by.Packed(&w.s.Ws, b.sub, n, cols, a.Cols, a.X, a.LD, b.packed, w.room[:n*cols+blas.TallCols], cols)
		return
	}
	linalg.GemmInto(b.by, w.s, c, a, b.b, false, b.tb, b.sub)
}

// chain runs the chain on the strip, to n rows of the result from row i on.
func (w *stripWorker[T]) chain(b *stripBody[T], i, n int) error {
	for k := range b.job.in {
		d, dense := b.job.in[k].(*value.Dense)
		switch mode := b.job.p.In[k].Mode; {
		case k == b.place:
			w.in[k] = &w.strip
		case dense && mode == op.Trans:
			d.Window(&w.view[k], 0, i, d.Rows, n)
			w.in[k] = &w.view[k]
		case dense && (mode == op.Full || mode == op.ColVec) && d.Rows == b.job.rows:
			d.Window(&w.view[k], i, 0, n, d.Cols)
			w.in[k] = &w.view[k]
		}
	}
	b.job.out.Window(&w.out, i, 0, n, b.job.cols)
	w.m.prepare(b.job.p, w.in, n, b.job.cols)
	w.m.draw(b.job.p, offset{b.job.from.row + i, b.job.from.col})
	w.m.past = b.stream
	return w.m.area(area{0, n, 0, b.job.cols}, target{d: &w.out})
}

// End gives the memory back.
func (b *stripBody[T]) End() error {
	for k := range b.by1 {
		if w := &b.by1[k]; w.s != nil {
			w.m.release()
			b.f.run.idle.Put(w.m)
			b.f.Pool.Put(w.s)
		}
	}
	b.f.Pool.Put(b.shared)
	*b = stripBody[T]{}
	return nil
}
