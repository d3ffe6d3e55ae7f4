package main

// This file writes square roots of which some are computed by multiply-adds: those of the processor come one in seven
// or eight cycles, and the units that multiply would have nothing to do meanwhile.
//
// From y near x^(-1/2), at most 2^-14 of it away, g = x y and h = y/2 come nearer to the root and to half its
// reciprocal together (R. Goldschmidt, "Applications of division by convergence", 1964): with r = 1/2 - g h, g + g r
// and h + h r are, but for rounding, 3/2 of the square of the distance away. After two such steps g and h are within
// 2.94 2^-53 of what they stand for. Then d = x - g^2 and the result g + d h is rounded once (P. Markstein,
// "Computation of elementary functions on the IBM RISC System/6000 processor", 1990).
//
// Why that is the root rounded to nearest: before the rounding it is off by at most 2.94 (2.94 + 1.47 + 1) 2^-106 of
// the root, of which the first factor is how far g is away, and the second how wrong d h is as the rest, for h itself,
// for d/(root + g) not being d/(2 root), and for the rounding of d. The rounding can then be wrong only where the root
// is as near to the middle of two numbers. Say x < 2: x is A 2^-52, a middle M 2^-53 with odd M, and M^2 = A 2^54 + j
// with an odd j, so that they are |j| 2^-107/root apart, about. That is less than the error for |j| < 128 only; for x <
// 4, with 2^55 for 2^54, the same holds. M^2 is 1 modulo 8, so j is, too, and for each j there are no more than two M.
// Package vec computes all of these roots before the first program, and leaves roots to the processor if one is wrong:
// y is rounded as its maker liked. To multiply x by 4 doubles the root and halves y: of y's exponent only that it is
// even or odd counts.

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The least and the greatest number whose root is computed: d is exact, and nothing becomes infinite on the way.
var rootFrom, rootTo = math.Float64bits(0x1p-900), math.Float64bits(0x1p1000)

// rootsDivided is how many of the eight vectors of the accumulator leave their roots to the unit that divides.
const rootsDivided = 4

// roots is acc = sqrt(acc), or acc times that.
func (p *rowMachine) roots(times bool) {
	if p.bytes != 64 { // AVX2 has no y to begin with
		p.dividedRoots(p.acc, times)
		return
	}
	name := map[bool]string{false: "SqrtBoth", true: "RootTimes"}[times]
	slow, fast := p.acc[:rootsDivided], p.acc[rootsDivided:]
	from, above, least := p.vector(), p.vector(), p.vector()
	p.load(w(rootFrom), least)
	p.VPSUBQ(least, fast[0], above)
	for _, v := range fast[1:] { // numbers below, and negative ones, are large ones as integers without a sign
		p.VPSUBQ(least, v, from)
		p.VPMAXUQ(from, above, above)
	}
	p.load(w(rootTo-rootFrom), from)
	odd := p.K()
	p.VPCMPUQ(operand.Imm(6), from, above, odd) // above > from
	p.KORTESTB(odd, odd)
	p.JNE(operand.LabelRef("odd" + name))
	p.dividedRoots(slow, times)
	p.multipliedRoots(fast, times)
	p.JMP(operand.LabelRef("all" + name))
	p.Label("odd" + name)
	p.dividedRoots(p.acc, times)
	p.Label("all" + name)
}

// dividedRoots is v = sqrt(v), or v times that, by the processor.
func (p *rowMachine) dividedRoots(v []reg.VecVirtual, times bool) {
	for _, v := range v {
		if times {
			root := p.vector()
			p.VSQRTPD(v, root)
			p.VMULPD(v, root, v)
		} else {
			p.VSQRTPD(v, v)
		}
	}
}

// multipliedRoots is the same by multiply-adds, stage by stage: what a vector waits for, the others do.
func (p *rowMachine) multipliedRoots(v []reg.VecVirtual, times bool) {
	half, binade := p.vector(), p.vector()
	p.load(k(.5), half)
	p.load(w(1<<52), binade)
	stages := make([][]func(), len(v))
	for i, v := range v {
		stages[i] = p.multipliedRoot(v, half, binade, func(root reg.VecVirtual) {
			if times {
				p.VMULPD(root, v, v)
			} else {
				p.VMOVAPD(root, v)
			}
		})
	}
	for stage := range stages[0] {
		for i := range v {
			stages[i][stage]()
		}
	}
}

// multipliedRoot is the stages of the root of v, each of which waits for the one before; use is the last of them. half
// is 1/2 in all lanes, binade the integer that halves a number when it is subtracted.
func (e *emitter) multipliedRoot(v, half, binade reg.VecVirtual, use func(root reg.VecVirtual)) []func() {
	g, h, r := e.vector(), e.vector(), e.vector()
	remainder := func() {
		e.VMOVAPD(half, r)
		e.VFNMADD231PD(h, g, r)
	}
	nearer := func() {
		e.VFMADD213PD(g, r, g)
		e.VFMADD213PD(h, r, h)
	}
	return []func(){
		func() { e.VRSQRT14PD(v, g) },
		func() {
			e.VPSUBQ(binade, g, h) // y/2
			e.VMULPD(v, g, g)
		},
		remainder, nearer, remainder, nearer,
		func() {
			e.VMOVAPD(v, r)
			e.VFNMADD231PD(g, g, r)
		},
		func() { e.VFMADD213PD(g, h, r) },
		func() { use(r) },
	}
}
