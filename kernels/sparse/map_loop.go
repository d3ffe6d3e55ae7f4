package sparse

// This file runs elementwise rows on sparse arguments as loops over units of rows. A sparse result
// takes up to four passes: count the places of each row, fill them, and, if zeros came up, count
// what is left of each row and move it up. The first is left out where the places are those of one
// argument, or of several that share them; the result then shares them, too. Dense results are
// made in pieces of some rows.

import (
	"slices"
	"sync/atomic"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/vec"
	"flow/kernels/window"
	"flow/memory"
)

// mapPiece is about how many elements the dense row computes at a time: its lists stay in the
// second-level cache.
const mapPiece = 8192

// mapLoop is a call of an elementwise row with a sparse result of elements T.
type mapLoop[T vec.Element] struct {
	d    *op.Def
	c    *op.Call
	p    pattern
	full []bool
	of   []*value.CSR  // whose entries make the places; of several that share theirs one
	own  []bool        // of each argument: its entries are the places
	sure bool          // every place is true, whatever argument has it: nothing is computed
	wide []value.Value // the arguments, sparse vectors made dense
	out  *value.CSR
	val  []T         // the results
	zero atomic.Bool // some results are zero
	into *value.CSR  // out without its zeros, if some are removed
	by   []mapWorker

	united []int32 // the columns that unite has written, of the rows before row upTo
	upTo   int     // the first row whose columns unite has not written
	rows   int     // the end of the last chunk
}

// mapWorker is the lists of a worker.
type mapWorker struct {
	lists []value.Dense
	args  []value.Value
	out   value.Dense
	call  op.Call
	seen  bitset // of the columns: all clear
	line  [2][]int32
	_     [128]byte
}

// beginSparseMap prepares the loop of a call with a sparse result.
func beginSparseMap(d *op.Def, c *op.Call, p pattern, full []bool, units, workers int) *UnitLoop {
	begin := dense.ForElem(c.Type.Elem, beginMapOf[float64], beginMapOf[float32], beginMapOf[int64], beginMapOf[uint8])
	return begin(d, c, p, full, units, workers)
}

func beginMapOf[T vec.Element](d *op.Def, c *op.Call, p pattern, full []bool, units, workers int) *UnitLoop {
	l := &mapLoop[T]{d: d, c: c, p: p, full: full, by: make([]mapWorker, workers), own: make([]bool, len(c.In)), wide: make([]value.Value, len(c.In))}
	whole := c.In[slices.Index(full, true)].Type()
	rows, cols := whole.Rows, whole.Cols
	for k, v := range c.In {
		l.wide[k] = v
		m, sparse := v.(*value.CSR)
		switch {
		case full[k] && (p != patternFirst || k == 0):
			l.of = append(l.of, m)
		case sparse && !full[k] && (m.Rows != rows || m.Cols != cols): // a vector that is stretched
			x := value.New(m.Elem, m.Rows, m.Cols)
			spread(x, m)
			l.wide[k] = x
		}
	}
	first := l.of[0]
	if !slices.ContainsFunc(l.of, func(m *value.CSR) bool { return !m.SamePlaces(first) }) {
		l.of = l.of[:1]
		for k, v := range c.In {
			m, sparse := v.(*value.CSR)
			l.own[k] = sparse && m.SamePlaces(first)
		}
	}
	l.sure = surelyTrue(d, c, p, full)
	l.out = &value.CSR{Elem: c.Type.Elem, Rows: first.Rows, Cols: first.Cols, Ptr: memory.Huge(make([]int64, first.Rows+1))}
	loop := &UnitLoop{
		RowCut: cutFilled(units, l.of...),
		Passes: append([]Pass{{l.count, l.layOut}}, l.ends(l.fill)...),
	}
	if len(l.of) == 1 {
		l.onPlaces(first)
		loop.Passes = loop.Passes[1:]
	} else if l.unites(first.NNZ() + l.of[1].NNZ()) {
		l.upTo, l.rows = loop.first, loop.Rows
		loop.Passes[0] = Pass{l.unite, l.endUnite}
	}
	return loop
}

// unites reports whether the first pass can write the columns of the result, and makes room for `most`
// of them. It can if one worker makes the union of two patterns. Several workers could not: the place
// of a row depends on how many columns all rows before it have.
func (l *mapLoop[T]) unites(most int) bool {
	if len(l.by) > 1 || !l.sure || l.p != patternJoin || len(l.of) != 2 {
		return false
	}
	var err error
	l.united, err = memory.Grow[int32](nil, most)
	return err == nil // without room, fewer places may fit
}

// unite counts the columns of rows lo..hi-1. It also writes them if all rows before have theirs.
func (l *mapLoop[T]) unite(worker, lo, hi int) error {
	if lo != l.upTo {
		return l.count(worker, lo, hi)
	}
	for i := lo; i < hi; i++ {
		a, _ := l.of[0].Row(i)
		b, _ := l.of[1].Row(i)
		n := len(joined(l.united[len(l.united):], a, b))
		l.out.Ptr[i+1], l.united = int64(n), l.united[:len(l.united)+n]
	}
	l.upTo = hi
	return nil
}

// endUnite ends the first pass: as layOut does, or, if unite has written all columns, with the result.
func (l *mapLoop[T]) endUnite() (last bool, err error) {
	if l.upTo != l.rows {
		l.united = nil
		return l.layOut()
	}
	l.out.SumLengths()
	l.out.Col = l.united
	return l.filled()
}

// ends lists the passes after the layout of the result: fill computes the result, and the zeros in
// it are removed.
func (l *mapLoop[T]) ends(fill func(worker, lo, hi int) error) []Pass {
	room := func() (last bool, err error) { return false, layOut(l.into) }
	return []Pass{{fill, l.filled}, {l.tally, room}, {Run: l.moveUp}}
}

// onPlaces gives the result the places of m.
func (l *mapLoop[T]) onPlaces(m *value.CSR) {
	for i, p := range m.Ptr {
		l.out.Ptr[i] = p - m.Ptr[0]
	}
	l.out.Col = m.Col[m.Ptr[0]:m.Ptr[m.Rows]]
	if !l.sure {
		l.val = memory.Fresh[T](len(l.out.Col))
	}
}

// surelyTrue reports that the result of d is true at every place that p makes of bool arguments, as
// that of `or` is. It tries the values that arguments can have there. A chain has no function to try.
func surelyTrue(d *op.Def, c *op.Call, p pattern, full []bool) bool {
	x, n := make([]value.Scalar, len(c.In)), len(c.In)
	if c.Type.Elem != types.Bool || d.Elt == nil {
		return false
	}
	for k, v := range c.In {
		if !full[k] || v.Type().Elem != types.Bool {
			return false
		}
	}
	for have := 1; have < 1<<n; have++ {
		if p == patternMeet && have != 1<<n-1 || p == patternFirst && have&1 == 0 {
			continue
		}
		for k := range x {
			x[k] = value.Bool(have>>k&1 != 0)
		}
		if y, err := define.ApplyElt(d, types.Bool, x); err != nil || !y.True() {
			return false
		}
	}
	return true
}

// columns returns the columns of the places of row i, in dst, which has room for them.
func (l *mapLoop[T]) columns(w *mapWorker, dst []int32, i int) []int32 {
	a, _ := l.of[0].Row(i)
	b, _ := l.of[1].Row(i)
	if len(l.of) > 2 {
		w.line[1] = joined(slices.Grow(w.line[1][:0], len(a)+len(b)), a, b)
		a = w.line[1]
		b, _ = l.of[2].Row(i)
	}
	if l.p == patternMeet {
		return met(dst, a, b)
	}
	return joined(dst, a, b)
}

// count writes how many places rows lo..hi-1 have, behind them.
func (l *mapLoop[T]) count(worker, lo, hi int) error {
	w := &l.by[worker]
	if w.seen == nil {
		w.seen = newBitset(l.out.Cols)
	}
	for i := lo; i < hi; i++ {
		if len(l.of) > 2 || w.seen == nil {
			most := 0
			for _, m := range l.of {
				most += int(m.Ptr[i+1] - m.Ptr[i])
			}
			w.line[0] = l.columns(w, slices.Grow(w.line[0][:0], most), i)
			l.out.Ptr[i+1] = int64(len(w.line[0]))
			continue
		}
		a, _ := l.of[0].Row(i)
		b, _ := l.of[1].Row(i)
		n := 0
		if len(a) > 0 && len(b) > 0 {
			n = w.seen.countMet(a, b)
		}
		if l.p == patternJoin {
			n = len(a) + len(b) - n
		}
		l.out.Ptr[i+1] = int64(n)
	}
	return nil
}

func (l *mapLoop[T]) layOut() (last bool, err error) {
	out := l.out
	out.SumLengths()
	n := out.Ptr[out.Rows]
	if l.val, err = entries[T](out, n); out.Elem == types.Bool && !l.sure {
		l.val = memory.Fresh[T](int(n))
	}
	return false, err
}

// fill computes the elements of rows lo..hi-1, some rows at a time.
func (l *mapLoop[T]) fill(worker, lo, hi int) error {
	w := &l.by[worker]
	if l.sure {
		if len(l.of) > 1 {
			l.placesOf(w, lo, hi)
		}
		return nil
	}
	if w.args == nil {
		w.args, w.lists = make([]value.Value, len(l.wide)), make([]value.Dense, len(l.wide))
	}
	for lo < hi {
		end := lo + 1
		for end < hi && l.out.Ptr[end+1]-l.out.Ptr[lo] <= mapPiece {
			end++
		}
		if err := l.piece(w, lo, end); err != nil {
			return err
		}
		lo = end
	}
	return nil
}

// piece computes the elements of rows lo..hi-1.
func (l *mapLoop[T]) piece(w *mapWorker, lo, hi int) error {
	out := l.out
	p, q := int(out.Ptr[lo]), int(out.Ptr[hi])
	if p == q {
		return nil
	}
	at := places{rows: hi - lo, cols: out.Cols, ptr: out.Ptr[lo : hi+1], col: out.Col[p:q]}
	if !l.merged(w, &at, lo) {
		if len(l.of) > 1 {
			l.placesOf(w, lo, hi)
		}
		for k, v := range l.wide {
			w.args[k] = v
			list := &w.lists[k]
			m, stored := v.(*value.CSR)
			switch {
			case v.Type().IsScalar() || l.c.Body != nil && l.c.Body.In[k].Mode == op.Single:
				continue // a chain takes one number of it, and would take 0 of a list
			case stored && l.own[k]:
				valuesOf(m, lo, hi, list)
			default:
				relist(list, v.Type().Elem, len(at.col))
				dense.ForElem(list.Elem, placed[float64], placed[float32], placed[int64], placed[uint8])(&at, v, lo, list)
			}
			w.args[k] = list
		}
	}
	setList(&w.out, out.Elem, l.val[p:q])
	w.call = op.Call{Def: l.d, In: w.args, Type: w.out.Type(), Out: &w.out, Body: l.c.Body}
	if err := l.d.Kernel(&w.call); err != nil {
		return err
	}
	if vec.Index(l.val[p:q], 0) >= 0 && !l.zero.Load() {
		l.zero.Store(true)
	}
	return nil
}

// placesOf writes the columns of the places of rows lo..hi-1.
func (l *mapLoop[T]) placesOf(w *mapWorker, lo, hi int) {
	for i := lo; i < hi; i++ {
		if from, to := l.out.Ptr[i], l.out.Ptr[i+1]; from < to {
			l.columns(w, l.out.Col[from:from:to], i)
		}
	}
}

// filled is the end of a call without zeros, or whose zeros stay.
func (l *mapLoop[T]) filled() (last bool, err error) {
	if !l.zero.Load() || l.c.Attrs.Bool("zeros") {
		*dense.Values[T](l.out) = l.val
		l.c.Out = l.out
		return true, nil
	}
	l.into = value.NewCSR(l.out.Elem, l.out.Rows, l.out.Cols, 0)
	l.c.Out = l.into
	return false, nil
}

// tally counts the results of rows lo..hi-1 that are not zero.
func (l *mapLoop[T]) tally(_, lo, hi int) error {
	for i := lo; i < hi; i++ {
		n := int64(0)
		for _, v := range l.val[l.out.Ptr[i]:l.out.Ptr[i+1]] {
			if v != 0 {
				n++
			}
		}
		l.into.Ptr[i+1] = n
	}
	return nil
}

// moveUp copies what is kept of rows lo..hi-1.
func (l *mapLoop[T]) moveUp(_, lo, hi int) error {
	to, from, left := l.into.Ptr[lo], l.out.Ptr[lo], numbersOf[T](l.into, l.into.Elem)
	for k, v := range l.val[from:l.out.Ptr[hi]] {
		if v == 0 {
			continue
		}
		if l.into.Col[to] = l.out.Col[from+int64(k)]; left != nil {
			left[to] = v
		}
		to++
	}
	return nil
}

// valuesOf makes d the values of rows lo..hi-1 of m as a list, in m's memory unless they are bools.
func valuesOf(m *value.CSR, lo, hi int, d *value.Dense) {
	p, q := m.Ptr[lo], m.Ptr[hi]
	if m.Elem == types.Bool {
		relist(d, types.Bool, int(q-p))
		for k := range d.Bool {
			d.Bool[k] = 1
		}
		return
	}
	dense.ForNumber(m.Elem, listValues[float64], listValues[float32], listValues[int64])(m, p, q, d)
}

// listValues makes d the values p..q-1 of m.
func listValues[T vec.Number](m *value.CSR, p, q int64, d *value.Dense) {
	setList(d, m.Elem, (*dense.Values[T](m))[p:q])
}

// setList makes d the list x, of elements of e.
func setList[T vec.Element](d *value.Dense, e types.Elem, x []T) {
	*d = value.Dense{Elem: e, Rows: 1, Cols: len(x), Stride: len(x)}
	*dense.Cells[T](d) = x
}

// relist makes d a list of n elements of e, in the memory that it has if that is enough.
func relist(d *value.Dense, e types.Elem, n int) {
	*d = value.Dense{Elem: e, Rows: 1, Cols: n, Stride: n, F64: d.F64[:0], F32: d.F32[:0], I64: d.I64[:0], Bool: d.Bool[:0]}
	dense.ForElem(e, lengthen[float64], lengthen[float32], lengthen[int64], lengthen[uint8])(d, n)
}

func lengthen[T vec.Element](d *value.Dense, n int) {
	x := dense.Cells[T](d)
	*x = dense.Resized(*x, n)
}

// wideLoop is a call of an elementwise row with sparse arguments and a dense result, in pieces of
// some rows.
type wideLoop struct {
	d  *op.Def
	c  *op.Call
	in []value.Value // sparse matrices of another shape than the result made dense
	by []mapWorker
}

func beginWideMap(d *op.Def, c *op.Call, full []bool, workers int) *wideLoop {
	l := &wideLoop{d: d, c: c, by: make([]mapWorker, workers), in: make([]value.Value, len(c.In))}
	for k, v := range c.In {
		l.in[k] = v
		if m, sparse := v.(*value.CSR); sparse && !full[k] {
			x := value.New(m.Elem, m.Rows, m.Cols)
			spread(x, m)
			l.in[k] = x
		}
	}
	return l
}

// wideSpace returns the index space of a call with a dense result of type t: its length, and the length
// of a leaf. A single leaf is a loop only where ranks share it.
func wideSpace(t types.Type) (n, leaf int) {
	if !t.Known() {
		return 0, 0
	}
	return t.Rows, max(1, window.LeafElements/max(t.Cols, 1))
}

func (l *wideLoop) Chunk(worker, lo, hi int) error {
	w := &l.by[worker]
	if w.args == nil {
		w.args, w.lists = make([]value.Value, len(l.in)), make([]value.Dense, len(l.in))
	}
	out := l.c.Result()
	step := max(1, mapPiece/max(out.Cols, 1))
	for ; lo < hi; lo += step {
		n := min(step, hi-lo)
		for k, v := range l.in {
			w.args[k] = v
			d := &w.lists[k]
			switch x := v.(type) {
			case *value.CSR:
				relist(d, x.Elem, n*x.Cols)
				d.Rows, d.Cols, d.Stride = n, x.Cols, x.Cols
				spread(d, x.View(lo, n))
				w.args[k] = d
			case *value.Dense:
				if x.Rows > 1 {
					x.Window(d, lo, 0, n, x.Cols)
					w.args[k] = d
				}
			}
		}
		out.Window(&w.out, lo, 0, n, out.Cols)
		w.call = op.Call{Def: l.d, In: w.args, Type: w.out.Type(), Out: &w.out}
		if err := l.d.Kernel(&w.call); err != nil {
			return err
		}
	}
	return nil
}

func (l *wideLoop) End() error { return nil }
