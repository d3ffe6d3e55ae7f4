package amd64

// This file lowers inner loops. Lanes that have no round left are masked; a loop whose bounds are
// the same in all lanes and that is not left early needs no mask of its own.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// loop lowers a for: as long as a lane has a round left, the round is made for all, and counts in
// these alone.
func (l *lowering) loop(s *loop.Stmt) {
	x := s.Loop
	held := l.hold(x)
	var carried [squareRows][]virt // by part
	outer, counts := l.shop.virts.list(len(l.parts))[:len(l.parts)], make([]*counting, len(l.parts))
	l.each(func(k int) {
		outer[k], carried[k] = l.active, l.shop.virts.list(len(x.Init))
		for _, v := range x.Init {
			o := l.frame.vals[v]
			c := l.fresh(l.classOf(o.elem))
			if l.active != 0 && o.elem.IsFloat() && l.manyRounds(x) {
				l.move(c, constantOf(o.elem, 0), 0, true)
				l.move(c, o, l.active, false)
			} else {
				l.move(c, o, 0, true)
			}
			carried[k] = append(carried[k], c)
		}
		counts[k] = l.count(s)
	})
	left := l.shop.virts.list(len(l.parts))
	for _, c := range counts {
		left = append(left, c.left)
	}
	c := counts[0]
	top, end := l.asm.Label(), l.asm.Label()
	if outer[0] != l.top { // perhaps no lane counts
		l.jumpIfNone(end, outer...)
	}
	inner, innermost := l.inner, l.innermost
	if l.inner = nil; c.alone && l.nested > 0 {
		l.inner, l.innermost = &settling{at: len(l.steps)}, c.name
	}
	c.begin(l)
	if c.scalar {
		l.scalar(func(m *maker, _ Reg, _ regs) {
			c.index(m)
			c.compareShared(m)
			m.Jump(c.ended(), end)
		})
	}
	l.nested++
	for _, list := range carried {
		for _, v := range list {
			l.makes(v, l.depthNow())
		}
	}
	l.each(func(k int) {
		for _, s := range held {
			for _, v := range l.reductions[contribution{s, k}].words {
				l.makes(v, l.depthNow())
			}
		}
	})
	l.emit(&step{enters: true, scalar: func(m *maker, _ Reg, _ regs) { m.Bind(top) }})
	l.each(func(k int) { counts[k].test(l) })
	if c.to != 0 {
		l.jumpIfNone(end, left...)
	}
	around := l.counts
	l.counts = counts
	begin, divided := len(l.steps), l.divided
	l.each(func(k int) {
		for _, s := range held {
			l.reductions[contribution{s, k}].from = begin
		}
		for i, v := range carried[k] {
			l.set(x.Carry+loop.Val(i), operand{traits: traits{rounds: true}, v: v})
		}
	})
	for i := range x.Body.Stmts {
		if b := &x.Body.Stmts[i]; b.Code == loop.Break && c.left == 0 {
			l.jumpIf(l.frame.vals[b.Args[0]], end)
		} else if b.Code == loop.Break {
			l.each(func(k int) { l.leaveIf(b.Args[0], left[k]) })
			l.jumpIfNone(end, left...)
		} else {
			l.stmt(b)
		}
	}
	l.divided = divided // those in the loop hold for one round, because carried values change
	l.each(func(k int) { l.carry(s, carried[k], left[k], begin) })
	if !c.shared {
		l.each(func(k int) { counts[k].advance(l) })
	}
	l.emit(&step{leaves: true, scalar: func(m *maker, _ Reg, _ regs) {
		m.refuel()
		if c.shared {
			c.advanceShared(m, !c.alone || l.inMemory[c.word])
		}
		if c.scalar {
			c.compareShared(m)
			m.Jump(c.ended().Not(), top)
		} else {
			m.Goto(top)
		}
		m.Bind(end)
		m.held = 0
	}})
	if b := l.inner; b != nil {
		l.steps = slices.Insert(l.steps, b.at, b.steps...)
	}
	l.inner, l.innermost = inner, innermost
	l.nested--
	l.counts = around
	l.each(func(k int) {
		l.active = outer[k]
		delete(l.frame.inner, x.Index.Name)
		for i, v := range carried[k] {
			l.set(s.Dst+loop.Val(i), operand{v: v})
		}
	})
	l.release(held)
}

// fewRounds is the most rounds in which values that decay do not become subnormal.
const fewRounds = 256

// manyRounds reports a loop whose carried values begin with 0 in lanes that do not count. These lanes
// load zeros, so y = 0.9 * y + 0.1 * x would decay to subnormal numbers there, with which a processor
// computes ten times as slowly: a filter of three columns took six times as long as one of eight. Loops
// within others that end by their values begin too often for that.
func (l *lowering) manyRounds(x *loop.Loop) bool {
	r := x.Index.Range
	if r.Kind != loop.Steps {
		return l.nested == 0
	}
	return !r.From.Known() || !r.To.Known() || r.To.Const-r.From.Const > fewRounds
}

// leaveIf takes the lanes in which v is true from left. A comparison that nothing else reads does
// it itself: it is made the other way round, in the lanes of left alone.
func (l *lowering) leaveIf(v loop.Val, left virt) {
	o := l.frame.vals[v]
	if !o.konst && l.reads(v) == 1 {
		for k := len(l.steps) - 1; k >= 0; k-- {
			s := &l.steps[k]
			if s.dst == o.v {
				if s.Op != VCMPPDK && s.Op != VCMPPSK && s.Op != VPCMPQ && s.Op != VPCMPUQ || s.mask != 0 {
					break
				}
				s.Imm ^= 4
				s.dst, s.mask, s.effect = left, left, true
				return
			}
			if s.reading(left) || s.scalar != nil && !s.pure {
				break
			}
		}
	}
	l.emit(&step{Inst: Inst{Op: KANDNW}, a: l.vector(o), b: left, dst: left, effect: true})
}

// carry moves the values of a round to those that the next one begins with, in the lanes of left,
// which is 0 where all lanes make the same rounds. The steps of the body begin at begin.
func (l *lowering) carry(s *loop.Stmt, carried []virt, left virt, begin int) {
	// All next values are read before one is changed.
	next := l.cut(len(carried))
	for k, v := range s.Loop.Body.Yield {
		o := l.frame.vals[v]
		if !o.konst && o.v != carried[k] && slices.Contains(carried, o.v) {
			copied := l.fresh(l.classOf(o.elem))
			l.move(copied, o, 0, true)
			o.v = copied
		}
		next[k] = o
	}
	for k, o := range next {
		if !o.konst && o.v == carried[k] {
			continue
		}
		mask := left
		if s.Loop.Sums == nil && l.reads(s.Dst+loop.Val(k)) == 0 { // lanes that have left may hold anything
			mask = 0
		}
		once := 0
		for _, other := range next {
			if !other.konst && other.v == o.v {
				once++
			}
		}
		if once > 1 || !l.redirect(carried[k], o, mask, begin) {
			l.move(carried[k], o, mask, mask == 0)
		}
	}
}

// redirect makes the step that makes o write to instead, in the lanes of mask, if it is a step from
// begin on behind which neither is read and no jump leaves. It reports whether it did.
func (l *lowering) redirect(to virt, o operand, mask virt, begin int) bool {
	if o.konst || l.classOf(o.elem) != vectorClass {
		return false
	}
	late := false // the mask changes behind the step
	for k := len(l.steps) - 1; k >= begin; k-- {
		s := &l.steps[k]
		if s.dst == o.v {
			if s.effect || s.keeps || s.mask != 0 && s.scalar == nil || mask != 0 && !l.maskable(s, o.elem) {
				return false
			}
			for i := k + 1; late && i < len(l.steps); i++ {
				if x := l.steps[i].dst; x != 0 && s.reading(x) {
					return false // what it reads changes, too
				}
			}
			if mask != 0 {
				s.mask, s.keeps = mask, true
			}
			if s.dst, s.effect = to, true; late {
				moved := *s
				l.steps = append(slices.Delete(l.steps, k, k+1), moved)
			}
			return true
		}
		late = late || mask != 0 && s.dst == mask
		if s.scalar != nil && (s.dst == 0 || !s.pure) || s.reading(to) || s.reading(o.v) {
			return false
		}
	}
	return false
}

// maskable reports an instruction that leaves lanes of its result as they are, as many as vectors
// of e have.
func (l *lowering) maskable(s *step, e types.Elem) bool {
	f := &forms[s.Op]
	return s.scalar == nil && !s.fused.is && f.evexW != no && !f.noMask && f.pat != mr && s.Len == l.vlen(e) &&
		(f.tuple != tFull || int(f.elem) == e.Size())
}

// count decides how the rounds of a loop are counted.
func (l *lowering) count(s *loop.Stmt) *counting {
	x := s.Loop
	c := &counting{name: x.Index.Name, rng: x.Index.Range}
	c.rng.From, c.rng.To = l.form(c.rng.From), l.form(c.rng.To)
	c.word, c.shared = l.counter(x.Index)
	c.alone = c.shared && weigh(&x.Body).inner == 0
	ends := c.rng.Kind == loop.Steps
	if !c.shared {
		c.vector = l.fresh(vectorClass)
		from := constantOf(types.I64, 0)
		if ends {
			from = inRegister(types.I64, l.lin(c.rng.From, s.Origin))
		}
		l.move(c.vector, from, 0, true)
		if l.frame.inner == nil {
			l.frame.inner = map[int]virt{}
		}
		l.frame.inner[x.Index.Name] = c.vector
	}
	c.scalar = c.shared && ends && !l.varies(c.rng.To)
	if c.after = x.After > 0; c.after && !(c.alone && c.scalar) {
		panic("BUG: the rest of the rounds of a loop that counts in each lane")
	}
	if c.scalar && !breaks(&x.Body) || l.alike() && c.shared && (c.scalar || !ends) {
		return c
	}
	if ends && !c.scalar {
		c.to = l.lin(c.rng.To, s.Origin)
	}
	c.left = l.fresh(maskClass)
	if l.active == 0 {
		l.move(c.left, constantOf(types.Bool, 1), 0, true)
	} else {
		l.emit(&step{Inst: Inst{Op: KMOVW}, b: l.active, dst: c.left, effect: true})
	}
	return c
}

// begin is what precedes the first round.
func (c *counting) begin(l *lowering) {
	if !c.shared {
		return
	}
	l.scalar(func(m *maker, _ Reg, _ regs) {
		if !c.after { // else counterReg holds the index, because both loops contain no other
			l.scalarLin(m, c.reg(), c.rng.From)
		}
		m.StoreG(c.word.mem(), c.reg())
		if c.alone {
			m.held = 1 + c.word
		}
	})
	if c.scalar && !c.rng.To.Known() {
		l.setWord(c.word.end(), c.rng.To)
	}
}

// reg returns the register that counts a shared index.
func (c *counting) reg() Reg {
	if c.alone {
		return counterReg
	}
	return RAX
}

// index loads a shared index into its register.
func (c *counting) index(m *maker) {
	if !c.alone {
		m.LoadG(RAX, c.word.mem())
	}
}

// compareShared compares a shared index, which is in its register, with its end.
func (c *counting) compareShared(m *maker) {
	switch to := c.rng.To; {
	case !to.Known():
		m.ArithMem(CmpG, c.reg(), c.word.end())
	default:
		m.ArithConst(CmpG, c.reg(), to.Const)
	}
}

// ended is the condition that the comparison leaves at the end.
func (c *counting) ended() Cond {
	if c.rng.By < 0 {
		return LessEqual
	}
	return GreaterEq
}

// test limits left to the lanes that have a round left.
func (c *counting) test(l *lowering) {
	if c.to != 0 {
		const less, greater = 1, 6
		s := step{Inst: Inst{Op: VPCMPQ, Len: l.length, Imm: less}, a: c.vector, b: c.to, mask: c.left, dst: c.left, effect: true}
		if c.shared { // the end is compared with the index, from memory
			at := c.word.mem()
			at.Broadcast = true
			s.Inst = Inst{Op: VPCMPQ, Len: l.length, Imm: greater, InMem: true, Mem: at}
			s.a, s.b = c.to, 0
		}
		if c.rng.By < 0 {
			s.Imm ^= less ^ greater
		}
		l.emit(&s)
	}
	if c.left != 0 {
		l.active = c.left
	}
}

// advance goes to the next index of every lane.
func (c *counting) advance(l *lowering) {
	by := l.constantVector(types.I64, loop.Word(c.rng.By))
	l.emit(&step{Inst: Inst{Op: VPADDQ, Len: l.length}, a: c.vector, b: by, dst: c.vector, effect: true})
}

// advanceShared advances a shared index in its register, and in memory if inMemory is set.
func (c *counting) advanceShared(m *maker, inMemory bool) {
	c.index(m)
	m.ArithConst(AddG, c.reg(), c.rng.By)
	if inMemory {
		m.StoreG(c.word.mem(), c.reg())
	}
}
