package sparse

// This file folds the rows of a pattern with integers: the greatest (least) element of a vector
// that a row names, as connected components by labels want it round after round. What it costs is
// the wait for elements that lie anywhere, so a first pass over the vector, which is read in order,
// saves what it can. Where all elements fit in 32 bits it copies them to half the memory: more of them
// lie in a cache and twice as many go in a vector. And it finds a bound, the greatest element
// that any row may name, so that a row ends where it holds that: once most vertices of a graph have
// their last label, most rows are not read at all, if they start from their own.
//
// The greatest of all elements is a bound, but a poor one: of a graph some vertex without
// neighbours has it and keeps it to itself. Of a matrix that is closed, in which a column that is
// named has entries in the row of its number, as in every symmetric one, elements with empty rows
// do not count. Whether a matrix is closed costs nothing to find out: the first fold with it marks
// the elements with empty rows by a number beyond all, and where no row gives the mark no row names
// one, and the result is right. Where one does the fold is done again. What was found is remembered
// as long as the matrix lives.
//
// A rank that folds only its own rows needs no marks. It has listed the columns in which its rows have
// entries (sp.touched), and looks at these elements alone. It must, because the others may not be valid.

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"weak"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// narrowed keeps the narrow copies of vectors for reuse, *[]int32: a fixpoint takes one each round.
var narrowed sync.Pool

// closedPatterns says of matrices that have been folded whether they are closed:
// weak.Pointer[value.CSR] to bool. Matrices do not change.
var closedPatterns sync.Map

// namedColumns keeps the columns with entries (columnsOf) of matrices that lie in rows over ranks, as far as
// this rank has them: weak.Pointer[value.CSR] to bitset.
var namedColumns sync.Map

// rememberOf stores what for m in one of the maps, as long as m lives.
func rememberOf(m *value.CSR, known *sync.Map, what any) {
	key := weak.Make(m)
	if _, loaded := known.Swap(key, what); !loaded {
		runtime.AddCleanup(m, func(key weak.Pointer[value.CSR]) { known.Delete(key) }, key)
	}
}

// columnsOf returns the set of the columns of m that have entries.
func columnsOf(m *value.CSR) bitset {
	named := make(bitset, (m.Cols+63)/64)
	for _, j := range m.Col[m.Ptr[0]:m.Ptr[m.Rows]] {
		named[uint32(j)/64] |= 1 << (uint32(j) % 64)
	}
	return named
}

// extremeLoop is one fold.
type extremeLoop struct {
	a       *value.CSR
	out, x  []int64
	base    []int64 // what rows start from; nil: from start
	start   int64   // with base, rows start from the greater (lesser) of both
	least   bool
	zeros   bool   // elements that are not stored are zeros: start is right for all rows but full ones
	closed  bool   // the matrix is known to be
	named   bitset // columnsOf of this rank's rows of a shared matrix, if they are remembered
	marking bool   // this fold is to find out
	folding bool   // the vector has been gone over

	narrow *[]int32 // of x, if it fits
	bound  int64    // no element of x that a row names is beyond
	by     []extremeWorker
}

// extremeWorker is what a worker has come upon.
type extremeWorker struct {
	least, greatest int64    // elements
	among           [2]int64 // the least and the greatest of those with rows that are not empty
	marked          bool
	_               [88]byte
}

// extremeEntries is from how many entries a column on the pass over the vector is worth it, about.
const extremeEntries = 2

// beginExtreme prepares the fold of the rows of a, a pattern; base is nil for none. A part of the
// rows needs all of the vector all the same, and tells nothing about the others.
func beginExtreme(f ringFold, out *value.Dense, a *value.CSR, x, base *value.Dense, workers int, part bool) *extremeLoop {
	l := &extremeLoop{a: a, out: out.I64[:a.Rows], x: x.I64[:a.Cols], start: f.empty.I, least: f.least, zeros: f.zeros}
	if base != nil {
		l.base = base.I64[:a.Rows]
	}
	if l.bound = math.MaxInt64; l.least {
		l.bound = math.MinInt64
	}
	if l.folding = a.NNZ() < extremeEntries*a.Cols; l.folding {
		return l
	}
	if a.Rows == a.Cols {
		closed, known := closedPatterns.Load(weak.Make(a))
		l.marking = !known
		l.closed = known && closed.(bool) && !part
	}
	l.by = make([]extremeWorker, workers)
	l.scan()
	if part {
		l.marking = false
		if known, ok := namedColumns.Load(weak.Make(a)); ok {
			l.named = known.(bitset)
			l.lookNamed(&l.by[0])
		} else {
			l.look(&l.by[0], 0, len(l.x))
		}
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
		s := make([]int32, l.a.Cols)
		l.narrow = &s
	}
	*l.narrow = (*l.narrow)[:l.a.Cols]
	for i := range l.by {
		l.by[i] = extremeWorker{least: math.MaxInt64, greatest: math.MinInt64, among: [2]int64{math.MaxInt64, math.MinInt64}}
	}
}

// Chunk goes over the part of the vector that rows lo..hi-1 stand for, or folds them.
func (l *extremeLoop) Chunk(worker, lo, hi int) error {
	if !l.folding {
		n, rows := len(l.x), l.a.Rows
		l.look(&l.by[worker], n*lo/rows, n*hi/rows)
		return nil
	}
	const piece = 1024 // what rows start from is in a near cache when they are folded
	for ; lo < hi; lo += piece {
		if end := min(lo+piece, hi); l.marking {
			l.foldMarked(&l.by[worker], lo, end)
		} else {
			l.fold(lo, end)
		}
	}
	return nil
}

// look copies elements from..to-1 of the vector and takes note of their extremes.
func (l *extremeLoop) look(by *extremeWorker, from, to int) {
	dst, src := (*l.narrow)[from:to], l.x[from:to]
	var least, greatest int64
	among := by.among
	if l.closed {
		least, greatest, among[0], among[1] = vec.NarrowRows(dst, src, l.a.Ptr[from:to+1])
	} else {
		least, greatest = vec.Narrow(dst, src)
	}
	if l.marking {
		ptr := l.a.Ptr[from : to+1]
		for i := range dst {
			if ptr[i] == ptr[i+1] {
				dst[i] = int32(l.mark())
			}
		}
	}
	by.least, by.greatest = min(by.least, least), max(by.greatest, greatest)
	by.among[0], by.among[1] = min(by.among[0], among[0]), max(by.among[1], among[1])
}

// lookNamed is look for the elements that rows name alone. It leaves other elements undefined in the copy.
func (l *extremeLoop) lookNamed(by *extremeWorker) {
	const piece = 512
	for from := 0; from < len(l.x); from += piece {
		end := min(from+piece, len(l.x))
		marks := l.named[from/64 : (end+63)/64]
		if !slices.ContainsFunc(marks, func(w uint64) bool { return w != 0 }) {
			continue
		}
		least, greatest := vec.NarrowMarked((*l.narrow)[from:end], l.x[from:end], marks)
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
	if rememberOf(l.a, &closedPatterns, !marked); marked {
		l.scan()
	}
	return marked, nil
}

// decide sets the bound once the vector is known, and gives up copying it where it does not fit.
func (l *extremeLoop) decide() {
	l.folding = true
	all := l.by[0]
	for _, by := range l.by[1:] {
		all.least, all.greatest = min(all.least, by.least), max(all.greatest, by.greatest)
		all.among[0], all.among[1] = min(all.among[0], by.among[0]), max(all.among[1], by.among[1])
	}
	fits := all.least >= math.MinInt32 && all.greatest <= math.MaxInt32
	if l.marking {
		l.marking = fits && all.least != l.mark() && all.greatest != l.mark()
		fits = l.marking // the copy has marks
	}
	switch {
	case l.marking:
		l.bound = l.mark()
	case l.closed && l.least:
		l.bound = all.among[0]
	case l.closed:
		l.bound = all.among[1]
	case l.least:
		l.bound = all.least
	default:
		l.bound = all.greatest
	}
	if !fits {
		l.release()
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

// fold does rows lo..hi-1.
func (l *extremeLoop) fold(lo, hi int) {
	out := l.out[lo:hi]
	for i := range out {
		out[i] = l.from(lo+i, l.start)
	}
	l.full(lo, hi, l.rows(lo, hi))
}

// foldMarked does them as long as it is not known whether rows name what is marked. Rows start from
// nothing, under which no mark is hidden.
func (l *extremeLoop) foldMarked(by *extremeWorker, lo, hi int) {
	if by.marked {
		return // all will be done again
	}
	nothing := int64(math.MinInt64)
	if l.least {
		nothing = math.MaxInt64
	}
	out := l.out[lo:hi]
	for i := range out {
		out[i] = nothing
	}
	longest := l.rows(lo, hi)
	for i, v := range out {
		if v == l.bound {
			by.marked = true
			return
		}
		out[i] = l.from(lo+i, pickI64(l.least, v, l.start))
	}
	l.full(lo, hi, longest)
}

// rows folds what rows lo..hi-1 name onto the result, and says how long the longest is.
func (l *extremeLoop) rows(lo, hi int) (longest int64) {
	out, ptr, col := l.out[lo:hi], l.a.Ptr[lo:hi+1], l.a.Col
	switch {
	case l.narrow != nil && l.least:
		return vec.MinRowsI32(out, ptr, col, *l.narrow, l.bound)
	case l.narrow != nil:
		return vec.MaxRowsI32(out, ptr, col, *l.narrow, l.bound)
	case l.least:
		return vec.MinRowsI64(out, ptr, col, l.x, l.bound)
	}
	return vec.MaxRowsI64(out, ptr, col, l.x, l.bound)
}

// full does rows again that are full: they have no zero beside their entries.
func (l *extremeLoop) full(lo, hi int, longest int64) {
	if !l.zeros || longest < int64(len(l.x)) {
		return
	}
	for i := lo; i < hi; i++ {
		if l.a.Ptr[i+1]-l.a.Ptr[i] == longest {
			l.out[i] = l.from(i, l.whole())
		}
	}
}

// from is v or what row i starts from, whichever is beyond the other.
func (l *extremeLoop) from(i int, v int64) int64 {
	if l.base == nil {
		return v
	}
	return pickI64(l.least, v, l.base[i])
}

// whole is the extreme of the whole vector.
func (l *extremeLoop) whole() int64 {
	best := l.x[0]
	for _, v := range l.x {
		best = pickI64(l.least, best, v)
	}
	return best
}

// pickI64 is the lesser or the greater of two numbers.
func pickI64(least bool, a, b int64) int64 {
	if least {
		return min(a, b)
	}
	return max(a, b)
}

// extremal says whether a fold is one that beginExtreme does.
func (f ringFold) extremal(out *value.Dense, a *value.CSR) bool {
	return out.Elem == types.I64 && a.Elem == types.Bool && !f.adds
}

var _ op.Passes = (*extremeLoop)(nil)
