package interp

// This file compiles the matrices of the body: those of a point, which every lane has, and those of
// a once.

import (
	"errors"

	"flow/ir/loop"
	"flow/ir/value"
)

// matrix is a local of a worker. One of a point holds element (r, c) of all lanes, then the next
// element.
type matrix struct {
	mem        *value.Dense
	rows, cols int64
	// strides are the distances between rows and between columns.
	strides [2]int64
	lane    *value.Dense // what CallRow gets: the matrix of one lane
}

func (c *compiler) localPlace(s *loop.Stmt) (at place, each bool) {
	each = !c.nest.Locals[s.Mem.N].Once
	if each && c.one {
		panic(&Unsupported{"a once that reads a local of a point"})
	}
	return c.place(s.At, each), each
}

func (c *compiler) loadLocal(s *loop.Stmt) *operand {
	k, e := s.Mem.N, c.nest.Locals[s.Mem.N].Elem
	a := accessTo(e)
	at, each := c.localPlace(s)
	out := c.fresh(e)
	if !each && c.uniformForm(s.At[0]) && c.uniformForm(s.At[1]) {
		out = c.cell(e, here)
	}
	reg, one := out.reg, out.uniform
	c.emit(func(w *Worker, n int) int {
		m := &w.locals[k]
		lanes := n
		if one {
			lanes = 1
		}
		from, step, regular := w.at(&at, m.strides[0], m.strides[1], lanes)
		if regular {
			a.load(&w.regs[reg], m.mem, from, step, lanes)
		} else {
			a.gather(&w.regs[reg], m.mem, w.places[:lanes])
		}
		return n
	})
	if one {
		return c.defined(out)
	}
	return out
}

func (c *compiler) storeLocal(s *loop.Stmt, x *operand) {
	k, a := s.Mem.N, accessTo(x.elem)
	at, _ := c.localPlace(s)
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
	for k, l := range c.nest.Locals {
		if l.Once {
			continue
		}
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

// callRow calls an operator lane by lane.
func (c *compiler) callRow(s *loop.Stmt) {
	lane := 0
	if !c.one {
		lane = c.lanes(c.laneNumbers())
	}
	var which []int
	for _, m := range s.Mems {
		which = append(which, m.N)
	}
	row, last := int(s.Imm), len(which)-1
	c.emit(func(w *Worker, n int) int {
		for k := range n {
			at := 0
			if lane != 0 {
				at = int(w.regs[lane].i64[k])
			}
			list := w.arguments[:0]
			for _, m := range which {
				list = append(list, w.locals[m].of(at))
			}
			w.arguments = list
			if err := w.call(row, list[:last], list[last]); err != nil {
				if errors.Is(err, loop.ErrStopped) {
					w.err = err
				} else {
					w.flagged = true
				}
				return 0
			}
			w.locals[which[last]].put(at)
		}
		return n
	})
}

// of is the matrix of a lane, in one piece.
func (m *matrix) of(lane int) *value.Dense {
	if m.lane == nil { // of a once: it is one
		return m.mem
	}
	a := accessTo(m.mem.Elem)
	var part slab
	n := int(m.rows * m.cols)
	if n == 0 {
		return m.lane
	}
	a.view(&part, m.lane, 0, n)
	a.load(&part, m.mem, lane, int(m.strides[1]), n)
	return m.lane
}

// put writes the matrix of a lane back.
func (m *matrix) put(lane int) {
	n := int(m.rows * m.cols)
	if m.lane == nil || n == 0 {
		return
	}
	a := accessTo(m.mem.Elem)
	var part slab
	a.view(&part, m.lane, 0, n)
	a.store(m.mem, lane, int(m.strides[1]), &part, n)
}

// allocateLocals makes the locals of a worker and decides how many lanes a batch has.
func (w *Worker) allocateLocals(n *loop.Nest) {
	total := int64(0)
	w.locals = w.locals[:0]
	for _, l := range n.Locals {
		m := matrix{rows: w.outside(l.Rows), cols: w.outside(l.Cols)}
		if !l.Once {
			total += m.rows * m.cols * int64(max(1, l.Elem.Size()))
		}
		w.locals = append(w.locals, m)
	}
	w.most = batchLanes
	for w.most > leastLanes && int64(w.most)*total > localBytes {
		w.most /= 2
	}
	for k := range w.locals {
		m, l := &w.locals[k], n.Locals[k]
		rows, cols := int(m.rows), int(m.cols)
		if l.Once {
			m.mem, m.strides = value.New(l.Elem, rows, cols), [2]int64{m.cols, 1}
			continue
		}
		m.mem = value.New(l.Elem, 1, rows*cols*w.most)
		m.strides = [2]int64{m.cols * int64(w.most), int64(w.most)}
		m.lane = value.New(l.Elem, rows, cols)
	}
}
