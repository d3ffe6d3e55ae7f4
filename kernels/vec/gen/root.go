package main

// This file writes the chain machine's square roots. The CPU's instruction gives eight in as many cycles, in which nothing else of a chain
// takes longer; so of float64 some of the eight vectors of a round get theirs by products, beside those of the instruction. Both are
// correctly rounded: no bit tells which it was.

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// byProducts are the vectors of a round whose roots are made of products. Measured on Zen 5 in a second-level cache, ns an element of
// sqrt(a x + b) c - d and its sum: none 0.25, two 0.22, three 0.20, four 0.22; these after the instruction's or among them: no matter.
var byProducts = []int{1, 4, 7}

// productsLeast is the bits of the least argument whose root is made of products: below, x - g^2 may lack bits. The greatest is finite.
var productsLeast = math.Float64bits(0x1p-900)

// rootRange is the variable of package vec that says how many numbers from productsLeast on have roots by products.
var rootRange = operand.NewDataAddr(operand.Symbol{Name: "·rootRange"}, 0)

// sqrt is acc = sqrt(acc), correctly rounded.
func (c *chain) sqrt() {
	if c.bytes == 32 {
		c.instructionRoots()
		return
	}
	all, t := c.vector(), c.vector()
	for i, k := range byProducts {
		if i == 0 {
			c.VPSUBQ_BCST(c.place(productsLeast), c.acc[k], all)
			continue
		}
		c.VPSUBQ_BCST(c.place(productsLeast), c.acc[k], t)
		c.VPMAXUQ(t, all, all)
	}
	const greater = 6
	c.VPCMPUQ_BCST(operand.Imm(greater), rootRange, all, maskRegisters[0])
	c.KORTESTB(maskRegisters[0], maskRegisters[0])
	c.labels++
	others, done := fmt.Sprintf("otherRoots%d", c.labels), fmt.Sprintf("rooted%d", c.labels)
	c.JNE(operand.LabelRef(others))
	byInstruction := map[int]bool{}
	for k := range c.acc {
		byInstruction[k] = true
	}
	for _, k := range byProducts {
		byInstruction[k] = false
	}
	for k, v := range c.acc {
		if byInstruction[k] {
			c.VSQRTPD(v, v)
		}
	}
	for _, k := range byProducts {
		c.productRoot(c.acc[k])
	}
	c.JMP(operand.LabelRef(done))
	c.Label(others)
	c.instructionRoots()
	c.Label(done)
}

func (c *chain) instructionRoots() {
	for _, v := range c.acc {
		c.VSQRTPD(v, v)
	}
}

// productRoot is v = sqrt(v), correctly rounded, for finite v from productsLeast on. From a guess y of 1/sqrt(x) that is good to 2^-14 it makes
// g and h, about sqrt(x) and half of its inverse, both better by each step (R. Goldschmidt, "Applications of division by convergence",
// 1964), the second of g by the remainder x - g^2, which a multiply-add gives without an error that counts. The third step of g is the last:
// with g = s (1 + e) and h = (1 + f) / 2s it yields s (1 - e^2/2 - e f) before it rounds (P. Markstein, "Computation of elementary functions
// on the IBM RISC System/6000 processor", 1990). |e| < 2^-52.5 and |f| < 2^-51.5, so that is off by less than 2^-103.5 of s, and
// rounds as s does unless s is that close to the middle between two numbers: of those x there are a few, which package vec tries at its start.
func (e *emitter) productRoot(v reg.VecVirtual) {
	g, h, r := e.vector(), e.vector(), e.vector()
	half := e.place(math.Float64bits(.5))
	e.VRSQRT14PD(v, h)
	e.VMULPD(v, h, g)
	e.VMULPD_BCST(half, h, h)
	e.VBROADCASTSD(half, r)
	e.VFNMADD231PD(g, h, r)
	e.VFMADD213PD(g, r, g)
	e.VFMADD213PD(h, r, h)
	e.VBROADCASTSD(half, r)
	e.VFNMADD231PD(g, h, r)
	d := e.vector()
	e.VMOVAPD(v, d)
	e.VFNMADD231PD(g, g, d)
	e.VFMADD231PD(h, d, g)
	e.VFMADD213PD(h, r, h)
	e.VFNMADD231PD(g, g, v)
	e.VFMADD213PD(g, h, v)
}

// productRoots writes the roots by products alone, of n vectors, for package vec to try them.
func (e *emitter) productRoots() {
	e.Function("productRoots" + e.name)
	e.SignatureExpr("func(x *float64, n int)")
	e.Doc("productRoots" + e.name + " makes n vectors of 8 their square roots by products; see gen/root.go.")
	e.Pragma("noescape")
	x, n := e.param("x"), e.param("n")
	e.JMP(operand.LabelRef("test"))
	e.Label("next")
	v := e.vector()
	e.VMOVUPD(operand.Mem{Base: x}, v)
	e.productRoot(v)
	e.VMOVUPD(v, operand.Mem{Base: x})
	e.ADDQ(operand.Imm(uint64(e.bytes)), x)
	e.DECQ(n)
	e.Label("test")
	e.CMPQ(n, operand.I32(0))
	e.JGT(operand.LabelRef("next"))
	e.finish()
}
