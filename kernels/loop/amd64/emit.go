package amd64

// This file writes a program as machine code, its registers being assigned.

// target is one instruction set.
type target struct {
	name   string
	length Len // of vectors of 64-bit elements
	lanes  int
	registers
	spare [3]Reg // vector registers through which values in scratch memory pass
	// spareMask are the mask registers through which they pass. The second limits no instruction.
	spareMask [2]Reg
}

var avx512 = &target{name: "avx512", length: L512, lanes: 8, registers: registers{vectors: 29, masks: 6}, spare: [3]Reg{29, 30, 31}, spareMask: [2]Reg{K0 + 7, K0}}

// General registers with a fixed role. RAX, R9, R10 and R11 are free within a step.
const (
	argsReg    = RDI // the block of arguments
	laneReg    = RSI // the vector index of the first lane
	laneEndReg = RDX // where the vector index ends
	rowReg     = RCX // the other index of the space
	rowEndReg  = R8
	fuelReg    = R15 // rounds that may still be made
	scratchReg = RBX
)

// maker writes steps.
type maker struct {
	Asm
	*target
	p      *program
	at     assignment
	spills int // offset of the slots in scratch memory
	leave  Label
	start  Label
	resume []suspension
}

// slotBytes is the size of a slot: a vector, or a mask.
const slotBytes = 64

func (m *maker) slotMem(v virt) Mem {
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
	if m.p.classes[v] == maskClass {
		r := m.spareMask[spare&1]
		m.Emit(Inst{Op: KMOVW, Dst: r, InMem: true, Mem: m.slotMem(v)})
		return r
	}
	r := m.spare[spare]
	m.Emit(Inst{Op: VMOVUPD, Len: m.length, Dst: r, InMem: true, Mem: m.slotMem(v)})
	return r
}

// store brings a result from its spare register to scratch memory if it lives there.
func (m *maker) store(v virt, r Reg) {
	if v == 0 || m.at.reg[v] != NoReg {
		return
	}
	if m.p.classes[v] == maskClass {
		m.Emit(Inst{Op: KMOVWStore, A: r, InMem: true, Mem: m.slotMem(v)})
		return
	}
	m.Emit(Inst{Op: VMOVUPDStore, Len: m.length, A: r, InMem: true, Mem: m.slotMem(v)})
}

func (m *maker) write(p *program) {
	m.p = p
	for k := range p.steps {
		m.step(&p.steps[k])
	}
}

func (m *maker) step(s *step) {
	if s.scalar != nil {
		regs := make([]Reg, len(s.uses))
		masks := 0
		for k := len(s.uses) - 1; k >= 0; k-- { // the last mask is the one that may limit an instruction
			v := s.uses[k]
			if m.p.classes[v] == maskClass {
				regs[k] = m.load(v, masks)
				masks++
			} else {
				regs[k] = m.load(v, k)
			}
		}
		dst := Reg(0)
		if s.dst != 0 {
			if dst = m.at.reg[s.dst]; dst == NoReg {
				dst = m.spareFor(s.dst)
			}
		}
		s.scalar(m, dst, regs)
		m.store(s.dst, dst)
		return
	}
	if s.fused != nil {
		m.fuse(s)
		return
	}
	i := s.Inst
	if s.a != 0 {
		i.A = m.load(s.a, 0)
	}
	if s.b != 0 {
		i.B = m.load(s.b, 1)
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
			i.Dst = m.spareFor(s.dst)
			if s.keeps && m.p.classes[s.dst] == vectorClass { // an instruction on masks writes all of them
				m.load(s.dst, 2)
			}
		}
	}
	m.Emit(i)
	m.store(s.dst, i.Dst)
}

// spareFor is the register that a result passes through on its way to scratch memory.
func (m *maker) spareFor(v virt) Reg {
	if m.p.classes[v] == maskClass {
		return m.spareMask[0]
	}
	return m.spare[2]
}

// fuse writes a*b + c. The three forms overwrite one operand each; where none of them dies, c is copied first.
func (m *maker) fuse(s *step) {
	f := s.fused
	ops := [3][4]Op{ // the order of operands, then the signs
		{VFMADD132PD, VFMSUB132PD, VFNMADD132PD, VFNMSUB132PD},
		{VFMADD213PD, VFMSUB213PD, VFNMADD213PD, VFNMSUB213PD},
		{VFMADD231PD, VFMSUB231PD, VFNMADD231PD, VFNMSUB231PD},
	}
	if f.single {
		ops = [3][4]Op{
			{VFMADD132PS, VFMSUB132PS, VFNMADD132PS, VFNMSUB132PS},
			{VFMADD213PS, VFMSUB213PS, VFNMADD213PS, VFNMSUB213PS},
			{VFMADD231PS, VFMSUB231PS, VFNMADD231PS, VFNMSUB231PS},
		}
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
	a := m.load(s.a, 0)
	emit := func(order int, x Reg, y Reg, inMem bool) {
		m.Emit(Inst{Op: ops[order][sign], Len: s.Len, Dst: dst, A: x, B: y, InMem: inMem, Mem: s.Mem})
	}
	move := func(r Reg) {
		if r != dst {
			m.Emit(Inst{Op: VMOVAPD, Len: s.Len, Dst: dst, B: r})
		}
	}
	switch f.in {
	case 'c': // dst = a * b + memory
		b := m.load(s.b, 1)
		if dst == b {
			a, b = b, a
		}
		move(a)
		emit(1, b, 0, true)
	case 'b': // dst = a * memory + c
		c := m.load(s.c, 1)
		if dst == a {
			emit(0, c, 0, true)
			break
		}
		move(c)
		emit(2, a, 0, true)
	default:
		b := m.load(s.b, 1)
		switch {
		case s.c == 0:
			panic("BUG: a multiply-add without an addend")
		case dst == a && m.at.reg[s.c] != dst:
			emit(1, b, m.load(s.c, 2), false)
		case dst == b && m.at.reg[s.c] != dst:
			emit(1, a, m.load(s.c, 2), false)
		default:
			move(m.load(s.c, 2))
			emit(2, a, b, false)
		}
	}
	m.store(s.dst, dst)
}
