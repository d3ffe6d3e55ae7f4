package amd64

// This file lowers contributions to reduced results. Where an element belongs to all lanes, every
// lane has a state of its own, in registers; at the end of the row, or of the window, the lanes are
// merged. Where the lanes have elements side by side, the states are in memory. Other elements are
// taken lane by lane.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// state is the state of the result that s contributes to.
func (l *lowering) state(s *loop.Stmt) *loop.State {
	n, e := s.Mem.N, l.frame.types[s.Args[0]]
	if st := l.states[n]; st != nil {
		if l.stateOf[n] != e {
			unsupported(s.Origin, "contributions of two types to one result")
		}
		return st
	}
	class := l.nest.Results[n].Class
	st := loop.StateOf(class, e, l.levels)
	if st == nil {
		unsupported(s.Origin, "the reduction %s of %v", class.Info().Name, e)
	}
	l.states[n], l.stateOf[n] = st, e
	return st
}

// reduce lowers a contribution.
func (l *lowering) reduce(s *loop.Stmt) {
	if l.alike() {
		outer, top := l.active, l.top
		l.active = l.under(l.firstOnes(1))
		l.top = l.active
		defer func() { l.active, l.top = outer, top }()
	}
	st := l.state(s)
	p := l.place(s)
	_, moving := l.steady(p.row.Plus(p.col))
	switch {
	case p.lanes:
		l.reduceSideBySide(s, st, p)
		return
	case l.reduceKeyed(s, st, p):
		return
	case st.Ordered:
		unsupported(s.Origin, "an ordered reduction across lanes")
	case p.gather || len(moving.Terms) > 0:
		l.reduceScattered(s, st, p)
		return
	}
	r := l.reductions[contribution{s, l.number}]
	if r == nil {
		if d, _ := st.Direct(); d != nil && l.embeds && (l.wide() || d.Types[0] == types.F64) {
			st = d
		}
		r = &reduction{State: st, result: s.Mem.N, place: p, row: l.perRow(p.row) || l.perRow(p.col)}
		before := &l.head
		if r.row {
			before = &l.rowHead
		}
		r.words = l.shop.virts.list(len(st.Types))
		for k, e := range st.Types {
			v := l.fresh(vectorClass)
			word := step{}
			if st.Near() && k < st.Lost {
				word = l.stateWord(p, k, v)
			} else {
				word = step{Inst: Inst{Op: VMOVAPD, Len: l.length}, b: l.constantVector(e, st.Empty[k]), dst: v, effect: true}
			}
			*before = append(l.shop.steps.room(*before, 1), word) // which the constant may have changed
			r.words = append(r.words, v)
		}
		l.reductions[contribution{s, l.number}] = r
		if l.number == 0 {
			l.reduced = append(l.reduced, r)
		} else {
			first := l.reductions[contribution{s, 0}]
			first.parts = append(first.parts, r)
		}
	}
	if l.bytewise() {
		for k, o := range l.call(r.Merge(), l.joined(l.held(r), l.contribution64(l.nest.Results[r.result].Class, l.args(s)[0]))) {
			l.move(r.words[k], o, 0, true)
		}
		return
	}
	next := l.call(r.Add(), l.joined(l.held(r), l.args(s)))
	for k, v := range r.words {
		l.move(v, next[k], l.active, l.active == 0)
	}
}

// held returns the state of r in registers.
func (l *lowering) held(r *reduction) []operand { return l.stateOperands(r.State, r.words) }

func (l *lowering) stateOperands(st *loop.State, words []virt) []operand {
	out := l.shop.operands.list(len(words))
	for k, v := range words {
		out = append(out, operand{traits: traits{elem: st.Types[k], rounds: true}, v: v})
	}
	return out
}

// joined returns the operands of two lists.
func (l *lowering) joined(a, b []operand) []operand {
	return append(append(l.shop.operands.list(len(a)+len(b)), a...), b...)
}

// finishReductions merges the lanes of the states that end with the row, or with the window, into
// the states in memory.
func (l *lowering) finishReductions(row bool) {
	if l.full() {
		return
	}
	l.part, l.top = part{}, 0
	for _, r := range l.reduced {
		if r.row != row {
			continue
		}
		merge, from := r.State.Merge, []operand(nil)
		opened := l.held
		switch {
		case r.Bound():
			from, merge = l.loadState(r.State, r.place, 0, true), r.Join
		case r.Near():
			began, open := l.loadState(r.State, r.place, 0, true), r.Open()
			opened = func(x *reduction) []operand { return l.call(open, l.joined(l.held(x), began)) }
		}
		words := opened(r)
		with := func(x []operand) { words = l.call(merge(), l.joined(l.joined(words, x), from)) }
		for _, other := range r.parts {
			with(opened(other))
		}
		for by := l.side() / 2; by > 0; by /= 2 { // lanes of the same part of a word first
			turned := l.shop.virts.list(len(words))
			for _, o := range words {
				v := l.vector(o)
				turned = append(turned, l.emit(&step{Inst: Inst{Op: VALIGNQ, Len: l.length, Imm: uint8(by)}, a: v, b: v, dst: l.fresh(vectorClass)}))
			}
			with(l.stateOperands(r.State, turned))
		}
		if l.wide() {
			with(l.stateOperands(r.State, []virt{l.unary(VPERMILPS, types.F32, words[0], 0xb1)}))
		}
		st := l.states[r.result]
		if st != r.State {
			_, word := st.Direct()
			words, merge = l.call(word, words), st.Merge
		}
		total := words
		switch {
		case r.Bound():
			total = l.call(r.Open(), l.joined(words, from))
		case !r.Near(): // else what is in memory is where the sums began
			total = l.call(merge(), l.joined(l.loadState(st, r.place, 0, true), words))
		}
		for k, o := range total {
			at := r.place
			at.plane = k
			base, disp := l.pointer(at)
			l.emit(&step{a: l.vector(o), b: base, scalar: func(m *maker, _ Reg, r regs) {
				m.Emit(Inst{Op: VMOVSDStore, A: r.a, InMem: true, Mem: At(r.b, disp)})
			}})
		}
	}
}

// stateWord is the step that brings word k of a state from memory into all lanes of dst.
func (l *lowering) stateWord(p place, k int, dst virt) step {
	p.plane = k
	base, disp := l.pointer(p)
	return step{dst: dst, a: base, effect: true, scalar: func(m *maker, dst Reg, r regs) {
		m.everywhere(types.I64, dst, At(r.a, disp))
	}}
}

// loadState reads a state from memory: the same element in all lanes, or those of the lanes that
// count side by side.
func (l *lowering) loadState(st *loop.State, p place, mask virt, same bool) []operand {
	out := l.cut(len(st.Types))
	for k, e := range st.Types {
		p.plane = k
		base, at := l.lanesAt(p)
		s := step{dst: l.fresh(vectorClass), a: base, mask: mask, pure: true}
		s.scalar = func(m *maker, dst Reg, r regs) {
			if same {
				m.everywhere(types.I64, dst, At(r.a, at.Disp))
				return
			}
			m.vec.load(m, types.I64, dst, r.mask, at.on(r.a))
		}
		out[k] = inRegister(e, l.emit(&s))
	}
	return out
}

// reduceSideBySide takes the state of every lane from memory and puts it back.
func (l *lowering) reduceSideBySide(s *loop.Stmt, st *loop.State, p place) {
	l.storeState(l.call(st.Add(), l.joined(l.loadState(st, p, l.active, false), l.args(s))), p)
}

// storeState stores the states of the lanes that count side by side.
func (l *lowering) storeState(words []operand, p place) {
	for k, o := range words {
		p.plane = k
		base, at := l.lanesAt(p)
		l.emit(&step{a: l.vector(o), b: base, mask: l.active, scalar: func(m *maker, _ Reg, r regs) {
			m.vec.store(m, types.I64, r.a, r.mask, at.on(r.b))
		}})
	}
}

// hold loads states that lie side by side and to which every round of a loop contributes. It
// returns the contributing statements. The states stay in registers until release. A result with a
// second contribution is left out: it would read memory before release writes it.
func (l *lowering) hold(x *loop.Loop) (list []*loop.Stmt) {
	if !slices.ContainsFunc(x.Body.Stmts, func(s loop.Stmt) bool { return s.Code == loop.Reduce }) {
		return nil
	}
	times := map[int]int{}
	loop.EachStmt(&l.nest.Body, func(s *loop.Stmt) {
		if s.Code == loop.Reduce {
			times[s.Mem.N]++
		}
	})
	for i := range x.Body.Stmts {
		s := &x.Body.Stmts[i]
		if s.Code != loop.Reduce || times[s.Mem.N] > 1 || s.At[0].Any(isInside(x)) || s.At[1].Any(isInside(x)) || !l.place(s).lanes || l.alike() {
			continue
		}
		list = append(list, s)
		l.each(func(k int) {
			r := &reduction{State: l.state(s), result: s.Mem.N, place: l.place(s)}
			for _, o := range l.loadState(r.State, r.place, l.active, false) {
				v := l.fresh(vectorClass)
				l.move(v, o, 0, true)
				r.words = append(r.words, v)
			}
			l.reductions[contribution{s, k}] = r
		})
	}
	return list
}

// reduceHeld contributes to states that a loop holds.
func (l *lowering) reduceHeld(s *loop.Stmt) {
	held := func() *reduction { return l.reductions[contribution{s, l.number}] }
	l.inline(l.state(s).Add(), func() []operand { return l.joined(l.held(held()), l.args(s)) }, func(next []operand) {
		r := held()
		for k, v := range r.words {
			if !l.redirect(v, next[k], l.active, r.from) {
				l.move(v, next[k], l.active, l.active == 0)
			}
		}
	})
}

// isInside reports whether a symbol has a value only in a loop.
func isInside(x *loop.Loop) func(s loop.Sym) bool {
	return func(s loop.Sym) bool {
		return s.Kind == loop.ValSym || s.Kind == loop.IndexSym && s.N == x.Index.Name
	}
}

// release stores the states that a loop has held.
func (l *lowering) release(list []*loop.Stmt) {
	for _, s := range list {
		l.each(func(k int) {
			at := contribution{s, k}
			r := l.reductions[at]
			delete(l.reductions, at)
			l.storeState(l.held(r), r.place)
		})
	}
}

// Words of the room that a loop over lanes uses beside its vectors.
func laneBits() Mem   { return At(scratchReg, roomAt+3*slotBytes+8) }
func laneNumber() Mem { return At(scratchReg, roomAt+3*slotBytes+16) }
func laneState() Mem  { return At(scratchReg, roomAt+3*slotBytes+24) }

// reduceScattered takes the lanes that count one after the other, since two may contribute to one
// element.
func (l *lowering) reduceScattered(s *loop.Stmt, st *loop.State, p place) {
	p.plane = 0
	room := []virt{l.addresses(p, s.Origin)}
	in := l.args(s)
	for _, o := range in {
		room = append(room, l.toWords(o))
	}
	for k, v := range room {
		l.keepRoom(int32(k), v, 0)
	}
	l.emit(&step{mask: l.active, scalar: func(m *maker, _ Reg, r regs) {
		m.vec.bits(m, r.mask)
		m.StoreG(laneBits(), RAX)
	}})
	outer, top, end := l.active, l.asm.Label(), l.asm.Label()
	l.active = 0
	l.nested++
	l.emit(&step{enters: true, scalar: func(m *maker, _ Reg, _ regs) {
		m.Bind(top)
		m.LoadG(RAX, laneBits())
		m.Test(RAX, RAX)
		m.Jump(Equal, end)
		m.BitScan(R11, RAX)
		m.Lea(R10, At(RAX, -1))
		m.ArithG(AndG, RAX, R10)
		m.StoreG(laneBits(), RAX)
		m.StoreG(laneNumber(), R11)
		m.LoadG(RAX, roomLane(0))
		m.ArithMem(AddG, RAX, argMem(p.mem.arg))
		m.StoreG(laneState(), RAX)
	}})
	for k, o := range in {
		v := l.emit(&step{dst: l.fresh(vectorClass), pure: true, scalar: func(m *maker, dst Reg, _ regs) {
			m.LoadG(R11, laneNumber())
			m.everywhere(types.I64, dst, roomLane(int32(k+1)))
		}})
		in[k] = l.fromWords(o.elem, v)
	}
	// plane leaves the address of word k of the state in RAX.
	plane := func(m *maker, k int) {
		m.LoadG(RAX, laneState())
		if k > 0 {
			m.planes(R10, p.mem.arg, k)
			m.ArithG(AddG, RAX, R10)
		}
	}
	words := l.shop.operands.list(len(st.Types))
	for k, e := range st.Types {
		words = append(words, inRegister(e, l.emit(&step{dst: l.fresh(vectorClass), pure: true, scalar: func(m *maker, dst Reg, _ regs) {
			plane(m, k)
			m.everywhere(types.I64, dst, At(RAX, 0))
		}})))
	}
	for k, o := range l.call(st.Add(), l.joined(words, in)) {
		l.emit(&step{a: l.vector(o), scalar: func(m *maker, _ Reg, r regs) {
			plane(m, k)
			m.Emit(Inst{Op: VMOVSDStore, A: r.a, InMem: true, Mem: At(RAX, 0)})
		}})
	}
	l.emit(&step{leaves: true, scalar: func(m *maker, _ Reg, _ regs) {
		m.Goto(top)
		m.Bind(end)
	}})
	l.nested--
	l.active = outer
}

// toWords is a value as a vector of 64-bit words, from which fromWords makes it again.
func (l *lowering) toWords(o operand) virt {
	v := l.vector(o)
	switch o.elem {
	case types.F32:
		return l.unary(VCVTPS2PD, types.F64, inRegister(types.F32, v), 0)
	case types.Bool:
		return l.emit(&step{Inst: Inst{Op: VPMOVM2Q, Len: l.length}, b: v, dst: l.fresh(vectorClass)})
	}
	return v
}

func (l *lowering) fromWords(e types.Elem, v virt) operand {
	switch e {
	case types.F32:
		v = l.unary(VCVTPD2PS, types.F64, inRegister(types.F64, v), 0)
	case types.Bool:
		v = l.emit(&step{Inst: Inst{Op: VPMOVQ2M, Len: l.length}, b: v, dst: l.fresh(maskClass)})
	}
	return inRegister(e, v)
}
