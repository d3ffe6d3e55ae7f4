package sparse

// This file sums the columns of a sparse matrix of floats without a transpose: each worker adds
// entries as they lie to pairs of its own (package exact), which a second pass puts together. The
// few columns that two floats do not hold are summed again.

import (
	"sync/atomic"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
	"flow/kernels/reduce"
)

// scatters says whether the reduction of the columns of m is one that a scatter does.
func scatters(w reduce.Whole, m *value.CSR) bool {
	return (w.Class == loop.Sum || w.Class == loop.Mean) && m.Elem.IsFloat()
}

// scatter is such a reduction.
type scatter struct {
	RowCut
	m       *value.CSR
	out     *value.Dense
	mean    bool
	by      []scattered
	joining bool
	lost    []bool // columns that must be summed again
	again   atomic.Bool
}

// scattered is the sums of one worker; nothing until its first chunk.
type scattered struct {
	pairs []exact.Pair
	lost  []bool
	_     [128]byte
}

func beginScatter(m *value.CSR, out *value.Dense, mean bool, workers int) *scatter {
	return &scatter{RowCut: cutByEntries(transposeUnits, m), m: m, out: out, mean: mean, by: make([]scattered, workers), lost: make([]bool, m.Cols)}
}

// Chunk adds the entries of units lo..hi-1, or puts together the sums of as many parts of the
// columns.
func (l *scatter) Chunk(worker, lo, hi int) error {
	if l.joining {
		l.join(l.m.Cols*lo/l.Units, l.m.Cols*hi/l.Units)
		return nil
	}
	w := &l.by[worker]
	if w.pairs == nil {
		w.pairs, w.lost = make([]exact.Pair, l.m.Cols), make([]bool, l.m.Cols)
	}
	from, to := l.m.Ptr[l.begin(lo)], l.m.Ptr[l.begin(hi)]
	if l.m.Elem == types.F32 {
		exact.AddScattered(w.pairs, w.lost, l.m.Col[from:to], l.m.F32[from:to])
	} else {
		exact.AddScattered(w.pairs, w.lost, l.m.Col[from:to], l.m.F64[from:to])
	}
	return nil
}

// join sets columns from..to-1 of the result.
func (l *scatter) join(from, to int) {
	for j := from; j < to; j++ {
		var sum exact.Pair
		for k := range l.by {
			if w := &l.by[k]; w.pairs != nil {
				exactly := sum.Merge(w.pairs[j])
				l.lost[j] = l.lost[j] || w.lost[j] || !exactly
			}
		}
		if l.lost[j] {
			l.again.Store(true)
			continue
		}
		l.put(j, sum.Round, sum.Round32)
	}
}

// put sets element j of the result, to a sum or a mean.
func (l *scatter) put(j int, round func() float64, round32 func() float32) {
	switch {
	case l.mean:
		reduce.PutFloat(l.out, j, round()/float64(l.m.Rows))
	case l.out.Elem == types.F32:
		l.out.F32[j] = round32()
	default:
		l.out.F64[j] = round()
	}
}

func (l *scatter) Next() (again bool, err error) {
	again = !l.joining
	l.joining = true
	return again, nil
}

// End sums again what two floats did not hold, some columns at a time.
func (l *scatter) End() error {
	if !l.again.Load() {
		return nil
	}
	const most = 1 << 14 // columns with an accumulator at a time
	place, columns := make([]int32, l.m.Cols), make([]int, 0, most)
	for j := 0; j < l.m.Cols; {
		columns = columns[:0]
		for ; j < l.m.Cols && len(columns) < most; j++ {
			if l.lost[j] {
				columns = append(columns, j)
				place[j] = int32(len(columns)) // 0: not among them
			}
		}
		sums := make([]exact.Sum, len(columns))
		for k := l.m.Ptr[0]; k < l.m.Ptr[l.m.Rows]; k++ {
			switch p := place[l.m.Col[k]]; {
			case p == 0:
			case l.m.Elem == types.F32:
				sums[p-1].Add(float64(l.m.F32[k]))
			default:
				sums[p-1].Add(l.m.F64[k])
			}
		}
		for k, j := range columns {
			l.put(j, sums[k].Round, sums[k].Round32)
			place[j] = 0
		}
	}
	return nil
}

var _ op.Passes = (*scatter)(nil)
