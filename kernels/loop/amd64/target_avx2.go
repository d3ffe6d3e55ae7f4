package amd64

// This file defines AVX2 with FMA: vectors of four lanes, 16 registers, and masks that are vectors
// of words whose bits are all ones or all zeros.

import "flow/ir/types"

var avx2 = &target{name: AVX2, length: L256, lanes: 4, registers: registers{vectors: 13, general: generalRegs}, spare: [3]Reg{13, 14, 15},
	vec: vexVectors{}, rewrite: legalizeAVX2}

// vexVectors has masks in vector registers. Lanes that an instruction cannot reach alone pass
// through memory: the part of scratch memory where the registers are saved while the code is
// suspended, which is free while it runs.
type vexVectors struct{}

// Offsets from scratchReg. A lane that does not count loads from and stores to offset 0.
const (
	dumpIndex = 1 * slotBytes
	dumpValue = 2 * slotBytes
)

// spread is what multiplies four bits so that each becomes a byte; ones keeps the lowest bit of
// each byte.
const spread, ones = 0x204081, 0x01010101

// free is a spare register that is none of these.
func (m *maker) free(taken ...Reg) Reg {
next:
	for _, r := range m.spare {
		for _, t := range taken {
			if r == t {
				continue next
			}
		}
		return r
	}
	panic("BUG: all spare registers hold operands")
}

func (vexVectors) splat(m *maker, dst Reg) {
	m.Emit(Inst{Op: VMOVQ, Dst: dst, B: RAX})
	m.Emit(Inst{Op: VPBROADCASTQ, Len: m.length, Dst: dst, B: dst})
}

func (x vexVectors) truth(m *maker, dst Reg) {
	m.Neg(RAX)
	x.splat(m, dst)
}

func (vexVectors) first(m *maker, dst Reg) {
	const all = 1<<64 - 1
	m.Lea(R9, m.Const(all, all, all, all, 0, 0, 0, 0))
	m.Neg(RAX)
	m.Emit(Inst{Op: VMOVUPD, Len: m.length, Dst: dst, InMem: true, Mem: Indexed(R9, RAX, 8, int32(m.length.Bytes()))})
}

func (vexVectors) none(m *maker, mask Reg) {
	m.Emit(Inst{Op: VPTEST, Len: m.length, Dst: mask, B: mask})
}

// lanesOf sets a general register to a bit a lane.
func (vexVectors) lanesOf(m *maker, dst, mask Reg) {
	m.Emit(Inst{Op: VMOVMSKPD, Len: m.length, Dst: dst, B: mask})
}

func (x vexVectors) bits(m *maker, mask Reg) {
	if mask == NoReg {
		m.MovImm(RAX, 1<<m.lanes-1)
		return
	}
	x.lanesOf(m, RAX, mask)
}

// narrow sets dst to a mask of 32-bit lanes. upper is a register for the upper half; it may be dst
// if that is not mask.
func (vexVectors) narrow(m *maker, dst, mask, upper Reg) {
	m.Emit(Inst{Op: VEXTRACTF128, Len: L256, Dst: upper, A: mask, Imm: 1})
	m.Emit(Inst{Op: VSHUFPS, Len: L128, Dst: dst, A: mask, B: upper, Imm: 0x88})
}

func (x vexVectors) load(m *maker, e types.Elem, dst, mask Reg, at Mem) {
	if e == types.Bool {
		x.loadBools(m, dst, mask, at)
		return
	}
	whole, masked, length := VMOVUPD, VMASKMOVPD, m.length
	if e == types.F32 {
		whole, masked, length = VMOVUPS, VMASKMOVPS, m.length-1
	}
	if mask == NoReg {
		m.Emit(Inst{Op: whole, Len: length, Dst: dst, InMem: true, Mem: at})
		return
	}
	if e == types.F32 {
		narrow := m.free(mask)
		x.narrow(m, narrow, mask, narrow)
		mask = narrow
	}
	m.Emit(Inst{Op: masked, Len: length, Dst: dst, A: mask, InMem: true, Mem: at})
}

// loadBools reads four bytes, one by one if some do not count.
func (x vexVectors) loadBools(m *maker, dst, mask Reg, at Mem) {
	widen := Inst{Op: VPMOVZXBQ, Len: m.length, Dst: dst, InMem: true, Mem: at}
	if mask != NoReg {
		x.bytes(m, mask, at)
		m.Emit(Inst{Op: VMOVD, Dst: dst, B: R11})
		widen.InMem, widen.B = false, dst
	}
	m.put(&widen)
	zero := m.free(dst) // words that are 1 or 0 become masks
	m.Emit(Inst{Op: VXORPD, Len: m.length, Dst: zero, A: zero, B: zero})
	m.Emit(Inst{Op: VPSUBQ, Len: m.length, Dst: dst, A: zero, B: dst})
}

// bytes leaves in R11 a byte of each lane that counts, 0 of the others.
func (x vexVectors) bytes(m *maker, mask Reg, at Mem) {
	x.lanesOf(m, R9, mask)
	m.MovImm(R11, 0)
	for k := range m.lanes {
		lane := at
		lane.Disp += int32(k)
		m.Lea(R10, lane)
		m.ShiftImm(ShrG, R9, 1)
		m.Cmov(AboveEqual, R10, scratchReg)
		m.LoadG8(R10, At(R10, 0))
		if k > 0 {
			m.ShiftImm(ShlG, R10, uint8(8*k))
		}
		m.ArithG(OrG, R11, R10)
	}
	x.lanesOf(m, R9, mask)
	m.IMulImm(R9, R9, spread)
	m.ArithImm(AndG, R9, ones)
	m.ArithG(AndG, R11, R9)
}

func (x vexVectors) store(m *maker, e types.Elem, v, mask Reg, at Mem) {
	if e == types.Bool {
		x.storeBools(m, v, mask, at)
		return
	}
	whole, masked, length := VMOVUPDStore, VMASKMOVPDStore, m.length
	if e == types.F32 {
		whole, masked, length = VMOVUPSStore, VMASKMOVPSStore, m.length-1
	}
	if mask == NoReg {
		m.Emit(Inst{Op: whole, Len: length, A: v, InMem: true, Mem: at})
		return
	}
	if e == types.F32 {
		narrow := m.free(v, mask)
		x.narrow(m, narrow, mask, narrow)
		mask = narrow
	}
	m.Emit(Inst{Op: masked, Len: length, A: mask, B: v, InMem: true, Mem: at})
}

func (x vexVectors) storeBools(m *maker, v, mask Reg, at Mem) {
	x.lanesOf(m, R10, v)
	m.IMulImm(R10, R10, spread)
	m.ArithImm(AndG, R10, ones)
	if mask == NoReg {
		m.StoreG32(at, R10)
		return
	}
	x.lanesOf(m, R9, mask)
	for k := range m.lanes {
		to := at
		to.Disp += int32(k)
		m.Lea(R11, to)
		m.ShiftImm(ShrG, R9, 1)
		m.Cmov(AboveEqual, R11, scratchReg)
		m.StoreG8(At(R11, 0), R10)
		m.ShiftImm(ShrG, R10, 8)
	}
}

// gather loads the words lane after lane if all lanes count: on a Zen 3 the instruction that gathers
// takes twice as long.
func (x vexVectors) gather(m *maker, e types.Elem, dst, mask Reg, at Mem) {
	if e.Size() != 8 || m.length != L256 {
		x.gatherSome(m, e, dst, mask, at)
		return
	}
	some, done := m.Label(), m.Label()
	if mask != NoReg {
		x.lanesOf(m, R9, mask)
		m.ArithImm(CmpG, R9, 1<<m.lanes-1)
		m.Jump(NotEqual, some)
	}
	two := m.free(dst, at.Index)
	m.Emit(Inst{Op: VEXTRACTF128, Len: L256, Dst: two, A: at.Index, Imm: 1})
	for k, half := range [...]Reg{dst, two} {
		from := [...]Reg{at.Index, two}[k]
		m.Emit(Inst{Op: VMOVQStore, Dst: R9, A: from})
		m.Emit(Inst{Op: VPEXTRQ, Dst: R10, A: from, Imm: 1})
		m.Emit(Inst{Op: VMOVSD, Dst: half, InMem: true, Mem: Indexed(at.Base, R9, at.Scale, at.Disp)})
		m.Emit(Inst{Op: VMOVHPD, Dst: half, A: half, InMem: true, Mem: Indexed(at.Base, R10, at.Scale, at.Disp)})
	}
	m.Emit(Inst{Op: VINSERTF128, Len: L256, Dst: dst, A: dst, B: two, Imm: 1})
	if mask != NoReg {
		m.Goto(done)
		m.Bind(some)
		x.gatherSome(m, e, dst, mask, at)
	}
	m.Bind(done)
}

// gatherSome copies the mask, since the instruction clears it. Destination, index and mask must be
// three registers. A mask in a spare register is a copy already.
func (x vexVectors) gatherSome(m *maker, e types.Elem, dst, mask Reg, at Mem) {
	counting := mask
	if mask == NoReg || mask < m.spare[0] {
		counting = m.free(at.Index)
	}
	to := dst
	if to == at.Index || to == counting {
		to = m.free(at.Index, counting)
	}
	switch {
	case mask == NoReg:
		m.Emit(Inst{Op: VPCMPEQQ, Len: m.length, Dst: counting, A: counting, B: counting})
	case e == types.F32 && counting == mask:
		x.narrow(m, counting, mask, to)
	case e == types.F32:
		x.narrow(m, counting, mask, counting)
	case counting != mask:
		m.Emit(Inst{Op: VMOVAPD, Len: m.length, Dst: counting, B: mask})
	}
	op := pair{VGATHERQPD, VGATHERQPS}.of(e)
	m.Emit(Inst{Op: VXORPD, Len: m.length, Dst: to, A: to, B: to})
	m.Emit(Inst{Op: op, Len: m.length, Dst: to, A: counting, InMem: true, Mem: at})
	if to != dst {
		m.Emit(Inst{Op: VMOVAPD, Len: m.length, Dst: dst, B: to})
	}
}

// scatter stores lane after lane.
func (x vexVectors) scatter(m *maker, e types.Elem, v, mask Reg, at Mem) {
	m.Emit(Inst{Op: VMOVUPDStore, Len: m.length, A: at.Index, InMem: true, Mem: At(scratchReg, dumpIndex)})
	m.Emit(Inst{Op: VMOVUPDStore, Len: m.length, A: v, InMem: true, Mem: At(scratchReg, dumpValue)})
	if mask != NoReg {
		x.lanesOf(m, R9, mask)
	}
	for k := range m.lanes {
		m.LoadG(R10, At(scratchReg, dumpIndex+int32(8*k)))
		m.Lea(R10, Indexed(at.Base, R10, at.Scale, at.Disp))
		if mask != NoReg {
			m.ShiftImm(ShrG, R9, 1)
			m.Cmov(AboveEqual, R10, scratchReg)
		}
		if e == types.F32 {
			m.LoadG32(R11, At(scratchReg, dumpValue+int32(4*k)))
			m.StoreG32(At(R10, 0), R11)
		} else {
			m.LoadG(R11, At(scratchReg, dumpValue+int32(8*k)))
			m.StoreG(At(R10, 0), R11)
		}
	}
}
