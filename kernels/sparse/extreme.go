package sparse

// This file folds the rows of a pattern with integers: the greatest (least) element of a vector
// that a row names, as connected components by labels want it round after round. The time goes into
// waits for elements that lie anywhere, so a first pass reads the vector in order. Elements that fit in
// 32 bits are copied to half the memory. The pass also finds a bound, the greatest element that any row
// may name: a row ends where it holds that.
//
// The greatest of all elements is a poor bound, because a vertex without neighbours may have it. A
// matrix is closed if a column that is named has entries in the row of its number, as in every
// symmetric one. There elements with empty rows do not count. The first fold with a matrix marks them
// by a number beyond all. If some row gives the mark, the matrix is not closed, and the fold is done
// again. What was found is remembered as long as the matrix lives.
//
// A rank that folds only its own rows needs no marks. It has listed the columns in which its rows have
// entries (sp.touched), and looks at these elements alone. It must, because the others may not be
// valid.

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

// closedPatterns maps weak.Pointer[value.CSR] to bitset, for matrices that have been folded. The set
// has the rows with entries if the matrix is closed, and is nil otherwise. Matrices do not change.
var closedPatterns sync.Map

// namedColumns keeps the columns with entries (columnsOf) of matrices that lie in rows over ranks, as
// far as this rank has them: weak.Pointer[value.CSR] to bitset.
var namedColumns sync.Map

// rememberOf stores a set for m in one of the maps, as long as m lives.
func rememberOf(m *value.CSR, known *sync.Map, set bitset) {
	key := weak.Make(m)
	if _, loaded := known.Swap(key, set); !loaded {
		runtime.AddCleanup(m, func(key weak.Pointer[value.CSR]) { known.Delete(key) }, key)
	}
}

// NameColumns notes which columns have entries in m. This rank has only its own rows of m. Bit j%64 of
// named[j/64] tells it of column j.
func NameColumns(m *value.CSR, named []uint64) { rememberOf(m, &namedColumns, bitset(named)) }

// rowsWithEntries returns the set of the rows of m that have entries.
func rowsWithEntries(m *value.CSR) bitset {
	some := make(bitset, (m.Rows+63)/64)
	for i := range m.Rows {
		if m.Ptr[i] < m.Ptr[i+1] {
			some[i/64] |= 1 << (i % 64)
		}
	}
	return some
}

// columnsOf returns the set of the columns of m that have entries.
func columnsOf(m *value.CSR) bitset {
	named := make(bitset, (m.Cols+63)/64)
	marks := make([]byte, 64*len(named)) // setting bits would wait for the last change of the same word
	for _, j := range m.Col[m.Ptr[0]:m.Ptr[m.Rows]] {
		marks[j] = 1
	}
	for k := range 8 * len(named) { // byte i of eight becomes bit i
		named[k/8] |= binary.LittleEndian.Uint64(marks[8*k:]) * 0x0102040810204080 >> 56 << (k % 8 * 8)
	}
	return named
}

// extremeLoop is one fold.
type extremeLoop struct {
	rowFold
	a       *value.CSR
	out, x  []int64
	from    []int64 // the base, or nil
	least   bool
	named   bitset // columns that rows may name; nil: all
	marking bool   // this fold is to find out
	folding bool   // the vector has been gone over

	narrow *[]int32 // of x, if it fits
	bound  int64    // no element of x that a row names is beyond
	by     []extremeWorker
}

// extremeWorker is what a worker has come upon.
type extremeWorker struct {
	least, greatest int64 // of the elements that rows may name
	marked          bool
	_               [104]byte
}

// extremeEntries is the number of entries a column from which the pass over the vector pays, about. The
// columns of a part are those that its rows name. If all columns counted, more ranks would mean fewer
// entries a column, and they would give up the pass.
const extremeEntries = 2

// foldRows is how many rows are folded at a time, so that what they start from is in a near cache.
const foldRows = 1024

// beginExtreme prepares the fold of the rows of a, a pattern. part tells that a has the rows of one
// rank only: such rows cannot show that a matrix is closed.
func beginExtreme(f rowFold, out *value.Dense, a *value.CSR, x *value.Dense, workers int, part bool) *extremeLoop {
	l := &extremeLoop{rowFold: f, a: a, out: out.I64[:a.Rows], x: x.I64[:a.Cols], least: f.step == vec.LeastTimes}
	if f.base != nil {
		l.from = f.base.I64[:a.Rows]
	}
	sets, columns := &closedPatterns, a.Cols
	if part {
		sets = &namedColumns
	}
	known, ok := sets.Load(weak.Make(a))
	if ok {
		l.named = known.(bitset)
	}
	if part && ok {
		columns = l.named.count()
	}
	if l.folding = a.NNZ() < extremeEntries*columns; l.folding {
		return l
	}
	l.marking = !ok && !part && a.Rows == a.Cols
	l.by = make([]extremeWorker, workers)
	l.scan()
	if part {
		l.look(&l.by[0], 0, len(l.x))
		l.decide()
	}
	return l
}

// scan begins a pass over the vector.
func (l *extremeLoop) scan() {
	l.folding = false
	if l.narrow == nil {
		l.narrow, _ = narrowed.Get().(*[]int32)
	}
	if l.narrow == nil || cap(*l.narrow) < l.a.Cols {
		s := memory.Fresh[int32](l.a.Cols)
		l.narrow = &s
	}
	*l.narrow = (*l.narrow)[:l.a.Cols]
	for i := range l.by {
		l.by[i] = extremeWorker{least: math.MaxInt64, greatest: math.MinInt64}
	}
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
	for ; lo < hi; lo += foldRows {
		l.fold(l.by, worker, lo, min(lo+foldRows, hi))
	}
	return nil
}

// look copies elements from..to-1 of the vector, at least those that rows may name, and updates the
// extremes of a worker. from is a multiple of 64.
func (l *extremeLoop) look(by *extremeWorker, from, to int) {
	const part = 512
	for ; from < to; from += part {
		end := min(from+part, to)
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
		if l.marking {
			ptr := l.a.Ptr[from : end+1]
			for i := range dst {
				if ptr[i] == ptr[i+1] {
					dst[i] = int32(l.mark())
				}
			}
		}
		by.least, by.greatest = min(by.least, least), max(by.greatest, greatest)
	}
}

// mark is what stands for elements with empty rows while it is not known whether they are named.
func (l *extremeLoop) mark() int64 {
	if l.least {
		return math.MinInt32
	}
	return math.MaxInt32
}

// Next puts together what the workers found.
func (l *extremeLoop) Next() (again bool, err error) {
	if !l.folding {
		l.decide()
		return true, nil
	}
	if !l.marking {
		return false, nil
	}
	l.marking = false
	marked := false
	for i := range l.by {
		marked = marked || l.by[i].marked
	}
	if marked {
		rememberOf(l.a, &closedPatterns, nil)
		l.scan()
	} else {
		rememberOf(l.a, &closedPatterns, rowsWithEntries(l.a))
	}
	return marked, nil
}

// decide sets the bound once the vector is known, and gives up copying it where it does not fit.
func (l *extremeLoop) decide() {
	l.folding = true
	least, greatest := l.by[0].least, l.by[0].greatest
	for _, by := range l.by[1:] {
		least, greatest = min(least, by.least), max(greatest, by.greatest)
	}
	fits := least >= math.MinInt32 && greatest <= math.MaxInt32
	if l.marking {
		l.marking = fits && least != l.mark() && greatest != l.mark()
		fits = l.marking // the copy has marks
	}
	switch {
	case !fits:
		l.release()
	case l.marking:
		l.bound = l.mark()
	case l.least:
		l.bound = least
	default:
		l.bound = greatest
	}
}

// End gives the copy back.
func (l *extremeLoop) End() error {
	l.release()
	return nil
}

func (l *extremeLoop) release() {
	if l.narrow != nil {
		narrowed.Put(l.narrow)
		l.narrow = nil
	}
}

// fold folds rows lo..hi-1, at most foldRows. While marking, rows start from the empty value, since
// another start could hide a mark.
func (l *extremeLoop) fold(by []extremeWorker, worker, lo, hi int) {
	if l.marking && by[worker].marked {
		return // all rows will be folded again
	}
	out := l.out[lo:hi]
	if l.marking {
		vec.Fill(out, l.empty.I)
	} else {
		l.start(out, lo)
	}
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
	if !l.marking {
		return
	}
	if by[worker].marked = slices.Contains(out, l.bound); !by[worker].marked {
		var starts [foldRows]int64
		l.start(starts[:len(out)], lo)
		l.pick(out, starts[:len(out)])
	}
}

// start sets out to what the rows from lo on start from: the fold of the empty value, of zero if an
// element of the row is not stored, and of the base. Where too few entries are stored for a full row,
// no row is tested.
func (l *extremeLoop) start(out []int64, lo int) {
	ptr, cols, first := l.a.Ptr[lo:lo+len(out)+1], int64(l.a.Cols), l.empty.I
	if l.zeros {
		first = pickI64(l.least, first, 0)
	}
	vec.Fill(out, first)
	if l.zeros && ptr[len(out)]-ptr[0] >= cols {
		for i := range out {
			if ptr[i+1]-ptr[i] == cols {
				out[i] = l.empty.I
			}
		}
	}
	if l.from != nil {
		l.pick(out, l.from[lo:])
	}
}

// pick sets each element of out to the lesser or the greater of out and x.
func (l *extremeLoop) pick(out, x []int64) {
	if l.least {
		vec.Min(out, out, x)
	} else {
		vec.Max(out, out, x)
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
