package machine

// This file writes square roots of which some are computed by multiply-adds: those of the processor
// come one in seven or eight cycles, and the units that multiply would have nothing to do
// meanwhile.
//
// From y near x^(-1/2), at most 2^-14 of it away, g = x y and h = y/2 come nearer to the root and
// to half its reciprocal together (R. Goldschmidt, "Applications of division by convergence",
// 1964): with r = 1/2 - g h, g + g r and h + h r are, but for rounding, 3/2 of the square of the
// distance away. After two such steps g and h are within 2.94 2^-53 of what they stand for. Then d
// = x - g^2 and the result g + d h is rounded once (P. Markstein, "Computation of elementary
// functions on the IBM RISC System/6000 processor", 1990).
//
// Why that is the root rounded to nearest: before the rounding it is off by at most 2.94 (2.94 +
// 1.47 + 1) 2^-106 of the root, of which the first factor is how far g is away, and the second how
// wrong d h is as the rest, for h itself, for d/(root + g) not being d/(2 root), and for the
// rounding of d. The rounding can then be wrong only where the root is as near to the middle of two
// numbers. Say x < 2: x is A 2^-52, a middle M 2^-53 with odd M, and M^2 = A 2^54 + j with an odd
// j, so that they are |j| 2^-107/root apart, about. That is less than the error for |j| < 128 only;
// for x < 4, with 2^55 for 2^54, the same holds. M^2 is 1 modulo 8, so j is, too, and for each j
// there are no more than two M. Package vec computes all of these roots before the first program,
// and leaves roots to the processor if one is wrong: y is rounded as its maker liked. To multiply x
// by 4 doubles the root and halves y: of y's exponent only that it is even or odd counts.

import (
	"math"

	"flow/kernels/loop/amd64"
)

// The least and the greatest number whose root is computed: d is exact, and nothing becomes
// infinite on the way.
var rootFrom, rootTo = math.Float64bits(0x1p-900), math.Float64bits(0x1p1000)

// Roots makes n vectors of 8 at x their square roots by products, so that a caller can try them.
var Roots = of("Roots", "x n", (*emitter).rootsOf, AVX512)

func (e *emitter) rootsOf() {
	x, n := e.param("x"), e.param("n")
	half, binade := e.vector(), e.vector()
	e.v(amd64.VBROADCASTSD, constant(math.Float64bits(.5)), half)
	e.v(amd64.VBROADCASTSD, constant(1<<52), binade)
	e.jump("test")
	e.label("next")
	v := e.vector()
	e.v(amd64.VMOVUPD, mem{base: x}, v)
	for _, stage := range e.multipliedRoot(v, half, binade, func(root reg) { e.v(amd64.VMOVUPD, root, mem{base: x}) }) {
		stage()
	}
	e.add(e.bytes, x)
	e.dec(n)
	e.label("test")
	e.cmp(n, 0)
	e.jumpIf(amd64.Greater, "next")
	e.finish()
}

// multipliedRoot is the stages of the root of v, each of which waits for the one before; use is the
// last of them. half is 1/2 in all lanes, binade the integer that halves a number when it is
// subtracted.
func (e *emitter) multipliedRoot(v, half, binade reg, use func(root reg)) []func() {
	g, h, r := e.vector(), e.vector(), e.vector()
	remainder := func() {
		e.v(amd64.VMOVAPD, half, r)
		e.v(amd64.VFNMADD231PD, h, g, r)
	}
	nearer := func() {
		e.v(amd64.VFMADD213PD, g, r, g)
		e.v(amd64.VFMADD213PD, h, r, h)
	}
	return []func(){
		func() { e.v(amd64.VRSQRT14PD, v, g) },
		func() {
			e.v(amd64.VPSUBQ, binade, g, h) // y/2
			e.v(amd64.VMULPD, v, g, g)
		},
		remainder, nearer, remainder, nearer,
		func() {
			e.v(amd64.VMOVAPD, v, r)
			e.v(amd64.VFNMADD231PD, g, g, r)
		},
		func() { e.v(amd64.VFMADD213PD, g, h, r) },
		func() { use(r) },
	}
}
