package main

// This file writes the pass machine: an interpreter of the body of a loop over the rows of tall matrices. Its registers
// are columns: an accumulator keeps one register of a group of rows from step to step, the others lie in memory, which
// is a first-level cache's. A pass ends with exact sums of columns.

import (
	"fmt"
	"math"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// stepBytes is a step: the operation, and three operands of a base and a place in the table of offsets.
const stepBytes = 56

// passVectors is how many vectors a group of rows is, and the accumulator. Sixteen, half of the registers of AVX-512,
// are no faster.
const passVectors = 8

// rowMachine is the machine being written.
type rowMachine struct {
	*emitter
	acc       []reg.VecVirtual
	pc, table reg.Register
	at        [3]reg.Register // the operands of a step
	mask      reg.Register
	ahead     int            // steps from this one to that whose operands are read
	one, last reg.VecVirtual // see ones
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
	slot := func(k int) operand.Mem { return operand.Mem{Base: p.table, Disp: 8 * k} }
	e.JMP(operand.LabelRef("test"))
	e.Label("round")
	e.MOVQ(code, p.pc)
	p.next(opcode, "start", "rowSquares", "rowSquare")
	for k, s := range passSteps {
		e.Label(fmt.Sprintf("op%d", k+1))
		e.Commentf("%s", s.name)
		s.emit(p)
		p.next(opcode, s.name, followers[s.name]...)
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
}

// next goes to the next step. Each operation has this at its end, so that the processor predicts for each what follows
// it. What often does is asked for first.
func (p *rowMachine) next(opcode reg.Register, from string, often ...string) {
	p.MOVQ(operand.Mem{Base: p.pc}, opcode)
	p.ADDQ(operand.Imm(stepBytes), p.pc)
	for _, name := range often {
		k := 1 + slices.IndexFunc(passSteps, func(s passStep) bool { return s.name == name }) // 0 for the end
		p.CMPQ(opcode, operand.Imm(uint64(k)))
		p.JEQ(operand.LabelRef(fmt.Sprintf("op%d", k)))
	}
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

// operand loads the address of operand k. The step has been passed already.
func (p *rowMachine) operand(k int) reg.Register {
	r := p.at[k]
	p.MOVQ(operand.Mem{Base: p.pc, Disp: 16 + 16*k - stepBytes + p.ahead*stepBytes}, r)
	p.MOVQ(operand.Mem{Base: p.table, Index: r, Scale: 8}, r)
	p.ADDQ(operand.Mem{Base: p.pc, Disp: 8 + 16*k - stepBytes + p.ahead*stepBytes}, r)
	return r
}

// still loads the address of operand k, which lies still.
func (p *rowMachine) still(k int) reg.Register {
	p.MOVQ(operand.Mem{Base: p.pc, Disp: 8 + 16*k - stepBytes + p.ahead*stepBytes}, p.at[k])
	return p.at[k]
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

// ones is a vector of the number 1, or of the integer 1. With 32 registers they are kept, else made where they are
// used.
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

// abreast is how many vectors a long sequence of operations works on at a time, stage by stage: they wait for one
// another less.
func (p *rowMachine) abreast() int {
	if p.bytes == 64 {
		return 2
	}
	return 1
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
