package interp

// This file runs loads, stores and contributions. It computes which elements of memory the lanes
// access.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/value"
)

// linear returns the value of a form in lane 0 and its step from lane to lane. It leaves out terms of
// varying registers; list tells that there are some.
func (w *Worker) linear(f *form) (first, step int64, list bool) {
	first = w.known[f.known]
	for _, t := range f.terms {
		switch x := &w.regs[t.reg]; x.kind {
		case varying:
			list = true
		case ramp:
			step += t.coef * x.by
			fallthrough
		default:
			first += t.coef * x.s.I64[0]
		}
	}
	return first, step, list
}

// addTerms adds by times the terms that linear leaves out.
func (w *Worker) addTerms(list []int, terms []term, by int64) {
	for _, t := range terms {
		if x := &w.regs[t.reg]; x.kind == varying {
			f := int(t.coef * by)
			for k, i := range x.s.I64[:len(list)] {
				list[k] += f * int(i)
			}
		}
	}
}

// at computes which elements the lanes access, given the distances between rows, columns and lanes in
// elements. If regular, they are at, at+step, and so on; else w.places has them.
func (w *Worker) at(s *stmt, rows, cols, lane int64) (at, step int, regular bool) {
	row, down, apart := w.linear(&s.at[0])
	col, right, apart1 := w.linear(&s.at[1])
	at, step = int(row*rows+col*cols), int(down*rows+right*cols)
	number := &w.regs[w.body.lane]
	if lane != 0 && number.kind == ramp {
		step += int(lane)
	}
	apart2 := lane != 0 && number.kind == varying
	if !apart && !apart1 && !apart2 {
		return at, step, true
	}
	list := w.places[:w.n]
	for k := range list {
		list[k] = at
		at += step
	}
	w.addTerms(list, s.at[0].terms, rows)
	w.addTerms(list, s.at[1].terms, cols)
	if apart2 {
		for k, i := range number.s.I64[:w.n] {
			list[k] += int(lane * i)
		}
	}
	if s.along && lane == 0 && w.n > 1 {
		step = list[1] - list[0]
		for k := 2; k < len(list); k++ {
			if list[k]-list[k-1] != step {
				return 0, 0, false
			}
		}
		return list[0], step, true
	}
	return 0, 0, false
}

// atOf is at for a matrix whose memory begins with element number origin.
func (w *Worker) atOf(s *stmt, d *value.Dense, origin int) (at, step int, regular bool) {
	at, step, regular = w.at(s, int64(d.Stride), 1, 0)
	if !regular && origin != 0 {
		for k := range w.places[:w.n] {
			w.places[k] -= origin
		}
	}
	return at - origin, step, regular
}

func (w *Worker) load(s *stmt) {
	k := s.Mem.N
	if s.Mem.Kind == loop.LocalMem {
		m := &w.locals[k]
		w.fetch(s, m.mem, true, func() (int, int, bool) { return w.at(s, m.strides[0], m.strides[1], 1) })
		return
	}
	if w.code.nest.Params[k].Kind == loop.ScalarParam {
		return // start has set its register
	}
	d := w.dense[k]
	w.fetch(s, d, w.shared(k), func() (int, int, bool) { return w.atOf(s, d, w.origins[k]) })
}

// fetch loads the elements of d that where computes. changes tells that the memory may change while the
// register is in use.
func (w *Worker) fetch(s *stmt, d *value.Dense, changes bool, where func() (at, step int, regular bool)) {
	at, step, regular := where()
	a := accessTo(d.Elem)
	switch {
	case !regular:
		a.gather(w.set(s.dst, varying), d, w.places[:w.n])
	case step == 0:
		a.load(w.set(s.dst, uniform), d, at, 0, 1)
	case step == 1 && !changes:
		x := &w.regs[s.dst]
		w.empty(x)
		a.view(x.view, d, at, w.n)
		x.kind, x.s = varying, x.view
	default:
		a.load(w.set(s.dst, varying), d, at, step, w.n)
	}
}

// shared reports whether a result may share the memory of operand param.
func (w *Worker) shared(param int) bool {
	return slices.ContainsFunc(w.code.nest.Results, func(r loop.Result) bool { return r.Over == param })
}

func (w *Worker) store(s *stmt) {
	k, a, x := s.Mem.N, accessTo(w.regs[s.args[0]].elem), w.lanes(s.args[0])
	var d *value.Dense
	var at, step int
	var regular bool
	if s.Mem.Kind == loop.LocalMem {
		m := &w.locals[k]
		d = m.mem
		at, step, regular = w.at(s, m.strides[0], m.strides[1], 1)
	} else {
		d = w.out[k]
		at, step, regular = w.atOf(s, d, w.origins[len(w.in)+k])
		if w.comparing {
			w.compare(k, a, x, at, step, regular, s.bits, w.n)
			return
		}
	}
	if regular {
		a.store(d, at, step, x, w.n)
	} else {
		a.storeAt(d, w.places[:w.n], x)
	}
}

// contribute adds the contributions of the lanes to a result.
func (w *Worker) contribute(s *stmt) {
	r := &w.results[s.Mem.N]
	x, y := w.lanes(s.args[0]), w.lanes(s.args[len(s.args)-1])
	from, step, regular := w.at(s, int64(r.cols), 1, 0)
	from -= r.base
	list := w.places[:w.n]
	switch {
	case regular && step == 0 && !s.ordered:
		r.state.All(from, x, y, w.n)
		return
	case regular:
		for k := range list {
			list[k] = from
			from += step
		}
	case r.base != 0:
		for k := range list {
			list[k] -= r.base
		}
	}
	if s.ordered {
		a, b, lane := accessTo(w.regs[s.args[0]].elem), accessTo(w.regs[s.args[len(s.args)-1]].elem), w.lanes(w.body.lane).I64
		for k, place := range list {
			r.kept = append(r.kept, contribution{lane[k], place, [2]loop.Word{a.word(x, k), b.word(y, k)}})
		}
	} else {
		r.state.Add(list, x, y)
	}
}

// zeroLocals sets all locals to zero, as they are when a point starts.
func (w *Worker) zeroLocals() {
	for k := range w.locals {
		d := w.locals[k].mem
		clear(d.F64)
		clear(d.F32)
		clear(d.I64)
		clear(d.Bool)
	}
}

// allocateLocals makes the locals of a worker. It sets w.most, the lanes of a batch, so that locals
// take at most localBytes where leastLanes allows it.
func (w *Worker) allocateLocals(n *loop.Nest) {
	total := int64(0)
	w.locals = w.locals[:0]
	for _, l := range n.Locals {
		m := matrix{rows: w.outside(l.Rows), cols: w.outside(l.Cols)}
		total += m.rows * m.cols * int64(max(1, l.Elem.Size()))
		w.locals = append(w.locals, m)
	}
	w.most = batchLanes
	for w.most > leastLanes && int64(w.most)*total > localBytes {
		w.most /= 2
	}
	for k := range w.locals {
		m, l := &w.locals[k], n.Locals[k]
		m.mem = value.New(l.Elem, 1, int(m.rows*m.cols)*w.most)
		m.strides = [2]int64{m.cols * int64(w.most), int64(w.most)}
	}
}
