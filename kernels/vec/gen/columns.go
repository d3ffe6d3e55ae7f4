package main

// This file writes sums of many columns whose rows are read as they lie in memory.

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// columnSums writes the near sums of columns (see gen/near.go): of float64, of float32, and of the squares of float32, which a float64 holds.
func (e *emitter) columnSums() {
	e.nearColumns("nearColumnsF64"+e.name, "float64", false)
	e.nearColumns("nearColumnsF32"+e.name, "float32", false)
	e.nearColumns("nearSquaresF32"+e.name, "float32", true)
}

// nearColumns writes one function. The state is three arrays, size bytes apart: the sums of the columns, the sums of their errors, and where the
// sums began. A row is full bytes of the state, whole vectors of it, and then one vector more, of the last columns: they may be some that
// have been added before, to other sums. The state stays in a first-level cache, and memory is read from one end of a row to the other.
func (e *emitter) nearColumns(name, elem string, squares bool) {
	e.Function(name)
	e.SignatureExpr("func(state *float64, size int, x *" + elem + ", rows, step, full, last int, bad, stray *float64)")
	e.Doc(name + " adds rows, step bytes apart, to sums of columns; the last vector of a row begins at element last. See gen/columns.go.")
	e.Pragma("noescape")
	high, size, x, rows, step, full := e.param("state"), e.param("size"), e.param("x"), e.param("rows"), e.param("step"), e.param("full")
	wide := elem == "float64"
	low, base := e.GP64(), e.GP64()
	e.LEAQ(operand.Mem{Base: high, Index: size, Scale: 1}, low)
	e.LEAQ(operand.Mem{Base: high, Index: size, Scale: 2}, base)
	last := e.param("last")
	if wide {
		e.LEAQ(operand.Mem{Base: x, Index: last, Scale: 8}, last)
	} else {
		e.LEAQ(operand.Mem{Base: x, Index: last, Scale: 4}, last)
	}
	bad, stray := e.vector(), e.vector()
	e.VXORPD(bad, bad, bad)
	e.VXORPD(stray, stray, stray)
	i, j := e.GP64(), e.GP64()
	add := func(from operand.Mem) {
		v, h, l, sum, lowSum := e.vector(), e.vector(), e.vector(), e.vector(), e.vector()
		if wide {
			e.VMOVUPD(from, v)
		} else {
			e.VCVTPS2PD(from, v)
		}
		if squares {
			e.VMULPD(v, v, v)
		}
		e.VMOVUPD(at(high, i, 0), h)
		e.VMOVUPD(at(low, i, 0), l)
		e.VADDPD(v, h, sum)
		e.VMOVUPD(sum, at(high, i, 0))
		e.VSUBPD(h, sum, h) // what of v arrived
		e.VSUBPD(h, v, v)   // what did not
		e.VADDPD(v, l, lowSum)
		e.VMOVUPD(lowSum, at(low, i, 0))
		e.VSUBPD(l, lowSum, l)
		e.differ(v, l, bad) // it should have arrived as a whole
		e.differ(at(base, i, 0), sum, stray)
	}
	e.JMP(operand.LabelRef("test"))
	e.Label("row")
	e.XORQ(i, i)
	e.MOVQ(x, j)
	e.JMP(operand.LabelRef("vectors"))
	e.Label("vector")
	add(operand.Mem{Base: j})
	e.ADDQ(operand.U8(e.bytes), i)
	if wide {
		e.ADDQ(operand.U8(e.bytes), j)
	} else {
		e.ADDQ(operand.U8(e.bytes/2), j)
	}
	e.Label("vectors")
	e.CMPQ(i, full)
	e.JLT(operand.LabelRef("vector"))
	add(operand.Mem{Base: last})
	e.ADDQ(step, x)
	e.ADDQ(step, last)
	e.DECQ(rows)
	e.Label("test")
	e.CMPQ(rows, operand.Imm(0))
	e.JGT(operand.LabelRef("row"))
	for name, v := range [2]reg.VecVirtual{bad, stray} {
		p := e.param([2]string{"bad", "stray"}[name])
		e.VMOVUPD(v, operand.Mem{Base: p})
	}
	e.finish()
}

// differ sets the bits of all in which x and y differ.
func (e *emitter) differ(y operand.Op, x, all reg.VecVirtual) {
	if e.bytes == 64 {
		e.VPTERNLOGQ(operand.Imm(0xf6), y, x, all) // all | x ^ y
		return
	}
	t := e.vector()
	e.VXORPD(y, x, t)
	e.VORPD(t, all, all)
}
