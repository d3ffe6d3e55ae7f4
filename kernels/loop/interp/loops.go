package interp

// This file compiles the inner loops of For. One whose rounds are the same in all lanes runs in the
// context around it. The others pack their lanes: see packed.go.

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// loop compiles a For. Whether its carried values are uniform, and whether a break differs between
// lanes, follows from its body; so the body is compiled as if all were uniform, and again when that
// was wrong.
func (c *compiler) loop(s *loop.Stmt) {
	l := s.Loop
	init := c.read(l.Init)
	if !c.uniformRange(l.Index.Range) {
		c.pack(s, init)
		return
	}
	uniform := make([]bool, len(init))
	for k, o := range init {
		uniform[k] = o.uniform
	}
	for {
		outer := c.mixed
		c.mixed = false
		again, done := false, c.counted(s, init, uniform)
		mixed := c.mixed
		c.mixed = outer
		if mixed {
			c.pack(s, init)
			return
		}
		for k, v := range l.Body.Yield {
			if uniform[k] && !c.vals[v].uniform {
				uniform[k], again = false, true
			}
		}
		if !again {
			done()
			return
		}
	}
}

// uniformRange reports a range of steps that is the same in all lanes.
func (c *compiler) uniformRange(r loop.Range) bool {
	switch r.Kind {
	case loop.Forever:
		return true
	case loop.Steps:
		return c.uniformForm(r.From) && c.uniformForm(r.To)
	}
	return false
}

// rounds is how many values a range of steps has.
func rounds(from, to, by int64) uint64 {
	switch {
	case by > 0 && from < to:
		return (uint64(to)-uint64(from)-1)/uint64(by) + 1
	case by < 0 && from > to:
		return (uint64(from)-uint64(to)-1)/-uint64(by) + 1
	}
	return 0
}

// steps is a range that is the same in all lanes.
type steps struct {
	forever  bool
	from, to linear
	by       int64
}

func (c *compiler) steps(r loop.Range) steps {
	if r.Kind == loop.Forever {
		return steps{forever: true, by: 1}
	}
	return steps{from: c.linear(r.From, false), to: c.linear(r.To, false), by: r.By}
}

func (w *Worker) rounds(s *steps) (from int64, n uint64) {
	if s.forever {
		return 0, 1<<64 - 1
	}
	from = w.base(&s.from)
	return from, rounds(from, w.base(&s.to), s.by)
}

// counted compiles a loop in the context around it. The statement's results are defined and its
// step is emitted by done.
func (c *compiler) counted(s *loop.Stmt, init []*operand, uniform []bool) (done func()) {
	l := s.Loop
	r := c.steps(l.Index.Range)
	index := c.cell(types.I64, here)
	carry := make([]*operand, len(init))
	next := make([]*operand, len(init))
	for k, o := range init {
		if uniform[k] {
			carry[k], next[k] = c.cell(o.elem, here), c.cell(o.elem, here)
			continue
		}
		carry[k] = c.fresh(o.elem)
	}
	var body *block
	c.packs = append(c.packs, nil)
	c.looping(func() {
		start := c.pos
		body = c.inside(func() {
			c.frame.index[l.Index.Name] = c.defined(index)
			for k, o := range carry {
				if o.uniform {
					c.defined(o)
				}
				c.vals[int(l.Carry)+k] = o
			}
			c.block(&l.Body)
			c.yields(carry, next, c.read(l.Body.Yield), start)
		})
		for k := range carry { // the values of the next round
			c.use(carry[k].reg)
			c.use(next[k].reg)
		}
	})
	c.packs = c.packs[:len(c.packs)-1]
	return func() {
		out := make([]*operand, len(init))
		from := make([]move, len(init))
		swaps := make([]move, len(init))
		for k, o := range init {
			from[k].to, swaps[k] = carry[k].reg, move{carry[k].reg, next[k].reg}
			if uniform[k] {
				from[k].from = o.reg
				out[k] = c.cell(o.elem, here)
			} else {
				from[k].from = c.lanes(o)
				out[k] = c.fresh(o.elem)
			}
			c.use(carry[k].reg)
		}
		copyAll := c.copies(from, uniform)
		results := make([]move, len(init))
		for k := range out {
			results[k] = move{out[k].reg, carry[k].reg}
		}
		giveAll := c.copies(results, uniform)
		reg, by := index.reg, r.by
		c.emit(func(w *Worker, n int) int {
			i, count := w.rounds(&r)
			copyAll(w, n)
			for round := uint64(0); round < count; round++ {
				if w.spend(n) {
					return 0
				}
				w.regs[reg].i64[0] = i
				if len(body.steps) > 0 && w.exec(body, n) == 0 {
					if w.over() {
						return 0
					}
					break // in all lanes
				}
				for _, m := range swaps {
					w.regs[m.to], w.regs[m.from] = w.regs[m.from], w.regs[m.to]
					w.own[m.to], w.own[m.from] = w.own[m.from], w.own[m.to]
				}
				i += by
			}
			giveAll(w, n)
			return n
		})
		for k, o := range out {
			if o.uniform {
				c.defined(o)
			}
			c.vals[int(s.Dst)+k] = o
		}
	}
}

// yields gives every carried value the register of its next value, with which it changes places
// after the round: the one that the body, which begins at position start, has computed it in, or a
// copy.
func (c *compiler) yields(carry, next, list []*operand, start int) {
	taken := map[int]bool{}
	for k, x := range list {
		if carry[k].uniform {
			if x.uniform { // else the body is compiled again
				c.copyTo(next[k], x)
			}
			continue
		}
		r := &c.regs[x.reg]
		if x.uniform || r.def <= start || r.ctx != c.ctx || r.fixed || r.view || r.pair >= 0 || taken[x.reg] || x.reg == carry[k].reg {
			next[k] = c.fresh(x.elem)
			c.copyTo(next[k], x)
		} else {
			next[k] = x
			c.use(x.reg)
		}
		taken[next[k].reg] = true
		c.regs[carry[k].reg].pair = next[k].reg
		c.regs[next[k].reg].pair = carry[k].reg
	}
}

// copyTo emits a copy of a value to a register of the context, or to a cell.
func (c *compiler) copyTo(dst, x *operand) {
	to, a := dst.reg, accessTo(dst.elem)
	if dst.uniform {
		from := x.reg
		c.emit(func(w *Worker, n int) int {
			a.copy(&w.regs[to], &w.regs[from], 1)
			return n
		})
		return
	}
	from := c.lanes(x)
	c.use(to)
	c.emit(func(w *Worker, n int) int {
		a.copy(&w.regs[to], &w.regs[from], n)
		return n
	})
}

// copies is a list of copies of registers, or of one element where one says so.
func (c *compiler) copies(list []move, one []bool) func(w *Worker, n int) {
	access := make([]access, len(list))
	for k, m := range list {
		access[k] = accessTo(c.regs[m.to].elem)
	}
	one = append([]bool(nil), one...)
	return func(w *Worker, n int) {
		for k, m := range list {
			lanes := n
			if one[k] {
				lanes = 1
			}
			access[k].copy(&w.regs[m.to], &w.regs[m.from], lanes)
		}
	}
}

// leave compiles a break.
func (c *compiler) leave(cond *operand) {
	if p := c.packing(); p != nil {
		p.leave(c, cond)
		return
	}
	if !cond.uniform {
		c.mixed = true
		return
	}
	reg := cond.reg
	c.emit(func(w *Worker, n int) int {
		if w.regs[reg].b[0] != 0 {
			return 0
		}
		return n
	})
}
