package amd64

// This file lowers checks.

import (
	"math"

	"flow/ir/types"
)

// check sets a flag and leaves the code if a lane that counts fails.
func (l *lowering) check(c operand) {
	vex := l.vexOnly()
	if vex && c.konst && c.word != 0 { // a constant that holds, such as that a constant divisor is not zero
		return
	}
	if l.alike() && l.active == 0 && c.twice == 0 {
		l.emit(step{a: l.vector(c), jumps: true, scalar: func(m *maker, _ Reg, r regs) {
			m.vec.none(m, r.a)
			m.flagUnless(NotEqual)
		}})
		return
	}
	if c.twice != 0 && vex && l.active == 0 { // an instruction tests all bits but the sign
		l.emit(step{a: c.twice, jumps: true, scalar: func(m *maker, _ Reg, r regs) {
			w := uint64(math.MaxInt64)
			m.Emit(Inst{Op: VPTEST, Len: m.length, Dst: r.a, InMem: true, Mem: m.Const(w, w, w, w)})
			m.flagUnless(Equal)
		}})
		return
	}
	if vex && l.active == 0 { // the carry says that all bits are ones
		l.emit(step{a: l.vector(c), jumps: true, scalar: func(m *maker, _ Reg, r regs) {
			w := uint64(math.MaxUint64)
			m.Emit(Inst{Op: VPTEST, Len: m.length, Dst: r.a, InMem: true, Mem: m.Const(w, w, w, w)})
			m.flagUnless(Below)
		}})
		return
	}
	var not virt
	if c.twice != 0 && !vex {
		not = l.compare(VPTESTMQ, types.I64, operand{elem: types.I64, v: c.twice}, operand{elem: types.I64, konst: true, word: math.MaxInt64}, 0)
	} else {
		not = l.not(l.vector(c))
	}
	if l.active != 0 {
		not = l.mask(KANDW, not, l.active)
	}
	l.emit(step{a: not, jumps: true, scalar: func(m *maker, _ Reg, r regs) {
		m.vec.none(m, r.a)
		m.flagUnless(Equal)
	}})
}

// flagUnless sets the flag of a check that fails, and leaves, unless a condition holds.
func (m *maker) flagUnless(c Cond) {
	m.checks = true
	m.Jump(c.Not(), m.failed)
}
