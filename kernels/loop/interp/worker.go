package interp

// This file runs windows: it cuts them into batches.

import (
	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
)

// askEvery is the number of lanes that rounds of loops take between two questions whether the run was
// stopped.
const askEvery = 1 << 16

func (w *Worker) begin(in []value.Value, out []*value.Dense) {
	n := w.code.nest
	w.in, w.comparing = in, false
	w.scalars, w.dense = dense.Resized(w.scalars, len(in)), dense.Resized(w.dense, len(in))
	w.origins = dense.Resized(w.origins, len(in)+len(n.Results))
	clear(w.origins)
	w.out = append(w.out[:0], out...)
	for k, v := range in {
		switch v := v.(type) {
		case value.Scalar:
			w.scalars[k] = loop.WordOf(v)
		case *value.Dense:
			w.dense[k] = v
		}
	}
	w.by = [2]int64{1, 1}
	for k := range min(2, len(n.Space)) {
		if len(n.Space) == 1 {
			w.by[1] = n.Space[0].Range.By
		} else {
			w.by[k] = n.Space[k].Range.By
		}
	}
	w.allocateLocals(n)
	if len(w.places) != w.most {
		w.places, w.frames = make([]int, w.most), make([]*frame, len(w.code.bodies))
		w.pool, w.lists = [types.Picture + 1][]*slab{}, make([]lanes, w.code.lists)
	}
	w.frame = w.frameOf(w.code.body)
	w.begun, w.fuel = false, askEvery
	w.results = dense.Resized(w.results, len(n.Results))
	for k, r := range n.Results {
		to := &w.results[k]
		if to.Class != r.Class {
			to.state = nil
		}
		to.Result, to.rows, to.cols = r, int(w.outside(r.Rows)), int(w.outside(r.Cols))
		to.elem, to.byRow, to.base, to.places = types.NoElem, false, 0, to.rows*to.cols
	}
	for _, c := range w.code.contributions {
		w.results[c.number].reduces(c.elem)
	}
}

// start computes the registers and the parts of subscripts that depend on scalars only.
func (w *Worker) start() {
	w.begun = true
	w.known = w.known[:0]
	for _, l := range w.code.known {
		w.known = append(w.known, w.outside(l))
	}
	for _, s := range w.body.scalars {
		x := &w.regs[s.reg]
		accessTo(x.elem).setWord(x.cell, w.scalars[s.param])
		x.kind, x.s, x.filled = uniform, x.cell, 0
	}
	for _, s := range w.body.early {
		w.operate(s.do, s.dst, s.args)
	}
}

// Place moves a matrix: number counts operands first, then results. The memory of d begins with
// element number origin of the matrix, row by row of d's stride, and holds all elements that
// windows touch from now on.
func (w *Worker) Place(number int, d *value.Dense, origin int) {
	w.origins[number] = origin
	if k := number - len(w.in); k >= 0 {
		w.out[k] = d
	} else {
		w.dense[number] = d
	}
}

// Scalar changes a scalar operand. No subscript of the nest may depend on it.
func (w *Worker) Scalar(number int, word loop.Word) {
	if w.scalars[number] == word {
		return
	}
	w.scalars[number] = word
	w.begun = false
}

// outside is a form that operands alone decide.
func (w *Worker) outside(l loop.Lin) int64 { return w.form(l, 0) }

// form is a form of operands and the first index of the space.
func (w *Worker) form(l loop.Lin, row int64) int64 {
	x := l.Const
	for _, t := range l.Terms {
		switch t.Sym.Kind {
		case loop.IndexSym:
			x += t.Coef * row
		case loop.ParamSym:
			x += t.Coef * int64(w.scalars[t.Sym.N])
		case loop.RowsSym:
			x += t.Coef * int64(w.in[t.Sym.N].Type().Rows)
		case loop.ColsSym:
			x += t.Coef * int64(w.in[t.Sym.N].Type().Cols)
		}
	}
	return x
}

// Window evaluates the points whose first index is in r0 to r1-1 and whose second one is in l0 to
// l1-1. Of a space of one index the rows are 0 to 1 and the index is the second one; of a space
// without indices all are 0 to 1. flagged says
// that a check failed: what the window has written is then undefined. stopped is asked from time to
// time and may be nil; once it is true the error is loop.ErrStopped.
func (w *Worker) Window(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	w.stopped, w.flagged, w.err = stopped, false, nil
	for k := range w.results {
		r := &w.results[k]
		if r.byRow && r.state != nil {
			r.base = (r0 + r.offset) * r.cols
			r.state.Reset(max(0, r1-r0) * r.cols)
		} else {
			r.ready()
		}
		r.kept = r.kept[:0]
	}
	if !w.begun {
		w.start()
	}
	if r0 < r1 && l0 < l1 {
		switch {
		case len(w.code.nest.Space) < 2:
			first, n := int64(0), int64(1)
			if len(w.code.nest.Space) == 1 {
				first, n = w.space(0, 0, l0, l1)
			}
			w.line(0, first, n)
		case l1-l0 < shortRow && r1-r0 > 1:
			w.acrossRows(r0, r1, l0, l1)
		default:
			row, rows := w.space(0, 0, r0, r1)
			for ; rows > 0 && !w.over(); rows-- {
				first, n := w.space(1, row, l0, l1)
				w.line(row, first, n)
				row += w.by[0]
			}
		}
	}
	for k := range w.results {
		if r := &w.results[k]; r.byRow && r.state != nil && !w.over() {
			w.write(k, r.base, r.base+max(0, r1-r0)*r.cols)
		}
	}
	return w.flagged, w.err
}

// over says that the window is not worth going on.
func (w *Worker) over() bool { return w.flagged || w.err != nil }

// spend counts the lanes of a round, and reports that the window is over because the run was
// stopped.
func (w *Worker) spend(n int) bool {
	if w.fuel -= n + 16; w.fuel < 0 {
		w.fuel = askEvery
		if w.stopped != nil && w.stopped() {
			w.err = loop.ErrStopped
			return true
		}
	}
	return false
}

// within are the values of a range of steps that are in lo to hi-1: the first, and how many.
func within(from, to, by, lo, hi int64) (first, n int64) {
	if by > 0 {
		if from < lo {
			from += (lo - from + by - 1) / by * by
		}
		return from, int64(rounds(from, min(to, hi), by))
	}
	if from >= hi {
		from += (from - hi - by) / -by * by
	}
	return from, int64(rounds(from, max(to, lo-1), by))
}

// space is the values of index k of the space, for a value of the first, that are in lo to hi-1.
func (w *Worker) space(k int, row int64, lo, hi int) (first, n int64) {
	r := w.code.nest.Space[k].Range
	return within(w.form(r.From, row), w.form(r.To, row), r.By, int64(lo), int64(hi))
}

// line runs n points of one row.
func (w *Worker) line(row, first, n int64) {
	if n <= 0 {
		return
	}
	for n > 0 && !w.over() {
		m := min(n, int64(w.most))
		w.segments = append(w.segments[:0], segment{0, int(m), row, first})
		w.batch(int(m))
		first += m * w.by[1]
		n -= m
	}
}

// acrossRows fills batches with the points of short rows.
func (w *Worker) acrossRows(r0, r1, l0, l1 int) {
	row, rows := w.space(0, 0, r0, r1)
	w.filled, w.segments = 0, w.segments[:0]
	for ; rows > 0 && !w.over(); rows-- {
		first, count := w.space(1, row, l0, l1)
		for count > 0 && !w.over() {
			m := min(count, int64(w.most-w.filled))
			w.segments = append(w.segments, segment{w.filled, int(m), row, first})
			first += m * w.by[1]
			count -= m
			if w.filled += int(m); w.filled == w.most {
				w.flush()
			}
		}
		row += w.by[0]
	}
	if !w.over() {
		w.flush()
	}
}

func (w *Worker) flush() {
	if w.filled > 0 {
		w.batch(w.filled)
	}
	w.filled, w.segments = 0, w.segments[:0]
}

// batch evaluates the points of the segments.
func (w *Worker) batch(n int) {
	if w.spend(n) {
		return
	}
	w.n = n
	w.ramp(w.body.lane, 0, 1)
	w.spaceIndices()
	w.run(w.body.block)
	for k := range w.results {
		w.results[k].flush()
	}
}

// spaceIndices sets the registers of the first two indices of the space.
func (w *Worker) spaceIndices() {
	space, one := w.code.nest.Space, &w.segments[0]
	if len(space) == 0 {
		return
	}
	last := w.body.values + space[min(1, len(space)-1)].Name
	first := w.body.values + space[0].Name
	if len(w.segments) == 1 {
		if len(space) > 1 {
			w.number(first, one.row)
		}
		w.ramp(last, one.first, w.by[1])
		return
	}
	rows, cols := w.set(first, varying).I64, w.set(last, varying).I64
	for _, s := range w.segments {
		x := s.first
		for k := s.at; k < s.at+s.n; k++ {
			rows[k], cols[k] = s.row, x
			x += w.by[1]
		}
	}
}
