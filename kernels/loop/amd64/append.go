package amd64

// This file lowers rows that are appended to a result: those of the lanes that count, one after the
// other.

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// Words of an appended result beside its address and the bytes of a row: how many rows the window
// has appended.
const appendedRows = 24

// append lowers a row of each lane that counts. The order is that of the points as long as one
// statement outside of inner loops appends.
func (l *lowering) append(s *loop.Stmt) {
	if l.nested > 0 {
		unsupported(s.Origin, "an append in an inner loop")
	}
	if first := l.appends[s.Mem.N]; first != nil && first != s {
		unsupported(s.Origin, "two appends to one result")
	}
	l.appends[s.Mem.N] = s
	arg := l.memory(s.Mem).arg
	in := l.args(s)
	e := l.nest.Results[s.Mem.N].Elem
	if len(in) == 1 && l.embeds && e != types.Bool {
		l.appendColumn(arg, e, l.vector(in[0]))
		return
	}
	skip := l.asm.Label()
	if l.active != 0 {
		l.jumpIfNone(skip, l.active)
	}
	lanes := func(write func(m *maker, mask Reg)) {
		st := step{scalar: func(m *maker, _ Reg, r []Reg) { write(m, maskAt(r, 0)) }}
		if l.active != 0 {
			st.uses = []virt{l.active}
		}
		l.emit(st)
	}
	for k, o := range in {
		l.keepRoom(0, l.bitsOf(o))
		lanes(func(m *maker, mask Reg) {
			m.LoadG(RAX, argMem(arg+appendedRows))
			m.LoadG(R11, argMem(arg+8))
			m.IMul(RAX, R11)
			m.ArithMem(AddG, RAX, argMem(arg))
			m.ArithImm(AddG, RAX, int32(k*e.Size()))
			m.StoreG(laneState(), RAX)
			m.eachLane(mask, func() {
				m.LoadG(R10, laneState())
				m.LoadG(RAX, roomLane(0))
				switch e {
				case types.Bool:
					m.ArithImm(AndG, RAX, 1)
					m.StoreG8(At(R10, 0), RAX)
				case types.F32:
					m.StoreG32(At(R10, 0), RAX)
				default:
					m.StoreG(At(R10, 0), RAX)
				}
				m.ArithMem(AddG, R10, argMem(arg+8))
				m.StoreG(laneState(), R10)
			})
		})
	}
	lanes(func(m *maker, mask Reg) {
		m.LoadG(R10, argMem(arg+appendedRows))
		m.StoreG(laneState(), R10)
		m.eachLane(mask, func() {
			m.LoadG(RAX, laneState())
			m.ArithImm(AddG, RAX, 1)
			m.StoreG(laneState(), RAX)
		})
		m.LoadG(RAX, laneState())
		m.StoreG(argMem(arg+appendedRows), RAX)
		m.Bind(skip)
	})
}

// bitsOf is a value as words whose low bits are its own.
func (l *lowering) bitsOf(o operand) virt {
	v := l.vector(o)
	switch o.elem {
	case types.F32:
		return l.unary(VPMOVZXDQ, types.F64, operand{elem: types.F32, v: v}, 0)
	case types.Bool:
		return l.emit(step{Inst: Inst{Op: VPMOVM2Q, Len: l.length}, b: v, dst: l.fresh(vectorClass)})
	}
	return v
}

// appendColumn appends elements: the lanes that count move together and are stored as the first
// ones.
func (l *lowering) appendColumn(arg int32, e types.Elem, v virt) {
	st := step{uses: []virt{v}}
	if l.active != 0 {
		st.uses = append(st.uses, l.active)
	}
	st.scalar = func(m *maker, _ Reg, r []Reg) {
		m.LoadG(R11, argMem(arg+appendedRows))
		m.LoadG(R10, argMem(arg+8))
		m.IMul(R10, R11)
		m.ArithMem(AddG, R10, argMem(arg))
		from := r[0]
		if mask := maskAt(r, 1); mask == NoReg {
			m.MovImm(RAX, int64(m.lanes))
		} else {
			op, n := VCOMPRESSPD, m.length
			if e == types.F32 {
				op, n = VCOMPRESSPS, m.length-1
			}
			to := m.free(from)
			m.Emit(Inst{Op: op, Len: n, Dst: to, A: from, Mask: mask, Zero: true})
			from = to
			m.vec.bits(m, mask)
			m.PopCount(RAX, RAX)
		}
		m.ArithG(AddG, R11, RAX)
		m.StoreG(argMem(arg+appendedRows), R11)
		m.vec.first(m, m.spareMask[0])
		m.vec.store(m, e, from, m.spareMask[0], At(R10, 0))
	}
	l.emit(st)
}
