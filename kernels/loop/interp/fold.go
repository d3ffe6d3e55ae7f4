package interp

// This file compiles reductions: those inside a point, and contributions to results.

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// fold compiles a reduction inside a point. It is a state with a place for every lane of the
// context around.
func (c *compiler) fold(s *loop.Stmt) {
	l := s.Loop
	id := len(c.folds)
	c.folds = append(c.folds, foldInfo{class: l.Class, elem: c.frame.types[l.Body.Yield[0]]})
	gives := c.frame.types[s.Dst]
	if !c.uniformRange(l.Index.Range) {
		out := c.fresh(gives)
		p := c.newPacked(s)
		var in []int
		p.compile(c, s, nil, func([]*operand) {
			c.block(&l.Body)
			for _, o := range c.read(l.Body.Yield) {
				in = append(in, c.lanes(o))
			}
		})
		reg := out.reg
		c.use(reg)
		c.emit(func(w *Worker, n int) int {
			st := w.folds[id]
			st.reset(n)
			lanes := &w.lists[p.list]
			w.runPacked(p, n, func(m int) {
				x, y := w.contribution(in)
				st.add(lanes.at[:m], x, y)
			})
			if w.over() {
				return 0
			}
			st.result(&w.regs[reg], 0, n)
			return n
		})
		c.vals[s.Dst] = out
		return
	}
	r := c.steps(l.Index.Range)
	index := c.cell(types.I64, here)
	var body *block
	var in []int
	uniform := true
	c.packs = append(c.packs, nil)
	c.looping(func() {
		body = c.inside(func() {
			c.frame.index[l.Index.Name] = c.defined(index)
			c.block(&l.Body)
			yield := c.read(l.Body.Yield)
			for _, o := range yield {
				uniform = uniform && o.uniform
			}
			for _, o := range yield {
				if uniform {
					in = append(in, o.reg)
				} else {
					in = append(in, c.lanes(o))
				}
			}
		})
		for _, reg := range in {
			if !uniform {
				c.use(reg)
			}
		}
	})
	c.packs = c.packs[:len(c.packs)-1]
	out := c.fresh(gives)
	if uniform {
		out = c.cell(gives, here)
	}
	reg, at, by := out.reg, index.reg, r.by
	c.emit(func(w *Worker, n int) int {
		m := n
		if uniform {
			m = 1
		}
		st := w.folds[id]
		st.reset(m)
		i, count := w.rounds(&r)
		for range count {
			if w.spend(n) {
				return 0
			}
			w.regs[at].i64[0] = i
			if len(body.steps) > 0 && w.exec(body, n) == 0 {
				return 0
			}
			x, y := w.contribution(in)
			st.each(m, x, y)
			i += by
		}
		st.result(&w.regs[reg], 0, m)
		return n
	})
	if uniform {
		c.defined(out)
	}
	c.vals[s.Dst] = out
}

// contribution is the registers of the one or two values of a contribution.
func (w *Worker) contribution(in []int) (x, y *slab) {
	return &w.regs[in[0]], &w.regs[in[len(in)-1]]
}

// contributors are the results whose contributions do not come in the order of the points
// if each statement runs for all lanes: those with several statements, or with one in a loop.
func contributors(n *loop.Nest) map[int]bool {
	count := map[int]int{}
	var walk func(b *loop.Block, times int)
	walk = func(b *loop.Block, times int) {
		if b == nil {
			return
		}
		for i := range b.Stmts {
			s := &b.Stmts[i]
			if s.Code == loop.Reduce {
				count[s.Mem.N] += times
			}
			walk(s.Then, times)
			walk(s.Else, times)
			if s.Loop != nil {
				walk(&s.Loop.Body, 2)
			}
		}
	}
	walk(&n.Body, max(1, len(n.Space)-1)) // indices from the third on are loops
	several := map[int]bool{}
	for k, times := range count {
		several[k] = times > 1
	}
	return several
}

// contribute compiles a contribution to a result.
func (c *compiler) contribute(s *loop.Stmt, in []*operand) {
	k := s.Mem.N
	at := c.place(s.At, false)
	var regs []int
	var elems []types.Elem
	for _, o := range in {
		regs, elems = append(regs, c.lanes(o)), append(elems, o.elem)
	}
	ordered := !c.nest.Results[k].Class.Free(elems[0]) && c.several[k]
	lane := 0
	if ordered {
		lane = c.lanes(c.laneNumbers())
	}
	c.reduced = append(c.reduced, reducedInfo{k, elems[0]})
	c.emit(func(w *Worker, n int) int {
		r := &w.results[k]
		x, y := w.contribution(regs)
		from, step, regular := w.at(&at, int64(r.cols), 1, n)
		if from -= r.base; !regular && r.base != 0 {
			for e := range w.places[:n] {
				w.places[e] -= r.base
			}
		}
		if regular && step == 0 && !ordered {
			r.state.all(from, x, y, n)
			return n
		}
		if regular {
			for e := range w.places[:n] {
				w.places[e] = from
				from += step
			}
		}
		if ordered {
			r.keep(w.regs[lane].i64[:n], w.places[:n], elems, x, y)
		} else {
			r.state.add(w.places[:n], x, y)
		}
		return n
	})
}

// reducedInfo is a reduced result and the element type of its contributions.
type reducedInfo struct {
	result int
	elem   types.Elem
}
