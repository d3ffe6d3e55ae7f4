package sparse

// This file folds the rows of a sparse matrix with the lines of a dense one that their entries name:
// products by vectors and matrices, semirings (ring.go) and reductions of products.

import (
	"bytes"
	"math"
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/reduce"
	"flow/kernels/vec"
)

// rowLoop is a loop over rows lo..hi-1 without further passes.
type rowLoop func(lo, hi int)

func (r rowLoop) Chunk(_, lo, hi int) error { r(lo, hi); return nil }
func (r rowLoop) End() error                { return nil }

// rowFold describes how entries make the rows of a result. beginExtreme folds patterns with integers.
type rowFold struct {
	step  vec.Step
	zeros bool         // the least or greatest includes the elements that are not stored
	empty value.Scalar // the start of a row, except of a Chain, which starts from zero
	begun bool         // a Chain continues what the result has
	base  *value.Dense // a column that the least or greatest includes; nil for none
}

// begin returns the fold of a with the rows of b, which has out's element type.
func (f rowFold) begin(out *value.Dense, a *value.CSR, b *value.Dense) rowLoop {
	return dense.ForNumber(out.Elem, foldOf[float64], foldOf[float32], foldOf[int64])(f, out, a, b)
}

func foldOf[T vec.Number](f rowFold, out *value.Dense, a *value.CSR, b *value.Dense) rowLoop {
	integers := converted(a, out.Elem)
	entries, to, from := vec.Entries[T]{Ptr: a.Ptr, Col: a.Col}, linesOf[T](out), linesOf[T](b)
	if integers == nil {
		entries = entriesOf[T](a, out.Elem)
	}
	nan, start := math.NaN(), T(f.empty.I)
	if out.Elem.IsFloat() {
		start = T(f.empty.F)
	}
	var base []T
	if f.base != nil {
		base = linesOf[T](f.base).X
	}
	rooms := sync.Pool{New: func() any { return new(vec.Entries[T]) }} // of workers: a chunk is small beside making one
	return func(lo, hi int) {
		const piece = 1024 // rows that stay in a cache from their start to their end
		room := rooms.Get().(*vec.Entries[T])
		defer rooms.Put(room)
		for ; lo < hi; lo += piece {
			end := min(lo+piece, hi)
			rows := entries // a copy, since workers run at the same time
			if rows.Ptr = entries.Ptr[lo : end+1]; integers != nil {
				room.Convert(rows, integers)
				rows = *room
			}
			if f.step == vec.Chain {
				if !f.begun {
					dense.Clear(out.View(lo, 0, end-lo, out.Cols))
				}
				rows.Fold(f.step, to.From(lo), from)
				continue
			}
			made := to.X[lo:end]
			for i := range made {
				if made[i] = start; f.zeros && rows.Ptr[i+1]-rows.Ptr[i] < int64(a.Cols) {
					made[i] = 0
				}
			}
			rows.Fold(f.step, to.From(lo), from)
			for i, v := range made {
				if v != v {
					made[i] = T(nan) // all results have the same NaN
				} else if f.zeros {
					made[i] = v + 0 // a product that is -0 is not stored, so it counts as 0
				}
			}
			switch {
			case base == nil:
			case f.step == vec.LeastTimes:
				vec.Min(made, made, base[lo:end])
			default:
				vec.Max(made, made, base[lo:end])
			}
		}
	}
}

// entriesOf returns the entries of m with values of element type T = e.
func entriesOf[T vec.Number](m *value.CSR, e types.Elem) vec.Entries[T] {
	return vec.Entries[T]{Ptr: m.Ptr, Col: m.Col, Val: numbersOf[T](m, e)}
}

// linesOf returns the rows of d.
func linesOf[T vec.Number](d *value.Dense) vec.Lines[T] {
	g := dense.GridOf[T](d)
	return vec.Lines[T]{X: g.X, Cols: g.Cols, Stride: g.LD}
}

// beginFold begins a row of ring.go.
func beginFold(c *op.Call, workers int) op.LoopBody {
	a, out, x := c.In[0].(*value.CSR), c.Result(), flatVector(c.Dense(1))
	r, _ := ringOf(c.Attrs)
	switch pattern := a.Elem == types.Bool; {
	case r.truths():
		return anyRows(out.Bool, a, x.Bool)
	case r.sum == loop.Sum && pattern && x.Elem == types.Bool:
		return countRows(out.I64, a, x.Bool)
	}
	f := rowFold{step: vec.GreatestTimes, zeros: r.zeros, empty: r.zero(out.Elem)}
	switch x = dense.Widened(x, out.Elem); {
	case r.sum == loop.Sum && out.Elem.IsFloat():
		return dense.ForNumber(out.Elem, sumRows[float64], sumRows[float32], nil)(out, a, x)
	case r.sum == loop.Sum:
		f = rowFold{step: vec.Chain}
	case r.least() && r.adds:
		f.step = vec.LeastPlus
	case r.least():
		f.step = vec.LeastTimes
	case r.adds:
		f.step = vec.GreatestPlus
	}
	if len(c.In) > 2 {
		f.base = flatVector(c.Dense(2))
	}
	if !r.adds && f.step != vec.Chain && out.Elem == types.I64 && a.Elem == types.Bool {
		return beginExtreme(f, out, a, x, workers, c.Part)
	}
	return f.begin(out, a, x)
}

// flatVector returns a vector as a column whose elements are contiguous.
func flatVector(x *value.Dense) *value.Dense {
	switch {
	case x.Rows == 1:
		return dense.TurnedVector(x)
	case x.Stride != 1:
		return x.Clone()
	}
	return x
}

// anyRows sets rows of out to whether an entry of a stands where x is true. If x is true nowhere,
// no entry is read: loops often ask for a set that is still empty, or empty at last. Entries are
// read four at a time, because a branch on each single entry is often mispredicted.
func anyRows(out []uint8, a *value.CSR, x []uint8) rowLoop {
	if bytes.IndexByte(x, 1) < 0 {
		return func(lo, hi int) { clear(out[lo:hi]) }
	}
	return func(lo, hi int) {
		for i := lo; i < hi; i++ {
			cols, found := a.Col[a.Ptr[i]:a.Ptr[i+1]], uint8(0)
			for ; len(cols) >= 4 && found == 0; cols = cols[4:] {
				found = x[cols[0]] | x[cols[1]] | x[cols[2]] | x[cols[3]]
			}
			if found == 0 {
				for _, j := range cols {
					found |= x[j]
				}
			}
			out[i] = found
		}
	}
}

// countRows sets rows of out to how many entries of a stand where x is true.
func countRows(out []int64, a *value.CSR, x []uint8) rowLoop {
	return func(lo, hi int) {
		for i := lo; i < hi; i++ {
			n := int64(0)
			for _, j := range a.Col[a.Ptr[i]:a.Ptr[i+1]] {
				n += int64(x[j])
			}
			out[i] = n
		}
	}
}

// sumRows sets the rows of out to the exact sums, rounded once, of the rounded products of their
// entries with column. Both have elements T.
func sumRows[T float32 | float64](out *value.Dense, a *value.CSR, column *value.Dense) rowLoop {
	sum, integers, x := reduce.Named("sum"), converted(a, out.Elem), *dense.Cells[T](column)
	var val []T
	if integers == nil {
		val = numbersOf[T](a, out.Elem)
	}
	return func(lo, hi int) {
		longest := int64(0)
		for i := lo; i < hi; i++ {
			longest = max(longest, a.Ptr[i+1]-a.Ptr[i])
		}
		list := value.New(out.Elem, 1, int(longest))
		products := *dense.Cells[T](list)
		sum.EachList(out, lo, hi, a.Cols, func(i int, row *value.Dense) {
			cols, from := a.Row(i)
			for k, j := range cols {
				switch products[k] = x[j]; {
				case val != nil:
					products[k] *= val[from+k]
				case integers != nil:
					products[k] *= T(integers[from+k])
				}
			}
			list.Window(row, 0, 0, 1, len(cols))
		})
	}
}
