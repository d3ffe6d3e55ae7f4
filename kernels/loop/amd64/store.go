package amd64

// This file lowers stores to results.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// store lowers a store of lanes that lie side by side, or of an element a lane.
func (l *lowering) store(s *loop.Stmt) {
	if s.Mem.Kind == loop.LocalMem {
		l.storeLocal(s)
		return
	}
	p := l.place(s)
	e := p.mem.elem
	in := l.args(s)[0]
	if l.bytewise() {
		l.storeLanes(s, p, l.byteVector(in))
		return
	}
	v := l.vector(in)
	if p.lanes {
		l.storeLanes(s, p, v)
		return
	}
	if l.alike() && !p.gather {
		base, disp := l.pointer(p)
		l.emit(&step{a: v, b: base, mask: l.active, scalar: func(m *maker, _ Reg, r regs) {
			m.unlessNone(r.mask, func() { m.storeOne(p.mem.elem, r.a, At(r.b, disp)) })
		}})
		return
	}
	if l.apart(p) {
		l.storeApart(v, p)
		return
	}
	base, p := l.base(p)
	if e == types.Bool {
		l.scatterBools(v, l.addresses(p, s.Origin), base)
		return
	}
	l.scatter(e, v, l.addresses(p, s.Origin), base)
}

// storeLanes lowers a store of lanes that lie side by side.
func (l *lowering) storeLanes(s *loop.Stmt, p place, v virt) {
	base, at := l.lanesAt(p)
	if x := l.kept(s, p); len(x) > 0 {
		l.storeChanged(step{a: v, b: base}, p, at, x)
		return
	}
	e := p.mem.elem
	words := e.Size()*l.target.lanes == l.length.Bytes()
	whole, first := words && l.active == 0, words && l.active != 0 && l.active == l.top && !l.bytewise()
	var read []int32
	if first && !l.vexOnly() {
		read = l.readAt(p)
		first = len(read) > 0
	}
	l.emit(&step{a: v, b: base, mask: l.active, scalar: func(m *maker, _ Reg, r regs) {
		switch at := at.on(r.b); {
		case whole && m.streams:
			m.stream(r.a, at)
		case first:
			exact, done := m.Label(), m.Label()
			for _, arg := range read { // the base may be in RAX or R9
				m.LoadG(R10, argMem(p.mem.arg))
				m.ArithMem(CmpG, R10, argMem(arg))
				m.Jump(Equal, exact)
			}
			if read != nil {
				m.vec.store(m, e, r.a, r.mask, at)
				m.Goto(done)
			}
			m.Bind(exact)
			m.storeFirst(r.a, r.mask, e.Size(), at)
			m.Bind(done)
		default:
			m.vec.store(m, e, r.a, r.mask, at)
		}
	}})
}

// readAt returns where, among the arguments, the addresses of operands are whose memory the result at p
// may share: the nest reads the elements of these operands that p stores.
func (l *lowering) readAt(p place) (list []int32) {
	for k := range l.nest.Body.Stmts {
		s := &l.nest.Body.Stmts[k]
		if s.Code != loop.Load || s.Mem.Kind != loop.ParamMem || l.nest.Params[s.Mem.N].Kind == loop.ScalarParam || !l.frame.nest {
			continue
		}
		x := l.place(s)
		if x.lanes && x.mem.elem == p.mem.elem && x.mem.unit == p.mem.unit && x.row.Equal(p.row) && x.col.Equal(p.col) && !slices.Contains(list, x.mem.arg) {
			list = append(list, x.mem.arg)
		}
	}
	return list
}

// storeFirst stores the words of the first lanes by stores of fewer and fewer words. The mask has
// exactly these lanes: storeFirst would be wrong for others. size is the number of bytes of a word. A
// store under a mask is 42 operations on a Zen 3, and rows of 20 words take 0.7 of the time without it.
// On a Zen 4 a load waits for a store under a mask that might have written its bytes, until the store
// has left the processor. If the result lies in the memory of an operand, the next vector and the next
// row begin with such a load.
func (m *maker) storeFirst(v, mask Reg, size int, at Mem) {
	done, part := m.Label(), m.free(v, mask)
	m.Lea(R11, at)
	m.vec.bits(m, mask)
	m.Emit(Inst{Op: VMOVAPD, Len: m.length, Dst: part, B: v})
	all := m.length.Bytes()
	for bytes := all; bytes >= size; bytes /= 2 {
		fewer, lanes := m.Label(), bytes/size
		store := Inst{Op: VMOVUPDStore, Len: L128, A: part, InMem: true, Mem: At(R11, 0)}
		switch bytes {
		case 64:
			store.Len = L512
		case 32:
			store.Len = L256
		case 8:
			store.Op = VMOVSDStore
		case 4:
			store.Op = VMOVSSStore
		}
		m.ArithImm(CmpG, RAX, 1<<lanes-1)
		m.Jump(Less, fewer)
		m.put(&store)
		switch {
		case bytes == all:
			m.Goto(done)
		case bytes > size:
			m.Jump(Equal, done)
			if m.Asm.vexOnly {
				m.Emit(Inst{Op: VEXTRACTF128, Len: L256, Dst: part, A: part, Imm: 1})
			} else {
				m.Emit(Inst{Op: VALIGNQ, Len: m.length, Dst: part, A: part, B: part, Imm: uint8(bytes / 8)})
			}
			m.ArithImm(AddG, R11, int32(bytes))
			m.ShiftImm(ShrG, RAX, uint8(lanes))
		}
		m.Bind(fewer)
	}
	m.Bind(done)
}

// stream stores a vector past the caches if its place is aligned.
func (m *maker) stream(v Reg, at Mem) {
	apart, done := m.Label(), m.Label()
	m.Lea(RAX, at)
	m.Mov(R9, RAX)
	m.ArithImm(AndG, R9, int32(m.length.Bytes()-1))
	m.Jump(NotEqual, apart)
	m.Emit(Inst{Op: VMOVNTPD, Len: m.length, A: v, InMem: true, Mem: At(RAX, 0)})
	m.Goto(done)
	m.Bind(apart)
	m.Emit(Inst{Op: VMOVUPDStore, Len: m.length, A: v, InMem: true, Mem: At(RAX, 0)})
	m.Bind(done)
}

// Keeping reports whether a result of n may equal an operand at many points: it is the minimum or
// maximum of the operand's element and others, or a choice between them.
func Keeping(n *loop.Nest) bool {
	return loop.Some(n.Body.Stmts, func(s *loop.Stmt) bool {
		return s.Code == loop.Store && s.Mem.Kind == loop.ResultMem && n.Results[s.Mem.N].Class == loop.NoClass && len(keptBy(n, s)) > 0
	})
}

// mostKept is how many operands a store is compared with at most. Each takes two instructions.
const mostKept = 2

// keptBy returns the loads whose values the store s may store unchanged: minima, maxima and choices
// pass them on, and they read an operand at the place of s. It returns nil if there are more than
// mostKept. A store in an inner loop, or one of several to a result, keeps nothing: what was loaded may
// have been changed before.
func keptBy(n *loop.Nest, s *loop.Stmt) (list []*loop.Stmt) {
	again := func(x *loop.Stmt) bool { return x != s && x.Code == loop.Store && x.Mem == s.Mem }
	direct := false
	for k := range n.Body.Stmts {
		direct = direct || &n.Body.Stmts[k] == s
	}
	if !direct || loop.Some(n.Body.Stmts, again) {
		return nil
	}
	passed := []loop.Val{s.Args[0]}
	for k := len(n.Body.Stmts) - 1; k >= 0 && len(passed) > 0; k-- {
		d := &n.Body.Stmts[k]
		if d.N == 0 || !slices.Contains(passed, d.Dst) {
			continue
		}
		passed = slices.DeleteFunc(passed, func(v loop.Val) bool { return v == d.Dst }) // readers lie behind
		switch d.Code {
		case loop.Min, loop.Max:
			passed = append(passed, d.Args...)
		case loop.Select:
			passed = append(passed, d.Args[1:]...)
		case loop.Load:
			if d.Dst != s.Args[0] && d.Mem.Kind == loop.ParamMem && n.Params[d.Mem.N].Kind == loop.DenseParam && d.At[0].Equal(s.At[0]) && d.At[1].Equal(s.At[1]) &&
				n.Params[d.Mem.N].Elem == n.Results[s.Mem.N].Elem {
				list = append(list, d)
			}
		}
	}
	if len(list) > mostKept {
		return nil
	}
	return list
}

// kept is keptBy for a store that may leave out lanes (Schedule.Keep). It stores whole vectors of words
// of 64 bits; kept returns nil for others.
func (l *lowering) kept(s *loop.Stmt, p place) []*loop.Stmt {
	if !l.keep || l.active != 0 || !l.frame.nest || l.frame.body != &l.nest.Body || p.mem.elem.Size() != 8 || l.length.Bytes() != 8*l.target.lanes {
		return nil
	}
	return slices.DeleteFunc(keptBy(l.nest, s), func(x *loop.Stmt) bool {
		at := l.place(x)
		return l.frame.vals[x.Dst].konst || !at.lanes || at.mem.unit != p.mem.unit
	})
}

// storeChanged lowers a store of the lanes that differ from what loads have read. If the result does
// not lie in the memory of the operand that a load reads, all lanes count as different. A cache line
// without a change is not written back: rounds of shortest paths between all pairs take 0.65 of the
// time in a near cache, and 0.9 in memory (Emerald Rapids). A jump past the store takes longer than
// storing everything.
func (l *lowering) storeChanged(st step, p place, at Mem, loads []*loop.Stmt) {
	for _, x := range loads {
		differ := l.compare(VPCMPQ, types.I64, operand{v: l.frame.vals[x.Dst].v}, operand{v: st.a}, signed[loop.Ne])
		if stored := l.mask(KORW, differ, l.elsewhere(p.mem.arg, l.memory(x.Mem).arg)); st.mask == 0 {
			st.mask = stored
		} else {
			st.mask = l.mask(KANDW, st.mask, stored)
		}
	}
	st.scalar = func(m *maker, _ Reg, r regs) { m.vec.store(m, p.mem.elem, r.a, r.mask, at.on(r.b)) }
	l.emit(&st)
}

// elsewhere returns the mask of no lanes if the matrices at a and b, among the arguments, have one
// address and one stride. Else it returns the mask of all lanes.
func (l *lowering) elsewhere(a, b int32) virt {
	return l.once(invariant{kind: apartKind, arg: a, row: loop.Num(int64(b))}, maskClass, func() step {
		return step{scalar: func(m *maker, dst Reg, _ regs) {
			all := m.Label()
			for at := range int32(2) { // the address, and from row to row
				m.LoadG(R9, argMem(a+8*at))
				m.MovImm(RAX, int64(l.target.lanes))
				m.ArithMem(CmpG, R9, argMem(b+8*at))
				m.Jump(NotEqual, all)
			}
			m.MovImm(RAX, 0)
			m.Bind(all)
			m.vec.first(m, dst)
		}}
	})
}
