package launch

// This file serves callers whose operands and results are not in memory as a whole: a worker meets them
// window by window. Such a caller takes what the worker has of reduced results, and merges it itself.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/value"
	"flow/kernels/state"
)

// Place makes element (i0, j0) of a matrix begin where d begins, and rows follow one another as in
// d. The number of the matrix counts operands first, then results. Begin must have been told a
// matrix of the whole size, whose memory is then never touched; the caller runs windows that stay
// inside d, and keeps d alive. No matrix that is placed may be a column in one piece for Begin.
func (w *Worker) Place(number int, d *value.Dense, i0, j0 int) {
	size := d.Elem.Size()
	a := w.args[firstOperand+wordsOfOperand*number:]
	a[0] = uint64(uintptr(base(d))) - uint64((i0*d.Stride+j0)*size)
	a[1] = uint64(d.Stride * size)
}

// Scalar makes v scalar operand number. No subscript of the nest may depend on it, and a range only
// if it becomes no wider than for Begin.
func (w *Worker) Scalar(number int, v value.Scalar) { w.Word(number, loop.WordOf(v)) }

// Word is Scalar for a value that is a word already.
func (w *Worker) Word(number int, v loop.Word) {
	w.args[firstOperand+wordsOfOperand*number] = v
	w.moved = w.moved || w.run.cuts != nil && w.run.cuts.reads>>number&1 != 0
}

// Move makes operand or result number begin at element (i, j) of d. d must have the stride and the type
// that Begin was given, and from (i, j) on at least its size. The worker must be Direct.
func (w *Worker) Move(number int, d *value.Dense, i, j int) {
	w.args[firstOperand+wordsOfOperand*number] = uint64(uintptr(base(d))) + uint64((i*d.Stride+j)*d.Elem.Size())
}

// Direct reports that windows read operands where Move and Scalar say. Others run what Begin was told.
func (w *Worker) Direct() bool { return w.check == nil && w.beside == nil }

// Follow makes w read operands and write results where o does. Both are workers of the same run.
func (w *Worker) Follow(o *Worker) {
	copy(w.args[firstOperand:], o.args[firstOperand:][:len(w.run.args)])
	if w.moved = o.moved; w.told != o.told {
		w.freeCore()
		w.told = o.told
	}
}

// Reduces reports whether the run has reduced results (some), and whether several rows contribute to
// one element of them (across).
func (r *Run) Reduces() (some, across bool) {
	across = slices.ContainsFunc(r.reduced, func(x reducing) bool { return x.extent != oneEach })
	return len(r.reduced) > 0, across
}

// Partials reports whether workers keep reduced results for Sums, Words and Put. Workers of the
// interpreter do not.
func (r *Run) Partials() bool {
	_, interpreted := r.v.code.(*interpreted)
	return !interpreted
}

// Sums returns the exact sums that the worker has for reduced result number k. It returns nil if
// that result is no exact sum. The sums change with the next window.
func (w *Worker) Sums(k int) *state.Exact {
	if !w.run.reduced[k].exact() {
		return nil
	}
	w.settle()
	w.checkPartial(k)
	return w.parts[k].exact
}

// checkPartial compares the states of reduced result number k with those of the interpreter in a check.
func (w *Worker) checkPartial(k int) {
	if w.check != nil {
		w.check.partial(&w.run.reduced[k], &w.parts[k])
	}
}

// Words returns the words of the states of reduced result number k, which must not be an exact sum:
// the first words of all elements, then their second words.
func (w *Worker) Words(k int) []uint64 {
	w.checkPartial(k)
	return w.parts[k].words
}

// Put writes reduced result number k, which is one element, to an accumulator (package state).
func (w *Worker) Put(k int, acc *value.Dense) {
	if r := &w.run.reduced[k]; r.exact() {
		w.Sums(k).Put(acc, 0)
	} else {
		acc.Set(0, 0, loop.ScalarOf(r.out.Elem, r.fast.Result(w.Words(k))))
	}
}

// PutResult is Put for the reduced result that is result number n of the loop. A result that nothing
// contributes to leaves acc as it is.
func (w *Worker) PutResult(n int, acc *value.Dense) {
	if k := slices.IndexFunc(w.run.reduced, func(r reducing) bool { return r.result == n }); k >= 0 {
		w.Put(k, acc)
	}
}

// Forget empties all reduced results.
func (w *Worker) Forget() {
	for _, d := range w.deeper {
		if d != nil {
			for k := range d.parts {
				d.parts[k].begun = false
			}
		}
	}
	for k := range w.parts {
		w.parts[k].begin(&w.run.reduced[k])
	}
	if w.check != nil {
		w.check.forget(w)
	}
}
