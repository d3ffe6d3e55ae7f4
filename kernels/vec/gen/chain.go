package main

// This file writes the chain machine: an interpreter of short programs of arithmetic that keeps its accumulator, eight
// vectors, in registers from link to link. A chain of operators costs its arithmetic and one visit of memory, and no
// loads and stores of what is between two operators.

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The accumulator is this many vectors.
const chainVectors = 8

// link is one operation of the machine: what it does with the accumulator and the operand in memory.
type link struct {
	name string
	emit func(c *chain)
}

// links are the operations by opcode; opcode 0 ends a round. Package vec lists the same ones in the same order.
var links = slices.Concat(arithmeticLinks, memoryLinks, predicates, wordLinks)

var arithmeticLinks = []link{
	{"load", func(c *chain) { c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VMOVUPD(m, v) }) }},
	{"store", func(c *chain) { c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VMOVUPD(v, m) }) }},
	{"stream", func(c *chain) { c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VMOVNTPD(v, m) }) }},
	{"add", func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VADDPD(m, v, v) })
	}},
	{"sub", func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VSUBPD(m, v, v) })
	}},
	{"subFrom", func(c *chain) { c.reversed(func(b, a, d operand.Op) { c.VSUBPD(b, a, d) }) }},
	{"mul", func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VMULPD(m, v, v) })
	}},
	{"div", func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VDIVPD(m, v, v) })
	}},
	{"divInto", func(c *chain) { c.reversed(func(b, a, d operand.Op) { c.VDIVPD(b, a, d) }) }},
	{"sqrt", func(c *chain) { c.sqrt() }},
	{"abs", func(c *chain) {
		sign := c.sign()
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VANDNPD(v, sign, v) })
	}},
	{"neg", func(c *chain) {
		sign := c.sign()
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.VXORPD(sign, v, v) })
	}},
	{"min", func(c *chain) {
		c.each(func(k int, v reg.VecVirtual, m operand.Op) { c.least(m, v) })
	}},
	{"max", func(c *chain) { // -min(-a, -b)
		sign := c.sign()
		c.each(func(k int, v reg.VecVirtual, m operand.Op) {
			y := c.vector()
			c.VXORPD(m, sign, y)
			c.VXORPD(sign, v, v)
			c.leastOf(y, v)
			c.VXORPD(sign, v, v)
		})
	}},
	{"round", toIntegral(8)},
	{"floor", toIntegral(9)},
	{"ceil", toIntegral(10)},
	{"turn", func(c *chain) { c.turn() }},
	{"turnBack", func(c *chain) { c.turnBack() }},
}

// chain is the machine being written.
type chain struct {
	*emitter
	acc  []reg.VecVirtual
	at   reg.Register   // the operand
	rows []operand.Mem  // of blocks: where the operand's rows are
	same reg.VecVirtual // the operand, if it is the same for all elements
	// offset is how far in the index space the round is, pc the link after this one, other the operand of a link
	// before.
	offset, pc, other reg.Register
	// scratch is room for the accumulator and two vectors, on a cache line.
	scratch reg.Register
}

type instruction func(src2, src1, dst operand.Op)

// each emits body for every vector of the accumulator and its part of the operand.
func (c *chain) each(body func(k int, v reg.VecVirtual, m operand.Op)) {
	for k, v := range c.acc {
		switch {
		case c.same != nil:
			body(k, v, c.same)
		case c.rows != nil:
			body(k, v, c.rows[k])
		default:
			body(k, v, operand.Mem{Base: c.at, Disp: k * c.bytes})
		}
	}
}

// reversed is acc = operand op acc.
func (c *chain) reversed(f instruction) {
	c.each(func(k int, v reg.VecVirtual, m operand.Op) {
		x := c.same
		if x == nil {
			x = c.vector()
			c.VMOVUPD(m, x)
		}
		f(v, x, v)
	})
}

// apply is acc = f(acc), or f(acc, operand).
func (c *chain) apply(f *function) {
	if f.second != nil {
		c.throughMemory(true, func(m, second operand.Mem) reg.VecVirtual { return c.emit2(f, m, second) })
		return
	}
	c.byLanes(false, func(m, _ operand.Mem) {
		x := c.vector()
		c.VMOVUPD(m, x)
		c.VMOVUPD(c.emit(f, x), m)
	})
}

// throughMemory is acc = one(acc), or one(acc, operand), vector by vector, by way of memory: one has all registers, and
// its code is there once.
func (c *chain) throughMemory(two bool, one func(x, y operand.Mem) reg.VecVirtual) {
	c.byLanes(two, func(m, second operand.Mem) { c.VMOVUPD(one(m, second), m) })
}

// byLanes does one to each vector of the accumulator, which lie at x meanwhile, and of the operand if there are two.
func (c *chain) byLanes(two bool, one func(x, y operand.Mem)) {
	for k, v := range c.acc {
		c.VMOVUPD(v, operand.Mem{Base: c.scratch, Disp: k * c.bytes})
	}
	c.labels++
	label := fmt.Sprintf("lanes%d", c.labels)
	at, left := c.GP64(), c.GP64()
	c.MOVQ(c.scratch, at)
	c.MOVQ(operand.U32(chainVectors), left)
	m, second := operand.Mem{Base: at}, operand.Mem{Base: c.at}
	c.Label(label)
	one(m, second)
	c.ADDQ(operand.Imm(uint64(c.bytes)), at)
	if two {
		c.ADDQ(operand.Imm(uint64(c.bytes)), c.at)
	}
	c.DECQ(left)
	c.JNE(operand.LabelRef(label))
	for k, v := range c.acc {
		c.VMOVUPD(operand.Mem{Base: c.scratch, Disp: k * c.bytes}, v)
	}
}

// sign is a vector of sign bits.
func (c *chain) sign() reg.VecVirtual {
	s := c.vector()
	if c.bytes == 64 {
		c.VXORPD(s, s, s) // else s would count as read, and as live everywhere
		c.VPTERNLOGD(operand.Imm(0xff), s, s, s)
	} else {
		c.VPCMPEQD(s, s, s)
	}
	c.VPSLLQ(operand.Imm(63), s, s)
	return s
}

// least is v = min(v, m) as in arithmetic.
func (c *chain) least(m operand.Op, v reg.VecVirtual) {
	y := c.vector()
	c.VMOVUPD(m, y)
	c.leastOf(y, v)
}

func (c *chain) leastOf(y, v reg.VecVirtual) {
	c.lesser(func(b, a, d operand.Op) { c.VMINPD(b, a, d) }, y, v)
}

// lesser is v = min(v, y) as in arithmetic, by that instruction.
func (e *emitter) lesser(minimum instruction, y, v reg.VecVirtual) {
	other := e.vector()
	minimum(y, v, other)
	minimum(v, y, v)
	e.VORPD(other, v, v)
}

// chains writes the machine. A link is three words: the opcode, the address of its operand, and a mask of the offset in
// the index space that is added to it: all ones for what lies in memory like the index space, 0 for a constant or an
// intermediate result, which are one accumulator long.
func (e *emitter) chains() {
	name := "chainF64" + e.name
	e.Function(name)
	e.SignatureExpr("func(code *uint64, bytes int)")
	e.Doc(fmt.Sprintf("%s runs the links on that many bytes of the index space, %d a round; see gen/chain.go.", name, chainVectors*e.bytes))
	e.Pragma("noescape")
	c := &chain{emitter: e}
	code, end := e.param("code"), e.param("bytes")
	c.clear()
	scratch := e.AllocLocal((chainVectors+2)*e.bytes + 64)
	c.scratch = e.GP64()
	e.LEAQ(scratch.Offset(63), c.scratch)
	e.ANDQ(operand.I32(-64), c.scratch)
	ops := slices.Clone(links)
	for _, f := range allFunctions {
		ops = append(ops, link{f.name, func(c *chain) { c.apply(f) }})
	}
	c.interpret(ops, code, end)
	e.finish()
}

// clear makes the accumulator of zeros.
func (c *chain) clear() {
	c.acc = c.vectors(chainVectors)
	for _, v := range c.acc {
		c.VXORPD(v, v, v)
	}
}

// interpret runs the links at code on end bytes. Opcodes count from 1 on; 0 ends a round. Another
// operation without code does not occur.
func (c *chain) interpret(ops []link, code, end reg.Register) {
	c.offset, c.pc, c.at, c.other = c.GP64(), c.GP64(), c.GP64(), c.GP64()
	w := way{chain: c, opcode: c.GP64(), ops: ops}
	c.XORQ(c.other, c.other)
	c.XORQ(c.offset, c.offset)
	c.JMP(operand.LabelRef("test"))
	c.Label("round")
	c.MOVQ(code, c.pc)
	c.Label("next")
	w.next()
	c.Label("others")
	c.dispatch(w.opcode, 0, len(ops))
	for k, l := range ops {
		if frequent[l.name] > 0 {
			c.align()
		}
		c.Label(fmt.Sprintf("op%d", k+1))
		if l.emit != nil {
			c.Commentf("%s", l.name)
			l.emit(c)
		}
		if l.emit != nil && frequent[l.name] > 0 {
			w.next()
		} else {
			c.JMP(operand.LabelRef("next"))
		}
	}
	c.align()
	c.Label("op0")
	c.ADDQ(operand.I32(int32(chainVectors*c.bytes)), c.offset)
	c.Label("test")
	c.CMPQ(c.offset, end)
	c.JLT(operand.LabelRef("round"))
}

// frequent says of how many links in a thousand each is, about; the others count for nothing. Frequent ones are found
// by few comparisons, and their code goes on to the next one without a jump back: what stands between two links counts
// as much as four vectors of additions, and twice that while another thread of the core is at work, which leaves half
// of the instructions that a core begins in a cycle.
var frequent = map[string]int{"load": 60, "loadAsk": 60, "ask": 20, "mul": 50, "add": 50, "sub": 50, "sqrt": 50, "store": 50, "stream": 50,
	"mulSame": 80, "addSame": 60, "subSame": 60, "mul+add": 80, "mul+sub": 50, "sub+mul": 50}

// roundEnds is the same for the end of a round.
const roundEnds = 160

// way is the way from a link to the next one.
type way struct {
	*chain
	opcode reg.Register
	ops    []link
	copies int
}

// next writes the way.
func (w *way) next() {
	w.MOVQ(operand.Mem{Base: w.pc, Disp: 16}, w.at)
	w.ANDQ(w.offset, w.at)
	w.ADDQ(operand.Mem{Base: w.pc, Disp: 8}, w.at)
	w.MOVQ(operand.Mem{Base: w.pc}, w.opcode)
	w.ADDQ(operand.Imm(24), w.pc)
	list := []aim{{0, 0, roundEnds}}
	for k, l := range w.ops {
		if l.emit != nil && frequent[l.name] > 0 {
			list = append(list, aim{k + 1, k + 1, frequent[l.name]})
		}
	}
	w.copies++
	w.choose(list)
}

// aim is a frequent opcode, the number of its label, and how frequent it is.
type aim struct{ opcode, label, weight int }

// choose jumps to the code of an opcode of the list, in which they rise, by comparisons that halve the weight; to
// others if it is none of them.
func (w *way) choose(list []aim) {
	if len(list) == 1 {
		w.CMPQ(w.opcode, operand.Imm(uint64(list[0].opcode)))
		w.JEQ(operand.LabelRef(fmt.Sprintf("op%d", list[0].label)))
		w.JMP(operand.LabelRef("others"))
		return
	}
	sum, below, mid, least := 0, 0, 0, 0
	for _, a := range list {
		sum += a.weight
	}
	for k, a := range list[:len(list)-1] {
		below += a.weight
		if off := max(2*below-sum, sum-2*below); k == 0 || off < least {
			mid, least = k+1, off
		}
	}
	label := fmt.Sprintf("way%dfrom%d", w.copies, list[mid].opcode)
	w.CMPQ(w.opcode, operand.Imm(uint64(list[mid].opcode)))
	w.JGE(operand.LabelRef(label))
	w.choose(list[:mid])
	w.Label(label)
	w.choose(list[mid:])
}

// align makes the next instruction the first of a cache line.
func (e *emitter) align() {
	e.Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []operand.Op{operand.Imm(64)}})
}

// fence writes the store fence that must follow streaming stores.
func (e *emitter) fence() {
	e.Function("fence" + e.name)
	e.SignatureExpr("func()")
	e.Doc("fence" + e.name + " is SFENCE.")
	e.SFENCE()
	e.RET()
}

// dispatch jumps to the opcode's label by halving the range lo..hi.
func (e *emitter) dispatch(opcode reg.Register, lo, hi int) {
	if lo == hi {
		e.JMP(operand.LabelRef(fmt.Sprintf("op%d", lo)))
		return
	}
	mid := (lo + hi + 1) / 2
	label := fmt.Sprintf("from%d", mid)
	e.CMPQ(opcode, operand.Imm(uint64(mid)))
	e.JGE(operand.LabelRef(label))
	e.dispatch(opcode, lo, mid-1)
	e.Label(label)
	e.dispatch(opcode, mid, hi)
}
