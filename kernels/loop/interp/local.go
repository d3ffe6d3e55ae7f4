package interp

// This file compiles the matrices of the body. Every lane has its own.

import (
	"flow/ir/loop"
	"flow/ir/value"
)

// matrix is a local of a worker. It holds element (r, c) of all lanes, then the next element.
type matrix struct {
	mem        *value.Dense
	rows, cols int64
	// strides are the distances between rows and between columns.
	strides [2]int64
}

func (c *compiler) loadLocal(s *loop.Stmt) *operand {
	k, e := s.Mem.N, c.nest.Locals[s.Mem.N].Elem
	a := accessTo(e)
	at := c.place(s.At, true)
	out := c.fresh(e)
	reg := out.reg
	c.emit(func(w *Worker, n int) int {
		m := &w.locals[k]
		from, step, regular := w.at(&at, m.strides[0], m.strides[1], n)
		if regular {
			a.load(&w.regs[reg], m.mem, from, step, n)
		} else {
			a.gather(&w.regs[reg], m.mem, w.places[:n])
		}
		return n
	})
	return out
}

func (c *compiler) storeLocal(s *loop.Stmt, x *operand) {
	k, a := s.Mem.N, accessTo(x.elem)
	at := c.place(s.At, true)
	reg := c.lanes(x)
	c.emit(func(w *Worker, n int) int {
		m := &w.locals[k]
		to, step, regular := w.at(&at, m.strides[0], m.strides[1], n)
		if regular {
			a.store(m.mem, to, step, &w.regs[reg], n)
		} else {
			a.storeAt(m.mem, w.places[:n], &w.regs[reg])
		}
		return n
	})
}

// zeroLocals starts a point.
func (c *compiler) zeroLocals() {
	for k := range c.nest.Locals {
		c.emit(func(w *Worker, n int) int {
			clearMemory(w.locals[k].mem)
			return n
		})
	}
}

func clearMemory(d *value.Dense) {
	clear(d.F64)
	clear(d.F32)
	clear(d.I64)
	clear(d.Bool)
}

// allocateLocals makes the locals of a worker and decides how many lanes a batch has.
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
