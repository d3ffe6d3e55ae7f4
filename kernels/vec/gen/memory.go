package main

// This file writes the links of the chain machine that spare it loads, or the waiting for them, or the way to the next link.

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
)

// aheadBytes is how far ahead of a round a link asks for its operand's lines: measured on Zen 5, 4 to 16 KiB do equally well, less and
// more worse.
const aheadBytes = 8 << 10

// memoryLinks are of float64 and float32, but not of blocks.
var memoryLinks = slices.Concat([]link{{"ask", func(c *chain) { c.ask() }}},
	same("add", "sub", "subFrom", "mul", "div", "divInto", "min", "max"),
	[]link{{"loadAsk", func(c *chain) { arithmetic("load").emit(c); c.ask() }}},
	pairs([2]string{"mul", "add"}, [2]string{"mul", "sub"}, [2]string{"mul", "subFrom"},
		[2]string{"add", "mul"}, [2]string{"sub", "mul"}, [2]string{"subFrom", "mul"}))

// ask asks for the lines that are aheadBytes behind the operand's; past the end of memory that does nothing. The hardware's prefetchers
// do not keep up with a chain: eight loads in a row, then hundreds of instructions that load constants and states; at every page
// they begin anew, and the window of instructions that the CPU sees is less than two rounds.
func (c *chain) ask() {
	for at := 0; at < chainVectors*c.bytes; at += 64 {
		c.PREFETCHT0(operand.Mem{Base: c.at, Disp: aheadBytes + at})
	}
}

// arithmetic is the arithmetic link of that name.
func arithmetic(name string) link {
	k := slices.IndexFunc(arithmeticLinks, func(l link) bool { return l.name == name })
	return arithmeticLinks[k]
}

// same are those arithmetic links with an operand that is the same for all elements: one load instead of eight.
func same(names ...string) []link {
	var out []link
	for _, name := range names {
		out = append(out, link{name + "Same", func(c *chain) {
			c.same = c.vector()
			c.VMOVUPD(operand.Mem{Base: c.at}, c.same)
			arithmetic(name).emit(c)
			c.same = nil
		}})
	}
	return out
}

// pairs are two such links one after the other: the way from link to link costs as much as four vectors of additions. Their operands lie
// one behind the other, each once.
func pairs(names ...[2]string) []link {
	var out []link
	for _, pair := range names {
		out = append(out, link{pair[0] + "+" + pair[1], func(c *chain) {
			both := c.vectors(2)
			for k, v := range both {
				c.VBROADCASTSD(operand.Mem{Base: c.at, Disp: k * 8}, v)
			}
			for k, v := range both {
				c.same = v
				arithmetic(pair[k]).emit(c)
			}
			c.same = nil
		}})
	}
	return out
}
