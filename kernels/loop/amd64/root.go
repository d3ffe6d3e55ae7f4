package amd64

// This file computes square roots by multiply-adds, where the unit that divides is what a body waits
// for: it takes 16 cycles or more for eight roots, and the units that multiply would have nothing to
// do meanwhile. A sum of forces takes 0.58 of the time on a Granite Rapids.
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
// there are no more than two M. Package launch computes all of these roots before it allows such
// roots (Schedule.Roots): y is rounded as its maker liked. To multiply x by 4 doubles the root and
// halves y: of y's exponent only that it is even or odd counts.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
)

// The least and the greatest number whose root is computed: d is exact, and nothing becomes
// infinite on the way.
var rootFrom, rootTo = math.Float64bits(0x1p-900), math.Float64bits(0x1p1000)

// rooted reports a body that waits for the unit that divides longer than for all others, and for no
// root of what the round of a loop before has made: a root by multiply-adds takes twice as long.
func (l *lowering) rooted(b *loop.Block) bool {
	w := &l.weight
	return w.roots > 0 && 2*w.divides >= w.cost-w.divides && !chained(b, map[loop.Val]bool{})
}

// chained reports a root of what loops carry: of values in the set, to which it adds those of b.
func chained(b *loop.Block, carried map[loop.Val]bool) (found bool) {
	if b == nil {
		return false
	}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		after := s.Reads(func(v loop.Val) bool { return carried[v] })
		roots := s.Code == loop.Sqrt || s.Code == loop.Apply && weigh(&s.Func.Body).roots > 0
		found = found || after && roots || chained(s.Then, carried) || chained(s.Else, carried)
		if x := s.Loop; x != nil {
			for k := range x.Init {
				carried[x.Carry+loop.Val(k)] = true
			}
			found = found || chained(&x.Body, carried)
		}
		for k := range s.N {
			carried[s.Dst+loop.Val(k)] = after
		}
	}
	return found
}

// root is the root of o by multiply-adds.
func (l *lowering) root(o operand) virt {
	const whole = types.I64
	word := func(w loop.Word) operand { return constantOf(whole, w) }
	of := func(v virt) operand { return inRegister(types.F64, v) }
	x := of(l.vector(o))
	half := constantOf(types.F64, math.Float64bits(.5))
	y := of(l.unary(VRSQRT14PD, types.F64, x, 0))
	h := of(l.binary(VPSUBQ, whole, y, word(1<<52)))
	g := of(l.binary(VMULPD, types.F64, x, y))
	for range 2 {
		r := of(l.multiplyAdd(true, g, h, half, 0))
		g, h = of(l.multiplyAdd(false, g, r, g, 0)), of(l.multiplyAdd(false, h, r, h, 0))
	}
	out := l.multiplyAdd(false, of(l.multiplyAdd(true, g, g, x, 0)), h, g, l.fresh(vectorClass))
	far := of(l.binary(VPSUBQ, whole, x, word(rootFrom)))
	skip := l.asm.Label()
	l.jumpIfNone(skip, l.under(l.compare(VPCMPUQ, whole, far, word(rootTo-rootFrom), 5))) // not below
	l.emit(&step{Inst: Inst{Op: VSQRTPD, Len: l.length}, b: x.v, dst: out, effect: true})
	l.bind(skip)
	return out
}
