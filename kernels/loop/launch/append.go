package launch

// This file keeps the rows that windows append.

import (
	"unsafe"

	"flow/ir/value"
)

// beginRows makes room for the rows of a window of so many points.
func (w *Worker) beginRows(points int) {
	for k, res := range w.run.loop.nest.Results {
		if !res.Append {
			continue
		}
		for len(w.rows) <= k {
			w.rows = append(w.rows, nil)
		}
		cols := int(res.Cols.Const)
		if d := w.rows[k]; d == nil || d.Elem != res.Elem || d.Cols != cols || d.Rows < points {
			w.rows[k] = value.New(res.Elem, max(points, 1), cols)
		}
		d, words := w.rows[k], w.resultWords(k)
		words[0], words[1] = uint64(uintptr(unsafe.Pointer(base(d)))), uint64(cols*res.Elem.Size())
		words[2], words[3] = uint64(d.Rows), 0
	}
}

// Rows is the rows that the last window has appended to result k, in the order of its points. It is
// valid until the next window.
func (w *Worker) Rows(k int) *value.Dense {
	if w.beside != nil {
		return w.beside.Rows(k)
	}
	return w.rows[k].View(0, 0, int(w.resultWords(k)[3]), w.rows[k].Cols)
}
