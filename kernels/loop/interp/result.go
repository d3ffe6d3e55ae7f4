package interp

// This file defines a worker's part of reduced results.

import (
	"fmt"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/state"
)

// reduces makes the state for contributions of e.
func (r *result) reduces(e types.Elem) {
	if r.elem == e {
		return
	}
	r.elem = e
	if r.state = state.New(r.Class, e); r.state == nil {
		panic(&Unsupported{"the reduction class " + r.Class.Info().Name})
	}
	r.fresh = true
	r.one = [2]slab{accessTo(e).fresh(1), accessTo(e).fresh(1)}
}

// ready makes empty states where there are none yet.
func (r *result) ready() {
	if r.state != nil && r.fresh {
		r.state.Reset(r.places)
		r.fresh = false
	}
}

// flush puts what a batch has contributed in the order of the points.
func (r *result) flush() {
	if len(r.kept) > 0 {
		slices.SortStableFunc(r.kept, func(a, b contribution) int { return int(a.lane - b.lane) })
		a := accessTo(r.elem)
		for _, c := range r.kept {
			a.setWord(&r.one[0], c.word[0])
			a.setWord(&r.one[1], c.word[1])
			r.state.All(c.at, &r.one[0], &r.one[1], 1)
		}
		r.kept = r.kept[:0]
	}
}

// Merge adds what another worker of the same operands has of reduced results. Of a result whose
// order counts, all contributions to an element must come from one worker, window after window in
// the order of the points.
func (w *Worker) Merge(o *Worker) {
	for k := range w.results {
		if r := &w.results[k]; r.state != nil && !r.byRow {
			r.ready()
			o.results[k].ready()
			r.state.Merge(o.results[k].state)
		}
	}
}

// ByRow says that row i of the space contributes to row i + offset of reduced result k alone, and
// that windows hold whole rows: the rows of the result are there at the end of the window, and not
// by Finish.
func (w *Worker) ByRow(k, offset int) {
	w.results[k].byRow, w.results[k].offset = true, offset
}

// Forget empties reduced result k and limits it to places first..first+n-1, counted row by row. The
// memory for states then depends on n and not on the size of the result.
func (w *Worker) Forget(k, first, n int) {
	r := &w.results[k]
	r.base, r.places, r.fresh = first, n, true
}

// Finish writes what windows have given of the reduced results since Begin or Forget.
func (w *Worker) Finish() {
	for k := range w.results {
		r := &w.results[k]
		if r.Class == loop.NoClass {
			continue
		}
		if r.state == nil { // no statement contributes
			r.reduces(r.Elem)
		}
		if !r.byRow {
			r.ready()
			w.write(k, r.base, r.base+r.places)
		}
	}
}

// write writes places from to to-1 of reduced result k.
func (w *Worker) write(k, from, to int) {
	r := &w.results[k]
	d, a := w.out[k], accessTo(r.Elem)
	part := w.take(r.Elem)
	for n := 0; from < to; from += n {
		i, j := from/r.cols, from%r.cols
		n = min(w.most, r.cols-j, to-from)
		r.state.Result(part, from-r.base, n)
		a.store(d, i*d.Stride+j, 1, part, n)
	}
	w.give(r.Elem, part)
}

// Free gives the worker's memory to the next Begin.
func (w *Worker) Free() {
	clear(w.dense)
	clear(w.out)
	w.in, w.stopped = nil, nil
	w.code.idle.Put(w)
}

// What follows compares what another target has stored with what the interpreter would store.

// Difference is the error of a window that would store another element than there is.
type Difference struct {
	Result   int
	Row, Col int // of the result
	// There is what is stored, Want what the interpreter gives.
	There, Want value.Scalar
}

func (d *Difference) Error() string {
	return fmt.Sprintf("element (%d, %d) of result %d is %v, and the interpreter gives %v", d.Row, d.Col, d.Result, d.There, d.Want)
}

// Compare makes the windows from now on compare: what they would store must be there. The error of
// one that finds something else is a *Difference. Operands must be what they were when the results
// were made.
func (w *Worker) Compare() { w.comparing, w.odd = true, map[[2]int]bool{} }

// compare is a store of a comparing worker. bits says that the words are those of floats. A nan may
// have any nan's bits, and what a nest makes of the bits of such numbers, as a state that watches
// for lost ones does, is not compared either: the words of a column in which an earlier row is not
// finite.
func (w *Worker) compare(k int, a access, x *slab, at, step int, regular, bits bool, n int) int {
	d := w.out[k]
	lane := -1
	if regular {
		lane = a.differs(d, at, step, x, n)
	} else {
		lane = a.differsAt(d, w.places[:n], x)
	}
	number := func(lane int) int {
		if regular {
			return at + lane*step + w.origins[len(w.in)+k]
		}
		return w.places[lane] + w.origins[len(w.in)+k]
	}
	if bits {
		for l := range n {
			if f := wordF64(a.word(x, l)); f-f != 0 {
				w.odd[[2]int{k, number(l) % d.Stride}] = true
			}
		}
	}
	var there slab
	for ; lane >= 0 && lane < n; lane++ {
		m := number(lane)
		a.view(&there, d, m-w.origins[len(w.in)+k], 1)
		have, want := loop.ScalarOf(d.Elem, a.word(&there, 0)), loop.ScalarOf(d.Elem, a.word(x, lane))
		if have.Same(want) || w.odd[[2]int{k, m % d.Stride}] {
			continue
		}
		w.err = &Difference{k, m / d.Stride, m % d.Stride, have, want}
		return 0
	}
	return n
}
