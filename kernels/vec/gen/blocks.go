package main

// This file writes the chain machine for blocks of a matrix: the accumulator is eight rows of eight float64, for
// AVX-512.

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
)

// blockLink is the bytes of a link.
const blockLink = 32

// blocks writes the machine that runs links on n blocks. A link is four words: the opcode, the address of its operand
// in the first block, the bytes from there to the next block's, and the bytes from row to row of a block. Nothing is
// kept from block to block, so a code may hold several programs one behind the other.
func (e *emitter) blocks() {
	e.Function("blocksF64" + e.name)
	e.SignatureExpr("func(code *uint64, n int)")
	e.Doc("blocksF64" + e.name + " runs the links on n blocks of 8 x 8; see gen/blocks.go.")
	e.Pragma("noescape")
	c := &chain{emitter: e}
	code, n := e.param("code"), e.param("n")
	c.acc = e.vectors(chainVectors)
	for _, v := range c.acc {
		e.VXORPD(v, v, v)
	}
	c.at = e.GP64()
	at, step, three, k, pc, opcode := c.at, e.GP64(), e.GP64(), e.GP64(), e.GP64(), e.GP64()
	four := e.GP64()
	c.pc = pc
	e.XORQ(k, k)
	e.JMP(operand.LabelRef("test"))
	e.Label("block")
	e.MOVQ(code, pc)
	e.Label("next")
	e.MOVQ(operand.Mem{Base: pc, Disp: 16}, at)
	e.IMULQ(k, at)
	e.ADDQ(operand.Mem{Base: pc, Disp: 8}, at)
	e.MOVQ(operand.Mem{Base: pc, Disp: 24}, step)
	e.LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, three)
	e.LEAQ(operand.Mem{Base: at, Index: step, Scale: 4}, four)
	for _, b := range []operand.Mem{{Base: at}, {Base: four}} {
		c.rows = append(c.rows, b, operand.Mem{Base: b.Base, Index: step, Scale: 1}, operand.Mem{Base: b.Base, Index: step, Scale: 2},
			operand.Mem{Base: b.Base, Index: three, Scale: 1})
	}
	e.MOVQ(operand.Mem{Base: pc}, opcode)
	e.ADDQ(operand.Imm(blockLink), pc)
	e.dispatch(opcode, 0, len(arithmeticLinks))
	for k, l := range arithmeticLinks {
		e.Label(fmt.Sprintf("op%d", k+1))
		e.Commentf("%s", l.name)
		l.emit(c)
		e.JMP(operand.LabelRef("next"))
	}
	e.Label("op0")
	e.INCQ(k)
	e.Label("test")
	e.CMPQ(k, n)
	e.JLT(operand.LabelRef("block"))
	e.finish()
}

// turn loads the operand transposed, and asks for the block after the next. Loads of the rows to come look to the CPU
// as if they might read what was just written at the same place of another page, and wait for it; a prefetch does not.
// Measured, n = 8192: half as fast again, and 5 % faster than one block ahead. They come to the second-level cache: of
// a matrix whose side is a power of two all rows of a column lie in one set of the first-level one, which has not room
// for those of three blocks; that takes 3 to 10 % less. In the machine without blocks it does nothing.
func (c *chain) turn() {
	if c.rows == nil {
		return
	}
	for k, v := range c.acc {
		c.VMOVUPD(c.rows[k], v)
	}
	step, ahead := c.rows[1].Index, c.GP64()
	c.MOVQ(operand.Mem{Base: c.pc, Disp: 16 - blockLink}, ahead)
	c.LEAQ(operand.Mem{Base: c.at, Index: ahead, Scale: 2}, ahead)
	for k, r := range c.rows {
		if k == chainVectors/2 {
			c.LEAQ(operand.Mem{Base: ahead, Index: step, Scale: 4}, ahead)
		}
		r.Base = ahead
		c.PREFETCHT1(r)
	}
	c.turnBack()
}

// turnBack is acc transposed, of blocks.
func (c *chain) turnBack() {
	if c.rows == nil {
		return
	}
	for k, v := range c.turned(c.acc) {
		c.VMOVAPD(v, c.acc[k])
	}
}
