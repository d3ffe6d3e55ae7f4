package launch

// This file hands what a worker has of reduced results to its caller, who merges them by means of
// its own.

import (
	"flow/ir/loop"
	"flow/ir/value"
	"flow/kernels/exact"
)

// Partials reports that the run of a Partial loop keeps its reduced results for Take. The
// interpreter does not.
func (r *Run) Partials() bool {
	_, interpreted := r.v.code.(*interpreted)
	return !interpreted
}

// Expect says that the numbers that the next windows of a Partial loop add to its sums have a
// magnitude of about 2^e, or less. A window has at most loop.NearCount points then.
func (w *Worker) Expect(e int) {
	for k := range w.parts {
		w.parts[k].size = e
	}
}

// Doubt reports that the last window of a Partial loop contributed nothing to reduced result number
// k, counted without the other results: its sum lost bits, and the window was not run with more levels.
func (w *Worker) Doubt(k int) bool { return w.parts[k].doubt }

// Missed reports that numbers of the last window had another size than Expect said.
func (w *Worker) Missed() bool { return w.missed }

// TakeSums adds the exact sums that the worker has of reduced result number k to sum and squares,
// and forgets them.
func (w *Worker) TakeSums(k int, sum, squares *exact.Sum) {
	p := &w.parts[k]
	a, b := p.exact.Sums(0)
	sum.Merge(a)
	squares.Merge(b)
	p.begin(&w.run.reduced[k])
}

// Take returns what the worker has of reduced result number k, which loses nothing, and forgets it.
func (w *Worker) Take(k int) value.Scalar {
	p, r := &w.parts[k], &w.run.reduced[k]
	x := loop.ScalarOf(r.out.Elem, r.fast.Result(p.words))
	p.begin(r)
	return x
}

// Forget empties all reduced results.
func (w *Worker) Forget() {
	for k := range w.parts {
		w.parts[k].begin(&w.run.reduced[k])
	}
}
