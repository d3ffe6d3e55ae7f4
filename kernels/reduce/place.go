package reduce

// This file finds the place of the least or greatest element of a whole matrix: the extreme of a
// block of elements by vector loops first, and where it stands only in the block that has the best
// one.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/vec"
	"flow/kernels/window"
)

// argBlock is the elements of a block: they stay in the first-level cache until the place is looked
// for.
const argBlock = 2048

// argPlace is an element and its number in row-major order; -1: there is none.
type argPlace struct {
	at  int
	f64 float64
	i64 int64
}

// argBody is one execution as a loop: the best place that each worker has seen.
type argBody struct {
	window.Windows
	c     *op.Call
	in    *value.Dense
	least bool
	by    []argWorker
}

type argWorker struct {
	best argPlace
	view value.Dense
	_    [128]byte
}

// argLoop is the Loop of argmin or argmax.
func argLoop(least bool) *op.Loop {
	return &op.Loop{
		Light: true,
		Space: func(c *op.Call) (n, leaf int) {
			s := window.InputSpace(c)
			return s.N, s.Leaf
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			b := &argBody{Windows: window.InputSpace(c), c: c, in: c.Dense(0), least: least, by: make([]argWorker, workers)}
			for w := range b.by {
				b.by[w].best.at = -1
			}
			return b, nil
		},
	}
}

// Chunk looks at windows lo..hi-1.
func (b *argBody) Chunk(worker, lo, hi int) error {
	w := &b.by[worker]
	if b.Segs == 1 {
		b.in.Window(&w.view, lo, 0, hi-lo, b.Width)
		w.best = b.first(w.best, &w.view, lo*b.in.Cols)
		return nil
	}
	for ; lo < hi; lo++ {
		i, j := lo/b.Segs, lo%b.Segs*b.Width
		b.in.Window(&w.view, i, j, 1, min(b.Width, b.in.Cols-j))
		w.best = b.first(w.best, &w.view, i*b.in.Cols+j)
	}
	return nil
}

// End takes the best of the workers' places.
func (b *argBody) End() error {
	best := argPlace{at: -1}
	for k := range b.by {
		if p := b.by[k].best; p.at >= 0 && (best.at < 0 || b.before(p, best)) {
			best = p
		}
	}
	b.c.Out = value.I64(int64(best.at))
	return nil
}

// before reports that p is better than q, or as good and first. A nan is better than all else.
func (b *argBody) before(p, q argPlace) bool {
	switch pn, qn := p.f64 != p.f64, q.f64 != q.f64; {
	case pn != qn:
		return pn
	case pn || p.f64 == q.f64 && p.i64 == q.i64:
		return p.at < q.at
	}
	if b.least {
		return p.f64 < q.f64 || p.i64 < q.i64
	}
	return p.f64 > q.f64 || p.i64 > q.i64
}

// first is the better of best and the first best element of x, whose elements from at on are those
// of whole rows of the matrix, or of one piece.
func (b *argBody) first(best argPlace, x *value.Dense, at int) argPlace {
	for i := range x.Rows {
		for j := 0; j < x.Cols; j += argBlock {
			s := dense.SlabOf(x, i*x.Stride+j, min(argBlock, x.Cols-j))
			p := argPlace{at: at + i*b.in.Cols + j}
			switch x.Elem {
			case types.F64:
				p.f64 = extremeOf(s.F64, b.least)
			case types.F32:
				p.f64 = float64(extremeOf(s.F32, b.least))
			case types.Bool:
				p.i64 = int64(extremeOf(s.Bool, b.least))
			default:
				p.i64 = extremeOf(s.I64, b.least)
			}
			if best.at >= 0 && !b.before(p, best) {
				continue
			}
			switch x.Elem {
			case types.F64:
				p.at += firstAt(s.F64, p.f64)
			case types.F32:
				p.at += firstAt(s.F32, float32(p.f64))
			case types.Bool:
				p.at += firstAt(s.Bool, uint8(p.i64))
			default:
				p.at += firstAt(s.I64, p.i64)
			}
			if best.at < 0 || b.before(p, best) {
				best = p
			}
		}
	}
	return best
}

// firstAt is where v stands first in x, or a nan if v is one.
func firstAt[T vec.Element](x []T, v T) int {
	if v != v {
		return slices.IndexFunc(x, func(u T) bool { return u != u })
	}
	switch x := any(x).(type) {
	case []float64:
		return vec.IndexF64(x, float64(v))
	case []float32:
		return vec.IndexF32(x, float32(v))
	case []int64:
		return vec.IndexI64(x, int64(v))
	}
	return slices.Index(x, v)
}
