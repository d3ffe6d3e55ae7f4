package main

// This file writes the pass machine: an interpreter of the body of a loop over the rows of tall matrices. Its registers are
// columns: a group of rows is eight vectors, an accumulator keeps one register of a group from step to step, the others lie
// in memory, which is a first-level cache's. A pass ends with exact sums of columns.

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	// passVectors is how many vectors a group of rows is.
	passVectors = 8
	// stepBytes is a step: the operation, and three operands of a base and a place in the table of offsets.
	stepBytes = 56
)

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

// twoSum makes a the rounded sum of a and b, and b its exact error. Half of the additions are written as multiply-adds by
// one, which other units of the processor execute.
func (p *rowMachine) twoSum(a, b, one reg.VecVirtual) {
	sum, part, rest := p.vector(), p.vector(), p.vector()
	p.VADDPD(b, a, sum)
	p.VSUBPD(a, sum, part)    // what of b arrived
	p.VSUBPD(part, sum, rest) // what of a did
	p.VFMSUB132PD(one, part, b)
	p.VFMSUB132PD(one, rest, a)
	p.VFMADD132PD(one, a, b)
	p.VMOVAPD(sum, a)
}

// sum3 is acc = the sum of three columns, or of their squares, each rounded once: see triples.
func (p *rowMachine) sum3(squares bool) {
	x, y, z := p.operand(0), p.operand(1), p.operand(2)
	one := p.ones(true)
	for k, v := range p.acc {
		a, b, c := p.vector(), p.vector(), p.vector()
		p.VMOVUPD(p.vectorAt(x, k), a)
		p.VMOVUPD(p.vectorAt(y, k), b)
		p.VMOVUPD(p.vectorAt(z, k), c)
		if squares {
			for _, r := range []reg.VecVirtual{a, b, c} {
				p.VMULPD(r, r, r)
			}
		}
		p.twoSum(b, c, one)
		p.twoSum(a, b, one) // a + b + c
		p.odd(b, c, one, v)
		p.VADDPD(v, a, v)
	}
}

// odd is v = b + c rounded to odd; it may change b and c. Of the roundings down and up that one is odd whose last bit is set,
// unless both are the exact sum.
func (p *rowMachine) odd(b, c, one, v reg.VecVirtual) {
	if p.bytes == 64 {
		down, odd, last := p.vector(), p.K(), p.ones(false)
		p.VADDPD_RD_SAE(c, b, down)
		p.VADDPD_RU_SAE(c, b, v)
		p.VPTESTMQ(last, down, odd)
		p.VMOVAPD(down, odd, v)
		return
	}
	p.twoSum(b, c, one) // c is what b lacks: where b is even, it goes one unit towards it
	zero, lacks, even, toward := p.vector(), p.vector(), p.vector(), p.vector()
	p.VXORPD(zero, zero, zero)
	p.VCMPPD(operand.Imm(4), zero, c, lacks)
	p.VXORPD(b, c, toward)
	p.VPCMPGTQ(toward, zero, toward)
	last := p.ones(false)
	p.VPOR(last, toward, toward)
	p.VPAND(last, b, even)
	p.VPCMPEQQ(zero, even, even)
	p.VPAND(lacks, even, even)
	p.VPAND(even, toward, toward)
	p.VPADDQ(toward, b, v)
}

// column adds the first operand, or its product with the second, to the sum whose state is the third operand: see ColumnSum.
// What the mask leaves out counts as zero in a tail.
func (p *rowMachine) column(products, tail bool) {
	a, b := p.operand(0), reg.Register(nil)
	if products {
		b = p.operand(1)
	}
	state := p.operand(2)
	if tail {
		p.Load(p.Param("mask"), p.mask)
	}
	sum, low, out, some, bias := p.vector(), p.vector(), p.vector(), p.vector(), p.vector()
	kept := []reg.VecVirtual{sum, low, out, some}
	for k, v := range append(kept, bias) {
		p.VMOVUPD(p.vectorAt(state, k), v)
	}
	one := p.ones(true)
	for k := range passVectors {
		v, next, part := p.vector(), p.vector(), p.vector()
		p.VMOVUPD(p.vectorAt(a, k), v)
		if products {
			p.VMULPD(p.vectorAt(b, k), v, v)
		}
		if tail {
			p.VANDPD(p.vectorAt(p.mask, k), v, v)
		}
		p.VADDPD(v, sum, next)
		p.VMOVAPD(next, part)
		p.VFMSUB132PD(one, sum, part) // what of v arrived
		p.VMOVAPD(next, sum)
		p.VFMSUB132PD(one, part, v) // what of v did not
		p.VADDPD(v, low, low)
		p.VORPD(v, some, some)
		if p.bytes == 64 {
			p.VPTERNLOGQ(operand.Imm(0xf6), bias, next, out) // out | (next ^ bias)
		} else {
			p.VXORPD(bias, next, next)
			p.VORPD(next, out, out)
		}
	}
	for k, v := range kept {
		p.VMOVUPD(v, p.vectorAt(state, k))
	}
}

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
	group := passVectors * e.bytes
	slot := func(k int) operand.Mem { return operand.Mem{Base: p.table, Disp: 8 * k} }
	e.JMP(operand.LabelRef("test"))
	e.Label("round")
	e.MOVQ(code, p.pc)
	e.Label("next")
	e.MOVQ(operand.Mem{Base: p.pc}, opcode)
	e.ADDQ(operand.Imm(stepBytes), p.pc)
	e.dispatch(opcode, 0, len(passSteps), true)
	for k, s := range passSteps {
		e.Label(fmt.Sprintf("op%d", k+1))
		e.Commentf("%s", s.name)
		s.emit(p)
		e.JMP(operand.LabelRef("next"))
	}
	e.Label("op0") // the next group: its rows, those before, and the two halves of registers kept for a round change places
	e.ADDQ(operand.I32(group), slot(1))
	e.ADDQ(operand.I32(group), slot(2))
	e.MOVQ(slot(3), opcode)
	e.MOVQ(slot(4), other)
	e.MOVQ(other, slot(3))
	e.MOVQ(opcode, slot(4))
	e.DECQ(rounds)
	e.Label("test")
	e.CMPQ(rounds, operand.Imm(0))
	e.JGT(operand.LabelRef("round"))
	e.finish()
}
