package sparse

// This file folds the rows of a pattern with integers: the greatest (least) element of a vector
// that a row names, as connected components by labels want it round after round. The time goes into
// waits for elements that lie anywhere, so a first pass reads the vector in order. Elements that fit in
// 32 bits are copied to half the memory. The pass also finds a bound, the greatest element that any row
// may name: a row ends where it holds that.
//
// The greatest of all elements is a poor bound, because a vertex without neighbours may have it. The
// first fold with a matrix notes the columns that have entries, and the next ones look at these
// elements alone. What was found is remembered as long as the matrix lives. A rank that folds only its
// own rows has listed their columns (sp.touched). It must look at these alone, because other elements
// may not be valid.

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"sync"
	"weak"

	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/vec"
	"flow/memory"
)

// narrowed keeps the narrow copies of vectors for reuse, *[]int32: a fixpoint takes one each round.
var narrowed sync.Pool

// foldedColumns holds, by matrix (weak.Pointer[value.CSR]), the bitset of the columns that have entries.
// A matrix is in it once it has been folded as a whole. namedColumns holds the same of matrices of which
// this rank has some rows: the columns of these rows. A matrix does not change, so neither does its set.
var foldedColumns, namedColumns sync.Map

// rememberOf stores a set for m in one of the maps, as long as m lives.
func rememberOf(m *value.CSR, known *sync.Map, set bitset) {
	key := weak.Make(m)
	if _, loaded := known.Swap(key, set); !loaded {
		runtime.AddCleanup(m, func(key weak.Pointer[value.CSR]) { known.Delete(key) }, key)
	}
}

// NameColumns notes which columns have entries in m. This rank has only its own rows of m. Bit j%64 of
// named[j/64] tells it of column j.
func NameColumns(m *value.CSR, named []uint64) { rememberOf(m, &namedColumns, named) }

// columnsOf returns the set of the columns of m that have entries.
func columnsOf(m *value.CSR) bitset {
	marks := newMarks(m.Cols)
	marks.set(m.Col[m.Ptr[0]:m.Ptr[m.Rows]])
	return marks.bits(make(bitset, (m.Cols+63)/64))
}

// columnMarks has a byte for each column, 1 for those of a set: setting bits would wait for the last
// change of the same word.
type columnMarks []byte

func newMarks(cols int) columnMarks { return make(columnMarks, (cols+63)&^63) }

func (m columnMarks) set(cols []int32) {
	for _, j := range cols {
		m[j] = 1
	}
}

// bits adds the columns to a set, and returns it.
func (m columnMarks) bits(set bitset) bitset {
	for k := range len(m) / 8 { // byte i of eight becomes bit i
		set[k/8] |= binary.LittleEndian.Uint64(m[8*k:]) * 0x0102040810204080 >> 56 << (k % 8 * 8)
	}
	return set
}

// extremeLoop is one fold.
type extremeLoop struct {
	rowFold
	a       *value.CSR
	out, x  []int64
	from    []int64 // the base, or nil
	least   bool
	named   bitset // columns that rows may name; nil: all
	naming  bool   // this fold is to find out
	folding bool   // the vector has been gone over

	narrow *[]int32 // of x, if it fits
	bound  int64    // no element of x that a row names is beyond
	by     []extremeWorker
}

// extremeWorker is what a worker has come upon.
type extremeWorker struct {
	least, greatest int64       // of the elements that rows may name
	marks           columnMarks // the columns of the rows that the worker has folded
	entries         int64       // of these rows
	_               [80]byte
}

// extremeEntries is the number of entries a column from which the pass over the vector pays, about. The
// columns of a part are those that its rows name. If all columns counted, more ranks would mean fewer
// entries a column, and they would give up the pass.
const extremeEntries = 2

// beginExtreme prepares the fold of the rows of a, a pattern. part tells that the fold is of the rows
// of one rank only: then one worker goes over the whole vector.
func beginExtreme(f rowFold, out *value.Dense, a *value.CSR, x *value.Dense, workers int, part bool) *extremeLoop {
	l := &extremeLoop{rowFold: f, a: a, out: out.I64[:a.Rows], x: x.I64[:a.Cols], least: f.step == vec.LeastTimes, by: make([]extremeWorker, workers)}
	if f.base != nil {
		l.from = f.base.I64[:a.Rows]
	}
	sets, columns := &foldedColumns, a.Cols
	if part {
		sets = &namedColumns
	}
	known, ok := sets.Load(weak.Make(a))
	if ok {
		l.named = known.(bitset)
		columns = l.named.count()
	}
	if l.folding = a.NNZ() < extremeEntries*columns; l.folding {
		return l
	}
	l.naming = !ok && !part
	if l.narrow, _ = narrowed.Get().(*[]int32); l.narrow == nil || cap(*l.narrow) < a.Cols {
		s := memory.Fresh[int32](a.Cols)
		l.narrow = &s
	}
	*l.narrow = (*l.narrow)[:a.Cols]
	for i := range l.by {
		l.by[i] = extremeWorker{least: math.MaxInt64, greatest: math.MinInt64}
	}
	if part {
		l.look(&l.by[0], 0, len(l.x))
		l.decide()
	}
	return l
}

// Chunk goes over the part of the vector that rows lo..hi-1 stand for, or folds them.
func (l *extremeLoop) Chunk(worker, lo, hi int) error {
	if !l.folding {
		part := func(row int) int { // in words of a bitset
			if row == l.a.Rows {
				return len(l.x)
			}
			return len(l.x) * row / l.a.Rows &^ 63
		}
		l.look(&l.by[worker], part(lo), part(hi))
		return nil
	}
	const piece = 1024 // what rows start from is in a near cache when they are folded
	for ; lo < hi; lo += piece {
		l.fold(&l.by[worker], lo, min(lo+piece, hi))
	}
	return nil
}

// look copies elements from..to-1 of the vector, at least those that rows may name, and updates the extremes
// of a worker. from is a multiple of 64.
func (l *extremeLoop) look(by *extremeWorker, from, to int) {
	const piece = 512
	for ; from < to; from += piece {
		end := min(from+piece, to)
		dst, src := (*l.narrow)[from:end], l.x[from:end]
		var least, greatest int64
		if l.named != nil {
			marks := l.named[from/64 : (end+63)/64]
			if !slices.ContainsFunc(marks, func(w uint64) bool { return w != 0 }) {
				continue
			}
			least, greatest = vec.NarrowMarked(dst, src, marks)
		} else {
			least, greatest = vec.Narrow(dst, src)
		}
		by.least, by.greatest = min(by.least, least), max(by.greatest, greatest)
	}
}

// Next begins the fold when the vector has been gone over.
func (l *extremeLoop) Next() (again bool, err error) {
	if again = !l.folding; again {
		l.decide()
	}
	return again, nil
}

// decide sets the bound once the vector is known, and gives up copying it where it does not fit.
func (l *extremeLoop) decide() {
	l.folding = true
	least, greatest := l.by[0].least, l.by[0].greatest
	for _, by := range l.by[1:] {
		least, greatest = min(least, by.least), max(greatest, by.greatest)
	}
	if least < math.MinInt32 || greatest > math.MaxInt32 {
		l.release()
	} else if l.bound = greatest; l.least {
		l.bound = least
	}
}

// End gives the copy back, and remembers the columns of a matrix that is folded for the first time.
func (l *extremeLoop) End() error {
	if l.naming {
		named, n := make(bitset, (l.a.Cols+63)/64), int64(0)
		for i := range l.by {
			l.by[i].marks.bits(named)
			n += l.by[i].entries
		}
		if n == int64(l.a.NNZ()) { // not if the run has ended early
			rememberOf(l.a, &foldedColumns, named)
		}
	}
	l.release()
	return nil
}

func (l *extremeLoop) release() {
	if l.narrow != nil {
		narrowed.Put(l.narrow)
		l.narrow = nil
	}
}

// fold folds rows lo..hi-1.
func (l *extremeLoop) fold(by *extremeWorker, lo, hi int) {
	out := l.out[lo:hi]
	l.start(out, lo)
	ptr, col := l.a.Ptr[lo:hi+1], l.a.Col
	switch {
	case l.narrow == nil:
		one := func(x []int64) vec.Lines[int64] { return vec.Lines[int64]{X: x, Cols: 1, Stride: 1} }
		vec.Entries[int64]{Ptr: ptr, Col: col}.Fold(l.step, one(out), one(l.x))
	case l.least:
		vec.MinRows(out, ptr, col, *l.narrow, l.bound)
	default:
		vec.MaxRows(out, ptr, col, *l.narrow, l.bound)
	}
	if l.naming {
		if by.marks == nil {
			by.marks = newMarks(l.a.Cols)
		}
		from, to := ptr[0], ptr[len(ptr)-1]
		by.marks.set(col[from:to])
		by.entries += to - from
	}
}

// start sets out, which has one number a row, to what the rows from lo on start from: the base, and a
// zero for a row with an element that is not stored.
func (l *extremeLoop) start(out []int64, lo int) {
	least, zeros, cols := l.least, l.zeros, int64(l.a.Cols) // read once: the loop is as long as the vector
	ptr, from := l.a.Ptr[lo:lo+len(out)+1], l.from
	if from != nil {
		from = from[lo : lo+len(out)]
	}
	for i := range out {
		v := l.empty.I
		if zeros && ptr[i+1]-ptr[i] < cols {
			v = pickI64(least, v, 0)
		}
		if from != nil {
			v = pickI64(least, v, from[i])
		}
		out[i] = v
	}
}

// pickI64 is the lesser or the greater of two numbers.
func pickI64(least bool, a, b int64) int64 {
	if least {
		return min(a, b)
	}
	return max(a, b)
}

var _ op.Passes = (*extremeLoop)(nil)
