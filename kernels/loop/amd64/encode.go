package amd64

// This file writes vector and mask instructions: the VEX form where one exists and the operands
// allow it, else the EVEX form.

// form is a row of the table: an opcode, how its operands are encoded, and how wide they are.
type form struct {
	name string // the Go assembler's
	pat  pattern
	pp   uint8 // the prefix: pNo, p66, pF3, pF2
	mm   uint8 // the opcode map: m0F, m38, m3A
	op   uint8
	ext  uint8 // the opcode's other half, in the place of a register
	// vexW and evexW are the W bit of the two encodings, or no where there is none.
	vexW, evexW int8
	tuple       tuple
	elem        uint8 // bytes of what is broadcast, or of a scalar
	imm         bool
	dst, src    width // of Dst and B
	noMask      bool  // the EVEX encoding takes no mask: a processor refuses one
	noMem       bool  // no operand is in memory: a processor raises an exception (SIGILL) for one
}

const (
	pNo, p66, pF3, pF2 = 0, 1, 2, 3
	m0F, m38, m3A      = 1, 2, 3
	no                 = -1
)

// pattern says which operand is encoded where.
type pattern uint8

const (
	rvm     pattern = iota // reg = Dst, vvvv = A, rm = B or Mem
	rm                     // reg = Dst, rm = B or Mem
	mr                     // reg = A, rm = Dst or Mem
	mvr                    // reg = B, vvvv = A, rm = Mem
	vmi                    // vvvv = Dst, rm = B or Mem, an immediate
	rvmr                   // rvm, and C in the immediate
	gather                 // reg = Dst, rm = Mem with a vector index; A is the VEX mask
	scatter                // reg = A, rm = Mem with a vector index
	krvm                   // masks, with the length bit
	krm                    // masks
	kmr                    // reg = A, rm = Mem: masks
)

// tuple says by what an 8-bit displacement is multiplied in the EVEX form.
type tuple uint8

const (
	tFull       tuple = iota // the vector, or one element when it is broadcast
	tHalf                    // half of it, or one element when it is broadcast
	tMem                     // the vector
	tScalar                  // one element
	tHalfMem                 // half of the vector
	tQuarterMem              // a quarter
	tEighthMem               // an eighth
)

// width is how wide an operand is, beside the length of the instruction.
type width uint8

const (
	wFull width = iota
	wHalf
	wQuarter
	wEighth
	wX // xmm whatever the length
	wK
	wG64
	wG32
)

// Encode appends the instruction to b. It panics with a BUG for operands that the instruction does
// not have.
func Encode(b []byte, i *Inst) []byte {
	b, _ = encode(b, i)
	return b
}

// encode also returns the place of the 4 bytes that hold the displacement of a constant, or -1.
func encode(b []byte, i *Inst) ([]byte, int) {
	f := &forms[i.Op]
	reg, vvvv, rmReg := i.Dst, Reg(0), i.B
	switch f.pat {
	case rvm, rvmr, krvm:
		vvvv = i.A
	case mr, kmr:
		reg, rmReg = i.A, i.Dst
	case mvr:
		reg, vvvv = i.B, i.A
	case vmi:
		reg, vvvv = Reg(f.ext), i.Dst
	case gather:
		vvvv = i.A
	case scatter:
		reg = i.A
	}
	mem := &i.Mem
	if !i.InMem {
		mem = nil
	} else if mem.Constant == 0 && !mem.Base.isG() {
		panic("BUG: memory without a base in " + f.name)
	}
	long := i.Len == L512 && f.pat != krvm || i.Mask != 0 || i.Zero || high(reg) || high(vvvv) || mem == nil && high(rmReg) ||
		mem != nil && (f.pat == vmi || mem.Broadcast || mem.Index.isV() && high(mem.Index))
	if mem != nil && f.noMem {
		panic("BUG: " + f.name + " takes no memory")
	}
	if i.Mask != 0 && f.noMask {
		panic("BUG: " + f.name + " takes no mask")
	}
	if f.vexW == no || long {
		if f.evexW == no {
			panic("BUG: " + f.name + " has no EVEX form for these operands")
		}
		return evex(b, i, f, reg, vvvv, rmReg, mem)
	}
	return vex(b, i, f, reg, vvvv, rmReg, mem)
}

// high reports a vector register that only EVEX names.
func high(r Reg) bool { return r >= 16 && r < 32 }

// bit3 is bit 3 of a register's number, bit4 bit 4.
func bit3(r Reg) uint8 { return r.num() >> 3 & 1 }
func bit4(r Reg) uint8 { return r.num() >> 4 & 1 }

// extends gives the bits X and B of what stands for rm.
func extends(rmReg Reg, mem *Mem) (x, b uint8) {
	switch {
	case mem == nil:
		return bit4(rmReg), bit3(rmReg)
	case mem.Constant != 0:
		return 0, 0
	case mem.Index == NoReg:
		return 0, bit3(mem.Base)
	}
	return bit3(mem.Index), bit3(mem.Base)
}

func vex(b []byte, i *Inst, f *form, reg, vvvv, rmReg Reg, mem *Mem) ([]byte, int) {
	x, bb := extends(rmReg, mem)
	if mem == nil {
		x = 0
	}
	l := uint8(i.Len)
	if f.pat == krvm {
		l = 1
	}
	r, w, v := bit3(reg), uint8(f.vexW), vvvv.num()&15
	low := (v^15)<<3 | l<<2 | f.pp
	if x == 0 && bb == 0 && w == 0 && f.mm == m0F {
		b = append(b, 0xc5, (r^1)<<7|low)
	} else {
		b = append(b, 0xc4, (r^1)<<7|(x^1)<<6|(bb^1)<<5|f.mm, w<<7|low)
	}
	b = append(b, f.op)
	b, at := address(b, reg, rmReg, mem, 1)
	switch {
	case f.pat == rvmr:
		b = append(b, i.C.num()<<4)
	case f.imm:
		b = append(b, i.Imm)
	}
	return b, at
}

// evexByte is the first byte of the EVEX form.
const evexByte = 0x62

// takesMemory reports whether the last operand of the instruction may be a whole vector in memory.
func (o Op) takesMemory() bool {
	f := &forms[o]
	return (f.pat == rvm || f.pat == rm || f.pat == krvm) && f.src == wFull && !f.noMem
}

// ofMasks reports an instruction on mask registers.
func (f *form) ofMasks() bool { return f.pat == krvm || f.pat == krm || f.pat == kmr }

func evex(b []byte, i *Inst, f *form, reg, vvvv, rmReg Reg, mem *Mem) ([]byte, int) {
	x, bb := extends(rmReg, mem)
	v := vvvv.num()
	if f.pat == gather {
		v = 0
	}
	v4 := v >> 4
	if mem != nil && mem.Index.isV() {
		v4 = bit4(mem.Index)
	}
	z, cast := uint8(0), uint8(0)
	if i.Zero {
		z = 1
	}
	if mem != nil && mem.Broadcast {
		cast = 1
	}
	b = append(b, evexByte,
		(bit3(reg)^1)<<7|(x^1)<<6|(bb^1)<<5|(bit4(reg)^1)<<4|f.mm,
		uint8(f.evexW)<<7|(v&15^15)<<3|1<<2|f.pp,
		z<<7|uint8(i.Len)<<5|cast<<4|(v4^1)<<3|i.Mask.num()&7,
		f.op)
	b, at := address(b, reg, rmReg, mem, scaling(i, f, cast != 0))
	if f.imm {
		b = append(b, i.Imm)
	}
	return b, at
}

// scaling is what a displacement of one byte is multiplied by.
func scaling(i *Inst, f *form, cast bool) int32 {
	n := i.Len.Bytes()
	switch {
	case cast || f.tuple == tScalar:
		return int32(f.elem)
	case f.tuple == tHalf || f.tuple == tHalfMem:
		return int32(n / 2)
	case f.tuple == tQuarterMem:
		return int32(n / 4)
	case f.tuple == tEighthMem:
		return int32(n / 8)
	}
	return int32(n)
}

// address appends ModRM, SIB and displacement. A displacement of one byte counts multiples of
// scale.
func address(b []byte, reg, rmReg Reg, mem *Mem, scale int32) ([]byte, int) {
	r := reg.num() & 7 << 3
	if mem == nil {
		return append(b, 0xc0|r|rmReg.num()&7), -1
	}
	if mem.Constant != 0 { // relative to the next instruction
		return append(b, r|5, 0, 0, 0, 0), len(b) + 1
	}
	base := mem.Base.num() & 7
	mod, disp8 := uint8(0), mem.Disp/scale
	switch {
	case mem.Disp == 0 && base != 5:
	case mem.Disp%scale == 0 && disp8 >= -128 && disp8 <= 127:
		mod = 1
	default:
		mod = 2
	}
	if mem.Index == NoReg && base != 4 {
		b = append(b, mod<<6|r|base)
	} else {
		index, shift := uint8(4), uint8(0)
		if mem.Index != NoReg {
			if mem.Index == RSP {
				panic("BUG: rsp is no index")
			}
			index = mem.Index.num() & 7
			switch mem.Scale {
			case 1:
			case 2:
				shift = 1
			case 4:
				shift = 2
			case 8:
				shift = 3
			default:
				panic("BUG: a scale that is not 1, 2, 4 or 8")
			}
		}
		b = append(b, mod<<6|r|4, shift<<6|index<<3|base)
	}
	switch mod {
	case 1:
		b = append(b, uint8(disp8))
	case 2:
		b = append(b, uint8(mem.Disp), uint8(mem.Disp>>8), uint8(mem.Disp>>16), uint8(mem.Disp>>24))
	}
	return b, -1
}
