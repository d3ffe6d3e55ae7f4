package amd64

// This file lists the targets; program.go defines their type. Lowering writes the instructions of
// AVX-512, masks included; a target that lacks some of them rewrites the steps before registers are
// assigned. What the scalar code between the steps does with vectors is behind the interface
// vectors, since no step names the instructions inside it.

import (
	"flow/ir/types"
)

// The targets: AVX-512 with BW, CD, DQ and VL, and AVX2 with FMA.
const (
	AVX512 Target = "avx512"
	AVX2   Target = "avx2"
)

// single is the length of vectors of f32, as many as lanes.
func (t *target) single() Len {
	if t.wide() {
		return t.length
	}
	return t.length - 1
}

// wide reports lanes of 32 bits.
func (t *target) wide() bool { return t.lanes*4 == t.length.Bytes() }

// bytewise reports lanes of 8 bits.
func (t *target) bytewise() bool { return t.lanes == t.length.Bytes() }

// vexOnly says that the target has no EVEX encodings and no mask registers.
func (t *target) vexOnly() bool { return t.rewrite != nil }

// What follows is AVX-512 with its extensions BW, CD, DQ and VL.

var avx512 = &target{name: AVX512, length: L512, lanes: 8, embeds: true, line: 16,
	registers: registers{vectors: 29, masks: 6, general: generalRegs}, spare: [3]Reg{29, 30, 31},
	spareMask: [2]Reg{K0 + 7, K0}, vec: evexVectors{}}

// evexVectors has masks in mask registers.
type evexVectors struct{}

func (evexVectors) splat(m *maker, dst Reg) {
	m.Emit(Inst{Op: VPBROADCASTQG, Len: m.length, Dst: dst, B: RAX})
}

func (evexVectors) truth(m *maker, dst Reg) {
	m.Neg(RAX)
	if m.lanes < 8 {
		m.ArithImm(AndG, RAX, 1<<m.lanes-1)
	}
	m.Emit(Inst{Op: KMOVWFromG, Dst: dst, B: RAX})
}

func (evexVectors) first(m *maker, dst Reg) {
	masks := make([]uint64, m.lanes+1)
	for k := range masks {
		masks[k] = 1<<k - 1
	}
	m.Lea(R9, m.Const(masks...))
	m.Emit(Inst{Op: KMOVW, Dst: dst, InMem: true, Mem: Indexed(R9, RAX, 8, 0)})
}

func (evexVectors) none(m *maker, mask Reg) {
	op := KORTESTB
	if m.lanes > 8 {
		op = KORTESTW
	}
	m.Emit(Inst{Op: op, Dst: mask, B: mask})
}

func (evexVectors) bits(m *maker, mask Reg) {
	if mask == NoReg {
		m.MovImm(RAX, 1<<m.lanes-1)
		return
	}
	op := KMOVBToG
	if m.lanes > 8 {
		op = KMOVWToG
	}
	m.Emit(Inst{Op: op, Dst: RAX, B: mask})
	if m.lanes < 8 { // a constant mask has all bits
		m.ArithImm(AndG, RAX, 1<<m.lanes-1)
	}
}

func (evexVectors) load(m *maker, e types.Elem, dst, mask Reg, at Mem) {
	i := Inst{Op: VMOVUPD, Len: m.length, Dst: dst, InMem: true, Mem: at}
	if mask != NoReg {
		i.Mask, i.Zero = mask, true
	}
	switch e {
	case types.F32:
		i.Op, i.Len = VMOVUPS, m.single()
	case types.Bool:
		if dst.isV() { // bytes
			if mask != NoReg {
				i.Op = VMOVDQU8
			}
			break
		}
		i.Op, i.Len, i.Dst = VMOVDQU8, L128, m.spare[0]
		if mask == NoReg && m.lanes == 8 {
			i.Op = VMOVQ
		}
		m.put(&i)
		i = Inst{Op: VPTESTMB, Len: L128, Dst: dst, A: m.spare[0], B: m.spare[0]}
	}
	m.put(&i)
}

func (evexVectors) store(m *maker, e types.Elem, v, mask Reg, at Mem) {
	i := Inst{Op: VMOVUPDStore, Len: m.length, A: v, InMem: true, Mem: at}
	if mask != NoReg {
		i.Mask = mask
	}
	switch e {
	case types.F32:
		i.Op, i.Len = VMOVUPSStore, m.single()
	case types.Bool: // a byte a lane: all bits of a word, then one, then its low byte
		if v.isV() { // bytes
			if mask != NoReg {
				i.Op = VMOVDQU8Store
			}
			break
		}
		if m.lanes > 8 {
			m.Emit(Inst{Op: VPMOVM2D, Len: m.length, Dst: m.spare[0], B: v})
			m.Emit(Inst{Op: VPSRLD, Len: m.length, Dst: m.spare[0], B: m.spare[0], Imm: 31})
			i.Op, i.A = VPMOVDB, m.spare[0]
			break
		}
		m.Emit(Inst{Op: VPMOVM2Q, Len: m.length, Dst: m.spare[0], B: v})
		m.Emit(Inst{Op: VPSRLQ, Len: m.length, Dst: m.spare[0], B: m.spare[0], Imm: 63})
		i.Op, i.A = VPMOVQB, m.spare[0]
	}
	m.put(&i)
}

// counting copies a mask for an instruction that clears it.
func (evexVectors) counting(m *maker, mask Reg) Reg {
	if mask == NoReg {
		m.Emit(Inst{Op: KXNORW, Dst: m.spareMask[0], A: K(0), B: K(0)})
	} else {
		m.Emit(Inst{Op: KMOVW, Dst: m.spareMask[0], B: mask})
	}
	return m.spareMask[0]
}

func (x evexVectors) gather(m *maker, e types.Elem, dst, mask Reg, at Mem) {
	to := dst
	if to == at.Index { // the two may not be one
		to = m.spare[2]
	}
	op := pair{VGATHERQPD, VGATHERQPS}.of(e)
	mask = x.counting(m, mask)
	m.Emit(Inst{Op: VXORPD, Len: m.length, Dst: to, A: to, B: to})
	m.Emit(Inst{Op: op, Len: m.length, Dst: to, InMem: true, Mem: at, Mask: mask})
	if to != dst {
		m.Emit(Inst{Op: VMOVAPD, Len: m.length, Dst: dst, B: to})
	}
}

func (x evexVectors) scatter(m *maker, e types.Elem, v, mask Reg, at Mem) {
	op := pair{VSCATTERQPD, VSCATTERQPS}.of(e)
	m.Emit(Inst{Op: op, Len: m.length, A: v, InMem: true, Mem: at, Mask: x.counting(m, mask)})
}

// What follows finds nests on f32 alone, whose vectors have twice as many lanes, and those of one
// point, which have shorter ones.

func targetNamed(t Target) *target {
	for _, x := range []*target{avx512, avx2} {
		if x.name == t {
			return x
		}
	}
	panic("BUG: no target " + string(t))
}

// NewAsm is an empty piece for a processor that has no more than t.
func NewAsm(t Target) *Asm { return &Asm{vexOnly: targetNamed(t).vexOnly()} }
