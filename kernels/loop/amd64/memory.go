package amd64

// This file lowers what reads and writes memory.

import (
	"math/bits"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// memory is an operand or a result: where its words stand in the block of arguments, and its
// layout.
type memory struct {
	elem types.Elem
	unit bool
	arg  int32 // offset of its words
}

func (l *lowering) memory(m loop.Mem) memory {
	if m.Kind == loop.ResultMem && l.nest.Results[m.N].Class != loop.NoClass { // words of states
		cols := l.nest.Results[m.N].Cols
		return memory{types.I64, cols.Known() && cols.Const == 1, 8 * int32(argMemory+memoryWords*(len(l.nest.Params)+m.N))}
	}
	if m.Kind == loop.ResultMem {
		return memory{l.nest.Results[m.N].Elem, l.results[m.N].Unit, 8 * int32(argMemory+memoryWords*(len(l.nest.Params)+m.N))}
	}
	return memory{l.nest.Params[m.N].Elem, l.params[m.N].Unit, 8 * int32(argMemory+memoryWords*m.N)}
}

func argMem(offset int32) Mem { return At(argsReg, offset) }

// varies reports that a form is not the same in all lanes.
func (l *lowering) varies(f loop.Lin) bool {
	return f.Any(func(s loop.Sym) bool {
		_, inner := l.frame.inner[s.N]
		return s.Kind == loop.ValSym && !l.sameWord(s.N) || s.Kind == loop.IndexSym && (inner || s.N == l.lanes)
	})
}

// symbolMem is the word of a symbol that is the same in all lanes; ok is false for the row index,
// which is in a register.
func (l *lowering) symbolMem(s loop.Sym) (m Mem, ok bool) {
	at := 8 * int32(argMemory+memoryWords*s.N)
	switch s.Kind {
	case loop.IndexSym:
		if c, ok := l.counters[s.N]; ok {
			return c.mem(), true
		}
	case loop.ParamSym:
		return argMem(at), true
	case loop.RowsSym:
		return argMem(at + 16), true
	case loop.ColsSym:
		return argMem(at + 24), true
	case loop.ValSym:
		return At(scratchReg, l.named[loop.Val(s.N)].at), true
	}
	return Mem{}, false
}

// symbolIn returns a register that holds symbol s. It loads the symbol into spare if it has no register of
// its own.
func (l *lowering) symbolIn(m *maker, s loop.Sym, spare Reg) Reg {
	if c, ok := l.counters[s.N]; ok && s.Kind == loop.IndexSym && m.held == 1+c {
		return counterReg
	}
	from, ok := l.symbolMem(s)
	if !ok {
		return rowReg
	}
	m.LoadG(spare, from)
	return spare
}

// scalarLin writes code that leaves a form, the same in all lanes, in dst. It uses R10 and R11.
func (l *lowering) scalarLin(m *maker, dst Reg, f loop.Lin) {
	if len(f.Terms) == 0 {
		m.MovImm(dst, f.Const)
		return
	}
	for k, t := range f.Terms {
		to := R11
		if k == 0 {
			to = dst
		}
		from := l.symbolIn(m, t.Sym, to)
		switch c := t.Coef; {
		case c == 1:
			to = from
		case c > 0 && c&(c-1) == 0:
			m.MovTo(to, from)
			m.ShiftImm(ShlG, to, uint8(bits.TrailingZeros64(uint64(c))))
		case c == int64(int32(c)):
			m.IMulImm(to, from, int32(c))
		default:
			m.MovTo(to, from)
			m.MovImm(R10, c)
			m.IMul(to, R10)
		}
		if k > 0 {
			m.ArithG(AddG, dst, to)
		} else {
			m.MovTo(dst, to)
		}
	}
	if f.Const != 0 {
		m.ArithConst(AddG, dst, f.Const)
	}
}

// broadcastG is a general register in all lanes, written by code that leaves it in RAX.
func (l *lowering) broadcastG(write func(m *maker)) virt {
	return l.emit(&step{dst: l.fresh(vectorClass), pure: true, scalar: func(m *maker, dst Reg, _ regs) {
		write(m)
		m.vec.splat(m, dst)
	}})
}

// counting64 counts the lanes of all parts.
var counting64 = func() (list [8 * maxParts]uint64) {
	for k := range list {
		list[k] = uint64(k)
	}
	return list
}()

// numberedLanes is first, and in each lane of the part how many lanes come before it.
func (l *lowering) numberedLanes(first virt) virt {
	at := l.asm.Const(counting64[l.number*l.target.lanes:][:l.target.lanes]...)
	return l.emit(&step{Inst: Inst{Op: VPADDQ, Len: l.length, InMem: true, Mem: at}, a: first, dst: l.fresh(vectorClass)})
}

// indexVector is an index as i64.
func (l *lowering) indexVector(name int, o loop.Origin) virt {
	if v, ok := l.frame.inner[name]; ok {
		out := l.fresh(vectorClass) // the counter changes
		l.move(out, inRegister(types.I64, v), 0, true)
		return out
	}
	if c, ok := l.counters[name]; ok && l.frame.nest {
		return l.emit(&step{Inst: Inst{Op: VBROADCASTSD, Len: l.length, InMem: true, Mem: c.mem()}, dst: l.fresh(vectorClass)})
	}
	switch name {
	case l.lanes:
		return l.numberedLanes(l.broadcastG(func(m *maker) { m.Mov(RAX, laneReg) }))
	case l.rows:
		return l.formVector(l.ofRow(loop.Of(loop.IndexSym, name)))
	}
	unsupported(o, "index %s", l.nest.Names[name])
	return 0
}

// multiple writes s if it is the product of the lanes' index and a number that is the same in all lanes. It
// multiplies for the first lane in general registers, which takes less time than a product of vectors. It
// returns 0 for other statements.
func (l *lowering) multiple(s *loop.Stmt, in []operand) virt {
	if s.Code != loop.Mul || l.lanes < 0 || l.square || !l.frame.nest {
		return 0
	}
	lane := loop.Of(loop.IndexSym, l.lanes)
	for k, x := range in {
		by := in[1-k]
		if form := x.known().form; form == nil || !form.Equal(lane) {
			continue
		}
		if by.konst && l.affine(s, in) == nil { // by more than 32 bits
			by = inRegister(types.I64, l.vector(by))
		} else if !slices.ContainsFunc(l.made, func(y invariant) bool { return y.kind == elementKind && y.v == by.v }) {
			continue
		}
		first := l.recentOf(vectorClass, sum{address: by.v, size: -1}, func() step {
			return step{a: by.v, scalar: func(m *maker, dst Reg, r regs) {
				m.Emit(Inst{Op: VMOVQStore, Dst: RAX, A: r.a})
				m.IMul(RAX, laneReg)
				m.vec.splat(m, dst)
			}}
		})
		count := l.numberedLanes(l.constantVector(types.I64, 0))
		return l.binary(VPADDQ, types.I64, inRegister(types.I64, first), inRegister(types.I64, l.integer(s, []operand{inRegister(types.I64, count), by})))
	}
	return 0
}

// lin is a form in every lane.
func (l *lowering) lin(f loop.Lin, o loop.Origin) virt {
	f = l.form(f)
	same := loop.Lin{Const: f.Const}
	var sum virt
	add := func(v virt) {
		if sum == 0 {
			sum = v
			return
		}
		sum = l.emit(&step{Inst: Inst{Op: VPADDQ, Len: l.length}, a: sum, b: v, dst: l.fresh(vectorClass)})
	}
	for _, t := range f.Terms {
		one := loop.Lin{Terms: []loop.Term{t}}
		if !l.varies(one) {
			same = same.Plus(one)
			continue
		}
		x := inRegister(types.I64, 0)
		if t.Sym.Kind == loop.ValSym {
			x = l.frame.vals[t.Sym.N]
		} else {
			x.v = l.indexVector(t.Sym.N, o)
		}
		switch {
		case t.Coef > 1 && t.Coef&(t.Coef-1) == 0:
			x.v = l.emit(&step{Inst: Inst{Op: VPSLLQ, Len: l.length, Imm: uint8(bits.TrailingZeros64(uint64(t.Coef)))}, b: l.vector(x), dst: l.fresh(vectorClass)})
			x.konst = false
		case t.Coef != 1:
			x = inRegister(types.I64, l.binary(VPMULLQ, types.I64, inRegister(types.I64, l.vector(x)), constantOf(types.I64, loop.Word(t.Coef))))
		}
		add(l.vector(x))
	}
	if len(same.Terms) == 0 && sum != 0 {
		if same.Const != 0 {
			sum = l.binary(VPADDQ, types.I64, inRegister(types.I64, sum), constantOf(types.I64, loop.Word(same.Const)))
		}
		return sum
	}
	add(l.formVector(same))
	return sum
}

// place is where an access is: contiguous lanes, one element for all, or an address a lane.
type place struct {
	mem    memory
	row    loop.Lin // without the lanes' index where the lanes are contiguous
	col    loop.Lin
	lanes  bool // contiguous
	gather bool
	plane  int // of the states of a reduced result: which word
}

func (l *lowering) place(s *loop.Stmt) place {
	p := place{mem: l.memory(s.Mem)}
	p.row, p.col = l.ofRow(l.form(s.At[0])), l.ofRow(l.form(s.At[1]))
	if p.mem.unit { // rows and columns count the same elements
		p.row, p.col = loop.Lin{}, p.row.Plus(p.col)
	}
	lane := loop.Sym{Kind: loop.IndexSym, N: l.lanes}
	if l.lanes >= 0 && p.row.Coef(lane) == 0 && p.col.Coef(lane) == 1 {
		rest := p.col.Without(lane)
		if !l.varies(p.row) && !l.varies(rest) {
			p.col, p.lanes = rest, true
			return p
		}
	}
	p.gather = l.varies(p.row) || l.varies(p.col)
	return p
}

// load lowers a load: of what the lanes hold side by side, of one element for all, or of an element
// a lane.
func (l *lowering) load(s *loop.Stmt) virt {
	e := l.nest.Params[s.Mem.N].Elem
	if l.nest.Params[s.Mem.N].Kind == loop.ScalarParam {
		return l.scalarOperand(e, 8*int32(argMemory+memoryWords*s.Mem.N))
	}
	p := l.place(s)
	switch {
	case p.lanes:
		return l.contiguous(p)
	case l.apart(p):
		return l.loadApart(p)
	case l.tiled(p):
		return l.loadTiled(p)
	case p.gather:
		return l.gathered(p, s.Origin)
	}
	return l.uniform(p)
}

// lanesAt is the place of lanes that lie side by side; its base is an address.
func (l *lowering) lanesAt(p place) (base virt, at Mem) {
	base, disp := l.pointer(p)
	size := p.mem.elem.Size()
	return base, Mem{Index: laneReg, Scale: uint8(size), Disp: disp + int32(l.number*l.target.lanes*size)}
}

// contiguous loads lanes that lie side by side; lanes that do not count are 0 and are not touched.
func (l *lowering) contiguous(p place) virt {
	e := p.mem.elem
	dst := l.fresh(l.classOf(e))
	base, at := l.lanesAt(p)
	st := step{dst: dst, pure: true, again: true, a: base, mask: l.active}
	if l.active == 0 && e != types.Bool {
		st.loads = l.reading(memoryRead{at: at, reg: base, size: uint8(e.Size()), len: l.vlen(e)})
	}
	st.scalar = func(m *maker, dst Reg, r regs) {
		at.Base = r.a
		m.vec.load(m, e, dst, r.mask, at)
	}
	if l.active == 0 && l.part.first() {
		l.fetchAhead(p, base, at)
	}
	return l.emit(&st)
}

// addresses is the offset in bytes of every lane from the address of the memory.
func (l *lowering) addresses(p place, o loop.Origin) virt {
	size := uint64(p.mem.elem.Size())
	col := l.lin(p.col, o)
	if size > 1 {
		col = l.emit(&step{Inst: Inst{Op: VPSLLQ, Len: l.length, Imm: uint8(bits.TrailingZeros64(size))}, b: col, dst: l.fresh(vectorClass)})
	}
	if p.mem.unit || p.row.Known() && p.row.Const == 0 {
		return col
	}
	row := l.lin(p.row, o)
	stride := argMem(p.mem.arg + 8)
	stride.Broadcast = true
	row = l.emit(&step{Inst: Inst{Op: VPMULLQ, Len: l.length, InMem: true, Mem: stride}, a: row, dst: l.fresh(vectorClass)})
	return l.emit(&step{Inst: Inst{Op: VPADDQ, Len: l.length}, a: row, b: col, dst: l.fresh(vectorClass)})
}

// gathered loads an element a lane.
func (l *lowering) gathered(p place, o loop.Origin) virt {
	e := p.mem.elem
	base := func(m *maker) { m.LoadG(RAX, argMem(p.mem.arg)) }
	if e == types.Bool && !l.alike() {
		return l.gatherBools(l.addresses(p, o), base)
	}
	return l.gather(e, l.addresses(p, o), 1, base)
}

// gather loads from base + index*scale; base leaves its address in RAX.
func (l *lowering) gather(e types.Elem, index virt, scale uint8, base func(m *maker)) virt {
	st := step{dst: l.fresh(l.classOf(e)), a: index, mask: l.active, pure: true}
	alike := l.alike()
	st.scalar = func(m *maker, dst Reg, r regs) {
		if alike {
			m.unlessNone(r.mask, func() {
				base(m)
				m.Emit(Inst{Op: VMOVQStore, Dst: R9, A: r.a}) // the first lane
				m.Lea(RAX, Indexed(RAX, R9, scale, 0))
				m.everywhere(e, dst, At(RAX, 0))
			})
			return
		}
		base(m)
		m.vec.gather(m, e, dst, r.mask, Indexed(RAX, r.a, scale, 0))
	}
	return l.emit(&st)
}

// look lowers a look into a table, which lies beside the code.
func (l *lowering) look(s *loop.Stmt, at operand) virt {
	table := l.asm.Const(l.frame.tables[s.Mem.N].Words...)
	return l.gather(types.I64, l.vector(at), 8, func(m *maker) { m.Lea(RAX, table) })
}

// store lowers a store of lanes that lie side by side, or of an element a lane.
func (l *lowering) store(s *loop.Stmt) {
	if s.Mem.Kind == loop.LocalMem {
		l.storeLocal(s)
		return
	}
	p := l.place(s)
	e := p.mem.elem
	v := l.vector(l.args(s)[0])
	if p.lanes {
		base, at := l.lanesAt(p)
		st := step{a: v, b: base, mask: l.active}
		words := e.Size()*l.target.lanes == l.length.Bytes()
		whole, last := words && l.active == 0, words && l.vexOnly() && l.active == l.top
		st.scalar = func(m *maker, _ Reg, r regs) {
			switch at.Base = r.b; {
			case whole && m.streams:
				m.stream(r.a, at)
			case last && r.mask != NoReg:
				m.storeLast(r.a, r.mask, at)
			default:
				m.vec.store(m, e, r.a, r.mask, at)
			}
		}
		l.emit(&st)
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
	base := func(m *maker) { m.LoadG(RAX, argMem(p.mem.arg)) }
	if e == types.Bool {
		l.scatterBools(v, l.addresses(p, s.Origin), base)
		return
	}
	l.scatter(e, v, l.addresses(p, s.Origin), base)
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

// scatter stores v at base + index in the lanes that count; base leaves its address in RAX.
func (l *lowering) scatter(e types.Elem, v, index virt, base func(m *maker)) {
	st := step{a: v, b: index, mask: l.active}
	st.scalar = func(m *maker, _ Reg, r regs) {
		base(m)
		m.vec.scatter(m, e, r.a, r.mask, Indexed(RAX, r.b, 1, 0))
	}
	l.emit(&st)
}
