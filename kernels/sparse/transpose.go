package sparse

// This file transposes sparse matrices: by counting on one worker, and in three passes on several.
//
// The passes sort the entries by column as a radix sort of two digits does. The first two
// distribute them by ranges of columns, so that each worker writes to few places in order; the third
// sorts each range, which stays in a cache. Both are stable, so rows ascend within a column and no bit
// depends on the workers.

import (
	"math/bits"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/vec"
	"flow/memory"
)

// transposeUnits is how many ranges of rows there are, and how many ranges of columns at most.
const transposeUnits = 256

func transposeSpace(t types.Type) (n, leaf int) {
	if t.Rows < 256 {
		return 0, 0
	}
	return transposeUnits, 1
}

// beginTranspose prepares the transpose of m; done takes it.
func beginTranspose(m *value.CSR, workers int, done func(t *value.CSR) error) op.Passes {
	begin := dense.ForElem(m.Elem, newTransposer[float64], newTransposer[float32], newTransposer[int64], newTransposer[uint8])
	return begin(m, workers, done)
}

// transposer is a transpose in the making.
type transposer[T vec.Element] struct {
	RowCut
	m, t  *value.CSR
	val   []T // of m; nil for bool
	to    []T // of t
	done  func(t *value.CSR) error
	shift int     // column j is in range j >> shift
	at    []int64 // of each range of columns and unit of rows: how many entries, later where the next goes
	first []int64 // of each range: its first entry
	col   []int32 // of the entries by range; t holds their rows and values until the ranges are sorted
	by    []transposeWorker[T]
	pass  int
}

// transposeWorker is the memory of a worker that sorts a range.
type transposeWorker[T vec.Element] struct {
	next []int64 // where the next entry of each column goes
	row  []int32 // the entries, in the order in which they came
	num  []T
	_    [56]byte
}

// entriesByRange is op.Def.Beside of a transpose: the column of each entry, and the row and value of
// those in the ranges that workers sort, at most all.
func entriesByRange(s *op.Sig, _ types.Type) float64 {
	each := 8
	if e := s.In[0].Elem; e != types.Bool {
		each += e.Size()
	}
	return define.Entries(s, 0) * float64(each)
}

// newTransposer is beginTranspose for entries whose values are stored as T.
func newTransposer[T vec.Element](m *value.CSR, workers int, done func(t *value.CSR) error) op.Passes {
	x := &transposer[T]{m: m, val: numbersOf[T](m, m.Elem), done: done, by: make([]transposeWorker[T], workers)}
	x.RowCut = cutFilled(transposeUnits, m)
	x.shift = max(0, bits.Len(uint(max(m.Cols, 1)-1))-bits.Len(transposeUnits-1))
	x.at = make([]int64, transposeUnits*transposeUnits)
	return x
}

// Chunk does units or ranges lo..hi-1 of the pass.
func (x *transposer[T]) Chunk(worker, lo, hi int) error {
	for u := lo; u < hi; u++ {
		switch x.pass {
		case 0:
			at := x.at[u*transposeUnits:][:transposeUnits] // entries by range
			for _, j := range x.m.Col[x.m.Ptr[x.begin(u)]:x.m.Ptr[x.begin(u+1)]] {
				at[j>>x.shift]++
			}
		case 1:
			x.distribute(u)
		default:
			x.sort(worker, u)
		}
	}
	return nil
}

// distribute puts the entries of unit u with those of their ranges.
func (x *transposer[T]) distribute(u int) {
	m := x.m
	at := x.at[u*transposeUnits:][:transposeUnits]
	for i, end := x.begin(u), x.begin(u+1); i < end; i++ {
		cols, from := m.Row(i)
		for k, j := range cols {
			r := j >> x.shift
			p := at[r]
			at[r]++
			x.t.Col[p], x.col[p] = int32(i), j
			if x.val != nil {
				x.to[p] = x.val[from+k]
			}
		}
	}
}

// sort lays out the columns of range r.
func (x *transposer[T]) sort(worker, r int) {
	c0 := min(r<<x.shift, x.m.Cols)
	c1 := min((r+1)<<x.shift, x.m.Cols)
	if c0 == c1 {
		return
	}
	w, lo, hi := &x.by[worker], x.first[r], x.first[r+1]
	w.next = dense.Resized(w.next, c1-c0)
	next, cols := w.next, x.col[lo:hi]
	clear(next)
	for _, j := range cols {
		next[int(j)-c0]++
	}
	sum := lo
	for k, n := range next {
		next[k] = sum
		sum += n
		x.t.Ptr[c0+k+1] = sum
	}
	w.row = append(w.row[:0], x.t.Col[lo:hi]...)
	if x.val != nil {
		w.num = append(w.num[:0], x.to[lo:hi]...)
	}
	for p, i := range w.row {
		k := int(cols[p]) - c0
		q := next[k]
		next[k]++
		x.t.Col[q] = i
		if x.val != nil {
			x.to[q] = w.num[p]
		}
	}
}

// Next turns counts into places, and hands over the result after the last pass.
func (x *transposer[T]) Next() (again bool, err error) {
	x.pass++
	switch x.pass {
	case 1:
		n := x.m.NNZ()
		x.first = make([]int64, transposeUnits+1)
		sum := int64(0)
		for r := range transposeUnits {
			for u := range transposeUnits {
				k := &x.at[u*transposeUnits+r]
				*k, sum = sum, sum+*k
			}
			x.first[r+1] = sum
		}
		x.t = value.NewCSR(x.m.Elem, x.m.Cols, x.m.Rows, 0)
		if x.to, err = entries[T](x.t, int64(n)); err != nil {
			return false, err
		}
		x.col = memory.Fresh[int32](n)
		return true, nil
	case 2:
		return true, nil
	}
	return false, x.done(x.t)
}

func (x *transposer[T]) End() error { return nil }
