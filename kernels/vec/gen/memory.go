package main

// This file writes the links of the chain machine that spare it loads, or the waiting for them.

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
)

// aheadBytes is how far ahead of a round a link asks for its operand's lines: measured on Zen 5, 4 to 16 KiB do equally well, less and
// more worse.
const aheadBytes = 8 << 10

// memoryLinks are of float64 and float32, but not of blocks.
var memoryLinks = slices.Concat([]link{{"ask", func(c *chain) { c.ask() }}},
	same("add", "sub", "subFrom", "mul", "div", "divInto", "min", "max"))

// ask asks for the lines that are aheadBytes behind the operand's; past the end of memory that does nothing. The hardware's prefetchers
// do not keep up with a chain: eight loads in a row, then hundreds of instructions that load constants and states; at every page
// they begin anew, and the window of instructions that the CPU sees is less than two rounds.
func (c *chain) ask() {
	for at := 0; at < chainVectors*c.bytes; at += 64 {
		c.PREFETCHT0(operand.Mem{Base: c.at, Disp: aheadBytes + at})
	}
}

// same are those arithmetic links with an operand that is the same for all elements: one load instead of eight.
func same(names ...string) []link {
	var out []link
	for _, l := range arithmeticLinks {
		if !slices.Contains(names, l.name) {
			continue
		}
		out = append(out, link{l.name + "Same", func(c *chain) {
			c.same = c.vector()
			c.VMOVUPD(operand.Mem{Base: c.at}, c.same)
			l.emit(c)
			c.same = nil
		}})
	}
	return out
}
