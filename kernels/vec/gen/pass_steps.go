package main

// This file is the operations of the pass machine, one row each.

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
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
		p.dots(p.operand, func(k int, v reg.VecVirtual, a reg.Register) { p.VMOVUPD(p.vectorAt(a, k), v) })
	}},
	{"rowDot", func(p *rowMachine) { p.rowDot() }},
	{"rowDotBack", func(p *rowMachine) {
		row := p.vector()
		p.VBROADCASTSD(operand.Mem{Base: p.operand(1)}, row)
		p.dots(p.still, func(k int, v reg.VecVirtual, a reg.Register) {
			p.VMOVUPD(p.vectorAt(a, k), v)
			p.VSUBPD(row, v, v)
		})
	}},
	{"rowSquare", func(p *rowMachine) { p.rowSquare(false) }},
	{"rowSquareAdd", func(p *rowMachine) { p.rowSquare(true) }},
	{"rowDifference", func(p *rowMachine) {
		row := p.vector()
		p.VBROADCASTSD(operand.Mem{Base: p.operand(1)}, row)
		a, d := p.still(0), p.still(2)
		for k := range p.acc {
			v := p.vector()
			p.VSUBPD(p.vectorAt(a, k), row, v)
			p.VMOVUPD(v, p.vectorAt(d, k))
		}
	}},
	{"sqrtBoth", func(p *rowMachine) { p.roots(false) }},
	{"rootTimes", func(p *rowMachine) { p.roots(true) }},
	{"rowSquares", func(p *rowMachine) {
		p.several(3, func(i int) { p.rowSquare(i > 0) })
	}},
	{"rowDots", func(p *rowMachine) {
		p.several(3, func(i int) { p.rowDot() })
	}},
}

// followers are what an operation is often followed by, where lanes are iterations: a row of such a pass is few operations long. No
// name is the end.
var followers = map[string][]string{
	"rowSquare": {"rowSquareAdd"}, "rowSquareAdd": {"rowSquareAdd", "add"}, "rowSquares": {"add"}, "add": {"rootTimes"}, "rootTimes": {"divInto"},
	"divInto": {"rowDots"}, "rsqrt": {"cube"}, "cube": {"rowDots"}, "rowDot": {"rowDot", ""}, "rowDotBack": {"rowDotBack", ""}, "rowDots": {""},
}

// dots is third operand = acc * v + third operand, rounded once, where load makes v of the first operand.
func (p *rowMachine) dots(address func(k int) reg.Register, load func(k int, v reg.VecVirtual, a reg.Register)) {
	a, d := address(0), address(2)
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

// rowDot is third operand = acc * (the number at the second operand - first operand) + third operand.
func (p *rowMachine) rowDot() {
	row := p.vector()
	p.VBROADCASTSD(operand.Mem{Base: p.operand(1)}, row)
	p.dots(p.still, func(k int, v reg.VecVirtual, a reg.Register) { p.VSUBPD(p.vectorAt(a, k), row, v) })
}

// several is n operations in one step; the operands of all but the first are those of the steps behind it.
func (p *rowMachine) several(n int, emit func(i int)) {
	for i := range n {
		p.ahead = i
		emit(i)
	}
	p.ahead = 0
	p.ADDQ(operand.U32((n-1)*stepBytes), p.pc)
}

// rowSquare is the square of the number at the second operand less the first operand, or acc and that.
func (p *rowMachine) rowSquare(add bool) {
	row := p.vector()
	p.VBROADCASTSD(operand.Mem{Base: p.operand(1)}, row)
	a := p.still(0)
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
