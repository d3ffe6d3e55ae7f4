package main

// This file emits the gemm micro-kernels that pack a part of the next panel of b while they run.
// Packing needs loads, shuffles and stores, and the units of the FMA leave room for those: apart
// from the kernel it takes 4 to 11 % of a tile product, inside of it next to nothing.
//
//	for each packRound steps of k:                      one FMA after another, as in gemm.go
//	    meanwhile packColumns rows of the next panel:   dst[p*NR + i] = src[i*ss + p] (Turn) or src[p*ss + i] (Copy), i < NR
//
// A call packs packColumns rows for each whole packRound in its k, and returns nothing: the driver
// knows.

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	packRound   = 12
	packColumns = 4
	// packAhead is how far ahead the source of Turn is asked for, in bytes of a row. Its rows are
	// as many streams, more than the hardware follows.
	packAhead = 256
	// packedAhead is how far ahead the destination is asked for, in rounds: packRound lines each.
	packedAhead = 4
)

// packing addresses the source and the destination of what is packed: cur is the first of the four
// rows at hand, column the first column. The three vectors are the same in every piece, as with new
// ones the allocator finds no way.
type packing struct {
	cur, column, ss, ss3, dst reg.GPVirtual
	x, y, z                   reg.VecVirtual
}

func (p packing) row(i int) operand.Mem {
	return rows{base: []reg.GPVirtual{p.cur}, rs: p.ss, rs3: p.ss3}.at(i)
}

// packingKernels emits gemm<ISA><Elem><Add|Sub><Turn|Copy>: the widest tile, a with unit stride
// along k.
func (e *emitter) packingKernels() {
	if e.vec != 64 {
		return // the 16 registers of AVX2 are in use
	}
	for _, sub := range []bool{false, true} {
		for _, turn := range []bool{true, false} {
			e.packingKernel(sub, turn)
		}
	}
}

func (e *emitter) packingKernel(sub, turn bool) {
	name := fmt.Sprintf("gemm%s%s%s%s", e.isa, e.elem(), map[bool]string{false: "Add", true: "Sub"}[sub], map[bool]string{false: "Copy", true: "Turn"}[turn])
	e.begin(name, fmt.Sprintf("func(k int, a *%[1]s, rs int, b, c *%[1]s, cs int, src *%[1]s, ss int, dst *%[1]s)", e.goElem()))
	c, cs := e.arg("c"), e.stride("cs")
	t := e.newTile(vectors)
	e.load(t, c, cs)
	p := packing{column: e.arg("src"), ss: e.stride("ss"), dst: e.arg("dst"), cur: e.GP64(), ss3: e.GP64(), x: e.ZMM(), y: e.ZMM(), z: e.ZMM()}
	e.LEAQ(operand.Mem{Base: p.ss, Index: p.ss, Scale: 2}, p.ss3)
	e.MOVQ(p.column, p.cur)
	k, below := e.arg("k"), e.GP64()
	e.below(c, cs, below)
	a := e.rowsOf(e.arg("a"), e.stride("rs"))
	step := e.stepOf(t, sub, a, operand.U8(e.size), e.arg("b"), operand.U32(vectors*e.vec))
	e.rounds("round", packRound, k, nil, func() {
		for s := range packRound {
			e.PREFETCHT0(operand.Mem{Base: p.dst, Disp: packedAhead*packColumns*vectors*e.vec + s*cacheLine})
			e.piece(turn, s, p)
			e.askBelow(s, vectors, below) // beyond the tile below too: few rows of a go through the panel, and those after them are next
			step()
		}
		e.ADDQ(cs, below)
		e.nextColumns(turn, p)
	})
	e.steps(k, step, nil)
	e.store(t, e.arg("c"), e.stride("cs"))
	e.end()
}

// piece packs a part of packColumns rows of the panel in step s of a round.
func (e *emitter) piece(turn bool, s int, p packing) {
	switch {
	case !turn:
		e.copyPiece(s, p)
	case e.double():
		e.turnPiece64(s, p)
	default:
		e.turnPiece32(s, p)
	}
}

// nextColumns ends a round.
func (e *emitter) nextColumns(turn bool, p packing) {
	e.ADDQ(operand.U32(packColumns*vectors*e.vec), p.dst)
	if turn {
		e.ADDQ(operand.U8(packColumns*e.size), p.column)
		e.MOVQ(p.column, p.cur)
	}
}

// turnPiece64 packs half of a block of 4 x 4: two steps take the columns of four rows.
func (e *emitter) turnPiece64(s int, p packing) {
	half, rows := s%2, 4*(s/2)
	lo, hi, second := p.x.AsY(), p.y.AsY(), p.z.AsY()
	at := func(i int) operand.Mem { return p.row(i).Offset(16 * half) }
	for i := 2 * half; i < 2*half+2; i++ {
		e.PREFETCHT0(p.row(i).Offset(packAhead))
	}
	e.VMOVUPD(at(0), p.y.AsX())
	e.VMOVUPD(at(1), p.z.AsX())
	e.VINSERTF64X2(operand.U8(1), at(2), hi, hi)
	e.VINSERTF64X2(operand.U8(1), at(3), second, second)
	e.VUNPCKLPD(second, hi, lo)
	e.VUNPCKHPD(second, hi, hi)
	for j, y := range []reg.Register{lo, hi} {
		e.VMOVUPD(y, operand.Mem{Base: p.dst, Disp: (2*half+j)*vectors*e.vec + rows*e.size})
	}
	if half == 1 {
		e.LEAQ(operand.Mem{Base: p.cur, Index: p.ss, Scale: 4}, p.cur)
	}
}

// turnPiece32 packs a block of 4 x 4, two rows at a time so that two registers do.
func (e *emitter) turnPiece32(s int, p packing) {
	for i := 0; i < 4; i += 2 {
		e.PREFETCHT0(p.row(i).Offset(packAhead))
		e.PREFETCHT0(p.row(i + 1).Offset(packAhead))
		lo, hi := p.x.AsX(), p.y.AsX()
		e.VMOVUPS(p.row(i), hi)
		e.VUNPCKLPS(p.row(i+1), hi, lo) // columns 0 and 1
		e.VUNPCKHPS(p.row(i+1), hi, hi)
		for j, x := range []reg.Register{lo, lo, hi, hi} {
			to := operand.Mem{Base: p.dst, Disp: j*vectors*e.vec + (4*s+i)*e.size}
			if j%2 == 0 {
				e.VMOVLPS(x, to)
			} else {
				e.VMOVHPS(x, to)
			}
		}
	}
	e.LEAQ(operand.Mem{Base: p.cur, Index: p.ss, Scale: 4}, p.cur)
}

// copyPiece copies a third of a row.
func (e *emitter) copyPiece(s int, p packing) {
	v := s % vectors
	e.move(operand.Mem{Base: p.cur, Disp: v * e.vec}, p.x)
	e.move(p.x, operand.Mem{Base: p.dst, Disp: s * e.vec})
	if v == vectors-1 {
		e.ADDQ(p.ss, p.cur)
	}
}
