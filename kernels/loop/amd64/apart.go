package amd64

// This file lowers accesses whose lanes lie apart by the same distance, as the elements of a column
// do. An access takes an address and a move a lane. A gather of eight lanes takes 25 cycles on a Zen 4
// with AVX-512, where eight moves take 10. On AVX2 a gather takes an address a lane and some 18
// operations, and there is no scatter.

import "flow/ir/loop"

// lane is the symbol of the lanes' index.
func (l *lowering) lane() loop.Sym { return loop.Sym{Kind: loop.IndexSym, N: l.lanes} }

// apart reports an access of words that all lanes make, each at the same distance from the one
// before.
func (l *lowering) apart(p place) bool {
	if !p.gather || l.length.Bytes() != 8*l.target.lanes || l.lanes < 0 || l.active != 0 || wordBytes(p.mem.elem) != p.mem.elem.Size() || p.mem.elem.Size() != 8 {
		return false
	}
	row, col := l.without(p.row), l.without(p.col)
	return (p.row.Coef(l.lane()) != 0 || p.col.Coef(l.lane()) != 0) && !l.varies(row) && !l.varies(col)
}

// without is a form without the lanes' index.
func (l *lowering) without(f loop.Lin) loop.Lin {
	return f.Without(l.lane())
}

// distance returns what writes code that leaves the distance of two lanes in dst. The code changes R11.
func (l *lowering) distance(p place) func(m *maker, dst Reg) {
	return distanceOf(p.row.Coef(l.lane()), p.col.Coef(l.lane())*int64(p.mem.elem.Size()), p.mem.arg)
}

// distanceOf is distance for lanes that are row rows and col bytes apart. arg is the place of the
// memory among the arguments.
func distanceOf(row, col int64, arg int32) func(m *maker, dst Reg) {
	return func(m *maker, dst Reg) {
		if row == 0 {
			m.MovImm(dst, col)
			return
		}
		m.LoadG(dst, argMem(arg+8))
		if row != 1 {
			m.MovImm(R11, row)
			m.IMul(dst, R11)
		}
		if col != 0 {
			m.MovImm(R11, col)
			m.ArithG(AddG, dst, R11)
		}
	}
}

// firstApart is the address of the first lane, but for a displacement.
func (l *lowering) firstApart(p place) (v virt, disp int32) {
	rest := p
	rest.row, rest.col = l.without(p.row), l.without(p.col)
	base, disp, moving, across := l.start(rest)
	number := int64(l.number)
	lanes := sum{ // no offset of another kind has the lanes' index
		row: loop.Lin{Const: number, Terms: []loop.Term{{Coef: 1 + p.row.Coef(l.lane()), Sym: l.lane()}}},
		col: loop.Of(loop.IndexSym, l.lanes).Times(p.col.Coef(l.lane())), size: p.mem.elem.Size(), arg: p.mem.arg}
	from, distance := int32(l.number*l.target.lanes), l.distance(p)
	offset := l.settled(lanes, func() step {
		return step{scalar: func(m *maker, dst Reg, _ regs) {
			distance(m, dst)
			m.Lea(R11, At(laneReg, from))
			m.IMul(dst, R11)
		}}
	})
	v = l.settled(sum{address: base, offset: offset}, func() step {
		return step{a: base, b: offset, scalar: func(m *maker, dst Reg, r regs) { m.Lea(dst, Indexed(r.a, r.b, 1, 0)) }}
	})
	if len(moving.Terms) > 0 || len(across.Terms) > 0 {
		v = l.moved(v, l.offset(p.mem, moving, across))
	}
	return v, disp
}

// places calls f for the places of the lanes. The address of the first is in a register other than R10
// and R11.
func (m *maker) places(distance func(m *maker, dst Reg), first Reg, disp int32, f func(lane int, at Mem)) {
	distance(m, R10)
	m.Lea(R11, Indexed(R10, R10, 2, 0))
	for k := 0; k < m.lanes; k += 4 {
		if k > 0 {
			m.Lea(RAX, Indexed(first, R10, 4, 0))
			first = RAX
		}
		f(k, At(first, disp))
		f(k+1, Indexed(first, R10, 1, disp))
		if k+2 < m.lanes {
			f(k+2, Indexed(first, R10, 2, disp))
			f(k+3, Indexed(first, R11, 1, disp))
		}
	}
}

// loadPlaces loads a word a lane. first has the address of the first lane.
func (m *maker) loadPlaces(distance func(m *maker, dst Reg), dst, first Reg, disp int32) {
	two := m.free(dst)
	half := [4]Reg{dst, two}
	if m.lanes > 4 {
		half[2], half[3] = m.free(dst, two), two
	}
	m.places(distance, first, disp, func(lane int, at Mem) {
		to := half[lane/2]
		if lane%2 == 0 {
			m.Emit(Inst{Op: VMOVSD, Dst: to, InMem: true, Mem: at})
			return
		}
		m.Emit(Inst{Op: VMOVHPD, Dst: to, A: to, InMem: true, Mem: at})
		switch {
		case lane%4 == 1:
		case m.Asm.vexOnly:
			m.Emit(Inst{Op: VINSERTF128, Len: L256, Dst: dst, A: dst, B: two, Imm: 1})
		default: // of 8 lanes, twice the first two, and twice the others
			m.Emit(Inst{Op: VSHUFF64X2, Len: m.length, Dst: half[lane/4*2], A: half[lane/4*2], B: two})
		}
	})
	if m.lanes > 4 {
		m.Emit(Inst{Op: VSHUFF64X2, Len: m.length, Dst: dst, A: dst, B: half[2], Imm: 0x88})
	}
}

// storePlaces stores a word of v a lane.
func (m *maker) storePlaces(distance func(m *maker, dst Reg), v, first Reg, disp int32) {
	two := m.free(v)
	m.places(distance, first, disp, func(lane int, at Mem) {
		from, op := two, VMOVSDStore
		if lane < 2 {
			from = v
		}
		switch {
		case lane%2 == 1:
			op = VMOVHPDStore
		case lane > 1 && m.Asm.vexOnly:
			m.Emit(Inst{Op: VEXTRACTF128, Len: L256, Dst: two, A: v, Imm: 1})
		case lane > 1:
			m.Emit(Inst{Op: VALIGNQ, Len: m.length, Dst: two, A: v, B: v, Imm: uint8(lane)})
		}
		m.Emit(Inst{Op: op, A: from, InMem: true, Mem: at})
	})
}

// loadApart loads an element a lane.
func (l *lowering) loadApart(p place) virt {
	first, disp := l.firstApart(p)
	distance := l.distance(p)
	return l.emit(&step{dst: l.fresh(vectorClass), pure: true, a: first, scalar: func(m *maker, dst Reg, r regs) { m.loadPlaces(distance, dst, r.a, disp) }})
}

// storeApart stores an element a lane.
func (l *lowering) storeApart(v virt, p place) {
	first, disp := l.firstApart(p)
	distance := l.distance(p)
	l.emit(&step{a: v, b: first, scalar: func(m *maker, _ Reg, r regs) { m.storePlaces(distance, r.a, r.b, disp) }})
}

// apartInLocal returns the address of an element of a local at index 0 of the lanes, and the distance
// of two lanes. ok is false if the lanes do not all lie apart by the same distance, or if the nest has
// more than one point.
func (l *lowering) apartInLocal(e element) (base virt, distance func(m *maker, dst Reg), ok bool) {
	if !l.point() || l.alike() || l.active != 0 || e.wide != 8 || l.length.Bytes() != 8*l.target.lanes {
		return 0, nil, false
	}
	row, col := e.row.Coef(l.lane()), e.col.Coef(l.lane())
	e.row, e.col = l.without(e.row), l.without(e.col)
	if row == 0 && col == 0 || l.varies(e.row) || l.varies(e.col) {
		return 0, nil, false
	}
	return l.addressIn(e), distanceOf(row, col, e.arg), true
}

// firstOf writes code that leaves the address of the first lane in RAX. base is the address at index 0
// of the lanes.
func (m *maker) firstOf(base Reg, distance func(m *maker, dst Reg)) {
	distance(m, R10)
	m.Mov(R11, laneReg)
	m.IMul(R11, R10)
	m.Lea(RAX, Indexed(base, R11, 1, 0))
}

// addressIn returns the address of an element of a local that is the same in all lanes.
func (l *lowering) addressIn(e element) virt {
	key := sum{row: e.row, col: e.col, size: -1, arg: e.arg}
	if e.arg == 0 {
		key.arg = -e.at
	}
	return l.inner.recent(l, key, func() step {
		return step{scalar: func(m *maker, dst Reg, _ regs) { m.Lea(dst, l.elementMem(m, e, NoReg)) }}
	})
}
