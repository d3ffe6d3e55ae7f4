package main

// This file writes the error-free sums: package exact says what they are for.

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cascades writes the four kinds: float64 and float32, the elements or their squares. Each runs
// several chains side by side, a chain being a vector of sums s, a vector t of the rounding errors
// of s and, for squares of float64, whose low halves are as long as their high ones, a vector u of
// the rounding errors of t. A round takes the vectors at x, one a chain, and goes step bytes on:
// step is the size of a round for a long slice, the length of a row for columns. acc receives the
// vectors s, t (and u) of every chain, then one that is not zero (but for signs) where an error of
// the last level was lost.
func (e *emitter) cascades() {
	for _, wide := range []bool{true, false} {
		for _, squares := range []bool{false, true} {
			e.cascade(wide, squares)
		}
	}
}

func (e *emitter) cascade(wide, squares bool) {
	name, suffix, elem, size := "sum", "F64", "float64", e.bytes
	chains, levels := 4, 2
	if squares {
		name = "squares"
		if wide {
			chains, levels = 2, 3
		}
	}
	if !wide {
		suffix, elem, size = "F32", "float32", e.bytes/2
	}
	name += suffix + e.name
	e.Function(name)
	e.SignatureExpr(fmt.Sprintf("func(x *%s, rounds, step int, acc *float64)", elem))
	e.Doc(fmt.Sprintf("%s sums in %d chains of %d levels without rounding; see gen/cascade.go.", name, chains, levels))
	e.Pragma("noescape")
	x, n, step, acc := e.param("x"), e.param("rounds"), e.param("step"), e.param("acc")
	sums := make([][]reg.VecVirtual, levels)
	all := []reg.VecVirtual{}
	for l := range sums {
		sums[l] = e.vectors(chains)
		all = append(all, sums[l]...)
	}
	bad := e.vector()
	all = append(all, bad)
	for _, r := range all {
		e.VXORPD(r, r, r)
	}
	e.JMP(operand.LabelRef("test"))
	e.Label("loop")
	for k := range chains {
		src := operand.Mem{Base: x, Disp: k * size}
		v := e.vector()
		if wide {
			e.VMOVUPD(src, v)
		} else {
			e.VCVTPS2PD(src, v)
		}
		down := func(v reg.VecVirtual, level int) { // v into that level, errors into those below
			for l := level; l < levels; l++ {
				v = e.twoSum(sums[l][k], v)
			}
			e.VORPD(v, bad, bad)
		}
		if !squares {
			down(v, 0)
			continue
		}
		h := e.vector()
		e.VMULPD(v, v, h)
		if !wide { // a square of 24 bits is exact
			down(h, 0)
			continue
		}
		low := e.vector()
		e.VMOVAPD(h, low)
		e.VFMSUB231PD(v, v, low)
		down(h, 0)
		down(low, 1)
	}
	e.ADDQ(step, x)
	e.DECQ(n)
	e.Label("test")
	e.CMPQ(n, operand.I32(0))
	e.JGT(operand.LabelRef("loop"))
	for k, r := range all {
		e.VMOVUPD(r, operand.Mem{Base: acc, Disp: k * e.bytes})
	}
	e.finish()
}

// twoSum adds v to s and returns the exact rounding error (D. Knuth, TAOCP 2, 4.2.2).
func (e *emitter) twoSum(s, v reg.VecVirtual) reg.VecVirtual {
	sum, part, err := e.vector(), e.vector(), e.vector()
	e.VADDPD(v, s, sum)
	e.VSUBPD(s, sum, part) // what of v arrived
	e.VSUBPD(part, sum, err)
	e.VSUBPD(err, s, err) // what of s did not
	e.VSUBPD(part, v, part)
	e.VADDPD(part, err, err)
	e.VMOVAPD(sum, s)
	return err
}
