package interp

// This file compiles and runs loops whose lanes leave at different rounds. The lanes are packed in
// a context of their own. A lane that leaves gives its carried values to the results; when lanes
// have left the others move together.

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// packed is a For or a Fold whose lanes leave at different rounds.
type packed struct {
	list  int // of Worker.lists
	ctx   *context
	body  *block
	carry []int
	next  []int
	init  []move // from registers of the context around
	// result are the registers, of the context around, of the final values.
	result []int
	access []access // of the carried values
	// lazy says that the body cannot fail and changes nothing, so that it may run on lanes that
	// have left: they are moved out when they are many.
	lazy   bool
	moves  []moved // all registers that move with the lanes between rounds
	breaks []*breaking
	// A range of steps: its rounds are counted in the register count, or are the same in all lanes.
	steps *steps
	count int
	index int // cell or register; by is added every round
	cell  bool
	by    int64
	start int
}

// moved is a register that moves with the lanes.
type moved struct {
	reg    int
	access access
}

// breaking is a break: what moves with the lanes besides, because the rest of the round reads it.
type breaking struct {
	pos  int
	more []moved
}

// lanes is what a worker knows of the packed lanes of a loop or branch.
type lanes struct {
	// at is the lane of the context around that each lane is.
	at    []int
	move  []int
	alive []uint8
	stop  []uint8
	// all and live count the packed lanes and those that have not left.
	all, live int
	least     uint64 // the least number of rounds of a lane
}

// newPacked begins a context for a loop.
func (c *compiler) newPacked(s *loop.Stmt) *packed {
	p := &packed{list: c.lists, ctx: &context{parent: c.ctx, start: c.pos}, start: c.pos}
	c.lists++
	p.lazy = s.Code == loop.For && c.harmless(&s.Loop.Body)
	return p
}

// harmless reports statements that cannot fail, change nothing and end, whatever the values are.
func (c *compiler) harmless(b *loop.Block) bool {
	if b == nil {
		return true
	}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		switch {
		case s.Code.IsOp():
			if canFail(s.Code) {
				return false
			}
		case s.Code == loop.Const, s.Code == loop.IndexOf, s.Code == loop.Break:
		case s.Code == loop.Apply:
			if functionLoop(s.Func) == nil && !c.harmless(&s.Func.Body) {
				return false
			}
		case s.Code == loop.If:
			if !c.harmless(s.Then) || !c.harmless(s.Else) {
				return false
			}
		case s.Code == loop.Load && s.Mem.Kind == loop.ParamMem && c.nest.Params[s.Mem.N].Kind == loop.ScalarParam:
		default:
			return false
		}
	}
	return true
}

// pack compiles a For whose lanes are packed.
func (c *compiler) pack(s *loop.Stmt, init []*operand) {
	l := s.Loop
	p := c.newPacked(s)
	out := make([]*operand, len(init))
	for k, o := range init {
		out[k] = c.fresh(o.elem)
		p.result = append(p.result, out[k].reg)
		p.access = append(p.access, accessTo(o.elem))
	}
	p.compile(c, s, init, func(carry []*operand) {
		for k, o := range carry {
			c.vals[int(l.Carry)+k] = o
		}
		c.block(&l.Body)
	})
	for k, o := range init {
		p.init = append(p.init, move{p.carry[k], c.lanes(o)})
		c.use(out[k].reg)
	}
	c.emit(func(w *Worker, n int) int {
		if w.runPacked(p, n, nil); w.over() {
			return 0
		}
		return n
	})
	for k, o := range out {
		c.vals[int(s.Dst)+k] = o
	}
}

// compile makes the body of a packed loop.
func (p *packed) compile(c *compiler, s *loop.Stmt, init []*operand, inside func(carry []*operand)) {
	l := s.Loop
	p.enter(c, l.Index.Range)
	outer := c.ctx
	c.packs = append(c.packs, p)
	c.looping(func() {
		c.ctx = p.ctx
		p.ctx.start = p.start
		p.body = c.inside(func() {
			p.indices(c, l.Index)
			carry, next := make([]*operand, len(init)), make([]*operand, len(init))
			for k, o := range init {
				carry[k] = c.fresh(o.elem)
				c.regs[carry[k].reg].def = p.start
				p.carry = append(p.carry, carry[k].reg)
			}
			inside(carry)
			if s.Code == loop.For {
				c.yields(carry, next, c.read(l.Body.Yield), p.start)
			}
			for k := range next {
				p.next = append(p.next, next[k].reg)
			}
		})
		p.finish(c)
		c.ctx = outer
	})
	c.packs = c.packs[:len(c.packs)-1]
	for _, m := range p.ctx.imports {
		c.use(m.from)
	}
}

// enter compiles what the rounds depend on, in the context around.
func (p *packed) enter(c *compiler, r loop.Range) {
	if c.uniformRange(r) {
		at := c.steps(r)
		p.steps, p.by = &at, at.by
		return
	}
	p.by = r.By
	from, to, by := c.form(r.From), c.form(r.To), r.By
	count := c.fresh(types.I64)
	reg := count.reg
	c.emit(func(w *Worker, n int) int {
		a, b, dst := w.regs[from].i64[:n], w.regs[to].i64[:n], w.regs[reg].i64[:n]
		for k := range dst {
			dst[k] = int64(rounds(a[k], b[k], by))
		}
		return n
	})
	p.count, p.index = reg, from
	c.use(from)
	c.use(reg)
}

// form computes a linear form for every lane of the context.
func (c *compiler) form(l loop.Lin) int {
	form := c.linear(l, false)
	out := c.fresh(types.I64).reg
	c.emit(func(w *Worker, n int) int {
		dst := w.regs[out].i64[:n]
		fillWords(dst, w.base(&form))
		for _, t := range form.varying {
			for k, x := range w.regs[t.reg].i64[:n] {
				dst[k] += t.coef * x
			}
		}
		return n
	})
	c.use(out)
	return out
}

// indices makes the index visible in the body.
func (p *packed) indices(c *compiler, x loop.Index) {
	switch {
	case p.steps != nil:
		index := c.cell(types.I64, here)
		p.index, p.cell = index.reg, true
		c.frame.index[x.Name] = c.defined(index)
	default:
		// The counts and the indices begin as those of the lanes of the context around.
		outer := p.ctx.parent
		p.count = c.carriedIn(p.count, outer, p.ctx)
		p.index = c.carriedIn(p.index, outer, p.ctx)
		c.use(p.count)
		c.use(p.index)
		c.frame.index[x.Name] = &operand{elem: types.I64, level: here, reg: p.index, ctx: p.ctx, spread: -1}
	}
}

// leave compiles a break: the lanes where cond holds leave.
func (p *packed) leave(c *compiler, cond *operand) {
	reg := c.lanes(cond)
	b := &breaking{pos: c.pos}
	p.breaks = append(p.breaks, b)
	c.emit(func(w *Worker, n int) int {
		l := &w.lists[p.list]
		return w.lose(p, l, w.regs[reg].b, b.more)
	})
}

// finish lists the registers that move with the lanes, at the end of the body.
func (p *packed) finish(c *compiler) {
	add := func(list []moved, reg int) []moved {
		c.use(reg)
		return append(list, moved{reg, accessTo(c.regs[reg].elem)})
	}
	for _, m := range p.ctx.imports {
		p.moves = add(p.moves, m.to)
	}
	for _, reg := range p.carry {
		p.moves = add(p.moves, reg)
	}
	own := map[int]bool{}
	for _, m := range p.moves {
		own[m.reg] = true
	}
	for _, b := range p.breaks {
		for i := range c.regs {
			if r := &c.regs[i]; r.ctx == p.ctx && !r.cell && !r.fixed && !own[i] && r.def > p.start && r.def < b.pos && r.last > b.pos {
				b.more = append(b.more, moved{i, accessTo(r.elem)})
			}
		}
	}
	for k, reg := range p.next { // a next value is read after the round
		c.use(reg)
		c.use(p.carry[k])
	}
}

// runPacked runs a packed loop on n lanes; round is called after every round with the number of
// lanes. It is nil for a For.
func (w *Worker) runPacked(p *packed, n int, round func(n int)) {
	l := &w.lists[p.list]
	for k := range n {
		l.at[k], l.alive[k] = k, 1
	}
	l.all, l.live = n, n
	for _, m := range p.ctx.imports {
		accessTo(w.p.regs[m.to].elem).copy(&w.regs[m.to], &w.regs[m.from], n)
	}
	for k, m := range p.init {
		p.access[k].copy(&w.regs[m.to], &w.regs[m.from], n)
	}
	var i int64
	var count uint64
	switch {
	case p.steps != nil:
		i, count = w.rounds(p.steps)
	default:
		l.least = leastRounds(w.regs[p.count].i64[:n])
	}
	for r := uint64(0); ; r++ {
		if w.spend(l.all) {
			return
		}
		switch {
		case p.steps != nil:
			if r == count {
				w.loseAll(p, l)
				return
			}
			w.regs[p.index].i64[0] = i
		case r >= l.least:
			list := w.regs[p.count].i64
			for k := range l.all {
				l.stop[k] = 0
				if r >= uint64(list[k]) {
					l.stop[k] = 1
				}
			}
			if w.lose(p, l, l.stop, nil) == 0 {
				return
			}
			l.least = leastRounds(w.regs[p.count].i64[:l.all])
		}
		if len(p.body.steps) > 0 && w.exec(p.body, l.all) == 0 {
			return // all have left, or the window is over
		}
		if round != nil {
			round(l.all)
		}
		for k, c := range p.carry {
			d := p.next[k]
			w.regs[c], w.regs[d] = w.regs[d], w.regs[c]
			w.own[c], w.own[d] = w.own[d], w.own[c]
		}
		if p.cell {
			i += p.by
			continue
		}
		for k, x := range w.regs[p.index].i64[:l.all] {
			w.regs[p.index].i64[k] = x + p.by
		}
	}
}

func leastRounds(list []int64) uint64 {
	least := uint64(1<<64 - 1)
	for _, x := range list {
		least = min(least, uint64(x))
	}
	return least
}

// lose lets the lanes with stop leave and returns how many packed lanes there are; 0: all have
// left. more is what moves with the lanes besides.
func (w *Worker) lose(p *packed, l *lanes, stop []uint8, more []moved) int {
	left := 0
	for k, s := range stop[:l.all] {
		if s&l.alive[k] != 0 {
			l.alive[k] = 0
			l.move[left] = k
			left++
		}
	}
	if left == 0 {
		return l.all
	}
	w.give(p, l, l.move[:left])
	if l.live -= left; l.live == 0 {
		return 0
	}
	if !p.lazy || l.all-l.live > l.all/4 {
		w.compact(p, l, more)
	}
	return l.all
}

// give writes the carried values of packed lanes to the results.
func (w *Worker) give(p *packed, l *lanes, list []int) {
	if len(p.result) == 0 {
		return
	}
	to := w.places[:len(list)]
	for e, k := range list {
		to[e] = l.at[k]
	}
	for j, reg := range p.result {
		a := p.access[j]
		part := &w.spare[w.p.regs[reg].elem]
		a.collect(part, &w.regs[p.carry[j]], list)
		a.scatter(&w.regs[reg], part, to)
	}
}

// loseAll ends the loop for the lanes that are left.
func (w *Worker) loseAll(p *packed, l *lanes) {
	n := 0
	for k := range l.all {
		if l.alive[k] != 0 {
			l.move[n] = k
			n++
		}
	}
	w.give(p, l, l.move[:n])
	l.live = 0
}

// compact moves the lanes that have not left together.
func (w *Worker) compact(p *packed, l *lanes, more []moved) {
	n := 0
	for k := range l.all {
		if l.alive[k] != 0 {
			l.move[n] = k
			n++
		}
	}
	list := l.move[:n]
	for _, m := range p.moves {
		m.access.collect(&w.regs[m.reg], &w.regs[m.reg], list)
	}
	for _, m := range more {
		m.access.collect(&w.regs[m.reg], &w.regs[m.reg], list)
	}
	for to, k := range list {
		l.at[to], l.alive[to] = l.at[k], 1
	}
	l.all = n
}
