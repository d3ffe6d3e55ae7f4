package interp

// This file compiles If.

import "flow/ir/loop"

// cheapSides is the number of operations up to which both sides of an If run on all lanes.
const cheapSides = 16

func (c *compiler) branch(s *loop.Stmt, cond *operand) {
	switch {
	case cond.uniform:
		c.oneSide(s, cond)
	case c.harmless(s.Then) && c.harmless(s.Else) && cost(s.Then)+cost(s.Else) <= cheapSides:
		c.block(s.Then)
		then := c.read(s.Then.Yield)
		c.block(s.Else)
		other := c.read(s.Else.Yield)
		for k := range then {
			c.vals[int(s.Dst)+k] = c.operation(loop.Select, []*operand{cond, then[k], other[k]}, then[k].elem)
		}
	default:
		c.twoSides(s, cond)
	}
}

// cost is the number of operations of a block.
func cost(b *loop.Block) int {
	if b == nil {
		return 0
	}
	n := 0
	for i := range b.Stmts {
		s := &b.Stmts[i]
		n++
		if s.Code == loop.Apply {
			n += cost(&s.Func.Body)
		}
		n += cost(s.Then) + cost(s.Else)
	}
	return n
}

// oneSide compiles an If whose condition is the same in all lanes.
func (c *compiler) oneSide(s *loop.Stmt, cond *operand) {
	n := len(s.Then.Yield)
	out := make([]*operand, n)
	var sides [2]*block
	var yields [2][]*operand
	results := make([]*operand, n)
	for k := range n {
		e := c.frame.types[int(s.Dst)+k]
		results[k] = c.fresh(e)
		out[k] = c.cell(e, here)
	}
	for k, b := range []*loop.Block{s.Then, s.Else} {
		sides[k] = c.inside(func() {
			if b != nil {
				c.block(b)
				yields[k] = c.read(b.Yield)
			}
		})
	}
	for k := range n {
		if !yields[0][k].uniform || !yields[1][k].uniform {
			out[k] = results[k]
		}
		for side := range sides {
			outer := c.cur
			c.cur = sides[side]
			c.copyTo(out[k], yields[side][k])
			c.cur = outer
		}
	}
	reg := cond.reg
	c.emit(func(w *Worker, n int) int {
		side := sides[0]
		if w.regs[reg].b[0] == 0 {
			side = sides[1]
		}
		if len(side.steps) == 0 {
			return n
		}
		return w.exec(side, n)
	})
	for k, o := range out {
		if o.uniform {
			c.defined(o)
		} else {
			c.use(o.reg)
		}
		c.vals[int(s.Dst)+k] = o
	}
}

// twoSides compiles an If that runs each side on the lanes that take it, packed together.
func (c *compiler) twoSides(s *loop.Stmt, cond *operand) {
	type side struct {
		ctx   *context
		body  *block
		yield []int
	}
	list := c.lists
	c.lists++
	out := make([]*operand, s.N)
	for k := range out {
		out[k] = c.fresh(c.frame.types[int(s.Dst)+k])
	}
	var sides [2]side
	outer := c.ctx
	for k, b := range []*loop.Block{s.Then, s.Else} {
		x := &sides[k]
		x.ctx = &context{parent: outer, start: c.pos}
		c.ctx = x.ctx
		c.pos++
		x.body = c.inside(func() {
			if b == nil {
				return
			}
			c.block(b)
			for _, o := range c.read(b.Yield) {
				x.yield = append(x.yield, c.lanes(o))
			}
		})
		c.pos++
		c.ctx = outer
	}
	reg := c.lanes(cond)
	for _, x := range sides {
		for _, m := range x.ctx.imports {
			c.use(m.from)
		}
	}
	results := make([]moved, len(out))
	for k, o := range out {
		c.use(o.reg)
		results[k] = moved{o.reg, accessTo(o.elem)}
	}
	c.emit(func(w *Worker, n int) int {
		l := &w.lists[list]
		for k := range sides {
			x, m := &sides[k], 0
			if len(x.body.steps) == 0 && len(results) == 0 {
				continue
			}
			for e, taken := range w.regs[reg].b[:n] {
				if taken == uint8(1-k) {
					l.at[m] = e
					m++
				}
			}
			if m == 0 {
				continue
			}
			for _, v := range x.ctx.imports {
				accessTo(w.p.regs[v.to].elem).collect(&w.regs[v.to], &w.regs[v.from], l.at[:m])
			}
			if len(x.body.steps) > 0 && w.exec(x.body, m) == 0 {
				return 0
			}
			for j, r := range results {
				r.access.scatter(&w.regs[r.reg], &w.regs[x.yield[j]], l.at[:m])
			}
		}
		return n
	})
	for k, o := range out {
		c.vals[int(s.Dst)+k] = o
	}
}
