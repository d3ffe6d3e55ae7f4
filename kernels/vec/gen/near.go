package main

// This file writes the chain machine's sum of elements that are near one another in size.

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// nearSum adds the accumulator of the round before to cascades that lie at the operand as those of sum do. Their sums do not
// begin with zero but in the middle of a binade, with 1.5 times a power of two, so high that they stay in it: then no
// element is larger than the sum it is added to, and three operations give the sum and its error exactly (T. Dekker, "A
// floating-point technique for extending the available precision", Numer. Math. 18, 1971, theorem 4.7) where twoSum
// takes six. Behind the accumulator of the round before lie two vectors: of the bits in which a sum of the first level
// ever differed from where it began, and that beginning. A sum that has left its binade has other high bits.
func (c *chain) nearSum() {
	bad, stray := c.vector(), c.vector()
	c.VMOVUPD(c.state(nearBad), bad)
	c.VMOVUPD(c.state(nearStray), stray)
	for k := range nearChains {
		high, low := c.vector(), c.vector()
		c.VMOVUPD(c.state(k), high)
		c.VMOVUPD(c.state(nearChains+k), low)
		for j := k; j < chainVectors; j += nearChains {
			v, sum, lowSum := c.vector(), c.vector(), c.vector()
			c.VMOVUPD(c.state(nearBefore+j), v)
			c.VMOVUPD(c.acc[j], c.state(nearBefore+j))
			c.nearAdd(high, low, v, sum, lowSum, bad, stray)
			high, low = sum, lowSum
		}
		c.VMOVUPD(high, c.state(k))
		c.VMOVUPD(low, c.state(nearChains+k))
	}
	c.VMOVUPD(bad, c.state(nearBad))
	c.VMOVUPD(stray, c.state(nearStray))
}

// The state of a near sum, in vectors.
const (
	nearChains = 4              // sums, then as many of their errors
	nearBad    = 2 * nearChains // not zero, but for signs, where an error did not fit into its sum
	nearBefore = nearBad + 1    // the accumulator of the round before
	nearStray  = nearBefore + chainVectors
	nearBase   = nearStray + 1
)

// state is vector k of the state: at the operand, but in the machine for sums alone.
func (c *chain) state(k int) operand.Mem {
	at := c.at
	if c.terms != nil {
		at = c.terms
	}
	return operand.Mem{Base: at, Disp: k * c.bytes}
}

// nearAdd makes sum and lowSum the sums high and low with v. All but these, bad and stray are lost.
func (c *chain) nearAdd(high, low, v, sum, lowSum, bad, stray reg.VecVirtual) {
	c.VADDPD(v, high, sum)
	c.VSUBPD(high, sum, high) // what of v arrived
	c.VSUBPD(high, v, v)      // what did not
	c.VADDPD(v, low, lowSum)
	c.VSUBPD(low, lowSum, low)
	c.differ(v, low, bad) // v should have arrived as a whole
	c.differ(c.state(nearBase), sum, stray)
}

// differ sets the bits of all in which x and y differ.
func (c *chain) differ(y operand.Op, x, all reg.VecVirtual) {
	if c.bytes == 64 {
		c.VPTERNLOGQ(operand.Imm(0xf6), y, x, all) // all | x ^ y
		return
	}
	t := c.vector()
	c.VXORPD(y, x, t)
	c.VORPD(t, all, all)
}

// nearName is the near sum among the links.
const nearName = "nearSum"

// besideNear are the reductions that may stand before a near sum: those that need few registers.
var besideNear = []string{"least", "greatest", "zeros"}

// nearLinks are the links of the machine for near sums. It has the others' opcodes, but not their code.
func nearLinks() []link {
	plain := len(plainLinks())
	ops := slices.Clone(links[:plain+len(predicates)+len(sumLinks)])
	for k := range ops[plain:] {
		if l := &ops[plain+k]; !slices.Contains(besideNear, l.name) {
			l.emit = nil
		}
	}
	return ops
}

// nearChain writes the machine for chains of plain links, and perhaps reductions of besideNear, that end with a near sum, whose state it
// keeps in registers, the accumulator of the round before included: what the other machine stores and loads each round costs as much as
// the additions, and loads of what streams in wait for stores to the same place of another page. The near sum ends a round.
func (e *emitter) nearChain() {
	name := "chainNear" + e.name
	e.Function(name)
	e.SignatureExpr("func(code *uint64, bytes int, state *float64)")
	e.Doc(name + " runs the links on that many bytes of the index space and sums at the state; see gen/near.go.")
	e.Pragma("noescape")
	c := &chain{emitter: e, wide: true}
	code, end := e.param("code"), e.param("bytes")
	c.terms = e.param("state")
	c.clear()
	sums, before := e.vectors(2*nearChains), e.vectors(chainVectors)
	bad, stray := e.vector(), e.vector()
	each := func(move func(k int, v reg.VecVirtual)) {
		for k, v := range sums {
			move(k, v)
		}
		for k, v := range before {
			move(nearBefore+k, v)
		}
		move(nearBad, bad)
		move(nearStray, stray)
	}
	each(func(k int, v reg.VecVirtual) { e.VMOVUPD(c.state(k), v) })
	c.asked = e.GP64()
	e.XORQ(c.asked, c.asked)
	// Asks one at a time among the additions: where memory is slow, eight in a row after the loads cost a tenth of the time.
	additions := func(asks bool) {
		line := 0
		for k := range nearChains {
			high, low := sums[k], sums[nearChains+k]
			sum, lowSum := c.vector(), c.vector()
			for j := k; j < chainVectors; j += nearChains {
				c.nearAdd(high, low, before[j], sum, lowSum, bad, stray)
				high, low, sum, lowSum = sum, lowSum, high, low
				if asks {
					c.askLine(c.asked, line)
					line += c.bytes
				}
			}
		}
	}
	c.interpret(nearLinks(), nearName, code, end, func() {
		e.TESTQ(c.asked, c.asked)
		e.JEQ(operand.LabelRef("unasked"))
		additions(true)
		e.JMP(operand.LabelRef("added"))
		e.Label("unasked")
		additions(false)
		e.Label("added")
		for k, v := range before {
			e.VMOVAPD(c.acc[k], v)
		}
	})
	each(func(k int, v reg.VecVirtual) { e.VMOVUPD(v, c.state(k)) })
	e.finish()
}
