package launch

// This file chooses how many levels exact sums have (loop.StateOf). More levels hold numbers of a wider
// range and take longer, so a window is tried with few levels first. If its sums lose bits it runs
// again with more.

import (
	"flow/ir/loop"
)

// nearLevels lists the levels that a window of numbers of about one size is tried with: near sums of
// two and three words, then cascades of more. From place unsized on their size does not matter.
var nearLevels = append([]int{loop.NearLevels, loop.NearLevels - 1}, loop.Levels[1:]...)

const unsized = 2

// rowLevels lists the levels that a window of sums of rows is tried with: sums with a bound, then
// cascades (see nearRows). From place unsizedRows on the size of the numbers does not matter.
var rowLevels = append([]int{loop.BoundLevels}, loop.Levels...)

const unsizedRows = 1

// depthWindows is the number of windows that begin with more levels after one has needed them. Then the
// next fewer levels are tried: a window that runs twice costs little among so many.
const depthWindows = 128

// Next returns the place where the next window begins.
func (d *Depth) Next() int {
	at := d.at.Load()
	if at > 0 && d.left.Add(-1) < 0 && d.at.CompareAndSwap(at, at-1) {
		d.left.Store(depthWindows)
	}
	return int(at)
}

// Raise says that a window needed the levels at a place.
func (d *Depth) Raise(at int) {
	d.at.Store(int32(at))
	d.left.Store(depthWindows)
}

// atDepth returns the worker of the code with the levels at a place, which is made when it is first
// needed. At place 0 it is w.
func (w *Worker) atDepth(at int) (*Worker, error) {
	if at == 0 {
		return w, nil
	}
	for len(w.deeper) < at {
		w.deeper = append(w.deeper, nil)
	}
	d := w.deeper[at-1]
	if d == nil || d.run != w.run {
		made := w.run.made
		made.levels = w.run.loop.levels[at]
		v, err := w.run.loop.variant(made)
		if err != nil {
			return nil, err
		}
		room, err := v.code.ScratchFor(w.run.args)
		if err != nil {
			return nil, err
		}
		if d == nil {
			d = v.code.worker()
			w.deeper[at-1] = d
		}
		d.run, d.variant, d.moved = w.run, v, true // the code for points within has other levels
		d.scratch(room)
		d.parts = append(d.parts[:cap(d.parts)], make([]part, max(0, len(w.parts)-cap(d.parts)))...)[:len(w.parts)]
		for k := range d.parts {
			d.parts[k].begun = false
		}
	}
	copy(d.args[firstOperand:], w.args[firstOperand:][:len(w.run.args)]) // as Place and Scalar say
	for k := range d.parts {
		d.parts[k].size = w.parts[k].size
	}
	return d, nil
}

// state returns the state of a reduced result in the code of the worker.
func (w *Worker) state(r *reducing) *loop.State {
	if w.variant == nil {
		return r.fast
	}
	return w.variant.code.states()[r.result]
}

// bindParts prepares the reduced results for a window of rows r0 to r1-1, to be run by d. again: the
// window has run before, so what it gives to results that lose nothing is left out.
func (w *Worker) bindParts(d *Worker, again bool, r0, r1, l0, l1 int) {
	for k := range w.run.reduced {
		r, p := &w.run.reduced[k], &w.parts[k]
		st := d.state(r)
		if r.exact() || again {
			p = &d.parts[k]
			p.first, p.n = w.parts[k].first, w.parts[k].n
		}
		if again && !r.exact() {
			p.clear(st, p.n)
		}
		p.bind(r, st, d.resultWords(r.result), r0, r1, l0, l1)
	}
}

// loses reports whether exact sums of the last window of d have lost bits (lost), and whether they
// are too few for more levels to pay (few).
func (w *Worker) loses(d *Worker, l0, l1 int) (lost, few bool) {
	few = true
	for k := range w.run.reduced {
		if r := &w.run.reduced[k]; r.exact() {
			n := lostOf(d.parts[k].watched(r, d.state(r), l0, l1))
			lost, few = lost || n > 0, few && w.few(r, n, l0, l1)
		}
	}
	return lost, few
}
