package amd64

// This file lowers what reads and writes memory.

import (
	"math/bits"

	"flow/ir/loop"
	"flow/ir/types"
)

// memory is an operand or a result: where its words stand in the block of arguments, and its layout.
type memory struct {
	elem types.Elem
	unit bool
	arg  int32 // offset of its words
}

func (l *lowering) memory(m loop.Mem) memory {
	if m.Kind == loop.ResultMem {
		return memory{l.nest.Results[m.N].Elem, l.results[m.N].Unit, 8 * int32(argMemory+memoryWords*(len(l.nest.Params)+m.N))}
	}
	return memory{l.nest.Params[m.N].Elem, l.params[m.N].Unit, 8 * int32(argMemory+memoryWords*m.N)}
}

func argMem(offset int32) Mem { return At(argsReg, offset) }

// varies reports that a form is not the same in all lanes.
func (l *lowering) varies(f loop.Lin) bool {
	for _, t := range f.Terms {
		switch t.Sym.Kind {
		case loop.ValSym:
			return true
		case loop.IndexSym:
			if _, inner := l.inner[t.Sym.N]; inner || t.Sym.N == l.lanes {
				return true
			}
		}
	}
	return false
}

// symbolMem is the word of a symbol that is the same in all lanes; ok is false for the row index, which is in a register.
func (l *lowering) symbolMem(s loop.Sym) (m Mem, ok bool) {
	at := 8 * int32(argMemory+memoryWords*s.N)
	switch s.Kind {
	case loop.ParamSym:
		return argMem(at), true
	case loop.RowsSym:
		return argMem(at + 16), true
	case loop.ColsSym:
		return argMem(at + 24), true
	}
	return Mem{}, false
}

// scalarLin writes code that leaves a form, the same in all lanes, in dst. It uses R11.
func (l *lowering) scalarLin(m *maker, dst Reg, f loop.Lin) {
	m.MovImm(dst, f.Const)
	for _, t := range f.Terms {
		r := rowReg
		if from, ok := l.symbolMem(t.Sym); ok {
			r = R11
			m.LoadG(r, from)
		}
		switch {
		case t.Coef == 1:
		case t.Coef == int64(int32(t.Coef)):
			m.IMulImm(R11, r, int32(t.Coef))
			r = R11
		default:
			m.Mov(R11, r)
			m.MovImm(R10, t.Coef)
			m.IMul(R11, R10)
			r = R11
		}
		m.ArithG(AddG, dst, r)
	}
}

// broadcastG is a general register in all lanes, written by code that leaves it in RAX.
func (l *lowering) broadcastG(write func(m *maker)) virt {
	return l.emit(step{dst: l.fresh(vectorClass), scalar: func(m *maker, dst Reg, _ []Reg) {
		write(m)
		m.Emit(Inst{Op: VPBROADCASTQG, Len: m.length, Dst: dst, B: RAX})
	}})
}

// indexVector is an index as i64.
func (l *lowering) indexVector(name int, o loop.Origin) virt {
	if v, ok := l.inner[name]; ok {
		out := l.fresh(vectorClass) // the counter changes
		l.move(out, operand{elem: types.I64, v: v}, 0, true)
		return out
	}
	switch name {
	case l.lanes:
		first := l.broadcastG(func(m *maker) { m.Mov(RAX, laneReg) })
		words := make([]uint64, l.target.lanes)
		for k := range words {
			words[k] = uint64(k)
		}
		return l.emit(step{Inst: Inst{Op: VPADDQ, Len: l.length, InMem: true, Mem: l.asm.Const(words...)}, a: first, dst: l.fresh(vectorClass)})
	case l.rows:
		return l.broadcastG(func(m *maker) { m.Mov(RAX, rowReg) })
	}
	unsupported(o, "index %s", l.nest.Names[name])
	return 0
}

// lin is a form in every lane.
func (l *lowering) lin(f loop.Lin, o loop.Origin) virt {
	same := loop.Lin{Const: f.Const}
	var sum virt
	add := func(v virt) {
		if sum == 0 {
			sum = v
			return
		}
		sum = l.emit(step{Inst: Inst{Op: VPADDQ, Len: l.length}, a: sum, b: v, dst: l.fresh(vectorClass)})
	}
	for _, t := range f.Terms {
		one := loop.Lin{Terms: []loop.Term{t}}
		if !l.varies(one) {
			same = same.Plus(one)
			continue
		}
		x := operand{elem: types.I64}
		if t.Sym.Kind == loop.ValSym {
			x = l.frame.vals[t.Sym.N]
		} else {
			x.v = l.indexVector(t.Sym.N, o)
		}
		if t.Coef != 1 {
			x = operand{elem: types.I64, v: l.binary(VPMULLQ, types.I64, operand{elem: types.I64, v: l.vector(x)}, operand{elem: types.I64, konst: true, word: loop.Word(t.Coef)}, 0)}
		}
		add(l.vector(x))
	}
	if len(same.Terms) == 0 && sum != 0 {
		if same.Const != 0 {
			sum = l.binary(VPADDQ, types.I64, operand{elem: types.I64, v: sum}, operand{elem: types.I64, konst: true, word: loop.Word(same.Const)}, 0)
		}
		return sum
	}
	add(l.broadcastG(func(m *maker) { l.scalarLin(m, RAX, same) }))
	return sum
}

// place is where an access is: contiguous lanes, one element for all, or an address a lane.
type place struct {
	mem    memory
	row    loop.Lin // without the lanes' index where the lanes are contiguous
	col    loop.Lin
	lanes  bool // contiguous
	gather bool
}

func (l *lowering) place(s *loop.Stmt) place {
	p := place{mem: l.memory(s.Mem)}
	p.row, p.col = s.At[0], s.At[1]
	if p.mem.unit { // rows and columns count the same elements
		p.row, p.col = loop.Lin{}, p.row.Plus(p.col)
	}
	lane := loop.Sym{Kind: loop.IndexSym, N: l.lanes}
	if l.lanes >= 0 && p.row.Coef(lane) == 0 && p.col.Coef(lane) == 1 {
		rest := p.col.Plus(loop.Of(loop.IndexSym, l.lanes).Times(-1))
		if !l.varies(p.row) && !l.varies(rest) {
			p.col, p.lanes = rest, true
			return p
		}
	}
	p.gather = l.varies(p.row) || l.varies(p.col)
	return p
}

// pointer writes code that leaves the address of a place in RAX: of its first lane where lanes are contiguous. Constant
// columns are returned as a displacement.
func (l *lowering) pointer(m *maker, p place) (disp int32) {
	size := int64(p.mem.elem.Size())
	col := p.col
	if c := col.Const * size; c == int64(int32(c)) {
		disp, col = int32(c), loop.Lin{Terms: col.Terms}
	}
	switch {
	case p.mem.unit || p.row.Known() && p.row.Const == 0:
		m.LoadG(RAX, argMem(p.mem.arg))
	default:
		l.scalarLin(m, RAX, p.row)
		m.LoadG(R11, argMem(p.mem.arg+8))
		m.IMul(RAX, R11)
		m.ArithMem(AddG, RAX, argMem(p.mem.arg))
	}
	if len(col.Terms) > 0 || col.Const != 0 {
		l.scalarLin(m, R9, col)
		m.Lea(RAX, Indexed(RAX, R9, uint8(size), 0))
	}
	return disp
}

// load lowers a load: of what the lanes hold side by side, of one element for all, or of an element a lane.
func (l *lowering) load(s *loop.Stmt) virt {
	if s.Mem.Kind != loop.ParamMem {
		unsupported(s.Origin, "locals")
	}
	e := l.nest.Params[s.Mem.N].Elem
	if l.nest.Params[s.Mem.N].Kind == loop.ScalarParam {
		return l.everywhere(e, func(*maker) Mem { return argMem(8 * int32(argMemory+memoryWords*s.Mem.N)) })
	}
	p := l.place(s)
	switch {
	case p.lanes:
		return l.contiguous(p)
	case p.gather:
		return l.gathered(p, s.Origin)
	}
	if l.active != 0 { // the element may lie outside where no lane counts
		return l.gathered(p, s.Origin)
	}
	return l.everywhere(e, func(m *maker) Mem { return At(RAX, l.pointer(m, p)) })
}

// everywhere is one element in all lanes.
func (l *lowering) everywhere(e types.Elem, address func(m *maker) Mem) virt {
	return l.emit(step{dst: l.fresh(l.classOf(e)), scalar: func(m *maker, dst Reg, _ []Reg) {
		at := address(m)
		switch e {
		case types.Bool:
			m.LoadG8(RAX, at)
			m.Neg(RAX)
			m.Emit(Inst{Op: KMOVWFromG, Dst: dst, B: RAX})
		case types.F32:
			m.Emit(Inst{Op: VBROADCASTSS, Len: m.length - 1, Dst: dst, InMem: true, Mem: at})
		default:
			m.Emit(Inst{Op: VBROADCASTSD, Len: m.length, Dst: dst, InMem: true, Mem: at})
		}
	}})
}

// contiguous loads lanes that lie side by side; lanes that do not count are 0 and are not touched.
func (l *lowering) contiguous(p place) virt {
	e := p.mem.elem
	dst := l.fresh(l.classOf(e))
	st := step{dst: dst}
	if l.active != 0 {
		st.uses = []virt{l.active}
	}
	st.scalar = func(m *maker, dst Reg, r []Reg) {
		at := Indexed(RAX, laneReg, uint8(e.Size()), 0)
		at.Disp = l.pointer(m, p)
		i := Inst{Op: VMOVUPD, Len: m.length, Dst: dst, InMem: true, Mem: at}
		if len(r) > 0 {
			i.Mask, i.Zero = r[0], true
		}
		switch e {
		case types.F32:
			i.Op, i.Len = VMOVUPS, m.length-1
		case types.Bool:
			i.Op, i.Len, i.Dst = VMOVDQU8, L128, m.spare[0]
			if len(r) == 0 {
				i.Op = VMOVQ
			}
			m.Emit(i)
			i = Inst{Op: VPTESTMB, Len: L128, Dst: dst, A: m.spare[0], B: m.spare[0]}
		}
		m.Emit(i)
	}
	return l.emit(st)
}

// addresses is the offset in bytes of every lane from the address of the memory.
func (l *lowering) addresses(p place, o loop.Origin) virt {
	size := uint64(p.mem.elem.Size())
	col := l.lin(p.col, o)
	if size > 1 {
		col = l.emit(step{Inst: Inst{Op: VPSLLQ, Len: l.length, Imm: uint8(bits.TrailingZeros64(size))}, b: col, dst: l.fresh(vectorClass)})
	}
	if p.mem.unit || p.row.Known() && p.row.Const == 0 {
		return col
	}
	row := l.lin(p.row, o)
	stride := argMem(p.mem.arg + 8)
	stride.Broadcast = true
	row = l.emit(step{Inst: Inst{Op: VPMULLQ, Len: l.length, InMem: true, Mem: stride}, a: row, dst: l.fresh(vectorClass)})
	return l.emit(step{Inst: Inst{Op: VPADDQ, Len: l.length}, a: row, b: col, dst: l.fresh(vectorClass)})
}

// gathered loads an element a lane.
func (l *lowering) gathered(p place, o loop.Origin) virt {
	e := p.mem.elem
	if e == types.Bool {
		unsupported(o, "a gather of bools")
	}
	return l.gather(e, l.addresses(p, o), 1, func(m *maker) { m.LoadG(RAX, argMem(p.mem.arg)) })
}

// gather loads from base + index*scale; base leaves its address in RAX. A gather clears its mask, so it gets a copy.
func (l *lowering) gather(e types.Elem, index virt, scale uint8, base func(m *maker)) virt {
	st := step{dst: l.fresh(vectorClass), uses: []virt{index}}
	if l.active != 0 {
		st.uses = append(st.uses, l.active)
	}
	st.scalar = func(m *maker, dst Reg, r []Reg) {
		to := dst
		if to == r[0] { // the two may not be one
			to = m.spare[2]
		}
		if len(r) > 1 {
			m.Emit(Inst{Op: KMOVW, Dst: m.spareMask[0], B: r[1]})
		} else {
			m.Emit(Inst{Op: KXNORW, Dst: m.spareMask[0], A: K(0), B: K(0)})
		}
		base(m)
		m.Emit(Inst{Op: VXORPD, Len: m.length, Dst: to, A: to, B: to})
		op := VGATHERQPD
		if e == types.F32 {
			op = VGATHERQPS
		}
		m.Emit(Inst{Op: op, Len: m.length, Dst: to, InMem: true, Mem: Indexed(RAX, r[0], scale, 0), Mask: m.spareMask[0]})
		if to != dst {
			m.Emit(Inst{Op: VMOVAPD, Len: m.length, Dst: dst, B: to})
		}
	}
	return l.emit(st)
}

// look lowers a look into a table, which lies beside the code.
func (l *lowering) look(s *loop.Stmt, at operand) virt {
	t := l.frame.tables[s.Mem.N]
	if t.Elem == types.Bool || t.Elem == types.F32 {
		unsupported(s.Origin, "a table of %v", t.Elem)
	}
	table := l.asm.Const(t.Words...)
	return l.gather(t.Elem, l.vector(at), 8, func(m *maker) { m.Lea(RAX, table) })
}

// store lowers a store of lanes that lie side by side, or of an element a lane.
func (l *lowering) store(s *loop.Stmt) {
	if s.Mem.Kind != loop.ResultMem {
		unsupported(s.Origin, "locals")
	}
	p := l.place(s)
	e := p.mem.elem
	v := l.vector(l.args(s)[0])
	st := step{uses: []virt{v}}
	if l.active != 0 {
		st.uses = append(st.uses, l.active)
	}
	if p.lanes {
		st.scalar = func(m *maker, _ Reg, r []Reg) { l.storeLanes(m, p, r) }
		l.emit(st)
		return
	}
	if e == types.Bool {
		unsupported(s.Origin, "a scattered store of bools")
	}
	index := l.addresses(p, s.Origin)
	st.uses = append([]virt{v, index}, st.uses[1:]...)
	st.scalar = func(m *maker, _ Reg, r []Reg) {
		if len(r) > 2 {
			m.Emit(Inst{Op: KMOVW, Dst: m.spareMask[0], B: r[2]})
		} else {
			m.Emit(Inst{Op: KXNORW, Dst: m.spareMask[0], A: K(0), B: K(0)})
		}
		m.LoadG(RAX, argMem(p.mem.arg))
		op := VSCATTERQPD
		if e == types.F32 {
			op = VSCATTERQPS
		}
		m.Emit(Inst{Op: op, Len: m.length, A: r[0], InMem: true, Mem: Indexed(RAX, r[1], 1, 0), Mask: m.spareMask[0]})
	}
	l.emit(st)
}

// storeLanes writes lanes side by side; those that do not count are not touched.
func (l *lowering) storeLanes(m *maker, p place, r []Reg) {
	e := p.mem.elem
	at := Indexed(RAX, laneReg, uint8(e.Size()), 0)
	at.Disp = l.pointer(m, p)
	i := Inst{Op: VMOVUPDStore, Len: m.length, A: r[0], InMem: true, Mem: at}
	if len(r) > 1 {
		i.Mask = r[1]
	}
	switch e {
	case types.F32:
		i.Op, i.Len = VMOVUPSStore, m.length-1
	case types.Bool: // a byte a lane: all bits of a quadword, then one, then its low byte
		m.Emit(Inst{Op: VPMOVM2Q, Len: m.length, Dst: m.spare[0], B: r[0]})
		m.Emit(Inst{Op: VPSRLQ, Len: m.length, Dst: m.spare[0], B: m.spare[0], Imm: 63})
		i.Op, i.A = VPMOVQB, m.spare[0]
	}
	m.Emit(i)
}
