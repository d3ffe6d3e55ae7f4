package main

// This file emits the products of rows and a vector: eight rows at a time, each one chain in a
// scalar register. Eight chains are what two FMAs a cycle that each take four keep busy, and 16 or
// 8 bytes a cycle are more than memory gives. Vectors would hold parts of a sum that is one chain,
// or need rows turned first.

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dotAhead is how many bytes of every row are asked for ahead.
const dotAhead = 1 << 10

// dots emits dot<Elem>By8.
func (e *emitter) dots() {
	for _, e.size = range []int{8, 4} {
		e.dot()
	}
}

func (e *emitter) dot() {
	const count = 8
	name := fmt.Sprintf("dot%sBy%d", e.elem(), count)
	e.begin(name, fmt.Sprintf("func(k int, a *%[1]s, rs int, x, c *%[1]s)", e.goElem()),
		fmt.Sprintf("%s continues the chains c[i], i < %d, with a[i*rs+p] * x[p] for p < k.", name, count))
	k, a, rs, x, c := e.arg("k"), e.arg("a"), e.stride("rs"), e.arg("x"), e.arg("c")
	rs3, second := e.GP64(), e.GP64()
	e.LEAQ(operand.Mem{Base: rs, Index: rs, Scale: 2}, rs3)
	e.LEAQ(operand.Mem{Base: a, Index: rs, Scale: 4}, second)
	from := rows{base: []reg.GPVirtual{a, second}, rs: rs, rs3: rs3}
	sums := make([]reg.VecVirtual, count)
	for i := range sums {
		sums[i] = e.XMM()
		e.moveOne(operand.Mem{Base: c, Disp: i * e.size}, sums[i])
	}
	factor := e.XMM()
	steps := func(n int) {
		for p := range n {
			at := p * e.size
			e.moveOne(operand.Mem{Base: x, Disp: at}, factor)
			for i, s := range sums {
				if e.double() {
					e.VFMADD231SD(from.at(i).Offset(at), factor, s)
				} else {
					e.VFMADD231SS(from.at(i).Offset(at), factor, s)
				}
			}
		}
		for _, r := range []reg.GPVirtual{a, second, x} {
			e.ADDQ(operand.U8(n*e.size), r)
		}
	}
	line := cacheLine / e.size
	e.SUBQ(operand.U8(line), k)
	e.JLT(operand.LabelRef("rest"))
	e.Label("block")
	for i := range count {
		e.PREFETCHT0(from.at(i).Offset(dotAhead))
	}
	steps(line)
	e.SUBQ(operand.U8(line), k)
	e.JGE(operand.LabelRef("block"))
	e.Label("rest")
	e.ADDQ(operand.U8(line), k)
	e.JZ(operand.LabelRef("end"))
	e.Label("one")
	steps(1)
	e.DECQ(k)
	e.JNZ(operand.LabelRef("one"))
	e.Label("end")
	for i, s := range sums {
		e.moveOne(s, operand.Mem{Base: c, Disp: i * e.size})
	}
	e.end()
}

// moveOne loads or stores one element.
func (e *emitter) moveOne(from, to operand.Op) {
	if e.double() {
		e.VMOVSD(from, to)
	} else {
		e.VMOVSS(from, to)
	}
}
