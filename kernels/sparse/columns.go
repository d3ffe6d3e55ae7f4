package sparse

// This file sums the columns of a sparse matrix where numbers may be added in any order, counts and
// integers: each worker adds into sums of its own, which a second pass puts together. Nothing is
// transposed. Other reductions of columns go by the transpose (reduce_loop.go): an exact sum is
// hundreds of bytes a column.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/reduce"
)

// summable says whether the reduction of the columns of m is one that a histogram does.
func summable(w reduce.Whole, m *value.CSR) bool {
	return w.Class == loop.Count || w.Class == loop.Sum && (m.Elem == types.Bool || m.Elem == types.I64)
}

// histogram is such a reduction.
type histogram struct {
	RowCut
	m       *value.CSR
	val     []int64   // of the entries; nil for ones
	by      [][]int64 // of each worker, its sums; nil until its first chunk
	out     []int64
	joining bool
}

// beginHistogram prepares the sums of the columns of m, the values of its entries or how many there
// are.
func beginHistogram(m *value.CSR, out []int64, counts bool, workers int) *histogram {
	l := &histogram{RowCut: cutByEntries(transposeUnits, m), m: m, out: out[:m.Cols], by: make([][]int64, workers)}
	if !counts && m.Elem == types.I64 {
		l.val = m.I64
	}
	return l
}

// worthSums says whether workers may each have sums of all columns: zeroing and adding those must
// not be most of the work.
func worthSums(m *value.CSR, workers int) bool {
	return workers == 1 || m.NNZ()/4 >= (workers-1)*m.Cols
}

// Chunk adds the entries of units lo..hi-1, or puts together the sums of as many parts of the
// columns.
func (l *histogram) Chunk(worker, lo, hi int) error {
	if l.joining {
		l.join(l.part(lo), l.part(hi))
		return nil
	}
	if l.by[worker] == nil {
		l.by[worker] = make([]int64, l.m.Cols)
	}
	from, to := l.m.Ptr[l.begin(lo)], l.m.Ptr[l.begin(hi)]
	l.add(l.by[worker], from, to)
	return nil
}

// part is the first column of part u.
func (l *histogram) part(u int) int { return l.m.Cols * u / l.Units }

// add adds entries from..to-1.
func (l *histogram) add(sums []int64, from, to int64) {
	if l.val == nil {
		for _, j := range l.m.Col[from:to] {
			sums[j]++
		}
		return
	}
	val := l.val[from:to]
	for k, j := range l.m.Col[from:to] {
		sums[j] += val[k]
	}
}

// join sets columns from..to-1 of the result.
func (l *histogram) join(from, to int) {
	out := l.out[from:to]
	clear(out)
	for _, sums := range l.by {
		if sums == nil {
			continue
		}
		for k, v := range sums[from:to] {
			out[k] += v
		}
	}
}

func (l *histogram) Next() (again bool, err error) {
	again = !l.joining
	l.joining = true
	return again, nil
}

func (l *histogram) End() error { return nil }

// all does the whole reduction on one worker.
func (l *histogram) all() {
	clear(l.out)
	l.add(l.out, l.m.Ptr[0], l.m.Ptr[l.m.Rows])
}

var _ op.Passes = (*histogram)(nil)
