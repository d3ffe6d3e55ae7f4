package main

// This file emits the kernels of products of a few rows: the gemm micro-kernel turned round for the
// case that most of the MR rows of its tile would be missing. Few rows leave registers for more
// vectors, and it takes that many to keep the units of the FMA busy.
//
//	a: element (i, p) at a[i + p*as], i below 1 to 4
//	b: row p at b[p*bs], c: row i at c[i*cs]

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
)

// narrowVectors is the widest tile of 1, 2, 3 and 4 rows. Two FMAs a cycle that each take four are
// eight chains at a time. With four rows of three vectors the 16 registers of AVX2 are in use, with
// one row of eight the vectors of b stay in memory.
var narrowVectors = [...]int{8, 4, 3, 3}

// narrowKernels emits narrow<ISA><Elem>R<rows>V<vectors>.
func (e *emitter) narrowKernels() {
	for i, most := range narrowVectors {
		for nv := 1; nv <= most; nv++ {
			few := *e
			few.rows = i + 1
			few.narrow(nv)
		}
	}
}

func (e *emitter) narrow(nv int) {
	name := fmt.Sprintf("narrow%s%sR%dV%d", e.isa, e.elem(), e.rows, nv)
	e.begin(name, fmt.Sprintf("func(k int, a *%[1]s, as int, b *%[1]s, bs int, c *%[1]s, cs int, ahead int)", e.goElem()))
	c, cs := e.arg("c"), e.stride("cs")
	t := e.newTile(nv)
	e.load(t, c, cs)
	size := e.GP64()
	e.MOVQ(operand.U32(e.size), size)
	b, ahead := e.arg("b"), e.stride("ahead")
	step := e.stepOf(t, false, e.rowsOf(e.arg("a"), size), e.stride("as"), b, e.stride("bs"))
	e.steps(e.arg("k"), step, func() {
		for at := 0; at < nv*e.vec; at += cacheLine {
			e.PREFETCHT0(operand.Mem{Base: b, Index: ahead, Scale: 1, Disp: at})
		}
	})
	e.store(t, c, cs)
	e.end()
}
