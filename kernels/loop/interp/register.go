package interp

// This file sets and reads registers.

import (
	"flow/ir/types"
)

// frameOf returns the frame of a body. It makes the frame at the first call.
func (w *Worker) frameOf(b *body) *frame {
	if f := w.frames[b.number]; f != nil {
		return f
	}
	f, slabs := &frame{body: b, regs: make([]register, len(b.elems))}, make([]slab, 2*len(b.elems))
	for k := range f.regs {
		x := &f.regs[k]
		x.elem, x.cell, x.view = b.elems[k], &slabs[2*k], &slabs[2*k+1]
		*x.cell = accessTo(x.elem).fresh(1)
	}
	for _, c := range b.consts {
		x := &f.regs[c.reg]
		accessTo(x.elem).setWord(x.cell, c.word)
		x.kind, x.s = uniform, x.cell
	}
	w.frames[b.number] = f
	return f
}

// take returns memory for the lanes of a batch from the pool. give returns it to the pool.
func (w *Worker) take(e types.Elem) *slab {
	p := &w.pool[e]
	if n := len(*p); n > 0 {
		s := (*p)[n-1]
		*p = (*p)[:n-1]
		return s
	}
	s := accessTo(e).fresh(w.most)
	return &s
}

func (w *Worker) give(e types.Elem, s *slab) { w.pool[e] = append(w.pool[e], s) }

// empty returns the memory of a register to the pool.
func (w *Worker) empty(x *register) {
	if x.owned {
		w.give(x.elem, x.s)
		x.owned = false
	}
	if x.wide != nil {
		w.give(x.elem, x.wide)
		x.wide = nil
	}
	x.kind, x.filled = empty, 0
}

// set makes register r one of this kind and returns the memory for its elements.
func (w *Worker) set(r int, kind kindOf) *slab {
	x := &w.regs[r]
	w.empty(x)
	if x.kind = kind; kind == varying {
		x.s, x.owned = w.take(x.elem), true
	} else {
		x.s = x.cell
	}
	return x.s
}

// number sets register r to an integer. ramp sets it to one that grows by a step.
func (w *Worker) number(r int, i int64) { w.set(r, uniform).I64[0] = i }

func (w *Worker) ramp(r int, first, by int64) {
	w.set(r, ramp).I64[0] = first
	w.regs[r].by = by
}

// show makes register to a view of the elements of from.
func (w *Worker) show(to, from *register) {
	w.empty(to)
	to.kind, to.by = from.kind, from.by
	if from.kind == varying {
		*to.view = *from.s
		to.s = to.view
		return
	}
	accessTo(to.elem).copy(to.cell, from.cell, 1)
	to.s = to.cell
}

// hand copies the elements of a register to another one. If last, no statement reads from afterwards,
// and hand moves its memory.
func (w *Worker) hand(to, from *register, last bool) {
	if to == from {
		return
	}
	w.empty(to)
	to.kind, to.by = from.kind, from.by
	switch {
	case from.kind != varying:
		accessTo(to.elem).copy(to.cell, from.cell, 1)
		to.s = to.cell
		return
	case last && from.owned:
		to.s, to.owned = from.s, true
		from.owned = false
	default:
		to.s, to.owned = w.take(to.elem), true
		accessTo(to.elem).copy(to.s, from.s, w.n)
	}
	if last {
		w.empty(from)
	}
}

// lanes returns the elements of a register, one for each active lane.
func (w *Worker) lanes(r int) *slab {
	x := &w.regs[r]
	if x.kind == varying {
		return x.s
	}
	if x.filled >= w.n {
		return x.wide
	}
	if x.wide == nil {
		x.wide = w.take(x.elem)
	}
	if x.filled = w.n; x.kind == ramp {
		i := x.cell.I64[0]
		for k := range x.wide.I64[:w.n] {
			x.wide.I64[k] = i
			i += x.by
		}
	} else {
		accessTo(x.elem).fill(x.wide, x.cell, w.n)
	}
	return x.wide
}

// gather keeps the listed lanes of a register. The list ascends.
func (w *Worker) gather(r int, list []int) {
	x := &w.regs[r]
	if x.kind < ramp {
		return
	}
	from := w.lanes(r)
	to := from
	if !x.owned && x.kind == varying {
		to = w.take(x.elem)
	}
	accessTo(x.elem).collect(to, from, list)
	if x.kind == ramp {
		x.wide, x.filled = nil, 0
	}
	x.kind, x.s, x.owned = varying, to, true
}
