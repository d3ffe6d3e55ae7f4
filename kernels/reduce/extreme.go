package reduce

// This file defines the reductions min and max, which have accumulators of one element, and
// identical, which has none. It finds the extremes of rows and their places; loops
// (kernels.reducingRows) do so where there is enough work and rows are short.

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/vec"
	"flow/kernels/window"
)

// extremum is the row min or max of one argument.
func extremum(name, which, output string, least bool) Whole {
	better := func(a, b value.Scalar) value.Scalar { return define.Extreme(a, b, least) }
	class := loop.Greatest
	if least {
		class = loop.Least
	}
	return Whole{
		Name: name, Class: class, Flops: 1, Elem: Itself, Nonempty: true,
		doc: name + " of one argument is the " + which + " element; nan if there is one. Of two it is elementwise.",
		eg:  define.Eg(name+`(ones(2, 2))`, output),
		Ref: func(x []value.Scalar, _ types.Elem) value.Scalar {
			m := x[0]
			for _, v := range x[1:] {
				m = better(m, v)
			}
			return m
		},
	}
}

// extreme returns the least or greatest of the elements of s, which are of type e. There is at least
// one.
func extreme(s dense.Slab, e types.Elem, least bool) value.Scalar {
	switch e {
	case types.F64:
		return value.F64(vec.Extreme(s.F64, least))
	case types.F32:
		return value.Scalar{Elem: e, F: float64(vec.Extreme(s.F32, least))}
	case types.Bool:
		return value.Bool(extremeBool(s.Bool, least) != 0)
	}
	return value.Scalar{Elem: e, I: vec.Extreme(s.I64, least)}
}

// extremeBool returns the least or greatest of bools as 0 or 1.
func extremeBool(x []uint8, least bool) uint8 {
	n := vec.CountTrue(x)
	return Bit(least && n == int64(len(x)) || !least && n > 0)
}

// extremesOf sets out to the least or greatest element of each row of x, which are not empty. Row i
// begins at x[i*ld].
func extremesOf[T vec.Element](out, x []T, ld, cols int, least bool) {
	switch x := any(x).(type) {
	case []float64:
		vec.ExtremeRows(any(out).([]float64), x, ld, cols, least)
	case []float32:
		vec.ExtremeRows(any(out).([]float32), x, ld, cols, least)
	case []int64:
		vec.ExtremeRows(any(out).([]int64), x, ld, cols, least)
	case []uint8:
		for i := range out {
			out[i] = T(extremeBool(x[i*ld:][:cols], least))
		}
	}
}

func identical() *op.Def {
	return &op.Def{
		Name: "identical",
		Doc: "identical is true if a and b have the same type, the same shape and the same bits: all nans are one, -0 " +
			"differs from 0.",
		Args: []op.Arg{{Name: "a"}, {Name: "b"}},
		Eg:   define.Eg(`identical(ones(2, 2), ones(2, 2))`, "true"),
		Type: func(s *op.Sig) (types.Type, error) { return types.ScalarOf(types.Bool), nil },
		Ref: func(c *op.Call) (value.Value, error) {
			a, b := c.In[0], c.In[1]
			if !a.Type().Equal(b.Type()) {
				return value.Bool(false), nil
			}
			if x, ok := a.(*value.CSR); ok {
				return value.Bool(sameEntries(x, b.(*value.CSR))), nil
			}
			x, y := define.Elements(a), define.Elements(b)
			for i := range x {
				if !x[i].Same(y[i]) {
					return value.Bool(false), nil
				}
			}
			return value.Bool(true), nil
		},
		Laws:  op.Pure | op.Total | op.Commutes,
		Shard: op.Shard{Kind: op.ShardReduce, Partial: "identical", Combine: "all.join"},
		Folds: &op.Folding{By: "identical.runs", Of: "all"},
		Cost:  func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
		Kernel: func(c *op.Call) error {
			c.Out = value.Bool(value.Same(c.In[0], c.In[1]))
			return nil
		},
		Loop: sameLoop(),
	}
}

// sameEntries is the definition of identical for two sparse matrices of one type: the same places,
// and at each the same value.
func sameEntries(a, b *value.CSR) bool {
	for i := range a.Rows {
		x, at := a.Row(i)
		y, bt := b.Row(i)
		if len(x) != len(y) {
			return false
		}
		for k := range x {
			if x[k] != y[k] || !a.Entry(at+k).Same(b.Entry(bt+k)) {
				return false
			}
		}
	}
	return true
}

// sameLoop writes the loop of identical.
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
		Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
			return &sameBody{Windows: window.InputSpace(c), c: c}, nil
		},
	}
}

type sameBody struct {
	window.Windows
	c      *op.Call
	differ atomic.Bool
}

func (l *sameBody) Chunk(_, lo, hi int) error {
	a, b := l.c.Dense(0), l.c.Dense(1)
	return l.Each(lo, hi, a.Cols, func(r window.Rect) error {
		if !l.differ.Load() && !value.Same(r.Of(a), r.Of(b)) {
			l.differ.Store(true)
		}
		return nil
	})
}

func (l *sameBody) End() error {
	l.c.Out = value.Bool(!l.differ.Load())
	return nil
}

// extremeLines writes the least or greatest element of every row; rows are not empty. Every NaN
// becomes the same one, as in the whole reduction.
func extremeLines[T vec.Element](result, d *value.Dense, least bool) {
	if d.Cols == 0 || d.Rows == 0 {
		return
	}
	out := dense.GridOf[T](result).X[:d.Rows]
	extremesOf(out, dense.GridOf[T](d).X, d.Stride, d.Cols, least)
	for i, v := range out {
		if v != v {
			nan := math.NaN()
			out[i] = T(nan)
		}
	}
}

// argLines writes the index of the extreme element of every row of d to out.
// The extremes of some rows come first, and then their places: which element it is is chance, and a
// branch on that would be mispredicted.
func argLines[T vec.Element](out []int64, d *value.Dense, least bool) {
	x := dense.GridOf[T](d).X
	words := argPool.Get().(*[atOnce]uint64)
	defer argPool.Put(words)
	room := unsafe.Slice((*T)(unsafe.Pointer(words)), atOnce)
	for from := 0; from < d.Rows; from += len(room) {
		best := room[:min(len(room), d.Rows-from)]
		extremesOf(best, x[from*d.Stride:], d.Stride, d.Cols, least)
		for k, v := range best {
			i := from + k
			out[i] = int64(firstAt(x[i*d.Stride:i*d.Stride+d.Cols], v))
		}
	}
}

// atOnce is how many rows argLines takes at a time, argPool keeps room for their extremes.
const atOnce = 64

var argPool = sync.Pool{New: func() any { return new([atOnce]uint64) }}

// Beats reports that v replaces best: strictly beyond it, or the first NaN.
func Beats[T vec.Element](v, best T, least bool) bool {
	if v != v {
		return best == best
	}
	if least {
		return v < best
	}
	return v > best
}

// firstAt is where v stands first in x, or a nan if v is one.
func firstAt[T vec.Element](x []T, v T) int {
	if v != v {
		return slices.IndexFunc(x, func(u T) bool { return u != u })
	}
	return vec.Index(x, v)
}

// Places writes the place of the extreme element of every row of d.
func Places(out []int64, d *value.Dense, least bool) {
	dense.ForElem(d.Elem, argLines[float64], argLines[float32], argLines[int64], argLines[uint8])(out, d, least)
}
