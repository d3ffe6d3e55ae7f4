package main

// This file writes the pass machine: an interpreter of the body of a loop over the rows of tall matrices. Its registers are
// columns: an accumulator keeps one register of a group of rows from step to step, the others lie
// in memory, which is a first-level cache's. A pass ends with exact sums of columns.

import (
	"fmt"
	"math"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// stepBytes is a step: the operation, and three operands of a base and a place in the table of offsets.
const stepBytes = 56

// passVectors is how many vectors a group of rows is, and the accumulator. Sixteen, half of the registers of AVX-512, are no
// faster.
const passVectors = 8

// passStep is one operation of the machine.
type passStep struct {
	name string
	emit func(p *rowMachine)
}

// passSteps are the operations by opcode; opcode 0 ends a round. Package vec lists the same ones in the same order.
var passSteps = []passStep{
	{"load", func(p *rowMachine) { p.each(func(v reg.VecVirtual, m operand.Mem) { p.VMOVUPD(m, v) }) }},
	{"store", func(p *rowMachine) { p.each(func(v reg.VecVirtual, m operand.Mem) { p.VMOVUPD(v, m) }) }},
	{"spread", func(p *rowMachine) {
		p.VBROADCASTSD(operand.Mem{Base: p.operand(0)}, p.acc[0])
		for _, v := range p.acc[1:] {
			p.VMOVAPD(p.acc[0], v)
		}
	}},
	{"add", func(p *rowMachine) { p.each(func(v reg.VecVirtual, m operand.Mem) { p.VADDPD(m, v, v) }) }},
	{"sub", func(p *rowMachine) { p.each(func(v reg.VecVirtual, m operand.Mem) { p.VSUBPD(m, v, v) }) }},
	{"subFrom", func(p *rowMachine) { p.reversed(func(b, a, d operand.Op) { p.VSUBPD(b, a, d) }) }},
	{"difference", func(p *rowMachine) {
		a, b, d := p.operand(0), p.operand(1), p.operand(2)
		v := p.vectors(2 * p.abreast())
		for at := 0; at < len(p.acc); at += len(v) {
			for k, v := range v {
				p.VMOVUPD(p.vectorAt(a, at+k), v)
			}
			for k, v := range v {
				p.VSUBPD(p.vectorAt(b, at+k), v, v)
			}
			for k, v := range v {
				p.VMOVUPD(v, p.vectorAt(d, at+k))
			}
		}
	}},
	{"mul", func(p *rowMachine) { p.each(func(v reg.VecVirtual, m operand.Mem) { p.VMULPD(m, v, v) }) }},
	{"div", func(p *rowMachine) { p.each(func(v reg.VecVirtual, m operand.Mem) { p.VDIVPD(m, v, v) }) }},
	{"divInto", func(p *rowMachine) { p.reversed(func(b, a, d operand.Op) { p.VDIVPD(b, a, d) }) }},
	{"sqrt", func(p *rowMachine) {
		for _, v := range p.acc {
			p.VSQRTPD(v, v)
		}
	}},
	{"sum3", func(p *rowMachine) { p.sum3(false) }},
	{"squares3", func(p *rowMachine) { p.sum3(true) }},
	{"column", func(p *rowMachine) { p.column(false, false) }},
	{"columnTail", func(p *rowMachine) { p.column(false, true) }},
	{"products", func(p *rowMachine) { p.column(true, false) }},
	{"productsTail", func(p *rowMachine) { p.column(true, true) }},
	{"rsqrt", func(p *rowMachine) { p.reciprocalRoot() }},
	{"square", func(p *rowMachine) {
		for _, v := range p.acc {
			p.VMULPD(v, v, v)
		}
	}},
	{"cube", func(p *rowMachine) {
		for at := 0; at < len(p.acc); at += 4 {
			x := p.vectors(4)
			for k, x := range x {
				p.VMULPD(p.acc[at+k], p.acc[at+k], x)
			}
			for k, x := range x {
				p.VMULPD(p.acc[at+k], x, p.acc[at+k])
			}
		}
	}},
	{"abs", func(p *rowMachine) {
		sign := p.signBits()
		for _, v := range p.acc {
			p.VANDNPD(v, sign, v)
		}
	}},
	{"neg", func(p *rowMachine) {
		sign := p.signBits()
		for _, v := range p.acc {
			p.VXORPD(sign, v, v)
		}
	}},
	{"min", func(p *rowMachine) {
		p.each(func(v reg.VecVirtual, m operand.Mem) {
			y := p.vector()
			p.VMOVUPD(m, y)
			p.lesser(p.minimum, y, v)
		})
	}},
	{"max", func(p *rowMachine) { // -min(-a, -b)
		sign := p.signBits()
		p.each(func(v reg.VecVirtual, m operand.Mem) {
			y := p.vector()
			p.VXORPD(m, sign, y)
			p.VXORPD(sign, v, v)
			p.lesser(p.minimum, y, v)
			p.VXORPD(sign, v, v)
		})
	}},
	{"dot", func(p *rowMachine) {
		p.dots(func(k int, v reg.VecVirtual, a reg.Register) { p.VMOVUPD(p.vectorAt(a, k), v) })
	}},
	{"rowDot", func(p *rowMachine) {
		row := p.vector()
		p.VBROADCASTSD(operand.Mem{Base: p.operand(1)}, row)
		p.dots(func(k int, v reg.VecVirtual, a reg.Register) { p.VSUBPD(p.vectorAt(a, k), row, v) })
	}},
	{"rowDotBack", func(p *rowMachine) {
		row := p.vector()
		p.VBROADCASTSD(operand.Mem{Base: p.operand(1)}, row)
		p.dots(func(k int, v reg.VecVirtual, a reg.Register) {
			p.VMOVUPD(p.vectorAt(a, k), v)
			p.VSUBPD(row, v, v)
		})
	}},
	{"rowSquare", func(p *rowMachine) { p.rowSquare(false) }},
	{"rowSquareAdd", func(p *rowMachine) { p.rowSquare(true) }},
	{"rowDifference", func(p *rowMachine) {
		row := p.vector()
		p.VBROADCASTSD(operand.Mem{Base: p.operand(1)}, row)
		a, d := p.operand(0), p.operand(2)
		for k := range p.acc {
			v := p.vector()
			p.VSUBPD(p.vectorAt(a, k), row, v)
			p.VMOVUPD(v, p.vectorAt(d, k))
		}
	}},
}

// dots is third operand = acc * v + third operand, rounded once, where load makes v of the first operand.
func (p *rowMachine) dots(load func(k int, v reg.VecVirtual, a reg.Register)) {
	a, d := p.operand(0), p.operand(2)
	for at := 0; at < len(p.acc); at += 4 {
		v := p.vectors(4)
		for k, v := range v {
			load(at+k, v, a)
		}
		for k, v := range v {
			p.VFMADD213PD(p.vectorAt(d, at+k), p.acc[at+k], v)
		}
		for k, v := range v {
			p.VMOVUPD(v, p.vectorAt(d, at+k))
		}
	}
}

// rowSquare is the square of the number at the second operand less the first operand, or acc and that.
func (p *rowMachine) rowSquare(add bool) {
	row := p.vector()
	p.VBROADCASTSD(operand.Mem{Base: p.operand(1)}, row)
	a := p.operand(0)
	for at := 0; at < len(p.acc); at += 4 {
		v := p.acc[at : at+4]
		if add {
			v = p.vectors(4)
		}
		for k, v := range v {
			p.VSUBPD(p.vectorAt(a, at+k), row, v)
		}
		for _, v := range v {
			p.VMULPD(v, v, v)
		}
		for k, v := range v {
			if add {
				p.VADDPD(v, p.acc[at+k], p.acc[at+k])
			}
		}
	}
}

// signBits is a vector of sign bits.
func (p *rowMachine) signBits() reg.VecVirtual {
	v := p.vector()
	p.load(k(math.Copysign(0, -1)), v)
	return v
}

// load makes every lane of v the constant.
func (p *rowMachine) load(c *value, v reg.VecVirtual) {
	if p.bytes == 64 {
		p.VBROADCASTSD(p.place(c.bits), v)
	} else {
		p.VMOVUPD(p.place(c.bits), v)
	}
}

func (p *rowMachine) minimum(b, a, d operand.Op) { p.VMINPD(b, a, d) }

// reciprocalRoot is acc = rsqrt(acc): several vectors abreast where all lanes are ordinary arguments, else the whole function.
func (p *rowMachine) reciprocalRoot() {
	least, most, odd := p.vector(), p.vector(), p.vector()
	p.load(w(rootLeast), least)
	p.load(w(rootMost), most)
	p.VXORPD(odd, odd, odd)
	for _, v := range p.acc {
		below, above := p.vector(), p.vector()
		p.VPSUBQ(least, v, below)
		p.VPSUBQ(v, most, above)
		if p.bytes == 64 {
			p.VPTERNLOGQ(operand.Imm(0xfe), below, above, odd) // the or of all three
		} else {
			p.VPOR(below, odd, odd)
			p.VPOR(above, odd, odd)
		}
	}
	if p.bytes == 64 {
		some := p.K()
		p.VPMOVQ2M(odd, some)
		p.KORTESTB(some, some)
	} else {
		some := p.GP32()
		p.VMOVMSKPD(odd, some)
		p.TESTL(some, some)
	}
	p.JNE(operand.LabelRef("oddRoots"))
	n := p.abreast() * p.abreast()
	for at := 0; at < len(p.acc); at += n {
		acc := p.acc[at : at+n]
		for k, y := range p.emitAbreast(ordinaryRoot, acc) {
			p.VMOVAPD(y, acc[k])
		}
	}
	p.JMP(operand.LabelRef("roots"))
	p.Label("oddRoots")
	room := p.AllocLocal(len(p.acc) * p.bytes) // AVX2 has too few registers for all of it
	for k, v := range p.acc {
		p.VMOVUPD(v, room.Offset(k*p.bytes))
	}
	for k := range p.acc {
		x := p.vector()
		p.VMOVUPD(room.Offset(k*p.bytes), x)
		p.VMOVUPD(p.emit(reciprocalFunctions[0], x), room.Offset(k*p.bytes))
	}
	for k, v := range p.acc {
		p.VMOVUPD(room.Offset(k*p.bytes), v)
	}
	p.Label("roots")
}

// rowMachine is the machine being written.
type rowMachine struct {
	*emitter
	acc       []reg.VecVirtual
	pc, table reg.Register
	at        [3]reg.Register // the operands of a step
	mask      reg.Register
	one, last reg.VecVirtual // see ones
}

// operand loads the address of operand k. The step has been passed already.
func (p *rowMachine) operand(k int) reg.Register {
	r := p.at[k]
	p.MOVQ(operand.Mem{Base: p.pc, Disp: 16 + 16*k - stepBytes}, r)
	p.MOVQ(operand.Mem{Base: p.table, Index: r, Scale: 8}, r)
	p.ADDQ(operand.Mem{Base: p.pc, Disp: 8 + 16*k - stepBytes}, r)
	return r
}

// vectorAt is vector k at an operand.
func (p *rowMachine) vectorAt(base reg.Register, k int) operand.Mem {
	return operand.Mem{Base: base, Disp: k * p.bytes}
}

// each emits body for every vector of the accumulator and its part of the first operand.
func (p *rowMachine) each(body func(v reg.VecVirtual, m operand.Mem)) {
	a := p.operand(0)
	for k, v := range p.acc {
		body(v, p.vectorAt(a, k))
	}
}

// reversed is acc = operand op acc.
func (p *rowMachine) reversed(f func(src2, src1, dst operand.Op)) {
	p.each(func(v reg.VecVirtual, m operand.Mem) {
		x := p.vector()
		p.VMOVUPD(m, x)
		f(v, x, v)
	})
}

// ones is a vector of the number 1, or of the integer 1. With 32 registers they are kept, else made where they are used.
func (p *rowMachine) ones(number bool) reg.VecVirtual {
	kept := &p.last
	if number {
		kept = &p.one
	}
	if *kept != nil {
		return *kept
	}
	v := p.vector() // all bits, shifted to 0x3ff0000000000000 or to 1
	p.VXORPD(v, v, v)
	if p.bytes == 64 {
		p.VPTERNLOGD(operand.Imm(0xff), v, v, v)
		*kept = v
	} else {
		p.VPCMPEQD(v, v, v)
	}
	if number {
		p.VPSLLQ(operand.Imm(54), v, v)
		p.VPSRLQ(operand.Imm(2), v, v)
	} else {
		p.VPSRLQ(operand.Imm(63), v, v)
	}
	return v
}

// abreast is how many vectors a long sequence of operations works on at a time, stage by stage: they wait for one another less.
func (p *rowMachine) abreast() int {
	if p.bytes == 64 {
		return 2
	}
	return 1
}

// twoSum is the rounded sums of a and b and their exact errors, a and b being lost. Half of the additions are written as
// multiply-adds by one, which other units of the processor execute.
func (p *rowMachine) twoSum(a, b []reg.VecVirtual, one reg.VecVirtual) (sum, err []reg.VecVirtual) {
	n := len(a)
	sum, part, rest := p.vectors(n), p.vectors(n), p.vectors(n)
	for k := range n {
		p.VADDPD(b[k], a[k], sum[k])
	}
	for k := range n {
		p.VSUBPD(a[k], sum[k], part[k]) // what of b arrived
	}
	for k := range n {
		p.VSUBPD(part[k], sum[k], rest[k]) // what of a did
		p.VFMSUB132PD(one, part[k], b[k])
	}
	for k := range n {
		p.VFMSUB132PD(one, rest[k], a[k])
	}
	for k := range n {
		p.VFMADD132PD(one, a[k], b[k])
	}
	return sum, b
}

// sum3 is acc = the sum of three columns, or of their squares, each rounded once: see triples.
func (p *rowMachine) sum3(squares bool) {
	from := [3]reg.Register{p.operand(0), p.operand(1), p.operand(2)}
	one := p.ones(true)
	for at := 0; at < len(p.acc); at += p.abreast() {
		var x [3][]reg.VecVirtual
		for i := range x {
			x[i] = p.vectors(p.abreast())
			for k, v := range x[i] {
				p.VMOVUPD(p.vectorAt(from[i], at+k), v)
				if squares {
					p.VMULPD(v, v, v)
				}
			}
		}
		bc, low := p.twoSum(x[1], x[2], one)
		sum, high := p.twoSum(x[0], bc, one)
		acc := p.acc[at : at+p.abreast()]
		p.odd(high, low, one, acc)
		for k, v := range acc {
			p.VADDPD(v, sum[k], v)
		}
	}
}

// odd is v = b + c rounded to odd; b and c are lost. Of the roundings down and up that one is odd whose last bit is set,
// unless both are the exact sum.
func (p *rowMachine) odd(b, c []reg.VecVirtual, one reg.VecVirtual, v []reg.VecVirtual) {
	if p.bytes == 64 {
		last := p.ones(false)
		down := p.vectors(len(v))
		for k := range v {
			p.VADDPD_RD_SAE(c[k], b[k], down[k])
			p.VADDPD_RU_SAE(c[k], b[k], b[k])
		}
		for k := range v {
			odd := p.K()
			p.VPTESTMQ(last, down[k], odd)
			p.VBLENDMPD(down[k], b[k], odd, v[k])
		}
		return
	}
	b, c = p.twoSum(b, c, one) // c is what b lacks: where b is even, it goes one unit towards it
	for k := range v {
		zero, lacks, even, toward := p.vector(), p.vector(), p.vector(), p.vector()
		p.VXORPD(zero, zero, zero)
		p.VCMPPD(operand.Imm(4), zero, c[k], lacks)
		p.VXORPD(b[k], c[k], toward)
		p.VPCMPGTQ(toward, zero, toward)
		last := p.ones(false)
		p.VPOR(last, toward, toward)
		p.VPAND(last, b[k], even)
		p.VPCMPEQQ(zero, even, even)
		p.VPAND(lacks, even, even)
		p.VPAND(even, toward, toward)
		p.VPADDQ(toward, b[k], v[k])
	}
}

// column adds the first operand, or its product with the second, to the sum whose state is the third operand: see
// ColumnState. What the mask leaves out counts as zero in a tail.
func (p *rowMachine) column(products, tail bool) {
	a, b := p.operand(0), reg.Register(nil)
	if products {
		b = p.operand(1)
	}
	state := p.operand(2)
	if tail {
		p.Load(p.Param("mask"), p.mask)
	}
	const n = chains
	sum, low, out, some := p.vectors(n), p.vectors(n), p.vector(), p.vector()
	for k, v := range slices.Concat(sum, low, []reg.VecVirtual{out, some}) {
		p.VMOVUPD(p.vectorAt(state, k), v)
	}
	bias := operand.Op(p.vectorAt(state, 2*n+2))
	if p.bytes == 64 {
		v := p.vector()
		p.VMOVUPD(bias, v)
		bias = v
	}
	abreast := n // AVX2 has two registers left
	if p.bytes == 32 {
		abreast = 1
	}
	for at := 0; at < len(p.acc); at += abreast {
		v, next := p.vectors(abreast), p.vectors(abreast)
		sum, low := sum[at%n:], low[at%n:]
		for k, v := range v {
			p.VMOVUPD(p.vectorAt(a, at+k), v)
			if products {
				p.VMULPD(p.vectorAt(b, at+k), v, v)
			}
			if tail {
				p.VANDPD(p.vectorAt(p.mask, at+k), v, v)
			}
		}
		for k, v := range v {
			p.VADDPD(v, sum[k], next[k])
		}
		for k := range v {
			p.VSUBPD(sum[k], next[k], sum[k]) // what of v arrived
		}
		for k, v := range v {
			if p.bytes == 64 {
				p.VFMSUB132PD(p.ones(true), sum[k], v) // what of v did not
			} else {
				p.VSUBPD(sum[k], v, v)
			}
		}
		for k, v := range v {
			p.VADDPD(v, low[k], low[k])
			if p.bytes == 64 {
				p.VPTERNLOGQ(operand.Imm(0xf6), bias, next[k], out) // out | (next ^ bias)
			} else {
				p.VXORPD(bias, next[k], sum[k])
				p.VORPD(sum[k], out, out)
			}
			p.VORPD(v, some, some)
			sum[k] = next[k]
		}
	}
	for k, v := range slices.Concat(sum, low, []reg.VecVirtual{out, some}) {
		p.VMOVUPD(v, p.vectorAt(state, k))
	}
}

// chains is how many vectors of sums a column has. Four wait less for one another, but what they load and store costs more.
const chains = 2

// passes writes the machine.
func (e *emitter) passes() {
	name := "passF64" + e.name
	e.Function(name)
	e.SignatureExpr("func(code *uint64, offsets *uint64, rounds int, mask *uint64)")
	e.Doc(fmt.Sprintf("%s runs the steps for that many groups of %d rows; see gen/pass.go.", name, passVectors*e.bytes/8))
	e.Pragma("noescape")
	p := &rowMachine{emitter: e, acc: e.vectors(passVectors), pc: e.GP64(), mask: e.GP64()}
	for k := range p.at {
		p.at[k] = e.GP64()
	}
	code, rounds := e.param("code"), e.param("rounds")
	p.table = e.param("offsets")
	for _, v := range p.acc {
		e.VXORPD(v, v, v)
	}
	if e.bytes == 64 {
		p.ones(true)
		p.ones(false)
	}
	opcode, other := e.GP64(), e.GP64()
	slot := func(k int) operand.Mem { return operand.Mem{Base: p.table, Disp: 8 * k} }
	e.JMP(operand.LabelRef("test"))
	e.Label("round")
	e.MOVQ(code, p.pc)
	p.next(opcode, "start")
	for k, s := range passSteps {
		e.Label(fmt.Sprintf("op%d", k+1))
		e.Commentf("%s", s.name)
		s.emit(p)
		p.next(opcode, s.name)
	}
	e.Label("op0") // the next group: its rows, those before, and the two halves of registers kept for a round change places
	e.MOVQ(slot(5), opcode)
	e.ADDQ(opcode, slot(1))
	e.ADDQ(opcode, slot(2))
	e.MOVQ(slot(3), opcode)
	e.MOVQ(slot(4), other)
	e.MOVQ(other, slot(3))
	e.MOVQ(opcode, slot(4))
	e.DECQ(rounds)
	e.Label("test")
	e.CMPQ(rounds, operand.Imm(0))
	e.JGT(operand.LabelRef("round"))
	e.finish()
	e.numbers()
}

// next goes to the next step. Each operation has this at its end, so that the processor predicts for each what follows it.
func (p *rowMachine) next(opcode reg.Register, from string) {
	p.MOVQ(operand.Mem{Base: p.pc}, opcode)
	p.ADDQ(operand.Imm(stepBytes), p.pc)
	var among func(lo, hi int)
	among = func(lo, hi int) { // one of the operations lo..hi: at most one jump is taken for each halving, and one at the end
		if lo == hi {
			p.JMP(operand.LabelRef(fmt.Sprintf("op%d", lo)))
			return
		}
		mid := (lo + hi + 1) / 2
		p.CMPQ(opcode, operand.Imm(uint64(mid)))
		if mid == hi {
			p.JEQ(operand.LabelRef(fmt.Sprintf("op%d", hi)))
			among(lo, mid-1)
			return
		}
		label := fmt.Sprintf("%s_%d", from, mid)
		p.JGE(operand.LabelRef(label))
		among(lo, mid-1)
		p.Label(label)
		among(mid, hi)
	}
	among(0, len(passSteps))
}
