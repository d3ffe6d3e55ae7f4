package amd64

// This file lowers accesses whose lanes lie apart by the same distance, as the elements of a column
// do, for AVX2. It takes an address and four moves, where a gather takes an address a lane and some
// 18 operations, and AVX2 has no scatter.

import "flow/ir/loop"

// lane is the symbol of the lanes' index.
func (l *lowering) lane() loop.Sym { return loop.Sym{Kind: loop.IndexSym, N: l.lanes} }

// apart reports an access of words that all lanes make, each at the same distance from the one
// before.
func (l *lowering) apart(p place) bool {
	if !p.gather || !l.vexOnly() || l.target.lanes != 4 || l.lanes < 0 || l.active != 0 || wordBytes(p.mem.elem) != p.mem.elem.Size() || p.mem.elem.Size() != 8 {
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
	row, col := p.row.Coef(l.lane()), p.col.Coef(l.lane())*int64(p.mem.elem.Size())
	return func(m *maker, dst Reg) {
		if row == 0 {
			m.MovImm(dst, col)
			return
		}
		m.LoadG(dst, argMem(p.mem.arg+8))
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

// fourPlaces calls f for the places of the lanes. The address of the first is in a register other
// than R10 and R11.
func (m *maker) fourPlaces(distance func(m *maker, dst Reg), first Reg, disp int32, f func(lane int, at Mem)) {
	distance(m, R10)
	m.Lea(R11, Indexed(R10, R10, 2, 0))
	f(0, At(first, disp))
	f(1, Indexed(first, R10, 1, disp))
	f(2, Indexed(first, R10, 2, disp))
	f(3, Indexed(first, R11, 1, disp))
}

// loadApart loads an element a lane.
func (l *lowering) loadApart(p place) virt {
	first, disp := l.firstApart(p)
	distance := l.distance(p)
	return l.emit(&step{dst: l.fresh(vectorClass), pure: true, a: first, scalar: func(m *maker, dst Reg, r regs) {
		upper := m.free(dst)
		half := [2]Reg{dst, upper}
		m.fourPlaces(distance, r.a, disp, func(lane int, at Mem) {
			to := half[lane/2]
			if lane%2 == 0 {
				m.Emit(Inst{Op: VMOVSD, Dst: to, InMem: true, Mem: at})
			} else {
				m.Emit(Inst{Op: VMOVHPD, Dst: to, A: to, InMem: true, Mem: at})
			}
		})
		m.Emit(Inst{Op: VINSERTF128, Len: L256, Dst: dst, A: dst, B: upper, Imm: 1})
	}})
}

// storeApart stores an element a lane.
func (l *lowering) storeApart(v virt, p place) {
	first, disp := l.firstApart(p)
	distance := l.distance(p)
	l.emit(&step{a: v, b: first, scalar: func(m *maker, _ Reg, r regs) {
		upper := m.free(r.a)
		m.Emit(Inst{Op: VEXTRACTF128, Len: L256, Dst: upper, A: r.a, Imm: 1})
		half := [2]Reg{r.a, upper}
		m.fourPlaces(distance, r.b, disp, func(lane int, at Mem) {
			op := VMOVSDStore
			if lane%2 == 1 {
				op = VMOVHPDStore
			}
			m.Emit(Inst{Op: op, A: half[lane/2], InMem: true, Mem: at})
		})
	}})
}
