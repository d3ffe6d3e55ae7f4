package main

// This file emits the solve micro-kernels: forward substitution of MR rows of a packed panel whose
// lanes are right-hand sides. After the update by the k rows above, the tile is solved where it
// stands, in registers.
//
//	b: panel, row p at b[p*bs]; rows 0..k-1 are solved, rows k..k+MR-1 are replaced
//	a: rows k.. of the triangle, element (i, p) at a[i*rs + p*ks] for p < k+MR, its diagonal at p = k+i

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// solveKernels emits solve<ISA><Elem>By<vectors>.
func (e *emitter) solveKernels() {
	for nv := 1; nv <= vectors; nv++ {
		e.solve(nv)
	}
}

func (e *emitter) solve(nv int) {
	name := fmt.Sprintf("solve%s%sBy%d", e.isa, e.elem(), nv)
	e.begin(name, fmt.Sprintf("func(k int, a *%[1]s, rs, ks int, b *%[1]s, bs int, next uintptr, step int)", e.goElem()))
	k, b, bs := e.arg("k"), e.arg("b"), e.stride("bs")
	c := e.GP64()
	e.MOVQ(k, c)
	e.IMULQ(bs, c)
	e.ADDQ(b, c)
	t := e.newTile(nv)
	e.load(t, c, bs)
	a, ks := e.rowsOf(e.arg("a"), e.stride("rs")), e.stride("ks")
	next, stride := e.arg("next"), e.arg("step")
	step := e.stepOf(t, true, a, ks, b, bs)
	e.rounds("round", e.round, k, nil, func() {
		e.PREFETCHT1(operand.Mem{Base: next})
		e.ADDQ(stride, next)
		for range e.round {
			step()
		}
	})
	e.steps(k, step, nil)
	e.substitute(t, a, ks)
	e.store(t, c, bs)
	e.end()
}

// substitute solves the triangle at a: a true division, then one FMA in each chain below.
func (e *emitter) substitute(t tile, a rows, ks reg.GPVirtual) {
	x := e.vector(e.vec)
	for j := range t {
		e.broadcast(a.at(j), x)
		for _, acc := range t[j] {
			e.divide(x, acc)
		}
		for i := j + 1; i < len(t); i++ {
			e.broadcast(a.at(i), x)
			for v, acc := range t[i] {
				e.fused(true, x, t[j][v], acc)
			}
		}
		if j+1 < len(t) {
			e.advance(a, ks)
		}
	}
}
