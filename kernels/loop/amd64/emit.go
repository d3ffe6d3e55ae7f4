package amd64

// This file writes a program as machine code, its registers being assigned.

import (
	"slices"

	"flow/ir/types"
)

// generalRegs are the registers that may be assigned.
var generalRegs = []Reg{R14, R13, R12, RDX, R8}

// spareGeneral are the registers in which a step finds addresses that live in scratch memory. RAX
// is also that of its result.
var spareGeneral = [2]Reg{RAX, R9}

func (m *maker) slotMem(v virt) Mem {
	if at := m.p.values[v].home; at != 0 {
		return At(scratchReg, at)
	}
	return At(scratchReg, int32(m.spills+m.at.slot[v]*slotBytes))
}

// load gives the register of v; what lives in scratch memory is brought into a spare one.
func (m *maker) load(v virt, spare int) Reg {
	if v == 0 {
		return 0
	}
	if r := m.at.reg[v]; r != NoReg {
		return r
	}
	switch m.p.values[v].class {
	case maskClass:
		r := m.spareMask[spare&1]
		m.Emit(Inst{Op: KMOVW, Dst: r, InMem: true, Mem: m.slotMem(v)})
		return r
	case generalClass:
		m.LoadG(spareGeneral[spare], m.slotMem(v))
		return spareGeneral[spare]
	}
	return m.fetch(m.spare[spare], v)
}

// fetch brings a vector that has no register into r.
func (m *maker) fetch(r Reg, v virt) Reg {
	if x := m.p.values[v].inPlace; x != nil {
		at, op := m.placeOf(x), VMOVUPD
		if x.all {
			if op, at.Broadcast = VBROADCASTSD, false; x.size == 4 {
				op = VBROADCASTSS
			}
		}
		m.Emit(Inst{Op: op, Len: x.len, Dst: r, InMem: true, Mem: at})
	} else if m.p.hasSource(v) {
		m.fromSource(r, m.p.values[v].source)
	} else {
		m.Emit(Inst{Op: VMOVUPD, Len: m.length, Dst: r, InMem: true, Mem: m.slotMem(v)})
	}
	return r
}

// placeOf returns the operand in memory that x describes, with its assigned register.
func (m *maker) placeOf(x *memoryRead) Mem {
	at := x.at
	switch {
	case x.reg == 0:
	case x.index:
		at.Index = m.load(x.reg, 0)
	default:
		at.Base = m.load(x.reg, 0)
	}
	at.Broadcast = x.all
	return at
}

// fromSource repeats one element of memory over all lanes of r.
func (m *maker) fromSource(r Reg, at Mem) {
	op := VBROADCASTSD
	if at.Scale == 4 {
		op = VBROADCASTSS
	}
	at.Broadcast = false
	m.Emit(Inst{Op: op, Len: m.length, Dst: r, InMem: true, Mem: at})
}

// fromMemory makes v the last operand of i where it has no register and the instruction takes it
// from memory; else it reports false.
func (m *maker) fromMemory(i *Inst, v virt) bool {
	if v == 0 || i.InMem || m.at.reg[v] != NoReg || m.p.values[v].class != vectorClass {
		return false
	}
	f := &forms[i.Op]
	if !i.Op.takesMemory() {
		return false
	}
	if x := m.p.values[v].inPlace; x != nil {
		i.InMem, i.Mem = true, m.placeOf(x)
		return true
	}
	if !m.p.hasSource(v) {
		i.InMem, i.Mem = true, m.slotMem(v)
		return true
	}
	at := m.p.values[v].source
	switch {
	case f.tuple != tFull:
		return false
	case m.embeds && f.evexW != no && f.elem == at.Scale:
		i.InMem, i.Mem = true, at
		return true
	case m.Asm.vexOnly && at.Constant != 0: // the constant as long as a vector
		w := m.consts[at.Constant-1].words[0]
		i.InMem, i.Mem = true, m.Const(w, w, w, w)
		return true
	}
	return false
}

// store writes a result to scratch memory if it has no register, or if a later step loads it (see
// virtual.home).
func (m *maker) store(v virt, r Reg) {
	if v == 0 || m.at.reg[v] != NoReg && m.p.values[v].home == 0 {
		return
	}
	switch m.p.values[v].class {
	case maskClass:
		m.Emit(Inst{Op: KMOVWStore, A: r, InMem: true, Mem: m.slotMem(v)})
		return
	case generalClass:
		m.StoreG(m.slotMem(v), r)
		return
	}
	m.Emit(Inst{Op: VMOVUPDStore, Len: m.length, A: r, InMem: true, Mem: m.slotMem(v)})
}

func (m *maker) step(s *step) {
	if s.leaves {
		m.fuel, m.roundFuel = m.roundFuel[0], m.roundFuel[1:]
	}
	if s.dst != 0 && m.at.reg[s.dst] == NoReg && m.p.hasSource(s.dst) {
		return // its readers read memory
	}
	if s.scalar != nil {
		var count [classCount]int
		in := func(v virt) Reg {
			if v == 0 {
				return NoReg
			}
			count[m.p.values[v].class]++
			return m.load(v, count[m.p.values[v].class]-1)
		}
		var r regs
		r.mask = in(s.mask) // it takes the register that may limit an instruction
		r.c, r.b, r.a = in(s.c), in(s.b), in(s.a)
		dst := Reg(0)
		if s.dst != 0 {
			if dst = m.at.reg[s.dst]; dst == NoReg {
				dst = m.spareFor(s.dst)
			}
		}
		s.scalar(m, dst, r)
		m.store(s.dst, dst)
		return
	}
	switch {
	case !s.fused.is:
	case s.fused.table != 0:
		m.ternary(s)
		return
	default:
		m.fuse(s)
		return
	}
	i := s.Inst
	if i.Op == VRANGEPD || i.Op == VRANGEPS {
		m.ranged(s)
		return
	}
	if i.Op == noOp { // a load that its reader makes
		return
	}
	a, b := s.a, s.b
	if a != 0 && b != 0 && s.c == 0 && m.at.reg[a] == NoReg && m.at.reg[b] != NoReg && i.exchange() {
		a, b = b, a
	}
	if a != 0 {
		i.A = m.load(a, 0)
	}
	if b != 0 && (s.c != 0 || !m.fromMemory(&i, b)) {
		i.B = m.load(b, 1)
	}
	if s.c != 0 {
		i.C = m.load(s.c, 2)
	}
	if s.mask != 0 {
		i.Mask = m.load(s.mask, 0)
	}
	if s.index != 0 {
		i.Mem.Index = m.load(s.index, 1)
	}
	if s.dst != 0 {
		if i.Dst = m.at.reg[s.dst]; i.Dst == NoReg {
			if i.Op == VMOVAPD && !i.InMem && i.Mask == 0 && m.Asm.vexOnly { // a copy to scratch memory is a store
				m.store(s.dst, i.B)
				return
			}
			i.Dst = m.spareFor(s.dst)
			if s.keeps && m.p.values[s.dst].class == vectorClass { // an instruction on masks writes all of them
				m.load(s.dst, 2)
			}
		}
	}
	if i.Op != VMOVAPD || i.InMem || i.Dst != i.B || i.Mask != 0 {
		m.put(&i)
	}
	m.store(s.dst, i.Dst)
}

// commutes are operations whose operands may change places, so that the one in memory is the last.
// Of two that are nan either may be the result.
var commutes = []Op{VADDPD, VMULPD, VADDPS, VMULPS, VPADDQ, VPAND, VPOR, VPXOR, VPANDQ, VPORQ, VPXORQ, VANDPD, VANDPS, VPMULUDQ, VPCMPEQQ}

// exchange makes of i the instruction for its operands in the other order. It returns false, and leaves
// i alone, if there is none.
func (i *Inst) exchange() bool {
	switch i.Op {
	case VCMPPD, VCMPPS, VCMPPDK, VCMPPSK: // < and > are 0x11 and 0x1e, <= and >= 0x12 and 0x1d, as are their negations
		if i.Imm&3 == 1 || i.Imm&3 == 2 {
			i.Imm ^= 0xf
		}
		return true
	}
	return traitsOf[i.Op].commutes
}

// spareFor is the register that a result passes through on its way to scratch memory.
func (m *maker) spareFor(v virt) Reg {
	switch m.p.values[v].class {
	case maskClass:
		return m.spareMask[0]
	case generalClass:
		return RAX
	}
	return m.spare[2]
}

// ternary writes an operation on three bits (VPTERNLOGQ). The instruction overwrites its first operand.
// Its constant is the truth table.
func (m *maker) ternary(s *step) {
	dst := m.at.reg[s.dst]
	if dst == NoReg {
		dst = m.spare[2]
	}
	in, table := [3]Reg{m.load(s.a, 0), m.load(s.b, 1), m.load(s.c, 2)}, s.fused.table
	if k := slices.Index(in[:], dst); k > 0 { // dst is overwritten, so it becomes the first
		in[0], in[k] = in[k], in[0]
		table = 0
		for bits := range 8 {
			a, b := bits>>2&1, bits>>(2-k)&1
			table |= s.fused.table >> (bits&^(4|4>>k) | b<<2 | a<<(2-k)) & 1 << bits
		}
	} else if k < 0 {
		m.Emit(Inst{Op: VMOVAPD, Len: s.Len, Dst: dst, B: in[0]})
	}
	m.Emit(Inst{Op: VPTERNLOGQ, Len: s.Len, Dst: dst, A: in[1], B: in[2], Imm: table})
	m.store(s.dst, dst)
}

// ranged writes VRANGE under a mask over a copy of c.
func (m *maker) ranged(s *step) {
	i := s.Inst
	i.A, i.B, i.Mask = m.load(s.a, 0), m.load(s.b, 1), m.load(s.mask, 0)
	dst := m.at.reg[s.dst]
	if i.Dst = dst; dst == NoReg || dst == i.A || dst == i.B {
		i.Dst = m.spare[2]
	}
	if r := m.at.reg[s.c]; r != NoReg {
		m.Emit(Inst{Op: VMOVAPD, Len: m.length, Dst: i.Dst, B: r})
	} else {
		m.fetch(i.Dst, s.c)
	}
	m.put(&i)
	if dst != NoReg && dst != i.Dst {
		m.Emit(Inst{Op: VMOVAPD, Len: m.length, Dst: dst, B: i.Dst})
	}
	m.store(s.dst, i.Dst)
}

// multiplyAdds are the instructions that compute a*b + c, of f64 and of f32, by the order of operands,
// then by the signs.
var multiplyAdds = [2][3][4]Op{
	{
		{VFMADD132PD, VFMSUB132PD, VFNMADD132PD, VFNMSUB132PD},
		{VFMADD213PD, VFMSUB213PD, VFNMADD213PD, VFNMSUB213PD},
		{VFMADD231PD, VFMSUB231PD, VFNMADD231PD, VFNMSUB231PD},
	},
	{
		{VFMADD132PS, VFMSUB132PS, VFNMADD132PS, VFNMSUB132PS},
		{VFMADD213PS, VFMSUB213PS, VFNMADD213PS, VFNMSUB213PS},
		{VFMADD231PS, VFMSUB231PS, VFNMADD231PS, VFNMSUB231PS},
	},
}

// fuse writes a*b + c. The three forms overwrite one operand each; where none of them dies, c is
// copied first.
func (m *maker) fuse(s *step) {
	f := &s.fused
	ops := &multiplyAdds[0]
	if f.single {
		ops = &multiplyAdds[1]
	}
	sign := 0
	if f.minusAddend {
		sign |= 1
	}
	if f.minusProduct {
		sign |= 2
	}
	dst := m.at.reg[s.dst]
	if dst == NoReg {
		dst = m.spare[2]
	}
	// What has no register is read from memory by the instruction, if it is one of the last two
	// operands of a form.
	a, b, c := s.a, s.b, s.c
	if m.at.reg[a] == NoReg {
		a, b = b, a
	}
	inst := Inst{Len: s.Len, Dst: dst, Op: ops[0][sign]}
	in := func(v virt) bool { return m.fromMemory(&inst, v) }
	emit := func(order int, x, y Reg) {
		inst.Op, inst.A, inst.B = ops[order][sign], x, y
		m.put(&inst)
	}
	move := func(r Reg) {
		if r != dst {
			m.Emit(Inst{Op: VMOVAPD, Len: s.Len, Dst: dst, B: r})
		}
	}
	ra := m.load(a, 0)
	switch {
	case c == 0:
		panic("BUG: a multiply-add without an addend")
	case dst != ra && m.at.reg[b] == NoReg && in(c): // dst = a * (b fetched to dst) + memory
		m.fetch(dst, b)
		emit(1, ra, 0)
	case in(c): // dst = a * b + memory
		rb := m.load(b, 1)
		if dst == rb {
			ra, rb = rb, ra
		}
		move(ra)
		emit(1, rb, 0)
	case in(b): // dst = a * memory + c
		rc := m.load(c, 1)
		if dst == ra {
			emit(0, rc, 0)
			break
		}
		move(rc)
		emit(2, ra, 0)
	default:
		rb, rc := m.load(b, 1), m.load(c, 2)
		switch {
		case dst == ra && rc != dst:
			emit(1, rb, rc)
		case dst == rb && rc != dst:
			emit(1, ra, rc)
		default:
			move(rc)
			emit(2, ra, rb)
		}
	}
	m.store(s.dst, dst)
}

// planes sets dst to the bytes of k planes of the states of a result. It changes R11.
func (m *maker) planes(dst Reg, arg int32, k int) {
	m.LoadG(dst, argMem(arg+8))
	m.LoadG(R11, argMem(arg+16))
	m.IMul(dst, R11)
	m.IMulImm(dst, dst, int32(k))
}

// unlessNone writes code that is passed where the mask has no lane; NoReg: it has all.
func (m *maker) unlessNone(mask Reg, write func()) {
	if mask == NoReg {
		write()
		return
	}
	skip := m.Label()
	m.vec.none(m, mask)
	m.Jump(Equal, skip)
	write()
	m.Bind(skip)
}

// storeOne stores the first lane. It may change RAX.
func (m *maker) storeOne(e types.Elem, v Reg, at Mem) {
	switch e {
	case types.Bool:
		m.Lea(R10, at)
		m.vec.bits(m, v)
		m.ArithImm(AndG, RAX, 1)
		m.StoreG8(At(R10, 0), RAX)
	case types.F32:
		m.Emit(Inst{Op: VMOVSSStore, A: v, InMem: true, Mem: at})
	default:
		m.Emit(Inst{Op: VMOVSDStore, A: v, InMem: true, Mem: at})
	}
}

// everywhere loads an element into all lanes.
func (m *maker) everywhere(e types.Elem, dst Reg, at Mem) {
	switch e {
	case types.Bool:
		if dst.isV() && m.bytewise() {
			m.Emit(Inst{Op: VPBROADCASTB, Len: m.length, Dst: dst, InMem: true, Mem: at})
			return
		}
		m.LoadG8(RAX, at)
		m.vec.truth(m, dst)
	case types.F32:
		m.Emit(Inst{Op: VBROADCASTSS, Len: m.single(), Dst: dst, InMem: true, Mem: at})
	default:
		m.Emit(Inst{Op: VBROADCASTSD, Len: m.length, Dst: dst, InMem: true, Mem: at})
	}
}
