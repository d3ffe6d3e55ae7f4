package launch

// This file makes reduced results of the states that machine code keeps. What one window gives is
// taken over at its end where rounding could lose something, so that the window can be run again
// with deeper states; the rest is kept until the workers merge.

import (
	"errors"
	"unsafe"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/state"
)

// ErrInexact says that a sum of numbers that are too far apart, or that overflows on the way, has
// been given up: another target takes it.
var ErrInexact = errors.New("an exact sum is beyond what machine code keeps")

// reducingOf lists the reduced results of a run.
func reducingOf(n *loop.Nest, fast map[int]*loop.State, out []*value.Dense) (list []reducing) {
	for k, res := range n.Results {
		if res.Class == loop.NoClass || fast[k] == nil {
			continue
		}
		r := reducing{result: k, class: res.Class, fast: fast[k], out: out[k], rows: out[k].Rows, cols: out[k].Cols}
		r.extent, r.offset, _ = extentOf(n, k)
		r.kept = r.exact() && (r.extent == anywhere || r.extent == byLane)
		list = append(list, r)
	}
	return list
}

// reduces finds the reduced results of a run.
func (r *Run) reduces() error {
	n := r.loop.nest
	fast := r.v.code.states()
	if len(fast) == 0 {
		return nil
	}
	exact, over := false, false
	for _, st := range fast {
		exact = exact || st.Lost >= 0
	}
	for _, res := range n.Results {
		over = over || res.Over >= 0
	}
	if exact && over {
		return errOver
	}
	r.reduced = reducingOf(n, fast, r.out)
	h := &hull{nest: n, in: r.in, out: r.out, index: map[int]span{}}
	for _, x := range n.Space {
		s := h.rng(x.Range)
		h.index[x.Name] = s
		r.lanes = [2]int{int(s.lo), int(s.hi) + 1}
	}
	return nil
}

// errOver says that a window cannot be run again.
var errOver = errors.New("an exact sum beside a result in the memory of an operand")

// begin makes a part empty.
func (p *part) begin(r *reducing) {
	if r.exact() && p.exact == nil {
		p.exact = state.New(r.class, r.out.Elem).(*state.Exact)
	}
	if r.extent == oneEach {
		return
	}
	if p.begun = false; r.extent != byLane || p.n == 0 {
		p.first, p.n = 0, r.rows*r.cols
	}
	if !r.kept {
		p.clear(r.fast, p.n)
	}
	if r.exact() {
		p.exact.Reset(p.n)
	}
}

// Columns limits all later windows to lanes first..first+n-1, and empties all reduced results. The
// memory for states then depends on n and not on the width of the matrix.
func (w *Worker) Columns(first, n int) {
	for k := range w.parts {
		w.parts[k].first, w.parts[k].n = first, n
	}
	w.Forget()
}

// span returns the places to which lanes l0 to l1-1 contribute.
func (p *part) span(r *reducing, l0, l1 int) (from, to int) {
	if r.extent == byLane {
		return l0 - p.first, l1 - p.first
	}
	return 0, p.n
}

// copied copies the states of places first..end-1 from one memory to another.
func (p *part) copied(to, from []uint64, first, end int) {
	for at := 0; at < len(p.words); at += p.n {
		copy(to[at+first:at+end], from[at+first:at+end])
	}
}

// clear makes the states of so many elements empty.
func (p *part) clear(st *loop.State, places int) {
	if need := places * len(st.Types); cap(p.words) < need {
		p.words = make([]uint64, need)
	} else {
		p.words = p.words[:need]
	}
	for k := range st.Types {
		plane, w := p.words[k*places:][:places], st.From(k, p.size)
		for i := range plane {
			plane[i] = w
		}
	}
}

// bind prepares the states for a window of rows r0 to r1-1 and sets the words of the result in the
// block of arguments.
func (p *part) bind(r *reducing, st *loop.State, args []uint64, r0, r1, l0, l1 int) {
	rows, cols, skip := r.rows, r.cols, 0
	switch r.extent {
	case oneEach:
		rows, skip = r1-r0, (r0+int(r.offset))*cols
	case byLane:
		cols, skip = p.n, p.first
	}
	words := &p.words
	switch {
	case r.kept:
		if !p.begun {
			p.clear(st, p.n)
			p.begun = true
		}
		words, p.next = &p.next, dense.Resized(p.next, len(p.words))
		from, to := p.span(r, l0, l1)
		p.copied(p.next, p.words, from, to)
	case r.extent == oneEach || r.exact():
		p.clear(st, rows*cols)
	}
	if len(*words) == 0 {
		*words = append(*words, 0) // an address
	}
	args[0] = uint64(uintptr(unsafe.Pointer(&(*words)[0]))) - uint64(8*skip)
	args[1], args[2], args[3] = uint64(8*cols), uint64(rows), uint64(cols)
}

// lostOf returns the number of states of a window that have lost bits of contributions. watched
// holds the words that tell this.
func lostOf(watched []uint64) (n int) {
	var bad uint64
	for _, w := range watched {
		bad |= w << 1
	}
	for k := 0; bad != 0 && k < len(watched); k++ {
		if watched[k]<<1 != 0 {
			n++
		}
	}
	return n
}

// watched returns the words of the last window that tell whether exact sums lost bits.
func (p *part) watched(r *reducing, st *loop.State, l0, l1 int) []uint64 {
	if r.kept {
		from, to := p.span(r, l0, l1)
		return p.next[st.Lost*p.n:][from:to]
	}
	places := len(p.words) / len(st.Types)
	return p.words[st.Lost*places:][:places]
}

// fewLost divides the lanes of a window. If a greater part has lost bits, all lanes are summed
// again together.
const fewLost = 32

// few reports whether a result has so few lost sums that they are doubted one by one.
func (w *Worker) few(r *reducing, lost, l0, l1 int) bool {
	return lost == 0 || r.extent == byLane && w.Doubted != nil && !w.run.Together && lost <= (l1-l0)/fewLost
}

// retain replaces the words of kept sum k by those after a window of worker d, except the words of
// sums that have lost bits. d may have another number of levels. lost says that some sum has lost
// bits.
func (w *Worker) retain(k int, d *Worker, lost bool, r0, r1, l0, l1 int) (err error) {
	r, p := &w.run.reduced[k], &d.parts[k]
	at, to := p.span(r, l0, l1)
	if lost {
		watched := p.watched(r, d.state(r), l0, l1)
		if !w.few(r, lostOf(watched), l0, l1) {
			return w.doubt(k, r0, r1, l0, l1)
		}
		for j, bits := range watched {
			if bits<<1 != 0 && err == nil {
				p.copied(p.words, p.next, at, to-len(watched)+j)
				at = to - len(watched) + j + 1
				err = w.doubt(k, r0, r1, l0+j, l0+j+1)
			}
		}
	}
	if at == 0 && to == p.n {
		p.words, p.next = p.next, p.words
	} else {
		p.copied(p.words, p.next, at, to)
	}
	return err
}

// doubt leaves contributions to the caller. A check ends then, because the states of w lack them.
func (w *Worker) doubt(k, r0, r1, l0, l1 int) error {
	if w.check != nil {
		w.check.off = true
	}
	return w.Doubted(k, r0, r1, l0, l1)
}

// settle adds the words of kept sums to those of all windows.
func (w *Worker) settle() {
	for k := range w.parts {
		r, p := &w.run.reduced[k], &w.parts[k]
		for at := -1; r.kept && at < len(w.deeper); at++ {
			d := w
			if at >= 0 {
				d = w.deeper[at]
			}
			if d == nil || d.run != w.run || !d.parts[k].begun {
				continue
			}
			d.parts[k].begun = false
			p.exact.AddStates(d.state(r), d.parts[k].words, p.n, 0, p.n)
		}
	}
}

// take takes over the words that a window gave: states of rows from r0 on are results, exact sums are
// added.
func (p *part) take(r *reducing, st *loop.State, words []uint64, r0 int) {
	places := len(words) / len(st.Types)
	if r.extent == oneEach {
		first := r0 + int(r.offset)
		switch {
		case r.exact():
		case r.cols == 1:
			st.Results(r.out, first*r.out.Stride, r.out.Stride, words, places, 0, places)
			return
		default:
			for i := 0; i < places; i += r.cols {
				st.Results(r.out, (first+i/r.cols)*r.out.Stride, 1, words, places, i, i+r.cols)
			}
			return
		}
		for i := range places {
			at := first*r.cols + i
			if r.putRounded(at, st, words, places, i) {
				continue
			}
			p.exact.Reset(1)
			p.exact.AddStates(st, words, places, i, 1)
			p.put(r, at, 0)
		}
		return
	}
	if !r.exact() {
		return
	}
	p.exact.AddStates(st, words, places, 0, places)
}

// putRounded sets element number i of the result to a sum of f64 numbers that is state k of places,
// where that is one addition.
func (r *reducing) putRounded(i int, st *loop.State, words []uint64, places, k int) bool {
	if r.out.Elem != types.F64 {
		return false
	}
	x, n, ok := st.Rounded(words, places, k)
	if !ok {
		return false
	}
	if r.class == loop.Mean {
		x /= float64(n)
	}
	r.out.F64[i/r.cols*r.out.Stride+i%r.cols] = x
	return true
}

// put sets element number i of the result to that of a place.
func (p *part) put(r *reducing, i, place int) {
	to := dense.SlabOf(r.out, i/r.cols*r.out.Stride+i%r.cols, 1)
	p.exact.Result(&to, place, 1)
}

// merge adds what o has.
func (p *part) merge(r *reducing, o *part) {
	switch {
	case r.extent == oneEach:
	case r.exact():
		p.exact.Merge(o.exact)
	case r.fast.Ordered: // each element has its contributions from one worker
		for i, w := range o.words {
			p.words[i] |= w
		}
	default:
		r.fast.MergeAll(p.words, o.words, p.n)
	}
}

// finish sets the elements that are complete only after the last window.
func (p *part) finish(r *reducing) {
	if r.extent == oneEach {
		return
	}
	if !r.exact() {
		for i := range r.rows {
			r.fast.Results(r.out, i*r.out.Stride, 1, p.words, r.rows*r.cols, i*r.cols, (i+1)*r.cols)
		}
		return
	}
	for i := range r.rows * r.cols {
		p.put(r, i, i)
	}
}

// Merge adds what another worker of the same run has of reduced results.
func (w *Worker) Merge(o *Worker) {
	if w.beside != nil {
		w.beside.Merge(o.beside.Worker)
		return
	}
	if w.check != nil {
		w.check.off = w.check.off || o.check.off
		w.check.rows = append(w.check.rows, o.check.rows...)
		w.check.beside.Worker.Merge(o.check.beside.Worker)
	}
	w.settle()
	o.settle()
	for k := range w.run.reduced {
		w.parts[k].merge(&w.run.reduced[k], &o.parts[k])
	}
}

// Finish writes the reduced results that the worker has, after it has merged all others. It runs no
// windows afterwards.
func (w *Worker) Finish() {
	if w.beside != nil {
		w.beside.Finish()
		return
	}
	if w.check != nil {
		defer w.check.finish()
	}
	w.settle()
	for k := range w.run.reduced {
		w.parts[k].finish(&w.run.reduced[k])
	}
	for k, res := range w.run.loop.nest.Results {
		if res.Class != loop.NoClass && w.run.v.code.states()[k] == nil { // nothing contributes
			out := w.run.out[k]
			x := loop.ScalarOf(res.Elem, res.Class.Fold(res.Elem, make([][]loop.Word, res.Class.Info().Args)))
			for i := range out.Rows {
				for j := range out.Cols {
					out.Set(i, j, x)
				}
			}
		}
	}
}

// resultWords is the words of a result in the block of arguments.
func (w *Worker) resultWords(k int) []uint64 {
	return w.args[firstOperand+4*(len(w.run.in)+k):][:4]
}

// What follows finds which elements of a reduced result a window contributes to.

// perRow reports a result with a row for each row of the space: it has one also where there are no
// lanes.
func (r *Run) perRow() bool { return len(r.loop.byRow) > 0 }

// rowResults are those of a nest.
func rowResults(n *loop.Nest) (list []rowResult) {
	for k, res := range n.Results {
		if res.Class == loop.NoClass {
			continue
		}
		if e, offset, some := extentOf(n, k); some && e == oneEach {
			list = append(list, rowResult{k, int(offset)})
		}
	}
	return list
}

// extentOf says which elements of result k a window contributes to; some is false where no
// statement contributes.
func extentOf(n *loop.Nest, k int) (all extent, offset int64, some bool) {
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		if s.Code != loop.Reduce || s.Mem.N != k {
			return
		}
		e, by := extentOfOne(n, s)
		if some && (e != all || by != offset) {
			e = anywhere
		}
		all, offset, some = e, by, true
	})
	return all, offset, some
}

// extentOfOne is that of one statement, and its offset.
func extentOfOne(n *loop.Nest, s *loop.Stmt) (extent, int64) {
	row, col := s.At[0], s.At[1]
	if k := len(n.Space); k > 0 && row.Equal(loop.Num(0)) && col.Equal(loop.Of(loop.IndexSym, n.Space[k-1].Name)) {
		return byLane, 0
	}
	varies := func(s loop.Sym) bool { return s.Kind == loop.IndexSym || s.Kind == loop.ValSym }
	if !row.Any(varies) && !col.Any(varies) {
		return oneInAll, 0
	}
	byKey := len(col.Terms) == 1 && col.Terms[0].Sym.Kind == loop.ValSym
	if (col.Known() || byKey) && len(n.Space) == 2 && row.Plus(loop.Of(loop.IndexSym, n.Space[0].Name).Times(-1)).Known() {
		return oneEach, row.Const
	}
	return anywhere, 0
}
