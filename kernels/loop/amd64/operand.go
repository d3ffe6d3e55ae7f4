package amd64

// This file defines operands.

// Reg is a register: V0..V31, K0..K7 or a general register.
type Reg uint8

// Classes of registers. Register n of a class is class + n.
const (
	V0  Reg = 0  // vector registers: xmm, ymm or zmm by the length of the instruction
	K0  Reg = 32 // masks
	RAX Reg = 64
	RCX Reg = 65
	RDX Reg = 66
	RBX Reg = 67
	RSP Reg = 68
	RBP Reg = 69
	RSI Reg = 70
	RDI Reg = 71
	R8  Reg = 72
	R9  Reg = 73
	R10 Reg = 74
	R11 Reg = 75
	R12 Reg = 76
	R13 Reg = 77
	R14 Reg = 78
	R15 Reg = 79
	// NoReg says that there is no register.
	NoReg Reg = 255
)

// V is vector register n of 32.
func V(n int) Reg { return V0 + Reg(n) }

// K is mask register n of 8.
func K(n int) Reg { return K0 + Reg(n) }

func (r Reg) isV() bool { return r < 32 }
func (r Reg) isK() bool { return r >= K0 && r < K0+8 }
func (r Reg) isG() bool { return r >= RAX && r <= R15 }

// num is the number within the class.
func (r Reg) num() uint8 { return uint8(r) & 31 }

// Mem is a place in memory: Base + Index*Scale + Disp. Index may be a vector register in gathers
// and scatters.
type Mem struct {
	Base, Index Reg // Index: NoReg if there is none
	Scale       uint8
	// Broadcast repeats one element over all lanes (EVEX).
	Broadcast bool
	Disp      int32
	// Constant is 1 + the number of a constant of the Asm, relative to the instruction; Base and
	// Index do not count then.
	Constant int32
}

// At is [base + disp].
func At(base Reg, disp int32) Mem { return Mem{Base: base, Index: NoReg, Scale: 1, Disp: disp} }

// Indexed is [base + index*scale + disp].
func Indexed(base, index Reg, scale uint8, disp int32) Mem {
	return Mem{Base: base, Index: index, Scale: scale, Disp: disp}
}

// Len is the length of vectors.
type Len uint8

// Vector lengths in bits; scalar instructions take L128.
const (
	L128 Len = iota
	L256
	L512
)

// Bytes is the length in bytes.
func (l Len) Bytes() int { return 16 << l }

// Inst is one vector or mask instruction. Which operands count follows from the pattern of its row.
type Inst struct {
	Op   Op
	Len  Len
	Dst  Reg
	A, B Reg // first and second source
	C    Reg // the selector of a VEX blend
	// Mask is a mask register other than K0 that limits what is written, or 0: none. Zero clears
	// the other lanes.
	Mask Reg
	Zero bool
	Imm  uint8
	// InMem says that Mem stands for B, or for Dst in a store.
	InMem bool
	Mem   Mem
}

// operands is how many operands a pattern has, the immediate aside.
var operands = [...]int{rvm: 3, rm: 2, mr: 2, mvr: 3, vmi: 2, rvmr: 4, gather: 2, scatter: 2, krvm: 3, krm: 2, kmr: 2}

// With is the instruction op, with operands in the order of the Go assembler: an immediate (uint8),
// registers and memory (Reg, Mem), the destination last, and before it a mask if one limits what is
// written. Gathers are those under a mask.
func (op Op) With(length Len, list ...any) Inst {
	f := &forms[op]
	i := Inst{Op: op, Len: length}
	if f.imm {
		i.Imm = list[0].(uint8)
		list = list[1:]
	}
	if n := len(list); n == operands[f.pat]+1 {
		i.Mask = list[n-2].(Reg)
		list = append(list[:n-2:n-2], list[n-1])
	}
	if len(list) != operands[f.pat] {
		panic("BUG: operands of " + f.name)
	}
	set := func(to *Reg, operand any) {
		switch x := operand.(type) {
		case Mem:
			i.InMem, i.Mem = true, x
		case Reg:
			*to = x
		}
	}
	last := len(list) - 1
	switch f.pat {
	case rvmr:
		i.C = list[0].(Reg)
		set(&i.B, list[1])
		set(&i.A, list[2])
		set(&i.Dst, list[3])
	case rvm, krvm, mvr:
		set(&i.B, list[0])
		set(&i.A, list[1])
		set(&i.Dst, list[2])
	case mr, kmr, scatter:
		set(&i.A, list[0])
		set(&i.Dst, list[last])
	default:
		set(&i.B, list[0])
		set(&i.Dst, list[last])
	}
	return i
}
