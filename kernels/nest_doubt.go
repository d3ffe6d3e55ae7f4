package kernels

// This file looks for the points of a window of which a nest is not sure: exact sums that need more
// words, and points that fail.

import (
	"flow/ir/op"
)

const (
	// doubtLanes is how many lanes of a row are in doubt together.
	doubtLanes = 16
	// someDoubts is from how many of them on a worker draws conclusions.
	someDoubts = 8
)

// part evaluates rows r0..r1-1 and lanes l0..l1-1. Where a check fails it looks for the lanes that
// are in doubt.
func (w *nestWorker) part(r0, r1, l0, l1 int) error {
	var flagged bool
	var err error
	if w.refills(r0, r1, l0, l1) {
		flagged, err = w.taking(r0, r1, l0, l1)
	} else {
		flagged, err = w.strips(w.with(w.words), r0, r1, l0, l1)
	}
	switch {
	case err != nil:
		return op.ErrStopped
	case !flagged:
		w.tried += (r1 - r0) * ((l1 - l0 + doubtLanes - 1) / doubtLanes)
		return nil
	}
	for r := r0; r < r1; r++ {
		for l := l0; l < l1; l += doubtLanes {
			if err := w.doubt(r, r+1, l, min(l+doubtLanes, l1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// doubt evaluates points of which some may fail. Where a check fails, and with wider sums too, it
// halves them, until it has found the points that fail.
func (w *nestWorker) doubt(r0, r1, l0, l1 int) error {
	flagged, err := w.window(r0, r1, l0, l1)
	switch {
	case err != nil:
		return op.ErrStopped
	case !flagged:
		return nil
	case l1-l0 > 1:
		if err := w.doubt(r0, r1, l0, (l0+l1)/2); err != nil {
			return err
		}
		return w.doubt(r0, r1, (l0+l1)/2, l1)
	}
	p := r0*w.n.r.space.width() + l0
	if w.n.r.space.dims == 1 {
		p = l0
	}
	return w.point(p)
}

// window runs the nest, and again with wider sums where those of fewer words are not sure.
func (w *nestWorker) window(r0, r1, l0, l1 int) (flagged bool, err error) {
	n := w.n
	w.tried++
	flagged, err = w.strips(w.with(w.words), r0, r1, l0, l1)
	for words := w.words; flagged && err == nil && (w.asked || !w.with(w.words).cells.ignorant()); {
		if words = n.after(words); words == 0 {
			return true, nil
		}
		if flagged, err = w.strips(w.with(words), r0, r1, l0, l1); !flagged && err == nil {
			w.doubts++
			if w.doubts >= someDoubts && 4*w.doubts > w.tried { // wider sums spare more than they cost
				w.words, w.tried, w.doubts = n.after(w.words), 0, 0
				n.code.words.Store(int32(w.words))
			}
		}
	}
	return flagged, err
}
