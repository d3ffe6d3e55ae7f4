package machine

// This file emits the gemm micro-kernels that pack a part of the next panel of b while they run.
// Packing needs loads, shuffles and stores, and the units of the FMA leave room for those: apart
// from the kernel it takes 4 to 11 % of a tile product, inside of it next to nothing.
//
//	for each PackRound steps of k:                      one FMA after another, as in gemm.go
//	    meanwhile PackColumns rows of the next panel:   dst[p*NR + i] = src[i*ss + p] (Turn)
//	                                                    or src[p*ss + i] (Copy), i < NR
//
// A call packs PackColumns rows for each whole PackRound in its k, and returns nothing: the driver
// knows.

import "flow/kernels/loop/amd64"

const (
	// A kernel packs PackColumns rows in PackRound steps of k.
	PackRound, PackColumns = 12, 4
	// packAhead is how far ahead the source of Turn is asked for, in bytes of a row. Its rows are
	// as many streams, more than the hardware follows.
	packAhead = 256
	// packedAhead is how far ahead the destination is asked for, in rounds: PackRound lines each.
	packedAhead = 4
)

// packing addresses the source and the destination of what is packed: cur is the first of the four
// rows at hand, column the first column. The three vectors are the same in every piece, as with new
// ones the allocator finds no way.
type packing struct {
	cur, column, ss, ss3, dst reg
	x, y, z                   reg
}

func (p packing) row(i int) mem {
	return rows{base: []reg{p.cur}, rs: p.ss, rs3: p.ss3}.at(i)
}

// packingKernel is gemm of the widest tile, of an a with unit stride along k. The 16 vector registers
// of AVX2 are in use.
func (e *tiler) packingKernel(sub, turn bool) {
	c, cs := e.param("c"), e.stride("cs")
	t := e.newTile(vectors)
	e.load(t, c, cs)
	p := packing{column: e.param("src"), ss: e.stride("ss"), dst: e.param("dst"), cur: e.general(), x: e.vector(), y: e.vector(), z: e.vector()}
	p.ss3 = e.three(p.ss)
	e.mov(p.column, p.cur)
	k, below := e.param("k"), e.general()
	e.below(c, cs, below)
	a := e.rowsOf(e.param("a"), e.stride("rs"))
	step := e.stepOf(t, sub, a, e.size, e.param("b"), vectors*e.bytes)
	e.rounds("round", PackRound, k, nil, func() {
		for s := range PackRound {
			e.prefetch(mem{base: p.dst, disp: packedAhead*PackColumns*vectors*e.bytes + s*cacheLine})
			switch { // a part of PackColumns rows of the panel
			case !turn:
				e.copyPiece(s, p)
			case e.double():
				e.turnPiece64(s, p)
			default:
				e.turnPiece32(s, p)
			}
			e.askBelow(s, vectors, below) // beyond the tile below too: few rows of a go through the panel, and those after them are next
			step()
		}
		e.add(cs, below)
		if e.add(PackColumns*vectors*e.bytes, p.dst); turn {
			e.add(PackColumns*e.size, p.column)
			e.mov(p.column, p.cur)
		}
	})
	e.steps(k, step, nil)
	e.store(t, e.param("c"), e.stride("cs"))
	e.finish()
}

// turnPiece64 packs half of a block of 4 x 4: two steps take the columns of four rows.
func (e *tiler) turnPiece64(s int, p packing) {
	half, rows := s%2, 4*(s/2)
	lo, hi, second := p.x.y(), p.y.y(), p.z.y()
	at := func(i int) mem { return p.row(i).plus(16 * half) }
	for i := 2 * half; i < 2*half+2; i++ {
		e.prefetch(p.row(i).plus(packAhead))
	}
	e.v(amd64.VMOVUPD, at(0), p.y.x())
	e.v(amd64.VMOVUPD, at(1), p.z.x())
	e.v(amd64.VINSERTF64X2, 1, at(2), hi, hi)
	e.v(amd64.VINSERTF64X2, 1, at(3), second, second)
	e.v(amd64.VUNPCKLPD, second, hi, lo)
	e.v(amd64.VUNPCKHPD, second, hi, hi)
	for j, y := range []reg{lo, hi} {
		e.v(amd64.VMOVUPD, y, mem{base: p.dst, disp: (2*half+j)*vectors*e.bytes + rows*e.size})
	}
	if half == 1 {
		e.lea(mem{base: p.cur, index: p.ss, scale: 4}, p.cur)
	}
}

// turnPiece32 packs a block of 4 x 4, two rows at a time so that two registers do.
func (e *tiler) turnPiece32(s int, p packing) {
	for i := 0; i < 4; i += 2 {
		e.prefetch(p.row(i).plus(packAhead))
		e.prefetch(p.row(i + 1).plus(packAhead))
		lo, hi := p.x.x(), p.y.x()
		e.v(amd64.VMOVUPS, p.row(i), hi)
		e.v(amd64.VUNPCKLPS, p.row(i+1), hi, lo) // columns 0 and 1
		e.v(amd64.VUNPCKHPS, p.row(i+1), hi, hi)
		for j, x := range []reg{lo, lo, hi, hi} {
			to := mem{base: p.dst, disp: j*vectors*e.bytes + (4*s+i)*e.size}
			if j%2 == 0 {
				e.v(amd64.VMOVSD, x, to)
			} else {
				e.v(amd64.VMOVHPDStore, x, to)
			}
		}
	}
	e.lea(mem{base: p.cur, index: p.ss, scale: 4}, p.cur)
}

// copyPiece copies a third of a row.
func (e *tiler) copyPiece(s int, p packing) {
	v := s % vectors
	e.move(mem{base: p.cur, disp: v * e.bytes}, p.x)
	e.move(p.x, mem{base: p.dst, disp: s * e.bytes})
	if v == vectors-1 {
		e.add(p.ss, p.cur)
	}
}
