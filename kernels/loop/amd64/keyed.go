package amd64

// This file lowers contributions by key: the lanes have elements of a table whose places only the
// run knows, and one instruction adds to each. The lanes go one after the other in their order,
// since two may have one key.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
)

// apartInTable reports that no two statements that contribute to the table of s reach one element,
// so that every element has its contributions in the order of the points. A table has one key with
// one coefficient, and places below the coefficient.
func (l *lowering) apartInTable(s *loop.Stmt, p place) bool {
	if len(p.col.Terms) != 1 || p.col.Terms[0].Sym.Kind != loop.ValSym {
		return false
	}
	t := p.col.Terms[0]
	k := l.keyed[s.Mem.N]
	if k == nil {
		k = &keyedTable{key: t.Sym, coef: t.Coef, at: map[int64]bool{}, places: map[[2]int]virt{}, abreast: map[[2]int][]virt{}}
		if l.keyed == nil {
			l.keyed = map[int]*keyedTable{}
		}
		l.keyed[s.Mem.N] = k
	}
	c := p.col.Const
	if t.Sym != k.key || t.Coef != k.coef || c < 0 || c >= k.coef || l.part.first() && k.at[c] {
		return false
	}
	k.at[c] = true
	return true
}

// addend is how a contribution changes the one word of a state: what an instruction adds.
type addend struct {
	float  bool
	number int32 // of integers that are the same for all lanes
	v      virt  // 0: number
	minus  bool  // v is subtracted
}

// addendOf is that of a contribution; ok is false where one addition does not do it.
func (l *lowering) addendOf(s *loop.Stmt, st *loop.State) (a addend, ok bool) {
	in := l.args(s)
	class := l.nest.Results[s.Mem.N].Class
	last := in[len(in)-1]
	switch {
	case class == loop.Chain && in[0].elem == types.F64:
		a.float, a.v = true, l.vector(last)
		return a, in[0].konst && in[0].word == math.Float64bits(1)
	case len(st.Types) != 1 || st.Types[0] != types.I64:
		return a, false
	case class == loop.Count:
		if a.minus = !last.konst; a.minus {
			a.v = l.toWords(last) // all bits of the lanes that count
		} else {
			a.number = int32(last.word)
		}
		return a, true
	case class == loop.Sum && last.elem == types.I64:
		if n := int64(last.word); last.konst && n == int64(int32(n)) {
			a.number = int32(n)
		} else {
			a.v = l.vector(last)
		}
		return a, true
	}
	return a, false
}

// reduceKeyed lowers a contribution to an element of a table, if one instruction makes it.
func (l *lowering) reduceKeyed(s *loop.Stmt, st *loop.State, p place) bool {
	if !p.mem.unit && l.varies(p.row) || !p.gather || l.nested > 0 || l.active != l.top || l.length.Bytes() != 8*l.target.lanes || !l.apartInTable(s, p) {
		return false
	}
	a, ok := l.addendOf(s, st)
	if !ok {
		return false
	}
	t := l.keyed[s.Mem.N]
	number := [2]int{l.number, l.row}
	at := t.places[number]
	if at == 0 {
		key := inRegister(types.I64, l.vector(l.frame.vals[t.key.N]))
		if at = key.v; t.coef != 1 { // a place in a table is below 2^32
			at = l.binary(VPMULUDQ, types.I64, key, constantOf(types.I64, loop.Word(t.coef)))
		}
		t.places[number] = at
	}
	if a.float && p.mem.unit && l.addAbreast(t, s, p, at, a.v) {
		return true
	}
	l.addEach(p, at, a, int32(8*p.col.Const))
	return true
}

// addEach adds a to the elements of all lanes, one after the other: at is their places, in words, disp
// bytes before them.
func (l *lowering) addEach(p place, at virt, a addend, disp int32) {
	add := step{a: at, c: a.v, mask: l.active}
	if !p.mem.unit { // the table of the row
		var by int32
		add.b, by = l.pointer(place{mem: p.mem, row: p.row})
		disp += by
	}
	add.scalar = func(m *maker, _ Reg, r regs) {
		table, one := R10, m.free(r.a) // value and mask are in memory and in R9
		if r.b != NoReg {
			// A Zen 4 predicts that a load at [r.b + R11*8] reads the last store through these
			// registers, even if R11 has changed. A wrong prediction costs 20 cycles. Writing the
			// base prevents the prediction.
			m.Mov(table, r.b)
		}
		if r.c != NoReg {
			m.vec.store(m, types.I64, r.c, NoReg, room(1))
		}
		if r.mask != NoReg {
			m.vec.bits(m, r.mask)
			m.Mov(R9, RAX)
		}
		if r.b == NoReg {
			m.LoadG(table, argMem(p.mem.arg))
		}
		for k := range m.lanes {
			skip := m.Label()
			at := m.lane(one, r.a, k)
			if r.mask != NoReg {
				m.ShiftImm(ShrG, R9, 1)
				m.Jump(AboveEqual, skip)
			}
			lane := int32(8 * k)
			m.Emit(Inst{Op: VMOVQStore, Dst: R11, A: at})
			to := Indexed(table, R11, 8, disp)
			switch {
			case a.float:
				sum := m.free(r.a, one)
				m.Emit(Inst{Op: VMOVSD, Dst: sum, InMem: true, Mem: to})
				m.Emit(Inst{Op: VADDSD, Dst: sum, A: sum, InMem: true, Mem: offset(room(1), lane)})
				m.Emit(Inst{Op: VMOVSDStore, A: sum, InMem: true, Mem: to})
			case r.c == NoReg:
				m.AddImmTo(to, a.number)
			default:
				m.LoadG(RAX, offset(room(1), lane))
				op := AddG
				if a.minus {
					op = SubG
				}
				m.ArithTo(op, to, RAX)
			}
			m.Bind(skip)
		}
	}
	l.emit(&add)
}

// lane returns a register with word k of v in front: v itself or one, which has word k-1 of v for odd k
// above 4. The words of a vector that is stored are read late: counts by key take 0.75 of the time on
// Emerald Rapids.
func (m *maker) lane(one, v Reg, k int) Reg {
	switch {
	case k == 0:
		return v
	case k < 4:
		m.Emit(Inst{Op: VPERMQI, Len: L256, Dst: one, B: v, Imm: uint8(k)})
	case k%2 == 0:
		m.Emit(Inst{Op: VSHUFF64X2, Len: L512, Dst: one, A: v, B: v, Imm: uint8(k / 2)})
	default:
		m.Emit(Inst{Op: VPERMQI, Len: L256, Dst: one, B: one, Imm: 1})
	}
	return one
}

// addAbreast lowers sums of floats at places side by side. It adds all of them with one instruction a
// lane, at the last of their statements. It returns false for a sum without neighbours.
func (l *lowering) addAbreast(t *keyedTable, s *loop.Stmt, p place, at, v virt) bool {
	number := [2]int{l.number, l.row}
	list := append(t.abreast[number], v)
	t.abreast[number] = list
	var next *loop.Stmt
	for k := len(l.nest.Body.Stmts) - 1; k >= 0 && &l.nest.Body.Stmts[k] != s; k-- {
		if x := &l.nest.Body.Stmts[k]; x.Code == loop.Reduce && x.Mem == s.Mem {
			next = x
		}
	}
	if next != nil && len(list) < l.side() && next.At[0].Equal(s.At[0].Plus(loop.Num(1))) {
		return true
	}
	delete(t.abreast, number)
	if len(list) == 1 {
		return false
	}
	disp := int32(8 * (p.col.Const + 1 - int64(len(list))))
	if l.vexOnly() && len(list) < l.side() { // it stores parts of a vector slowly
		for k, v := range list {
			l.addEach(p, at, addend{float: true, v: v}, disp+int32(8*k))
		}
		return true
	}
	mask := l.firstColumns(len(list))
	l.keepRoom(0, at, 0)
	rows := l.rowsOf(list)
	for k, row := range rows[:l.side()] {
		l.emit(&step{a: row, b: l.active, mask: mask, scalar: func(m *maker, _ Reg, r regs) {
			skip := m.Label()
			if r.b != NoReg {
				m.vec.bits(m, r.b)
				m.ShiftImm(ShrG, RAX, uint8(k+1))
				m.Jump(AboveEqual, skip)
			}
			m.LoadG(R10, argMem(p.mem.arg))
			m.LoadG(R11, offset(room(0), int32(8*k)))
			to, sum := Indexed(R10, R11, 8, disp), m.free(r.a, r.b, r.mask)
			if l.vexOnly() {
				m.Emit(Inst{Op: VADDPD, Len: m.length, Dst: sum, A: r.a, InMem: true, Mem: to})
			} else {
				m.vec.load(m, types.F64, sum, r.mask, to)
				m.Emit(Inst{Op: VADDPD, Len: m.length, Dst: sum, A: sum, B: r.a})
			}
			m.vec.store(m, types.F64, sum, r.mask, to)
			m.Bind(skip)
		}})
	}
	return true
}
