package interp

// This file compiles statements.

import (
	"bytes"
	"fmt"

	"flow/ir/loop"
	"flow/ir/types"
)

// points compiles the body of the nest. Indices of the space from the third on are loops around it.
func (c *compiler) points() {
	n := c.nest
	body := &n.Body
	c.point = body
	for k := len(n.Space) - 1; k >= 2; k-- {
		l := &loop.Loop{Index: n.Space[k], Carry: loop.NoVal, Body: *body}
		if c.point == body {
			c.point = &l.Body
		}
		body = &loop.Block{Stmts: []loop.Stmt{{Code: loop.For, Dst: loop.NoVal, Loop: l}}}
	}
	c.spaceIndices()
	c.top = c.cur
	c.block(body)
}

// spaceIndices makes the first two indices of the space visible.
func (c *compiler) spaceIndices() {
	space := c.nest.Space
	if len(space) == 0 {
		return
	}
	last := space[min(1, len(space)-1)]
	if len(space) > 1 {
		name := space[0].Name
		if c.across {
			c.frame.index[name] = c.headIndex(func(w *Worker, dst []int64) {
				for _, s := range w.segments {
					fillWords(dst[s.at:s.at+s.n], s.row)
				}
			})
		} else {
			row := c.cell(types.I64, onRow)
			c.program.index = row.reg
			c.frame.index[name] = c.defined(row)
		}
	}
	by := last.Range.By
	c.frame.index[last.Name] = c.headIndex(func(w *Worker, dst []int64) {
		for _, s := range w.segments {
			x := s.first
			part := dst[s.at : s.at+s.n]
			for k := range part {
				part[k] = x
				x += by
			}
		}
	})
}

// headIndex is an index of the space that differs between lanes: a register that each batch fills
// if a step reads it.
func (c *compiler) headIndex(fill func(w *Worker, dst []int64)) *operand {
	o := c.lanesOf(types.I64, c.root)
	c.regs[o.reg].def = 0
	reg, p := o.reg, c.program
	c.head.steps = append(c.head.steps, func(w *Worker, n int) int {
		if p.regs[reg].read {
			fill(w, w.regs[reg].i64[:n])
		}
		return n
	})
	return o
}

func fillWords(dst []int64, x int64) {
	for k := range dst {
		dst[k] = x
	}
}

func (c *compiler) block(b *loop.Block) {
	if c.point != nil && len(b.Stmts) > 0 && len(c.point.Stmts) > 0 && &b.Stmts[0] == &c.point.Stmts[0] {
		c.zeroLocals()
	}
	for i := range b.Stmts {
		c.stmt(&b.Stmts[i])
	}
}

func (c *compiler) read(list []loop.Val) []*operand {
	out := make([]*operand, len(list))
	for k, v := range list {
		out[k] = c.vals[v]
	}
	return out
}

func (c *compiler) stmt(s *loop.Stmt) {
	in := c.read(s.Args)
	if s.Code.IsOp() {
		c.vals[s.Dst] = c.operation(s.Code, in, c.frame.types[s.Dst])
		if s.Code == loop.Bits {
			c.frame.bits = append(c.frame.bits, s.Dst)
		}
		return
	}
	switch s.Code {
	case loop.Const:
		c.vals[s.Dst] = c.konst(c.frame.types[s.Dst], s.Imm)
	case loop.IndexOf:
		c.vals[s.Dst] = c.frame.index[int(s.Imm)]
	case loop.Load:
		c.vals[s.Dst] = c.load(s)
	case loop.Look:
		c.vals[s.Dst] = c.look(s, in[0])
	case loop.Store:
		c.store(s, in[0])
	case loop.Reduce:
		c.contribute(s, in)
	case loop.Check:
		c.check(in[0])
	case loop.Break:
		c.leave(in[0])
	case loop.Apply:
		c.apply(s, in)
	case loop.If:
		c.branch(s, in[0])
	case loop.For:
		c.loop(s)
	case loop.Fold:
		c.fold(s)
	default:
		panic(fmt.Sprintf("BUG: no statement %d", s.Code))
	}
}

// canFail reports an operation that is not defined on all operands, and so must not run before its
// statement or on lanes that have left.
func canFail(op loop.Code) bool { return op == loop.IDiv || op == loop.Mod }

func (c *compiler) operation(op loop.Code, in []*operand, gives types.Elem) *operand {
	var list []types.Elem
	for _, o := range in {
		list = append(list, o.elem)
	}
	return c.emitLoop(operationOf(op, list), in, gives, canFail(op))
}

// emitLoop emits a loop over lanes of at most three operands, or one on a single element if all are
// uniform.
func (c *compiler) emitLoop(f operation, in []*operand, gives types.Elem, stays bool) *operand {
	uniform, l := true, onBegin
	for _, o := range in {
		uniform = uniform && o.uniform
		l = max(l, o.level)
	}
	var arg [3]int
	if uniform {
		if stays {
			l = here
		}
		out := c.cell(gives, l)
		for k, o := range in {
			arg[k] = o.reg
		}
		dst := out.reg
		c.emitAt(l, func(w *Worker, n int) int {
			f(&w.regs[dst], &w.regs[arg[0]], &w.regs[arg[1]], &w.regs[arg[2]], 1)
			return n
		})
		return c.defined(out)
	}
	for k, o := range in {
		arg[k] = c.lanes(o)
	}
	out := c.fresh(gives)
	dst := out.reg
	c.emit(func(w *Worker, n int) int {
		f(&w.regs[dst], &w.regs[arg[0]], &w.regs[arg[1]], &w.regs[arg[2]], n)
		return n
	})
	return out
}

// apply calls a function: by the loop of package vec that gives the same bytes, or by its body.
func (c *compiler) apply(s *loop.Stmt, in []*operand) {
	f := s.Func
	if f.Go != nil {
		c.vals[s.Dst] = c.emitLoop(native(f), in, types.F64, false)
		return
	}
	if g := functionLoop(f); g != nil {
		c.vals[s.Dst] = c.emitLoop(g, in, types.F64, false)
		return
	}
	outer := c.frame
	c.frame = c.newFrame(f.Types, f.Tables)
	copy(c.vals, in)
	c.block(&f.Body)
	out := c.read(f.Body.Yield)
	c.frame = outer
	copy(c.vals[s.Dst:], out)
}

func (c *compiler) look(s *loop.Stmt, at *operand) *operand {
	e := c.typeOfTable(s)
	t, a := c.program.tables[c.frame.tables[s.Mem.N]], accessTo(e)
	return c.emitLoop(func(dst, at, _, _ *slab, n int) {
		a.look(dst, t, at.i64[:n])
	}, []*operand{at}, e, true)
}

// check ends the window unless the condition holds in all lanes.
func (c *compiler) check(cond *operand) {
	reg, uniform := cond.reg, cond.uniform
	if !uniform {
		reg = c.lanes(cond)
	}
	c.emit(func(w *Worker, n int) int {
		m := n
		if uniform {
			m = 1
		}
		if bytes.IndexByte(w.regs[reg].b[:m], 0) >= 0 {
			w.flagged = true
			return 0
		}
		return n
	})
}
