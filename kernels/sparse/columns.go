package sparse

// This file reduces the columns of a sparse matrix. If the state of a column is small, each worker
// folds entries in the order of memory into its own states of all columns, and a second pass merges the
// states. Other reductions reduce the rows of a transpose. Ranks merge states of sums and counts
// (columnsPart).

import (
	"math"
	"sync/atomic"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/reduce"
	"flow/kernels/vec"
)

// columnFold is a reduction of columns with states S.
type columnFold[S any] struct {
	RowCut
	columnSteps[S]
	m       *value.CSR
	by      [][]S // the states of each worker; nil until its first chunk
	joining bool  // the second pass has begun
	end     func() error
}

// columnSteps are the steps of a reduction with states S.
type columnSteps[S any] struct {
	add   func(s []S, from, to int64) // folds entries from..to-1 into the states of all columns
	merge func(s, more []S)           // adds the states of the same columns to s
	put   func(j int, s []S)          // sets the results of the columns from j on
}

func newColumnFold[S any](m *value.CSR, workers int, steps columnSteps[S]) *columnFold[S] {
	return &columnFold[S]{
		RowCut: cutFilled(transposeUnits, m), columnSteps: steps, m: m, by: make([][]S, workers),
	}
}

// Chunk folds the entries of units lo..hi-1. In the second pass it merges the states of as many parts
// of the columns.
func (l *columnFold[S]) Chunk(worker, lo, hi int) error {
	if !l.joining {
		if l.by[worker] == nil {
			l.by[worker] = make([]S, l.m.Cols)
		}
		l.add(l.by[worker], l.m.Ptr[l.begin(lo)], l.m.Ptr[l.begin(hi)])
		return nil
	}
	from, to := l.m.Cols*lo/l.Units, l.m.Cols*hi/l.Units
	var all []S
	for _, s := range l.by {
		switch {
		case s == nil:
		case all == nil:
			all = s[from:to]
		default:
			l.merge(all, s[from:to])
		}
	}
	if all == nil {
		all = make([]S, to-from)
	}
	l.put(from, all)
	return nil
}

func (l *columnFold[S]) Next() (again bool, err error) {
	again = !l.joining
	l.joining = true
	return again, nil
}

func (l *columnFold[S]) End() error {
	if l.end == nil {
		return nil
	}
	return l.end()
}

// worthStates reports whether each worker may have states of all columns. Clearing and merging the
// states must not be most of the work.
func worthStates(m *value.CSR, workers int) bool {
	return workers == 1 || m.NNZ()/4 >= (workers-1)*m.Cols
}

// beginColumns prepares the reduction of the columns of m into out, a column.
func beginColumns(w reduce.Whole, m *value.CSR, out *value.Dense, workers int) op.Passes {
	if l := foldColumns(w, m, out, workers); l != nil && worthStates(m, workers) {
		return l
	}
	return beginTurned(m, workers, func(t *value.CSR) rowLoop { return lineRun(w, t, out) })
}

// beginTurned prepares a loop over the columns of m, as lines says of the rows of its transpose.
func beginTurned(m *value.CSR, workers int, lines func(t *value.CSR) rowLoop) op.Passes {
	l := &columnLoop{}
	l.Passes = beginTranspose(m, workers, func(t *value.CSR) error {
		l.lines, l.cut = lines(t), cutByEntries(transposeUnits, t)
		return nil
	})
	return l
}

// foldColumns returns the reduction of columns by states. It is nil for a reduction without small
// states.
func foldColumns(w reduce.Whole, m *value.CSR, out *value.Dense, workers int) op.Passes {
	switch floats := m.Elem.IsFloat(); {
	case byLength(w, m.Elem):
		return countColumns(m, workers, nil, out.I64, func(j int, sums []int64) { putLengths(w, out, j, sums, int64(m.Rows)) })
	case w.Class == loop.Sum && !floats:
		return countColumns(m, workers, m.I64, out.I64, func(j int, sums []int64) { copy(out.I64[j:], sums) })
	case floats && (w.Class == loop.Sum || w.Class == loop.Mean):
		return sumColumns(w, m, out, workers)
	case !extreme(w):
		return nil
	}
	extremes := dense.ForNumber(m.Elem, extremeColumns[float64], extremeColumns[float32], extremeColumns[int64])
	return extremes(m, out, workers, w.Class == loop.Least)
}

// countColumns adds the values of the entries, nil for ones, which wrap. The sums of one worker lie in
// first, the result, unless it is nil.
func countColumns(m *value.CSR, workers int, val, first []int64, put func(j int, sums []int64)) op.Passes {
	l := newColumnFold(m, workers, columnSteps[int64]{func(sums []int64, from, to int64) {
		if val == nil {
			for _, j := range m.Col[from:to] {
				sums[j]++
			}
			return
		}
		val := val[from:to]
		for k, j := range m.Col[from:to] {
			sums[j] += val[k]
		}
	}, func(sums, more []int64) {
		for k, n := range more {
			sums[k] += n
		}
	}, put})
	if first != nil {
		l.by[0] = first[:m.Cols]
		clear(l.by[0])
	}
	return l
}

// extremeState is the least or greatest of n entries of a column.
type extremeState[T vec.Number] struct {
	best T
	n    int
}

// take adds n entries whose least or greatest is v.
func (s *extremeState[T]) take(v T, n int, least bool) {
	if s.n == 0 || reduce.Beats(v, s.best, least) {
		s.best = v
	}
	s.n += n
}

// extremeColumns finds the least or greatest element of each column.
func extremeColumns[T vec.Number](m *value.CSR, result *value.Dense, workers int, least bool) op.Passes {
	val, out := *dense.Values[T](m), *dense.Cells[T](result)
	return newColumnFold(m, workers, columnSteps[extremeState[T]]{func(s []extremeState[T], from, to int64) {
		val := val[from:to]
		for k, j := range m.Col[from:to] {
			s[j].take(val[k], 1, least)
		}
	}, func(s, more []extremeState[T]) {
		for k, o := range more {
			if o.n > 0 {
				s[k].take(o.best, o.n, least)
			}
		}
	}, func(j int, s []extremeState[T]) {
		for k := range s {
			if s[k].n < m.Rows {
				s[k].take(0, 1, least)
			}
			if out[j+k] = s[k].best; s[k].best != s[k].best {
				nan := math.NaN() // as for dense columns
				out[j+k] = T(nan)
			}
		}
	}})
}

// sumColumns sums the columns of a matrix of floats by pairs of floats (package exact). It sums the few
// columns again whose sum a pair cannot hold.
func sumColumns(w reduce.Whole, m *value.CSR, out *value.Dense, workers int) op.Passes {
	lost := make([]bool, m.Cols)
	var again atomic.Bool
	l := newColumnFold(m, workers, columnSteps[exact.Pair]{addPairs(m), mergePairs, func(j int, pairs []exact.Pair) {
		for k := range pairs {
			switch p := &pairs[k]; {
			case p.Lost():
				lost[j+k] = true
				again.Store(true)
			case w.Class == loop.Mean:
				reduce.PutFloat(out, j+k, p.Round()/float64(m.Rows))
			case out.Elem == types.F32:
				out.F32[j+k] = p.Round32()
			default:
				out.F64[j+k] = p.Round()
			}
		}
	}})
	l.end = func() error {
		if !again.Load() {
			return nil
		}
		t, fold := transposed(m), &reduce.Fold{Whole: w}
		for j, is := range lost {
			if is {
				fold.EachList(out, j, j+1, m.Rows, func(j int, row *value.Dense) { valuesOf(t, j, j+1, row) })
			}
		}
		return nil
	}
	return l
}

// addPairs returns the function that adds entries from..to-1 of m to the sums of their columns.
func addPairs(m *value.CSR) func(pairs []exact.Pair, from, to int64) {
	return func(pairs []exact.Pair, from, to int64) {
		if m.Elem == types.F32 {
			exact.AddScattered(pairs, m.Col[from:to], m.F32[from:to])
		} else {
			exact.AddScattered(pairs, m.Col[from:to], m.F64[from:to])
		}
	}
}

// mergePairs adds the sums in more to pairs, which has those of the same columns.
func mergePairs(pairs, more []exact.Pair) {
	for k, p := range more {
		pairs[k].Merge(p)
	}
}

// columnsPart returns the operator that makes the accumulators of the columns of a rank's rows, a row
// each. Zeros change no sum and no count, so it does not matter how many of them the rank's rows have.
// It would be wrong for a least or greatest element: a column that is full has no zero, but a rank's
// part of it may have one.
func columnsPart(w reduce.Whole) *op.Def {
	return define.ByKernel(&op.Def{
		Name: "sp.col" + w.Name + ".part", Hidden: true,
		Doc:  "sp.col" + w.Name + ".part is the accumulators of the columns of the rows of a sparse matrix that a rank has, a row each.",
		Args: []op.Arg{{Name: "x", Doc: "sparse matrix"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t := s.In[0]
			if !t.IsSparse() || w.Class == loop.Mean && !t.Elem.IsFloat() {
				return t, op.Faultf(0, define.CodeKind, "`%s` of %v", s.Def.Name, t)
			}
			acc := w.Acc(t.Elem)
			acc.Rows = t.Cols
			return acc, nil
		},
		Laws: op.Pure, Rate: "reduce.col", Cost: define.SparseCost(w.Flops),
		Loop: &op.Loop{
			Own: true, Rows: func(s *op.Sig, _ types.Type) int { return s.In[0].Rows },
			Space: func(*op.Call) (n, leaf int) { return transposeUnits, 1 },
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				m, out := ofRank(c), c.Result()
				if w.Class != loop.Count && m.Elem.IsFloat() {
					return columnStates(w, m, out, workers), nil
				}
				var values []int64
				if w.Class == loop.Sum && m.Elem == types.I64 {
					values = m.I64
				}
				return countColumns(m, workers, values, nil, func(j int, sums []int64) { copy(out.I64[j:], sums) }), nil
			},
		},
	})
}

// columnStates sets row j of out to the accumulator of the exact sum of column j of m.
func columnStates(w reduce.Whole, m *value.CSR, out *value.Dense, workers int) op.Passes {
	fold := &reduce.Fold{Whole: w, Part: true}
	put := func(acc *reduce.Accumulators, j int, values *value.Dense) {
		acc.Open(fold, values.Elem, 0, 1)
		acc.Add(values, 0, 0, values.Cols)
		acc.Finish(out.View(j, 0, 1, out.Cols), 0)
	}
	var lost atomic.Bool
	l := newColumnFold(m, workers, columnSteps[exact.Pair]{addPairs(m), mergePairs, func(j int, pairs []exact.Pair) {
		both, acc := value.New(types.F64, 1, 2), &reduce.Accumulators{}
		for k := range pairs {
			if pairs[k].Lost() {
				lost.Store(true)
				continue
			}
			both.F64[0], both.F64[1] = pairs[k].S, pairs[k].T
			put(acc, j+k, both)
		}
	}})
	l.end = func() error {
		if !lost.Load() {
			return nil
		}
		t, row, acc := transposed(m), &value.Dense{}, &reduce.Accumulators{}
		for j := range t.Rows {
			valuesOf(t, j, j+1, row)
			put(acc, j, row)
		}
		return nil
	}
	return l
}

// columnLoop reduces the columns of a matrix as the rows of its transpose, which its first passes make.
type columnLoop struct {
	op.Passes
	cut   RowCut
	lines rowLoop // nil until the transpose is complete
}

func (l *columnLoop) Chunk(worker, lo, hi int) error {
	if l.lines == nil {
		return l.Passes.Chunk(worker, lo, hi)
	}
	return l.lines.Chunk(worker, l.cut.begin(lo), l.cut.begin(hi))
}

// Next begins the next pass of the transpose, or the reduction of its rows.
func (l *columnLoop) Next() (again bool, err error) {
	if l.lines != nil {
		return false, nil
	}
	again, err = l.Passes.Next()
	return again || l.lines != nil, err
}
