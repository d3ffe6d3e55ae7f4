package amd64

// This file writes the scalar instructions of addresses, counters and jumps. All are of 64 bits
// unless they say otherwise.

// Cond is a condition of a jump, a move or a set, by its number in the opcode.
type Cond uint8

// The conditions.
const (
	Below      Cond = 0x2 // without sign
	AboveEqual Cond = 0x3
	Equal      Cond = 0x4
	NotEqual   Cond = 0x5
	Above      Cond = 0x7
	Sign       Cond = 0x8
	Less       Cond = 0xc // with sign
	GreaterEq  Cond = 0xd
	LessEqual  Cond = 0xe
	Greater    Cond = 0xf
)

// Not is the opposite condition.
func (c Cond) Not() Cond { return c ^ 1 }

// Arith is an operation with the classic encodings, by its number in the opcode.
type Arith uint8

// The classic operations.
const (
	AddG Arith = 0
	OrG  Arith = 1
	AndG Arith = 4
	SubG Arith = 5
	XorG Arith = 6
	CmpG Arith = 7
)

// rex appends the prefix of a 64-bit instruction.
func (a *Asm) rex(w uint8, reg, rmReg Reg, mem *Mem) {
	x, b := extends(rmReg, mem)
	if mem == nil {
		x = 0
	}
	if p := 0x40 | w<<3 | bit3(reg)<<2 | x<<1 | b; p != 0x40 {
		a.code = append(a.code, p)
	}
}

// modrm appends ModRM, SIB and displacement; more bytes of the instruction follow.
func (a *Asm) modrm(reg, rmReg Reg, mem *Mem, more int) {
	var at int
	if a.code, at = address(a.code, reg, rmReg, mem, 1); at >= 0 {
		a.uses = append(a.uses, fixup{at, more, mem.Constant - 1})
	}
}

// op appends an instruction of one opcode byte, or of two with 0x0f before it.
func (a *Asm) op(w uint8, escape bool, opcode uint8, reg, rmReg Reg, mem *Mem, more int) {
	a.rex(w, reg, rmReg, mem)
	if escape {
		a.code = append(a.code, 0x0f)
	}
	a.code = append(a.code, opcode)
	a.modrm(reg, rmReg, mem, more)
}

func (a *Asm) imm32(v int32) {
	a.code = append(a.code, uint8(v), uint8(v>>8), uint8(v>>16), uint8(v>>24))
}

// MovImm sets dst to a constant.
func (a *Asm) MovImm(dst Reg, v int64) {
	switch {
	case v >= 0 && v <= 1<<31-1:
		a.rex(0, 0, dst, nil)
		a.code = append(a.code, 0xb8|dst.num()&7)
		a.imm32(int32(v))
	case v == int64(int32(v)):
		a.op(1, false, 0xc7, 0, dst, nil, 4)
		a.imm32(int32(v))
	default:
		a.rex(1, 0, dst, nil)
		a.code = append(a.code, 0xb8|dst.num()&7)
		a.imm32(int32(v))
		a.imm32(int32(v >> 32))
	}
}

// Mov copies a register.
func (a *Asm) Mov(dst, src Reg) { a.op(1, false, 0x89, src, dst, nil, 0) }

// MovTo copies src to dst. It writes no instruction if they are the same register.
func (a *Asm) MovTo(dst, src Reg) {
	if dst != src {
		a.Mov(dst, src)
	}
}

// LoadG loads 8 bytes.
func (a *Asm) LoadG(dst Reg, m Mem) { a.op(1, false, 0x8b, dst, 0, &m, 0) }

// StoreG stores 8 bytes.
func (a *Asm) StoreG(m Mem, src Reg) { a.op(1, false, 0x89, src, 0, &m, 0) }

// StoreG32 stores the low 4 bytes.
func (a *Asm) StoreG32(m Mem, src Reg) { a.op(0, false, 0x89, src, 0, &m, 0) }

// StoreG8 stores the low byte of RAX, RCX, RDX, RBX or R8 to R15.
func (a *Asm) StoreG8(m Mem, src Reg) {
	if src >= RSP && src <= RDI {
		panic("BUG: the low byte of such a register has no name without a prefix")
	}
	a.op(0, false, 0x88, src, 0, &m, 0)
}

// LoadG32 loads 4 bytes and widens them with their sign.
func (a *Asm) LoadG32(dst Reg, m Mem) { a.op(1, false, 0x63, dst, 0, &m, 0) }

// LoadG8 loads a byte and widens it without sign.
func (a *Asm) LoadG8(dst Reg, m Mem) { a.op(0, true, 0xb6, dst, 0, &m, 0) }

// Lea sets dst to the address of m.
func (a *Asm) Lea(dst Reg, m Mem) { a.op(1, false, 0x8d, dst, 0, &m, 0) }

// ArithG is dst = dst op src; CmpG only sets the flags.
func (a *Asm) ArithG(op Arith, dst, src Reg) { a.op(1, false, uint8(op)<<3|1, src, dst, nil, 0) }

// ArithMem is dst = dst op memory.
func (a *Asm) ArithMem(op Arith, dst Reg, m Mem) { a.op(1, false, uint8(op)<<3|3, dst, 0, &m, 0) }

// ArithTo is memory = memory op src.
func (a *Asm) ArithTo(op Arith, m Mem, src Reg) { a.op(1, false, uint8(op)<<3|1, src, 0, &m, 0) }

// AddImmTo adds v to 8 bytes of memory.
func (a *Asm) AddImmTo(m Mem, v int32) {
	switch {
	case v == 1:
		a.op(1, false, 0xff, 0, 0, &m, 0)
	case v == int32(int8(v)):
		a.op(1, false, 0x83, Reg(AddG), 0, &m, 1)
		a.code = append(a.code, uint8(v))
	default:
		a.op(1, false, 0x81, Reg(AddG), 0, &m, 4)
		a.imm32(v)
	}
}

// ArithImm is dst = dst op v.
func (a *Asm) ArithImm(op Arith, dst Reg, v int32) {
	if v == int32(int8(v)) {
		a.op(1, false, 0x83, Reg(op), dst, nil, 1)
		a.code = append(a.code, uint8(v))
		return
	}
	if dst == RAX { // the short form that assemblers take
		a.code = append(a.code, 0x48, uint8(op)<<3|5)
	} else {
		a.op(1, false, 0x81, Reg(op), dst, nil, 4)
	}
	a.imm32(v)
}

// ArithConst is dst = dst op v. It changes R11 if v has more than 32 bits.
func (a *Asm) ArithConst(op Arith, dst Reg, v int64) {
	if v == int64(int32(v)) {
		a.ArithImm(op, dst, int32(v))
		return
	}
	a.MovImm(R11, v)
	a.ArithG(op, dst, R11)
}

// Test sets the flags of x & y.
func (a *Asm) Test(x, y Reg) { a.op(1, false, 0x85, y, x, nil, 0) }

// IMul is dst = dst * src.
func (a *Asm) IMul(dst, src Reg) { a.op(1, true, 0xaf, dst, src, nil, 0) }

// IMulMem is dst = dst * the word at m.
func (a *Asm) IMulMem(dst Reg, m Mem) { a.op(1, true, 0xaf, dst, 0, &m, 0) }

// IMulImm is dst = src * v.
func (a *Asm) IMulImm(dst, src Reg, v int32) {
	if v == int32(int8(v)) {
		a.op(1, false, 0x6b, dst, src, nil, 1)
		a.code = append(a.code, uint8(v))
		return
	}
	a.op(1, false, 0x69, dst, src, nil, 4)
	a.imm32(v)
}

// Shift is an operation of ShiftImm, by its number in the opcode.
type Shift uint8

// The shifts.
const (
	ShlG Shift = 4
	ShrG Shift = 5
)

// ShiftImm shifts dst by n bits.
func (a *Asm) ShiftImm(op Shift, dst Reg, n uint8) {
	if n == 1 {
		a.op(1, false, 0xd1, Reg(op), dst, nil, 0)
		return
	}
	a.op(1, false, 0xc1, Reg(op), dst, nil, 1)
	a.code = append(a.code, n)
}

// ShlX is dst = src << count.
func (a *Asm) ShlX(dst, src, count Reg) {
	a.code = append(a.code, 0xc4, (bit3(dst)^1)<<7|1<<6|(bit3(src)^1)<<5|m38, 1<<7|(count.num()^15)<<3|p66, 0xf7)
	a.modrm(dst, src, nil, 0)
}

// Extend32 widens the low 4 bytes of src with their sign.
func (a *Asm) Extend32(dst, src Reg) { a.op(1, false, 0x63, dst, src, nil, 0) }

// SignExtend widens RAX to RDX and RAX.
func (a *Asm) SignExtend() { a.code = append(a.code, 0x48, 0x99) }

// IDiv divides RDX and RAX by src: the quotient, rounded towards 0, is in RAX, the rest in RDX.
func (a *Asm) IDiv(src Reg) { a.op(1, false, 0xf7, 7, src, nil, 0) }

// BitScan is the number of the lowest bit of src that is set; there is one.
func (a *Asm) BitScan(dst, src Reg) { a.op(1, true, 0xbc, dst, src, nil, 0) }

// PopCount is the number of bits of src that are set.
func (a *Asm) PopCount(dst, src Reg) {
	a.code = append(a.code, 0xf3)
	a.op(1, true, 0xb8, dst, src, nil, 0)
}

// Neg is dst = -dst.
func (a *Asm) Neg(dst Reg) { a.op(1, false, 0xf7, 3, dst, nil, 0) }

// Cmov copies src to dst if c holds.
func (a *Asm) Cmov(c Cond, dst, src Reg) { a.op(1, true, 0x40|uint8(c), dst, src, nil, 0) }

// Jump goes to a label if c holds.
func (a *Asm) Jump(c Cond, to Label) {
	a.code = append(a.code, 0x0f, 0x80|uint8(c))
	a.distance(to)
}

// Goto goes to a label.
func (a *Asm) Goto(to Label) {
	a.code = append(a.code, 0xe9)
	a.distance(to)
}

func (a *Asm) distance(to Label) {
	a.jumps = append(a.jumps, fixup{len(a.code), 0, int32(to)})
	a.imm32(0)
}

// Prefetch asks for the line of m: into the first-level cache, or into the second only.
func (a *Asm) Prefetch(m Mem, second bool) {
	level := Reg(1)
	if second {
		level = 2
	}
	a.op(0, true, 0x18, level, 0, &m, 0)
}

// ZeroUpper clears the upper halves of the vector registers: code of legacy encodings would be slow
// behind it otherwise.
func (a *Asm) ZeroUpper() { a.code = append(a.code, 0xc5, 0xf8, 0x77) }

// StoreFence waits until stores past the caches are visible.
func (a *Asm) StoreFence() { a.code = append(a.code, 0x0f, 0xae, 0xf8) }

// Return leaves the code.
func (a *Asm) Return() { a.code = append(a.code, 0xc3) }
