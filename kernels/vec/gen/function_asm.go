package main

// This file writes functions as vector code, a lane for each number. Constants are read from memory: by AVX-512 as one
// word that the instruction spreads, by AVX2 as a whole vector.

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// constants are those of one file of assembly, by their bits.
type constants struct {
	at   map[uint64]int
	list []uint64
}

// place is where constant c lies.
func (e *emitter) place(c uint64) operand.Mem {
	if e.konst.at == nil {
		e.konst.at = map[uint64]int{}
	}
	i, ok := e.konst.at[c]
	if !ok {
		i = len(e.konst.list)
		e.konst.at[c] = i
		e.konst.list = append(e.konst.list, c)
	}
	return operand.NewDataAddr(operand.NewStaticSymbol("numbers"+e.name), i*e.constBytes())
}

func (e *emitter) constBytes() int {
	if e.bytes == 64 {
		return 8
	}
	return 32
}

// numbers writes the constants that the functions have asked for.
func (e *emitter) numbers() {
	e.StaticGlobal("numbers" + e.name)
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, c := range e.konst.list {
		for off := 0; off < e.constBytes(); off += 8 {
			e.AddDatum(i*e.constBytes()+off, operand.U64(c))
		}
	}
}

// body is one function being written.
type body struct {
	*emitter
	f     *function
	at    int // the step
	regs  map[*value]reg.VecVirtual
	masks map[*value]reg.Register // AVX-512: the truths that are still read
	mem   map[*value]operand.Mem  // the arguments that are in memory
	ends  []string                // labels
}

// maskRegisters are given out here: avo takes what writes some bits of a mask for one that keeps the others, and so every
// mask of a function for one that lives from its start.
var maskRegisters = []reg.Register{reg.K1, reg.K2, reg.K3, reg.K4, reg.K5, reg.K6}

// lookupMask is the mask of lookups.
var lookupMask = reg.K7

// mask is a register for truth v.
func (b *body) mask(v *value) reg.Register {
	for _, r := range maskRegisters {
		free := true
		for _, used := range b.masks {
			free = free && used != r
		}
		if free {
			b.masks[v] = r
			return r
		}
	}
	panic("BUG: too many truths at a time")
}

// emit writes f of the lanes of x, which it may overwrite, and returns the register of the result.
func (e *emitter) emit(f *function, x reg.VecVirtual) reg.VecVirtual {
	return e.body(f, map[*value]reg.VecVirtual{f.x: x}, nil)
}

// emit2 writes f of the lanes of x and y in memory.
func (e *emitter) emit2(f *function, x, y operand.Mem) reg.VecVirtual {
	return e.body(f, map[*value]reg.VecVirtual{}, map[*value]operand.Mem{f.x: x, f.second: y})
}

func (e *emitter) body(f *function, regs map[*value]reg.VecVirtual, mem map[*value]operand.Mem) reg.VecVirtual {
	b := &body{emitter: e, f: f, regs: regs, masks: map[*value]reg.Register{}, mem: mem}
	for k, s := range f.steps {
		b.at = k
		b.step(s)
		for v := range b.masks {
			if v.last <= k {
				delete(b.masks, v)
			}
		}
	}
	return b.reg(f.y)
}

// reg is the register of v, loaded if it is a constant or in memory.
func (b *body) reg(v *value) reg.VecVirtual {
	if !v.konst && !v.root().memory {
		return b.regs[v.root()]
	}
	r := b.vector()
	b.load(v, r)
	return r
}

// dst is a fresh register for the result of s.
func (b *body) dst(s step) reg.VecVirtual {
	r := b.vector()
	b.regs[s.dst] = r
	return r
}

// form is an instruction with and without a spread constant.
type form struct{ plain, spread func(ops ...operand.Op) }

// with issues the instruction whose first operand is v, a constant or an argument from memory.
func (b *body) with(f form, v *value, rest ...operand.Op) {
	switch {
	case v.root().memory:
		f.plain(append([]operand.Op{b.mem[v.root()]}, rest...)...)
	case !v.konst:
		f.plain(append([]operand.Op{b.regs[v.root()]}, rest...)...)
	case b.bytes == 64:
		f.spread(append([]operand.Op{b.place(v.bits)}, rest...)...)
	default:
		f.plain(append([]operand.Op{b.place(v.bits)}, rest...)...)
	}
}

// binary is dst = a op b; where the order does not matter a constant comes second.
func (b *body) binary(s step, f form, commutes bool) {
	x, y := s.args[0], s.args[1]
	if commutes && (x.konst || x.root().memory && !y.konst) {
		x, y = y, x
	}
	b.with(f, y, b.reg(x), b.dst(s))
}

// dead reports that v is read by no later step, so that its register may be overwritten.
func (b *body) dead(v *value) bool { return !v.konst && !v.root().memory && v.root().last == b.at }

// multiply is the three forms of a fused multiply-add; which overwrites which operand is the only difference.
func (b *body) multiply(s step, f231, f213 form) {
	x, y, z := s.args[0], s.args[1], s.args[2]
	if x.konst || !b.dead(x) && b.dead(y) {
		x, y = y, x
	}
	once := x.root() != y.root() && x.root() != z.root() && y.root() != z.root()
	switch {
	case b.dead(z) && once:
		r := b.regs[z.root()]
		b.regs[s.dst] = r
		b.with(f231, y, b.reg(x), r)
	case b.dead(x) && once:
		r := b.regs[x.root()]
		b.regs[s.dst] = r
		b.with(f213, z, b.reg(y), r)
	case z.konst && !x.konst: // a copy of x, or of the constant factor
		r := b.dst(s)
		if y.konst {
			b.load(y, r)
			b.with(f213, z, b.reg(x), r)
			return
		}
		b.load(x, r)
		b.with(f213, z, b.reg(y), r)
	default:
		r := b.dst(s)
		b.load(z, r)
		b.with(f231, y, b.reg(x), r)
	}
}

// load makes r a copy of v.
func (b *body) load(v *value, r reg.VecVirtual) {
	switch {
	case v.konst && b.bytes == 64:
		b.VBROADCASTSD(b.place(v.bits), r)
	case v.konst:
		b.VMOVUPD(b.place(v.bits), r)
	case v.root().memory:
		b.VMOVUPD(b.mem[v.root()], r)
	default:
		b.VMOVAPD(b.regs[v.root()], r)
	}
}

// compare makes a truth of two numbers by the predicate of VCMPPD.
func (b *body) compare(s step, predicate uint8) {
	x, y := s.args[0], s.args[1]
	imm := operand.U8(predicate)
	if b.bytes == 32 {
		r := b.dst(s)
		b.with(form{plain: func(o ...operand.Op) { b.VCMPPD(imm, o[0], o[1], o[2]) }}, y, b.reg(x), r)
		return
	}
	m := b.mask(s.dst)
	b.with(form{
		func(o ...operand.Op) { b.VCMPPD(imm, o[0], o[1], m) },
		func(o ...operand.Op) { b.VCMPPD_BCST(imm, o[0], o[1], m) },
	}, y, b.reg(x))
}

// choose is dst = c ? then : otherwise. AVX-512 moves under the mask to what holds the other: of the blend instruction, too,
// avo thinks that it keeps elements of its result.
func (b *body) choose(s step, c, then, otherwise *value) {
	if b.bytes == 32 {
		b.with(form{plain: func(o ...operand.Op) { b.VBLENDVPD(b.regs[c], o[0], o[1], o[2]) }}, then, b.reg(otherwise), b.dst(s))
		return
	}
	if b.dead(otherwise) && then.root() != otherwise.root() {
		b.regs[s.dst] = b.regs[otherwise.root()]
	} else {
		b.load(otherwise, b.dst(s))
	}
	b.under(b.masks[c], then, b.regs[s.dst])
}

// under is dst = v where the mask is set.
func (b *body) under(mask reg.Register, v *value, dst reg.VecVirtual) {
	switch {
	case v.konst:
		b.VBROADCASTSD(b.place(v.bits), mask, dst)
	case v.root().memory:
		b.VMOVUPD(b.mem[v.root()], mask, dst)
	default:
		b.VMOVAPD(b.regs[v.root()], mask, dst)
	}
}

func (b *body) step(s step) {
	imm := operand.Imm(s.by)
	switch s.op {
	case opAdd:
		b.binary(s, form{b.VADDPD, b.VADDPD_BCST}, true)
	case opSub:
		b.binary(s, form{b.VSUBPD, b.VSUBPD_BCST}, false)
	case opMul:
		b.binary(s, form{b.VMULPD, b.VMULPD_BCST}, true)
	case opDiv:
		b.binary(s, form{b.VDIVPD, b.VDIVPD_BCST}, false)
	case opSqrt:
		b.VSQRTPD(b.reg(s.args[0]), b.dst(s))
	case opLesser:
		b.binary(s, form{b.VMINPD, b.VMINPD_BCST}, false)
	case opGreater:
		b.binary(s, form{b.VMAXPD, b.VMAXPD_BCST}, false)
	case opRound:
		b.integral(s, 8)
	case opFloor:
		b.integral(s, 9)
	case opFMA:
		b.multiply(s, form{b.VFMADD231PD, b.VFMADD231PD_BCST}, form{b.VFMADD213PD, b.VFMADD213PD_BCST})
	case opFNMA:
		b.multiply(s, form{b.VFNMADD231PD, b.VFNMADD231PD_BCST}, form{b.VFNMADD213PD, b.VFNMADD213PD_BCST})
	case opFMS:
		b.multiply(s, form{b.VFMSUB231PD, b.VFMSUB231PD_BCST}, form{b.VFMSUB213PD, b.VFMSUB213PD_BCST})
	case opAnd:
		b.binary(s, form{b.VANDPD, b.VANDPD_BCST}, true)
	case opAndNot:
		b.binary(s, form{b.VANDNPD, b.VANDNPD_BCST}, false)
	case opOr:
		b.binary(s, form{b.VORPD, b.VORPD_BCST}, true)
	case opXor:
		b.binary(s, form{b.VXORPD, b.VXORPD_BCST}, true)
	case opPlus:
		b.binary(s, form{b.VPADDQ, b.VPADDQ_BCST}, true)
	case opMinus:
		b.binary(s, form{b.VPSUBQ, b.VPSUBQ_BCST}, false)
	case opShiftLeft:
		b.VPSLLQ(imm, b.reg(s.args[0]), b.dst(s))
	case opShiftRight:
		b.VPSRLQ(imm, b.reg(s.args[0]), b.dst(s))
	case opShiftLeftBy:
		b.VPSLLVQ(b.reg(s.args[1]), b.reg(s.args[0]), b.dst(s))
	case opShiftRightBy:
		b.VPSRLVQ(b.reg(s.args[1]), b.reg(s.args[0]), b.dst(s))
	case opLess:
		b.compare(s, 17)
	case opEqual:
		b.compare(s, 0)
	case opNegative:
		if b.bytes == 32 { // what reads truths looks at the top bit alone
			b.regs[s.dst] = b.reg(s.args[0])
			return
		}
		m := b.mask(s.dst)
		b.VPMOVQ2M(b.reg(s.args[0]), m)
	case opSelect:
		b.choose(s, s.args[0], s.args[1], s.args[2])
	case opScale:
		b.scale(s)
	case opLookup:
		b.lookup(s)
	case opBin:
		b.bin(s)
	case opWhen:
		b.skip(s)
	case opAssign:
		r := b.regs[s.dst.root()]
		if b.bytes == 64 {
			b.under(b.masks[s.args[0]], s.args[1], r)
		} else {
			b.VBLENDVPD(b.regs[s.args[0]], b.reg(s.args[1]), r, r)
		}
	case opEnd:
		b.Label(b.ends[len(b.ends)-1])
		b.ends = b.ends[:len(b.ends)-1]
	case opRepeat:
		b.Label(b.label("again"))
	case opAgain:
		b.some(s.args[0])
		b.JNE(operand.LabelRef(b.ends[len(b.ends)-1]))
		b.ends = b.ends[:len(b.ends)-1]
	}
}

// integral rounds by the mode of VROUNDPD.
func (b *body) integral(s step, mode uint8) {
	if b.bytes == 64 {
		b.VRNDSCALEPD(operand.U8(mode), b.reg(s.args[0]), b.dst(s))
	} else {
		b.VROUNDPD(operand.U8(mode), b.reg(s.args[0]), b.dst(s))
	}
}

// scale is one instruction of AVX-512, and two products of powers of two without it.
func (b *body) scale(s step) {
	p := b.reg(s.args[0])
	if b.bytes == 64 {
		b.VSCALEFPD(b.reg(s.args[1]), p, b.dst(s))
		return
	}
	n, half := b.vector(), b.vector()
	b.VPSUBQ(b.place(scaleBase), b.reg(s.args[2]), n)
	b.VPSRLQ(operand.Imm(1), n, half)
	b.VPSUBQ(half, n, n)
	b.VPSLLQ(operand.Imm(52), half, half)
	b.VPSLLQ(operand.Imm(52), n, n)
	b.VMULPD(half, p, half)
	b.VMULPD(n, half, b.dst(s))
}

// scaleBase is what the bits of an integral number n exceed n + 2046 by.
const scaleBase = 0x4338000000000000 - 2046

func (b *body) lookup(s step) {
	base := b.GP64()
	b.LEAQ(operand.NewDataAddr(operand.Symbol{Name: "·" + s.table.name}, 0), base)
	index := b.reg(s.args[0])
	r := b.dst(s)
	m := operand.Mem{Base: base, Index: index, Scale: 8}
	b.VXORPD(r, r, r)
	if b.bytes == 64 {
		b.KXNORB(lookupMask, lookupMask, lookupMask)
		b.VPGATHERQQ(m, lookupMask, r)
		return
	}
	all := b.vector()
	b.VMOVUPD(b.place(^uint64(0)), all)
	b.VPGATHERQQ(all, m, r)
}

// bin permutes the table, which is two registers of AVX-512 or four, and chooses between the halves of four by the index's fifth bit.
func (b *body) bin(s step) {
	base := b.GP64()
	b.LEAQ(operand.NewDataAddr(operand.Symbol{Name: "·" + s.table.name}, 0), base)
	index := b.reg(s.args[0])
	if b.bytes == 32 {
		r, at, all := b.dst(s), b.vector(), b.vector()
		b.VPAND(b.place(uint64(len(s.table.words)-1)), index, at)
		b.VXORPD(r, r, r)
		b.VMOVUPD(b.place(^uint64(0)), all)
		b.VPGATHERQQ(all, operand.Mem{Base: base, Index: at, Scale: 8}, r)
		return
	}
	part := func(k int) operand.Mem { return operand.Mem{Base: base, Disp: 64 * k} }
	r := b.dst(s)
	b.VMOVUPD(part(0), r)
	b.VPERMT2PD(part(1), index, r)
	if len(s.table.words) == 16 {
		return
	}
	above, half := b.vector(), b.vector()
	b.VPSLLQ(operand.Imm(59), index, half)
	b.VPMOVQ2M(half, lookupMask)
	b.VMOVUPD(part(2), above)
	b.VPERMT2PD(part(3), index, above)
	b.VMOVAPD(above, lookupMask, r)
}

func (b *body) skip(s step) {
	end := b.label("end")
	b.some(s.args[0])
	b.JEQ(operand.LabelRef(end))
}

// label is a fresh one, the innermost of those that are open.
func (b *body) label(stem string) string {
	b.labels++
	l := fmt.Sprintf("%s%d", stem, b.labels)
	b.ends = append(b.ends, l)
	return l
}

// some clears the zero flag where the truth holds in some lane.
func (b *body) some(v *value) {
	if b.bytes == 64 {
		b.KORTESTB(b.masks[v], b.masks[v])
		return
	}
	r := b.GP32()
	b.VMOVMSKPD(b.regs[v], r)
	b.TESTL(r, r)
}
