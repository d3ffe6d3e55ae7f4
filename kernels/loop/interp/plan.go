package interp

// This file prepares the statements of a nest. It numbers registers, resolves operations, and finds the
// last reader of each register.

import (
	"fmt"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// cheapSides is the number of operations up to which both sides of an If run on all lanes.
const cheapSides = 16

// planner prepares bodies.
type planner struct {
	*Code
	*body
	functions map[*loop.Function]*body
	around    *stmt        // the innermost enclosing loop
	bits      []loop.Val   // values that are bits of floats
	several   map[int]bool // see contributors
}

// reads is a set of registers in the order of insertion.
type reads struct {
	list []int
	has  map[int]bool
}

func (s *reads) add(list ...int) {
	for _, r := range list {
		if !s.has[r] {
			s.has[r] = true
			s.list = append(s.list, r)
		}
	}
}

func newReads() reads { return reads{has: map[int]bool{}} }

// plan prepares the statements of a nest. Indices of the space from the third on become loops around
// the point.
func (c *Code) plan() {
	n := c.nest
	p := &planner{Code: c, functions: map[*loop.Function]*body{}, several: contributors(n)}
	point := &n.Body
	whole := point
	for k := len(n.Space) - 1; k >= 2; k-- {
		whole = &loop.Block{Stmts: []loop.Stmt{{Code: loop.For, Dst: loop.NoVal, Loop: &loop.Loop{Index: n.Space[k], Carry: loop.NoVal, Body: *whole}}}}
	}
	c.body = p.newBody(n.Types, n.Names, n.Tables, whole)
	b := c.body.block
	for k := 2; k < len(n.Space); k++ {
		b = b.stmts[0].inner.block
	}
	b.point = true
}

func (c *planner) newBody(elems []types.Elem, names []string, tables []loop.Table, stmts *loop.Block) *body {
	outer, bits, around := c.body, c.bits, c.around
	c.body, c.bits, c.around = &body{number: len(c.bodies), values: len(elems)}, nil, nil
	c.bodies = append(c.bodies, c.body)
	c.elems = slices.Clone(elems)
	for range names {
		c.register(types.I64)
	}
	c.lane = c.register(types.I64)
	c.kept = make([]bool, len(elems))
	for _, t := range tables {
		c.body.tables = append(c.body.tables, tableOf(t))
	}
	c.body.block = c.block(stmts)
	out := c.body
	c.body, c.bits, c.around = outer, bits, around
	return out
}

// tableOf returns the words of a table as a row of its element type.
func tableOf(t loop.Table) *value.Dense {
	d := value.New(t.Elem, 1, len(t.Words))
	a := accessTo(t.Elem)
	one := a.fresh(1)
	for k, word := range t.Words {
		a.setWord(&one, word)
		a.store(d, k, 1, &one, 1)
	}
	return d
}

func (c *planner) register(e types.Elem) int {
	c.elems = append(c.elems, e)
	return len(c.elems) - 1
}

// block prepares statements and finds the last reader of each register.
func (c *planner) block(b *loop.Block) *block {
	if b == nil {
		return &block{}
	}
	out := &block{stmts: make([]stmt, len(b.Stmts))}
	last := map[int]int{} // the last statement that reads a register of the block
	outside := newReads()
	for i := range b.Stmts {
		s := &out.stmts[i]
		for _, r := range c.stmt(s, &b.Stmts[i]) {
			if _, own := last[r]; own {
				last[r] = i
			} else {
				outside.add(r)
			}
		}
		for k := range s.N {
			if r := s.dst + k; !c.isKept(r) {
				out.own, last[r] = append(out.own, r), i
			}
		}
	}
	for k, v := range b.Yield {
		r := int(v)
		_, own := last[r]
		if !own && !c.isKept(r) {
			outside.add(r)
		}
		out.yield = append(out.yield, handed{r, own && !slices.Contains(b.Yield[k+1:], v)})
	}
	for _, r := range out.own {
		if !slices.Contains(b.Yield, loop.Val(r)) {
			s := &out.stmts[last[r]]
			s.free = append(s.free, r)
		}
	}
	out.reads = outside.list
	return out
}

func (c *planner) isKept(r int) bool { return r < len(c.kept) && c.kept[r] }

// stmt prepares a statement and returns the registers that it reads.
func (c *planner) stmt(s *stmt, of *loop.Stmt) []int {
	*s = stmt{Stmt: of, dst: int(of.Dst)}
	used := newReads()
	var elems []types.Elem
	for _, v := range of.Args {
		s.args, elems = append(s.args, int(v)), append(elems, c.elems[v])
		if !c.isKept(int(v)) {
			used.add(int(v))
		}
	}
	for k, l := range of.At {
		s.at[k] = c.form(l, &used)
	}
	s.along = !slices.ContainsFunc(append(slices.Clone(s.at[0].terms), s.at[1].terms...), func(t term) bool { return t.reg < c.values })
	switch of.Code {
	case loop.Const:
		c.kept[s.dst] = true
		c.consts = append(c.consts, constant{s.dst, of.Imm})
	case loop.IndexOf:
		used.add(c.values + int(of.Imm))
	case loop.Load:
		c.load(s, &used)
	case loop.Look:
		t := c.body.tables[of.Mem.N]
		a := accessTo(t.Elem)
		s.do = func(dst, at, _, _ *slab, n int) { a.look(dst, t, at.I64[:n]) }
	case loop.Store:
		s.bits = slices.Contains(c.bits, of.Args[0])
		used.add(c.lane)
	case loop.Reduce:
		s.ordered = !c.nest.Results[of.Mem.N].Class.Free(elems[0]) && c.several[of.Mem.N]
		c.contributions = append(c.contributions, reducedInfo{of.Mem.N, elems[0]})
		used.add(c.lane)
	case loop.Break:
		s.inner, s.list = c.around.inner, c.around.list
		c.around.inner.breaks = true
	case loop.Apply:
		c.apply(s)
	case loop.If:
		s.then, s.other, s.list = c.block(of.Then), c.block(of.Else), c.newList()
		s.cheap = c.harmless(of.Then) && c.harmless(of.Else) && cost(of.Then)+cost(of.Else) <= cheapSides
		used.add(s.then.reads...)
		used.add(s.other.reads...)
	case loop.For:
		c.loop(s, &used)
	case loop.Check:
	default:
		if !of.Code.IsOp() {
			panic(fmt.Sprintf("BUG: no statement %d", of.Code))
		}
		s.do = operationOf(of.Code, elems)
		if of.Code == loop.Bits {
			c.bits = append(c.bits, of.Dst)
		}
	}
	if s.do != nil && of.Code != loop.Look && !canFail(of.Code) && len(used.list) == 0 && c.body.number == 0 {
		c.early = append(c.early, *s)
		c.kept[s.dst], s.do = true, nil
	}
	return used.list
}

func (c *planner) newList() int {
	c.lists++
	return c.lists - 1
}

func (c *planner) load(s *stmt, used *reads) {
	switch {
	case s.Mem.Kind == loop.LocalMem:
		used.add(c.lane)
	case c.nest.Params[s.Mem.N].Kind == loop.ScalarParam:
		c.kept[s.dst] = true
		c.scalars = append(c.scalars, scalar{s.dst, s.Mem.N})
	}
}

// apply prepares the call of a function. It calls a loop of package vec that gives the same bytes, or
// else the function's body.
func (c *planner) apply(s *stmt) {
	f := s.Func
	if f.Go != nil {
		s.do = native(f)
		return
	}
	if s.do = functionLoop(f); s.do != nil {
		return
	}
	if c.functions[f] == nil {
		c.functions[f] = c.newBody(f.Types, f.Names, f.Tables, &f.Body)
	}
	s.call = c.functions[f]
}

// loop prepares a For.
func (c *planner) loop(s *stmt, used *reads) {
	l := s.Loop
	in := &inner{dst: s.dst, index: c.values + l.Index.Name, count: c.register(types.I64)}
	s.inner, s.list = in, c.newList()
	in.from, in.to = c.form(l.Index.Range.From, used), c.form(l.Index.Range.To, used)
	for k, v := range l.Init {
		in.init, in.carry = append(in.init, int(v)), append(in.carry, int(l.Carry)+k)
		in.next = append(in.next, c.register(c.elems[v]))
		if !c.isKept(int(v)) {
			used.add(int(v))
		}
	}
	outer := c.around
	c.around = s
	in.block = c.block(&l.Body)
	c.around = outer
	for k, y := range in.yield {
		if slices.Contains(in.carry, y.reg) {
			in.yield[k].last = !slices.ContainsFunc(in.yield[k+1:], func(z handed) bool { return z.reg == y.reg })
		}
	}
	in.reads = slices.DeleteFunc(in.reads, func(r int) bool { return r == in.index || slices.Contains(in.carry, r) })
	if !slices.Contains(in.reads, c.lane) {
		in.reads = append(in.reads, c.lane)
	}
	used.add(in.reads...)
	in.moves = slices.Concat(in.reads, in.carry, in.own, []int{in.index, in.count})
}

// form prepares a linear form. The part that does not depend on points gets a number in Code.known.
func (c *planner) form(l loop.Lin, used *reads) (out form) {
	part := loop.Lin{Const: l.Const}
	for _, t := range l.Terms {
		switch t.Sym.Kind {
		case loop.IndexSym:
			out.terms = append(out.terms, term{t.Coef, c.values + t.Sym.N})
		case loop.ValSym:
			out.terms = append(out.terms, term{t.Coef, t.Sym.N})
		default:
			part.Terms = append(part.Terms, t)
			continue
		}
		if r := out.terms[len(out.terms)-1].reg; !c.isKept(r) {
			used.add(r)
		}
	}
	for out.known = range c.known {
		if c.known[out.known].Equal(part) {
			return out
		}
	}
	c.known = append(c.known, part)
	out.known = len(c.known) - 1
	return out
}

// harmless reports whether statements end, cannot fail and have no effects, for all values.
func (c *planner) harmless(b *loop.Block) bool {
	return !loop.Some(b.Stmts, func(s *loop.Stmt) bool {
		switch {
		case s.Code == loop.Const, s.Code == loop.IndexOf, s.Code == loop.If:
			return false
		case s.Code == loop.Apply:
			return functionLoop(s.Func) == nil && !c.harmless(&s.Func.Body)
		case s.Code == loop.Load:
			return s.Mem.Kind != loop.ParamMem || c.nest.Params[s.Mem.N].Kind != loop.ScalarParam
		}
		return !s.Code.IsOp() || canFail(s.Code)
	})
}

// canFail reports whether an operation is undefined for some operands.
func canFail(c loop.Code) bool { return c == loop.IDiv || c == loop.Mod }

// cost is the number of operations of a block without loops.
func cost(b *loop.Block) (n int) {
	loop.EachStmt(b, func(s *loop.Stmt) {
		if n++; s.Code == loop.Apply {
			n += cost(&s.Func.Body)
		}
	})
	return n
}

// contributors returns the results whose contributions do not come in the order of the points if each
// statement runs for all lanes. They have several contributing statements, or one in a loop.
func contributors(n *loop.Nest) map[int]bool {
	count := map[int]int{}
	times := max(1, len(n.Space)-1) // indices from the third on are loops
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		if s.Code == loop.Reduce {
			count[s.Mem.N] += times
		}
		if s.Loop != nil {
			loop.EachStmt(&s.Loop.Body, func(s *loop.Stmt) {
				if s.Code == loop.Reduce {
					count[s.Mem.N] += 2
				}
			})
		}
	})
	several := map[int]bool{}
	for k, times := range count {
		several[k] = times > 1
	}
	return several
}
