package amd64

// This file lowers inner loops of a nest of one point whose rounds depend on no other, apart from
// states of reductions: their rounds are the lanes of vectors, as the points of other nests are. Every
// lane has a state of its own; after the loop the lanes are merged.

import (
	"math"
	"slices"

	"flow/ir/loop"
)

// findAlong finds the inner loops whose rounds are lanes.
func (l *lowering) findAlong() {
	l.alongBody = map[*loop.Block]bool{}
	if !l.point() {
		return
	}
	loop.EachStmt(&l.nest.Body, func(s *loop.Stmt) {
		if s.Code == loop.For && loop.RoundsApart(l.nest, s) {
			l.alongBody[&s.Loop.Body] = true
		}
	})
}

// fewAlong reports whether the nest makes rounds whose number is known at run time alone, and no
// loop in them or in other loops has rounds that are lanes. Scalar operations then take most of the
// time.
func (l *lowering) fewAlong() (fine bool) {
	for k := range l.nest.Body.Stmts {
		s := &l.nest.Body.Stmts[k]
		if s.Code != loop.For || l.alongBody[&s.Loop.Body] {
			continue
		}
		if loop.Some(s.Loop.Body.Stmts, func(s *loop.Stmt) bool { return s.Code == loop.For && l.alongBody[&s.Loop.Body] }) {
			return false
		}
		fine = fine || !s.Loop.Index.Range.To.Known()
	}
	return fine
}

// along lowers such a loop and reports whether s is one: whole vectors, then what is left under a mask.
func (l *lowering) along(s *loop.Stmt) bool {
	l.part = l.parts[0]
	if l.active != 0 || !l.frame.nest || !loop.RoundsApart(l.nest, s) {
		return false
	}
	x := s.Loop
	word, ok := l.wordNamed(-1 - x.Index.Name)
	if !ok {
		unsupported(s.Origin, "so many loops")
	}
	carried := l.openSums(x)
	from, to := l.form(x.Index.Range.From), l.form(x.Index.Range.To)
	rest, end := l.asm.Label(), l.asm.Label()
	l.setWord(word.end(), to)
	l.scalar(func(m *maker, _ Reg, _ regs) {
		l.scalarLin(m, laneReg, from)
		m.ArithMem(CmpG, laneReg, word.end())
		m.Jump(GreaterEq, end)
	})
	l.nested++
	before, inner, innermost, counts, top := l.before, l.inner, l.innermost, l.counts, l.top
	l.before, l.counts = settling{}, nil
	divided := l.divided
	body := l.outside(x)
	l.inner, l.innermost = &settling{at: len(l.steps)}, x.Index.Name
	l.lanes = x.Index.Name
	counted, other := l.counters[l.lanes] // of a loop before it, over the same index
	if other {
		delete(l.counters, l.lanes)
		l.counters[math.MinInt] = counted // its place stays taken
	}
	for _, v := range carried {
		l.makes(v, l.depthNow())
	}
	round := func() {
		begin := len(l.steps)
		for k, v := range carried {
			l.set(x.Carry+loop.Val(k), operand{traits: traits{rounds: true}, v: v})
		}
		l.block(&body)
		l.carry(s, carried, l.active, begin)
	}
	rounds, known := to.Const-from.Const, from.Known() && to.Known()
	lanes := int64(l.target.lanes)
	if !known || rounds >= lanes {
		whole := l.asm.Label()
		fits := func(m *maker) {
			m.Lea(RAX, At(laneReg, int32(lanes)))
			m.ArithMem(CmpG, RAX, word.end())
		}
		l.scalar(func(m *maker, _ Reg, _ regs) {
			fits(m)
			m.Jump(Greater, rest)
		})
		l.emit(&step{enters: true, scalar: func(m *maker, _ Reg, _ regs) { m.Bind(whole) }})
		round()
		l.emit(&step{leaves: true, scalar: func(m *maker, _ Reg, _ regs) {
			m.ArithImm(AddG, laneReg, int32(lanes))
			m.refuel()
			fits(m)
			m.Jump(LessEqual, whole)
		}})
	}
	l.bind(rest)
	if !known || rounds%lanes != 0 {
		l.scalar(func(m *maker, _ Reg, _ regs) {
			m.LoadG(RAX, word.end())
			m.ArithG(SubG, RAX, laneReg)
			m.Jump(LessEqual, end)
		})
		l.active = l.emit(&step{dst: l.fresh(maskClass), scalar: func(m *maker, dst Reg, _ regs) { m.vec.first(m, dst) }})
		l.top, l.parts[0] = l.active, l.part
		round()
	}
	l.bind(end)
	l.divided = divided // there may be no round
	if other {
		delete(l.counters, math.MinInt)
		l.counters[l.lanes] = counted
	}
	l.lanes = -1
	l.steps = slices.Insert(l.steps, l.inner.at, l.inner.steps...)
	l.before, l.inner, l.innermost, l.counts, l.top, l.active = before, inner, innermost, counts, top, 0
	l.parts[0] = l.part
	l.nested--
	l.mergeSums(s, carried)
	return true
}

// openSums gives every lane of the carried states of a loop an empty state, and the first lane what the
// loop begins with.
func (l *lowering) openSums(x *loop.Loop) (carried []virt) {
	for _, t := range x.Sums {
		elems, words := t.Empty()
		for k, e := range elems {
			c, o := l.fresh(vectorClass), l.frame.vals[x.Init[len(carried)]]
			l.move(c, constantOf(e, words[k]), 0, true)
			if !o.konst || o.word != words[k] {
				l.move(c, o, l.firstOnes(1), false)
			}
			carried = append(carried, c)
		}
	}
	return carried
}

// mergeSums merges the lanes of the states that a loop carried. All lanes then hold that of the first,
// because lanes that merge in another order may hold other words of the same sum.
func (l *lowering) mergeSums(s *loop.Stmt, carried []virt) {
	dst := s.Dst
	for _, t := range s.Loop.Sums {
		elems, _ := t.Empty()
		merge, words := t.Merge(), l.cut(len(elems))
		for k, e := range elems {
			words[k] = inRegister(e, carried[k])
		}
		carried = carried[len(elems):]
		for by := l.target.lanes / 2; by > 0; by /= 2 {
			both := slices.Clone(words)
			for _, o := range words {
				v := l.vector(o)
				o.v = l.emit(&step{Inst: Inst{Op: VALIGNQ, Len: l.length, Imm: uint8(by)}, a: v, b: v, dst: l.fresh(vectorClass)})
				both = append(both, inRegister(o.elem, o.v))
			}
			words = l.call(merge, both)
		}
		for _, o := range words {
			l.set(dst, operand{v: l.emit(&step{Inst: Inst{Op: VPBROADCASTQ, Len: l.length}, b: l.vector(o), dst: l.fresh(vectorClass)})})
			dst++
		}
	}
}

// outside lowers the operations and loads that are the same in all rounds, and returns the others. What
// follows a check may be allowed by it alone.
func (l *lowering) outside(x *loop.Loop) (rest loop.Block) {
	inside := loop.Made(&x.Body)
	for k := range x.Init {
		inside[x.Carry+loop.Val(k)] = true
	}
	index := func(s loop.Sym) bool {
		return s.Kind == loop.IndexSym && s.N == x.Index.Name || s.Kind == loop.ValSym && inside[loop.Val(s.N)]
	}
	checked := false
	for i := range x.Body.Stmts {
		s := &x.Body.Stmts[i]
		checked = checked || s.Code == loop.Check
		same := s.Code == loop.Const || s.Code.IsOp() || s.Code == loop.Load && !checked // no round stores it
		s.EachRead(func(v loop.Val) { same = same && !inside[v] })
		if same && !slices.ContainsFunc(s.At, func(f loop.Lin) bool { return f.Any(index) }) {
			l.stmt(s)
			delete(inside, s.Dst)
		} else {
			rest.Stmts = append(rest.Stmts, *s)
		}
	}
	return rest
}
