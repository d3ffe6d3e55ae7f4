package kernels

// This file runs elementwise rows on sparse arguments as loops over units of rows. A sparse result takes up to three passes: count the places of
// each row, fill them, and, if zeros came up, move up what is left. The first is left out where the places are those of one argument,
// which the result then shares. A dense result is made in pieces of some rows.

import (
	"sync/atomic"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// mapPiece is about how many elements the dense row computes at a time: its lists stay in the second-level cache.
const mapPiece = 8192

// mapLoop is a call of an elementwise row with a sparse result.
type mapLoop struct {
	d    *op.Def
	c    *op.Call
	run  *engine
	p    pattern
	full [3]bool
	of   []*value.CSR  // whose entries make the places
	wide []value.Value // the arguments, sparse vectors made dense
	out  *value.CSR
	val  *value.Dense // 1 x entries: the results
	kept []int64      // of each row, behind it: how many results are not zero
	zero atomic.Bool  // some are
	into *value.CSR   // what is kept, if some are
	left *value.Dense // its values
	by   []mapWorker
}

// mapWorker is the lists of a worker.
type mapWorker struct {
	lists [3]value.Dense
	args  []value.Value
	out   value.Dense
	call  op.Call
	_     [128]byte
}

// beginSparseMap prepares the loop of a call with a sparse result.
func beginSparseMap(d *op.Def, c *op.Call, run *engine, p pattern, full [3]bool, units, workers int) *passLoop {
	l := &mapLoop{d: d, c: c, run: run, p: p, full: full, by: make([]mapWorker, workers), wide: make([]value.Value, len(c.In))}
	for k, v := range c.In {
		l.wide[k] = v
		m, sparse := v.(*value.CSR)
		switch {
		case full[k] && (p != patternFirst || k == 0):
			l.of = append(l.of, m)
		case sparse && !full[k]: // a vector that is stretched
			x := value.New(m.Elem, m.Rows, m.Cols)
			spread(x, m)
			l.wide[k] = x
		}
	}
	first := l.of[0]
	l.out = &value.CSR{Elem: c.Type.Elem, Rows: first.Rows, Cols: first.Cols, Ptr: make([]int64, first.Rows+1)}
	l.kept = make([]int64, first.Rows+1)
	loop := &passLoop{
		rowCut: cutByEntries(units, l.of...),
		run:    []func(worker, lo, hi int) error{l.count, l.fill, l.moveUp},
		next:   []func() (bool, error){l.layOut, l.filled, l.finish},
	}
	if len(l.of) == 1 {
		for i, p := range first.Ptr {
			l.out.Ptr[i] = p - first.Ptr[0]
		}
		l.out.Col = first.Col[first.Ptr[0]:first.Ptr[first.Rows]]
		l.val = value.New(c.Type.Elem, 1, len(l.out.Col))
		loop.run, loop.next = loop.run[1:], loop.next[1:]
	}
	return loop
}

// lines are the columns that make the places of row i.
func (l *mapLoop) lines(i int) (line [3][]int32) {
	for k, m := range l.of {
		line[k], _ = m.Row(i)
	}
	return line
}

// count writes how many places rows lo..hi-1 have, behind them.
func (l *mapLoop) count(_, lo, hi int) error {
	for i := lo; i < hi; i++ {
		line := l.lines(i)
		n := 0
		if l.p == patternJoin {
			n = countJoined(line[:len(l.of)])
		} else {
			n = countMet(line[0], line[1])
		}
		l.out.Ptr[i+1] = int64(n)
	}
	return nil
}

func (l *mapLoop) layOut() (last bool, err error) {
	out := l.out
	for i := range out.Rows {
		out.Ptr[i+1] += out.Ptr[i]
	}
	n := out.Ptr[out.Rows]
	l.val = &value.Dense{Elem: out.Elem, Rows: 1, Cols: int(n), Stride: int(n)}
	switch out.Elem {
	case types.F64:
		l.val.F64, err = entries[float64](out, n)
	case types.F32:
		l.val.F32, err = entries[float32](out, n)
	case types.Bool:
		_, err = entries[uint8](out, n)
		l.val = value.New(types.Bool, 1, int(n))
	default:
		l.val.I64, err = entries[int64](out, n)
	}
	return false, err
}

// fill computes the elements of rows lo..hi-1, some rows at a time.
func (l *mapLoop) fill(worker, lo, hi int) error {
	w := &l.by[worker]
	if w.args == nil {
		w.args = make([]value.Value, len(l.wide))
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
func (l *mapLoop) piece(w *mapWorker, lo, hi int) error {
	out := l.out
	p, q := int(out.Ptr[lo]), int(out.Ptr[hi])
	if p == q {
		return nil
	}
	at := places{rows: hi - lo, cols: out.Cols, ptr: out.Ptr[lo : hi+1], col: out.Col[p:q]}
	if len(l.of) > 1 {
		for i := lo; i < hi; i++ {
			line := l.lines(i)
			dst := out.Col[out.Ptr[i]:out.Ptr[i]]
			if l.p == patternJoin {
				joined(dst, line[:len(l.of)])
			} else {
				met(dst, line[0], line[1])
			}
		}
	}
	for k, v := range l.wide {
		w.args[k] = v
		list := &w.lists[k]
		switch x := v.(type) {
		case *value.CSR:
			w.args[k] = list
			if x == l.of[0] && len(l.of) == 1 { // the places are its own
				valuesOf(x, lo, hi, list)
			} else {
				at.listOf(x, lo, list)
			}
		case *value.Dense:
			w.args[k] = list
			at.gather(x, lo, list)
		}
	}
	l.val.Window(&w.out, 0, p, 1, q-p)
	w.call = op.Call{Def: l.d, In: w.args, Type: w.out.Type(), Out: &w.out}
	if err := l.run.single(l.d, &w.call); err != nil {
		return err
	}
	l.tally(&w.out, lo, hi)
	return nil
}

// tally counts the results of rows lo..hi-1 that are not zero; x is those results.
func (l *mapLoop) tally(x *value.Dense, lo, hi int) {
	some := false
	switch x.Elem {
	case types.F64:
		some = tallyRows(x.F64, l.out.Ptr[lo:hi+1], l.kept[lo:hi+1])
	case types.F32:
		some = tallyRows(x.F32, l.out.Ptr[lo:hi+1], l.kept[lo:hi+1])
	case types.Bool:
		some = tallyRows(x.Bool, l.out.Ptr[lo:hi+1], l.kept[lo:hi+1])
	default:
		some = tallyRows(x.I64, l.out.Ptr[lo:hi+1], l.kept[lo:hi+1])
	}
	if some && !l.zero.Load() {
		l.zero.Store(true)
	}
}

// tallyRows sets kept[i+1] to the number of elements of row i that are not zero, and reports whether some were.
func tallyRows[T vec.Element](x []T, ptr, kept []int64) (zeros bool) {
	for i := range len(ptr) - 1 {
		n := int64(0)
		for _, v := range x[ptr[i]-ptr[0] : ptr[i+1]-ptr[0]] {
			if v != 0 {
				n++
			}
		}
		kept[i+1] = n
		zeros = zeros || n < ptr[i+1]-ptr[i]
	}
	return zeros
}

// filled is the end of a call without zeros, else makes room for what is kept.
func (l *mapLoop) filled() (last bool, err error) {
	if !l.zero.Load() {
		l.put(l.out, l.val)
		return true, nil
	}
	sum := int64(0)
	for i, n := range l.kept {
		sum += n
		l.kept[i] = sum
	}
	l.into = &value.CSR{Elem: l.out.Elem, Rows: l.out.Rows, Cols: l.out.Cols, Ptr: l.kept, Col: make([]int32, sum)}
	l.left = value.New(l.out.Elem, 1, int(sum))
	return false, nil
}

// moveUp copies what is kept of rows lo..hi-1.
func (l *mapLoop) moveUp(_, lo, hi int) error {
	switch l.out.Elem {
	case types.F64:
		moveKept(l, l.left.F64, l.val.F64, lo, hi)
	case types.F32:
		moveKept(l, l.left.F32, l.val.F32, lo, hi)
	case types.Bool:
		moveKept(l, l.left.Bool, l.val.Bool, lo, hi)
	default:
		moveKept(l, l.left.I64, l.val.I64, lo, hi)
	}
	return nil
}

func moveKept[T vec.Element](l *mapLoop, dst, src []T, lo, hi int) {
	to, from := l.into.Ptr[lo], l.out.Ptr[lo]
	for k, v := range src[from:l.out.Ptr[hi]] {
		if v != 0 {
			dst[to], l.into.Col[to] = v, l.out.Col[from+int64(k)]
			to++
		}
	}
}

func (l *mapLoop) finish() (last bool, err error) {
	l.put(l.into, l.left)
	return true, nil
}

// put makes val the values of m, and m the result.
func (l *mapLoop) put(m *value.CSR, val *value.Dense) {
	switch m.Elem {
	case types.F64:
		m.F64 = val.F64
	case types.F32:
		m.F32 = val.F32
	case types.I64:
		m.I64 = val.I64
	}
	l.c.Out = m
}

// valuesOf makes d the values of rows lo..hi-1 of m as a list, in m's memory unless they are bools.
func valuesOf(m *value.CSR, lo, hi int, d *value.Dense) {
	p, q := m.Ptr[lo], m.Ptr[hi]
	n := int(q - p)
	if m.Elem == types.Bool {
		relist(d, types.Bool, n)
		for k := range d.Bool {
			d.Bool[k] = 1
		}
		return
	}
	*d = value.Dense{Elem: m.Elem, Rows: 1, Cols: n, Stride: n}
	switch m.Elem {
	case types.F64:
		d.F64 = m.F64[p:q]
	case types.F32:
		d.F32 = m.F32[p:q]
	default:
		d.I64 = m.I64[p:q]
	}
}

// relist makes d a list of n elements of e, in the memory that it has if that is enough.
func relist(d *value.Dense, e types.Elem, n int) {
	had := *d
	*d = value.Dense{Elem: e, Rows: 1, Cols: n, Stride: n, F64: had.F64[:0], F32: had.F32[:0], I64: had.I64[:0], Bool: had.Bool[:0]}
	switch e {
	case types.F64:
		d.F64 = sized(d.F64, n)
	case types.F32:
		d.F32 = sized(d.F32, n)
	case types.Bool:
		d.Bool = sized(d.Bool, n)
	default:
		d.I64 = sized(d.I64, n)
	}
}

func sized[T vec.Element](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n, max(n, mapPiece))
	}
	return x[:n]
}

// wideLoop is a call of an elementwise row with sparse arguments and a dense result, in pieces of some rows.
type wideLoop struct {
	d   *op.Def
	c   *op.Call
	run *engine
	in  []value.Value // sparse matrices of another shape than the result made dense
	by  []mapWorker
}

func beginWideMap(d *op.Def, c *op.Call, run *engine, full [3]bool, workers int) *wideLoop {
	l := &wideLoop{d: d, c: c, run: run, by: make([]mapWorker, workers), in: make([]value.Value, len(c.In))}
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

// wideSpace is the index space of calls with dense results of a type.
func wideSpace(t types.Type) (n, leaf int) {
	if !t.Known() || t.Rows*t.Cols < leafElements {
		return 0, 0
	}
	return t.Rows, max(1, leafElements/max(t.Cols, 1))
}

// Chunk computes rows lo..hi-1.
func (l *wideLoop) Chunk(worker, lo, hi int) error {
	w := &l.by[worker]
	if w.args == nil {
		w.args = make([]value.Value, len(l.in))
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
		if err := l.run.single(l.d, &w.call); err != nil {
			return err
		}
	}
	return nil
}

func (l *wideLoop) End() error { return nil }
