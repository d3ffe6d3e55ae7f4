package scan

// This file defines running reductions of rows that ranks share, a window each (op.Scan).
//
// Steps of integers, minima and maxima associate: each rank reduces its own window, and continues from
// the joined results of the windows before it. Sums and products of floats are chains, because their
// order is part of their meaning. So the last row of each window goes from rank to rank. That takes as
// long as on one rank, but moves one row instead of a window.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// joins is op.Scan.Joins.
func (c chain) joins(e types.Elem) bool {
	return !e.IsFloat() || c.body == loop.Min || c.body == loop.Max
}

// next returns the running value after x in column j, by the definition. s is the running row before
// it; nil: x is the first.
func (c chain) next(s *value.Dense, j int, x value.Scalar) value.Scalar {
	if s == nil {
		return x
	}
	return c.step([]value.Scalar{s.At(0, j), x})
}

// eachEnd calls f for each window whose last row a call of op.Scan.End makes: with that row of the
// result, the window x, and the running row that x continues, nil if there is none.
func eachEnd(call *op.Call, f func(to, x, before *value.Dense)) {
	x, out, ranks, turn := call.Dense(0), call.Result(), call.Type.Rows, call.Attrs.Int("turn")
	from, to := define.OwnRows(call, ranks)
	for r := from; r < to; r++ {
		lo, hi := op.WindowOf(r, ranks, x.Rows, call.Attrs.Val("by"))
		if turn > 0 && r != turn-1 || lo == hi || x.Cols == 0 {
			continue
		}
		var before *value.Dense
		if len(call.In) > 1 && r > 0 {
			before = call.Dense(1).View(r-1, 0, 1, x.Cols)
		}
		f(out.View(r, 0, 1, x.Cols), x.View(lo, 0, hi-lo, x.Cols), before)
	}
}

// end is the row op.Scan.End.
func (c chain) end(name string) *op.Def {
	return define.ByKernel(&op.Def{
		Name: name, Hidden: true, Doc: name + " is the last rows of the windows of the running " + c.what + " (op.Scan).",
		Args: []op.Arg{{Name: "x"}, {Name: "before", Rest: true},
			{Name: "ranks", Attr: true, Kind: op.IntVal, Doc: "windows"},
			{Name: "by", Attr: true, Kind: op.IntVal, Doc: "rows of a unit of them"},
			{Name: "turn", Attr: true, Kind: op.IntVal, Optional: true, Doc: "the window, counted from 1; 0: all"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t := s.In[0]
			if !t.IsDense() || s.Attrs.Int("ranks") < 1 {
				return t, op.Faultf(0, define.CodeKind, "`%s` needs a dense matrix and windows", name)
			}
			return types.DenseOf(c.elem(t.Elem), s.Attrs.Int("ranks"), t.Cols), nil
		},
		Laws: op.Pure, Rate: "cumulative",
		Cost: func(s *op.Sig, out types.Type) op.Work {
			n := float64(s.In[0].Count())
			if s.Attrs.Int("turn") > 0 {
				n /= float64(out.Rows)
			}
			return op.Work{Flops: n, Bytes: 8 * n}
		},
		Kernel: func(call *op.Call) error {
			eachEnd(call, func(to, x, before *value.Dense) {
				first := before
				if before == nil {
					first, x = x.View(0, 0, 1, x.Cols), x.View(1, 0, x.Rows-1, x.Cols)
				}
				to.CopyFrom(dense.Widened(first, to.Elem))
				last := dense.ForElem(to.Elem, lastRow[float64], lastRow[float32], lastRow[int64], lastRow[uint8])
				last(to, dense.Widened(x, to.Elem), c.body)
			})
			return nil
		},
	})
}

// lastRow advances row, the running values before the first row of x, to those at the last row of x.
func lastRow[T dense.Cell](row, x *value.Dense, body loop.Code) {
	a, step := dense.GridOf[T](x), stepOf[T](body)
	s := (*dense.Cells[T](row))[:a.Cols]
	if a.Cols == 1 && a.Rows > 0 {
		s[0] = lastOf(s[0], (*dense.Cells[T](x))[:(a.Rows-1)*x.Stride+1], x.Stride, body)
		return
	}
	for i := range a.Rows {
		x := a.Row(i)[:len(s)]
		switch body {
		case loop.Add:
			for j, v := range x {
				s[j] += v
			}
		case loop.Mul:
			for j, v := range x {
				s[j] *= v
			}
		default:
			for j, v := range x {
				s[j] = step(s[j], v)
			}
		}
	}
}

// lastOf is lastRow of one column: elements 0, by, 2*by, .. of x. The running value stays in a
// register. Minima and maxima are taken in four interleaved chains, because each step of one chain
// waits for the step before it. Their order does not matter; that of sums and products of floats does.
func lastOf[T dense.Cell](s T, x []T, by int, body loop.Code) T {
	switch body {
	case loop.Add:
		for i := 0; i < len(x); i += by {
			s += x[i]
		}
		return s
	case loop.Mul:
		for i := 0; i < len(x); i += by {
			s *= x[i]
		}
		return s
	}
	c, i := [4]T{s, s, s, s}, 0
	if body == loop.Min {
		for ; i+3*by < len(x); i += 4 * by {
			c[0], c[1], c[2], c[3] = min(c[0], x[i]), min(c[1], x[i+by]), min(c[2], x[i+2*by]), min(c[3], x[i+3*by])
		}
	} else {
		for ; i+3*by < len(x); i += 4 * by {
			c[0], c[1], c[2], c[3] = max(c[0], x[i]), max(c[1], x[i+by]), max(c[2], x[i+2*by]), max(c[3], x[i+3*by])
		}
	}
	step := stepOf[T](body)
	for s = step(step(c[0], c[1]), step(c[2], c[3])); i < len(x); i += by {
		s = step(s, x[i])
	}
	return s
}

// from is the row op.Scan.From of the row full.
func (c chain) from(name string, full *op.Def, run *scanner) *op.Def {
	return define.ByKernel(&op.Def{
		Name: name, Hidden: true, Doc: name + " is the running " + c.what + ", by windows that go on from those before them (op.Scan).",
		Args: []op.Arg{{Name: "x"}, {Name: "ends", Rest: true},
			{Name: "ranks", Attr: true, Kind: op.IntVal, Doc: "windows"},
			{Name: "units", Attr: true, Kind: op.IntVal, Optional: true, Doc: "rows of a unit of them"}},
		Type: func(s *op.Sig) (types.Type, error) { return full.Type(&op.Sig{Def: full, In: s.In[:1]}) },
		Laws: op.Pure, Rate: "cumulative",
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.StreamCost(s, out, 1) },
		Kernel: func(call *op.Call) error {
			c.beginFrom(call, run).strip(0, call.Type.Cols)
			return nil
		},
		Loop: &op.Loop{
			Rows: op.RowsOfResult,
			Space: func(call *op.Call) (n, leaf int) {
				return call.Type.Rows, max(1, call.Type.Rows/(4*max(1, call.Attrs.Int("ranks"))))
			},
			Begin: func(call *op.Call, _ int) (op.LoopBody, error) { return c.beginFrom(call, run), nil },
		},
	})
}

// fromBody is one execution of op.Scan.From for the windows of this rank. Work is shared by strips of
// columns, because a row needs the row before it. The strips are spread evenly over the loop's
// iterations, which are rows.
type fromBody struct {
	chain
	c       *op.Call
	run     *scanner
	windows []fromWindow
	lo, hi  int // the rows
	strips  int
}

// fromWindow is rows lo..hi-1. before is the running row that they continue; nil: they are the first.
type fromWindow struct {
	lo, hi int
	before *value.Dense
}

// stripCols is the approximate number of columns of a strip.
const stripCols = 64

func (c chain) beginFrom(call *op.Call, run *scanner) *fromBody {
	l := &fromBody{chain: c, c: call, run: run, hi: call.Type.Rows, strips: max(1, call.Type.Cols/stripCols)}
	ranks := call.Attrs.Int("ranks")
	for r := range ranks {
		lo, hi := op.WindowOf(r, ranks, l.hi, call.Attrs.Val("units"))
		switch {
		case lo == hi || call.Part && lo != call.From:
		case call.Part:
			l.windows, l.lo, l.hi = []fromWindow{{lo, hi, c.before(call, r)}}, lo, hi
			return l
		default:
			l.windows = append(l.windows, fromWindow{lo, hi, c.before(call, r)})
		}
	}
	return l
}

// before returns the row that window r follows, or nil.
func (c chain) before(call *op.Call, r int) *value.Dense {
	cols := call.Type.Cols
	switch {
	case r == 0:
		return nil
	case !c.joins(call.Type.Elem):
		return call.Dense(r).View(r-1, 0, 1, cols)
	}
	ends := call.Dense(1)
	s := value.New(ends.Elem, 1, cols)
	s.CopyFrom(ends.View(0, 0, 1, cols))
	for q := 1; q < r; q++ {
		for j := range cols {
			s.Set(0, j, c.next(s, j, ends.At(q, j)))
		}
	}
	return s
}

func (l *fromBody) Chunk(_, lo, hi int) error {
	cols := l.c.Type.Cols
	for s := range l.strips {
		if at := l.lo + (l.hi-l.lo)*s/l.strips; lo <= at && at < hi {
			l.strip(cols*s/l.strips, cols*(s+1)/l.strips)
		}
	}
	return nil
}

// strip makes columns j..to-1.
func (l *fromBody) strip(j, to int) {
	if j == to {
		return
	}
	for _, w := range l.windows {
		before := w.before
		if before != nil {
			before = before.View(0, j, 1, to-j)
		}
		l.chain.run(l.run, l.c.Result().View(w.lo, j, w.hi-w.lo, to-j), l.c.Dense(0).View(w.lo, j, w.hi-w.lo, to-j), false, before)
	}
}

func (l *fromBody) End() error { return nil }
