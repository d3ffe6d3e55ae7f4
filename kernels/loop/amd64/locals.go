package amd64

// This file lowers the small matrices of a body. Every lane has its own: element (r, c) is a vector of
// the lanes in scratch memory, so a subscript that is the same in all lanes is a plain load. The one
// point of a nest without indices has elements that lie side by side. Bools are words whose sign
// counts.

import (
	"fmt"

	"flow/ir/loop"
	"flow/ir/types"
)

// maxLocalBytes is the room for the locals of a nest: what a second-level cache holds beside the
// operands. Code clears them before it begins, in one go.
const maxLocalBytes = 1 << 19

// maxFilledBytes is the room for the locals of a nest of one point that begins by filling those of more
// than maxLocalBytes: a round changes a few places of what it carries, however large that is.
const maxFilledBytes = 1 << 30

// placeLocals gives locals of a constant size their places in scratch memory.
func (l *lowering) placeLocals() {
	l.localsEnd = localsAt
	cleared := localsAt
	l.filled = make([]bool, len(l.nest.Locals))
	if len(l.nest.Space) == 0 {
		l.filled = loop.Filled(l.nest)
	}
	for k, x := range l.nest.Locals {
		m := local{elem: x.Elem, wide: int64(wordBytes(x.Elem)), cols: x.Cols, at: int32(l.localsEnd)}
		if !l.alike() {
			m.wide *= int64(l.target.lanes)
		}
		if !x.Rows.Known() || !x.Cols.Known() {
			m.arg = 8 * int32(argMemory+memoryWords*(len(l.nest.Params)+len(l.nest.Results)+k))
		} else {
			rows, cols := max(0, x.Rows.Const), max(0, x.Cols.Const)
			most, end := int64(maxLocalBytes), &cleared
			if l.filled[k] {
				most, end = maxFilledBytes, &l.localsEnd
			}
			if rows > most || cols > most || int64(*end)+rows*cols*m.wide > most {
				unsupported(loop.Origin{}, "locals of more than %d bytes", most)
			}
			bytes := int(rows*cols*m.wide+slotBytes-1) &^ (slotBytes - 1)
			if l.localsEnd += bytes; !l.filled[k] {
				cleared += bytes
			}
		}
		l.locals = append(l.locals, m)
	}
}

// sized lists the locals whose size is known at run time alone.
func (l *lowering) sized() (out []sizedLocal) {
	for k, m := range l.locals {
		if m.arg != 0 {
			out = append(out, sizedLocal{l.nest.Locals[k].Rows, l.nest.Locals[k].Cols, m.wide})
		}
	}
	return out
}

// ScratchFor is how many bytes of scratch memory calls on these operands need: the words of the
// block of arguments from the first operand on. The error is an *Unsupported where locals are too
// large.
func (c *Code) ScratchFor(operands []uint64) (int, error) {
	eval := func(f loop.Lin) int64 {
		sum := f.Const
		for _, t := range f.Terms {
			at := memoryWords * t.Sym.N
			switch t.Sym.Kind {
			case loop.RowsSym:
				at += 2
			case loop.ColsSym:
				at += 3
			}
			sum += t.Coef * int64(operands[at])
		}
		return max(0, sum)
	}
	bytes := int64(c.Scratch)
	for _, s := range c.sized {
		rows, cols := eval(s.rows), eval(s.cols)
		if rows > maxLocalBytes || cols > maxLocalBytes || rows*cols*s.wide > maxLocalBytes {
			return 0, &Unsupported{What: fmt.Sprintf("locals of %d x %d", rows, cols)}
		}
		bytes += (rows*cols*s.wide + slotBytes - 1) &^ (slotBytes - 1)
	}
	return int(bytes), nil
}

// findLocals writes code that finds the places of locals whose size is known at run time alone: one
// after the other behind the rest of scratch memory.
func (l *lowering) findLocals() {
	first := true
	for k, m := range l.locals {
		if m.arg == 0 {
			continue
		}
		begin, x := first, l.nest.Locals[k]
		first = false
		l.scalar(func(mk *maker, _ Reg, _ regs) {
			if begin {
				mk.Lea(R9, At(scratchReg, int32(mk.spills+mk.at.slots*slotBytes)))
			}
			mk.StoreG(argMem(m.arg), R9)
			// R9 moves on by rows * columns, each at least 0.
			size := func(f loop.Lin, to int32) {
				l.scalarLin(mk, RAX, f)
				mk.MovImm(R11, 0)
				mk.ArithG(CmpG, RAX, R11)
				mk.Cmov(Less, RAX, R11)
				mk.StoreG(argMem(to), RAX)
			}
			size(x.Rows, m.arg+16)
			size(x.Cols, m.arg+24)
			mk.IMulImm(RAX, RAX, int32(m.wide))
			mk.StoreG(argMem(m.arg+8), RAX)
			mk.LoadG(R11, argMem(m.arg+16))
			mk.IMul(RAX, R11)
			mk.ArithImm(AddG, RAX, slotBytes-1)
			mk.ArithImm(AndG, RAX, -slotBytes)
			mk.ArithG(AddG, R9, RAX)
		})
	}
}

// clearLocals writes code that makes all locals zero: every point begins so. The code does not stop on
// its way, so it leaves out those that the nest fills.
func (l *lowering) clearLocals() {
	for k, m := range l.locals {
		if l.filled[k] {
			continue
		}
		x := l.nest.Locals[k]
		zero := l.fresh(vectorClass)
		l.emit(&step{dst: zero, pure: true, scalar: func(m *maker, dst Reg, _ regs) {
			m.Emit(Inst{Op: VXORPD, Len: m.length, Dst: dst, A: dst, B: dst})
		}})
		if m.arg == 0 {
			wide := int64(l.length.Bytes())
			vectors := (max(0, x.Rows.Const)*max(0, x.Cols.Const)*m.wide + wide - 1) / wide
			if vectors <= 32 {
				for v := range vectors {
					l.emit(&step{Inst: Inst{Op: VMOVUPDStore, Len: l.length, InMem: true, Mem: At(scratchReg, m.at+int32(v*wide))}, a: zero, local: int32(k) + 1})
				}
				continue
			}
			l.emit(&step{a: zero, local: int32(k) + 1, scalar: func(mk *maker, _ Reg, r regs) {
				mk.Lea(RAX, At(scratchReg, m.at))
				mk.Lea(R11, At(RAX, int32(vectors*wide)))
				mk.clear(r.a)
			}})
			continue
		}
		l.emit(&step{a: zero, local: int32(k) + 1, scalar: func(mk *maker, _ Reg, r regs) {
			mk.LoadG(RAX, argMem(m.arg))
			mk.LoadG(R11, argMem(m.arg+8))
			mk.LoadG(R10, argMem(m.arg+16))
			mk.IMul(R11, R10)
			mk.ArithG(AddG, R11, RAX)
			mk.clear(r.a)
		}})
	}
}

// clear stores vectors from RAX to R11.
func (m *maker) clear(zero Reg) {
	top, end := m.Label(), m.Label()
	m.Bind(top)
	m.ArithG(CmpG, RAX, R11)
	m.Jump(AboveEqual, end)
	m.Emit(Inst{Op: VMOVUPDStore, Len: m.length, A: zero, InMem: true, Mem: At(RAX, 0)})
	m.ArithImm(AddG, RAX, int32(m.length.Bytes()))
	m.Goto(top)
	m.Bind(end)
}

func (l *lowering) element(s *loop.Stmt) element {
	m := &l.locals[s.Mem.N]
	e := element{local: m, row: l.form(s.At[0]), col: l.form(s.At[1])}
	if m.arg == 0 {
		e.row, e.col = loop.Lin{}, e.row.Times(m.cols.Const).Plus(e.col)
	}
	e.col = e.col.Times(m.wide)
	e.varies = l.varies(e.row) || l.varies(e.col)
	return e
}

// offsetIn is how many bytes the rounds of inner loops move an element of a local of a constant
// size, or 0: none, or it is of another.
func (l *lowering) offsetIn(e element) virt {
	if e.arg != 0 || len(e.col.Terms) == 0 {
		return 0
	}
	terms := loop.Lin{Terms: e.col.Terms}
	return l.recent(sum{col: terms, size: 1}, func() step {
		return step{scalar: func(m *maker, dst Reg, _ regs) { l.scalarLin(m, dst, terms) }}
	})
}

// elementMem writes code that finds an element whose place is the same in all lanes. offset is a
// register with offsetIn, or NoReg.
func (l *lowering) elementMem(m *maker, e element, offset Reg) Mem {
	base, at := scratchReg, e.at
	if c := e.col.Const + int64(at); offset != NoReg && c == int64(int32(c)) {
		return Indexed(scratchReg, offset, 1, int32(c))
	}
	col := e.col
	if c := col.Const + int64(at); c == int64(int32(c)) {
		at, col = int32(c), loop.Lin{Terms: col.Terms}
	}
	if e.arg != 0 {
		base, at = RAX, 0
		col = e.col
		m.LoadG(RAX, argMem(e.arg))
		l.addRows(m, RAX, e.arg, e.row)
	}
	if len(col.Terms) > 0 || col.Const != 0 {
		l.scalarLin(m, R9, col)
		m.Lea(RAX, Indexed(base, R9, 1, 0))
		base = RAX
	}
	return At(base, at)
}

// elementVector is the place of an element in every lane, in bytes from the local.
func (l *lowering) elementVector(e element, o loop.Origin) virt {
	at := l.lin(e.col, o)
	if !l.point() { // lane k has its own element k of the vector
		words := make([]uint64, l.target.lanes)
		for k := range words {
			words[k] = uint64(k * wordBytes(e.elem))
		}
		at = l.emit(&step{Inst: Inst{Op: VPADDQ, Len: l.length, InMem: true, Mem: l.asm.Const(words...)}, a: at, dst: l.fresh(vectorClass)})
	}
	if e.arg == 0 || len(e.row.Terms) == 0 && e.row.Const == 0 {
		return at
	}
	stride := argMem(e.arg + 8)
	stride.Broadcast = true
	row := l.emit(&step{Inst: Inst{Op: VPMULLQ, Len: l.length, InMem: true, Mem: stride}, a: l.lin(e.row, o), dst: l.fresh(vectorClass)})
	return l.emit(&step{Inst: Inst{Op: VPADDQ, Len: l.length}, a: row, b: at, dst: l.fresh(vectorClass)})
}

// begins writes code that leaves the address of the local in RAX.
func (e element) begins(m *maker) {
	if e.arg != 0 {
		m.LoadG(RAX, argMem(e.arg))
	} else {
		m.Lea(RAX, At(scratchReg, e.at))
	}
}

// wideElem is the type of the vectors in which the local lies.
func (e element) wideElem() types.Elem {
	if e.elem == types.Bool {
		return types.I64
	}
	return e.elem
}

// loadLocal lowers a load from a local.
func (l *lowering) loadLocal(s *loop.Stmt) operand {
	e := l.element(s)
	var v virt
	wide := e.wideElem()
	if base, ok := l.besideRounds(e); ok {
		at := Mem{Index: laneReg, Scale: uint8(e.wide)}
		st := step{dst: l.fresh(vectorClass), pure: true, a: base, mask: l.active}
		if l.active == 0 {
			st.loads = l.reading(memoryRead{at: at, reg: base, size: uint8(e.wide), len: l.vlen(wide)})
		}
		st.scalar = func(m *maker, dst Reg, r regs) {
			m.vec.load(m, wide, dst, r.mask, at.on(r.a))
		}
		v = l.emit(&st)
	} else if base, distance, ok := l.apartInLocal(e); ok {
		v = l.emit(&step{dst: l.fresh(vectorClass), pure: true, a: base, scalar: func(m *maker, dst Reg, r regs) {
			m.firstOf(r.a, distance)
			m.loadPlaces(distance, dst, RAX, 0)
		}})
	} else if e.varies && e.wide == 8 && l.rising(e.row, e.col, 8) {
		v = l.loadRising(wide, l.elementVector(e, s.Origin), e.begins)
	} else if e.varies {
		v = l.gather(wide, l.elementVector(e, s.Origin), 1, e.begins)
	} else {
		offset := l.offsetIn(e)
		st := step{dst: l.fresh(vectorClass), pure: true, a: offset}
		if l.active != l.top { // it may lie outside where no lane counts
			st.mask = l.active
		}
		one := l.point()
		st.scalar = func(m *maker, dst Reg, r regs) {
			if !one {
				m.vec.load(m, wide, dst, r.mask, l.elementMem(m, e, r.a))
				return
			}
			m.unlessNone(r.mask, func() { m.everywhere(wide, dst, l.elementMem(m, e, r.a)) })
		}
		if c := e.col.Const + int64(e.at); st.mask == 0 && e.arg == 0 && c == int64(int32(c)) {
			st.loads = l.reading(memoryRead{at: At(scratchReg, int32(c)), reg: offset, index: true, size: uint8(wordBytes(wide)), len: l.vlen(wide), all: one})
		}
		v = l.emit(&st)
	}
	if e.elem == types.Bool {
		v = l.emit(&step{Inst: Inst{Op: VPMOVQ2M, Len: l.length}, b: v, dst: l.fresh(maskClass)})
	}
	return operand{v: v}
}

// storeLocal lowers a store to a local. Lanes that do not count keep what they have.
func (l *lowering) storeLocal(s *loop.Stmt) {
	e := l.element(s)
	v := l.vector(l.args(s)[0])
	begin := len(l.steps)
	defer func() {
		for k := begin; k < len(l.steps); k++ {
			if t := &l.steps[k]; t.dst == 0 {
				t.local = 1 + int32(s.Mem.N)
			}
		}
	}()
	if e.elem == types.Bool {
		v = l.emit(&step{Inst: Inst{Op: VPMOVM2Q, Len: l.length}, b: v, dst: l.fresh(vectorClass)})
	}
	wide := e.wideElem()
	if base, ok := l.besideRounds(e); ok {
		at := Mem{Index: laneReg, Scale: uint8(e.wide)}
		l.emit(&step{a: v, b: base, mask: l.active, scalar: func(m *maker, _ Reg, r regs) {
			m.vec.store(m, wide, r.a, r.mask, at.on(r.b))
		}})
		return
	}
	if base, distance, ok := l.apartInLocal(e); ok {
		l.emit(&step{a: v, b: base, scalar: func(m *maker, _ Reg, r regs) {
			m.firstOf(r.b, distance)
			m.storePlaces(distance, r.a, RAX, 0)
		}})
		return
	}
	if e.varies {
		l.scatter(wide, v, l.elementVector(e, s.Origin), e.begins)
		return
	}
	st := step{a: v, b: l.offsetIn(e)}
	if l.alike() || l.active != l.top { // no lane beyond the last point reads what it has
		st.mask = l.active
	}
	one := l.point()
	st.scalar = func(m *maker, _ Reg, r regs) {
		if !one {
			m.vec.store(m, wide, r.a, r.mask, l.elementMem(m, e, r.b))
			return
		}
		m.unlessNone(r.mask, func() { m.storeOne(wide, r.a, l.elementMem(m, e, r.b)) })
	}
	l.emit(&st)
}

// besideRounds returns the address of an element of a local of a nest of one point, without the lanes'
// index, if the lanes have elements side by side.
func (l *lowering) besideRounds(e element) (base virt, ok bool) {
	if !l.point() || l.alike() || e.row.Coef(l.lane()) != 0 || e.col.Coef(l.lane()) != e.wide {
		return 0, false
	}
	e.col = l.without(e.col)
	if l.varies(e.row) || l.varies(e.col) {
		return 0, false
	}
	return l.addressIn(e), true
}
