package main

// This file writes the pass machine: an interpreter of the body of a loop over the rows of tall matrices. Its registers are
// columns: an accumulator keeps one register of a group of rows from step to step, the others lie
// in memory, which is a first-level cache's. A pass ends with exact sums of columns.

import (
	"fmt"

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
	sum, low, out, some, bias := p.vectors(2), p.vectors(2), p.vector(), p.vector(), p.vector()
	for k, v := range []reg.VecVirtual{sum[0], sum[1], low[0], low[1], out, some, bias} {
		p.VMOVUPD(p.vectorAt(state, k), v)
	}
	one := p.ones(true)
	for at := 0; at < len(p.acc); at += 2 {
		v, next, part := p.vectors(2), p.vectors(2), p.vectors(2)
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
			p.VSUBPD(sum[k], next[k], part[k]) // what of v arrived
		}
		for k, v := range v {
			p.VFMSUB132PD(one, part[k], v) // what of v did not
		}
		for k, v := range v {
			p.VADDPD(v, low[k], low[k])
			p.VORPD(v, some, some)
			if p.bytes == 64 {
				p.VPTERNLOGQ(operand.Imm(0xf6), bias, next[k], out) // out | (next ^ bias)
			} else {
				p.VXORPD(bias, next[k], part[k])
				p.VORPD(part[k], out, out)
			}
		}
		sum = next
	}
	for k, v := range []reg.VecVirtual{sum[0], sum[1], low[0], low[1], out, some} {
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
	p.next(opcode, "start")
	for k, s := range passSteps {
		e.Label(fmt.Sprintf("op%d", k+1))
		e.Commentf("%s", s.name)
		s.emit(p)
		p.next(opcode, s.name)
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
