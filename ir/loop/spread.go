package loop

// This file carries the variance of the elements of one point. Sums of the
// differences from the first element and of their squares are carried as pairs of floats, whose
// errors have a bound: the variance is that of the differences, and of n numbers n times as much
// cancels at most (P. Samuelson, "How deviant can you be?", 1968). It is rounded where that bound
// leaves no doubt, as package kernels/exact has it; elsewhere the check Uncertain fails.

import (
	"math"

	"flow/ir/types"
)

// MostSpread is the most elements for which the bound leaves little doubt.
const MostSpread = 1 << 13

// Spread carries a variance.
type Spread struct {
	class Class
	elem  types.Elem // of the elements
	n     Number
	pivot Val // the first element as f64
}

// SpreadOf carries Var or Stddev of n elements. There is at least one, and first is the first of them.
// SpreadOf returns nil if n has no room in the bound. Elements that are no floats count as f64.
func SpreadOf(b *Builder, c Class, n Number, first Val) *Spread {
	if c != Var && c != Stddev || n.v == NoVal && n.f > MostSpread {
		return nil
	}
	return &Spread{c, b.Type(first), n, b.to(types.F64, first)}
}

// The words of the state: sum and error of the differences and of their squares, and the bits of
// all differences.
const (
	spreadSum = iota
	spreadSumError
	spreadSquare
	spreadSquareError
	spreadBits
)

// Begin is the state of no elements.
func (s *Spread) Begin(b *Builder) []Val {
	zero := b.Const(types.F64, 0)
	return []Val{zero, zero, zero, zero, b.Const(types.I64, 0)}
}

// Add is the state after one more element. An error is that of the sum, of the square, and what
// they lack because the difference is a pair; the square of the second of the pair is below all
// bounds.
func (s *Spread) Add(b *Builder, st []Val, x Val) []Val {
	d, rest := two(b, b.to(types.F64, x), b.Op(Neg, s.pivot))
	sum, e := two(b, st[spreadSum], d)
	h := b.Op(Mul, d, d)
	l := b.Op(FMA, b.Op(Add, d, d), rest, b.Op(FMA, d, d, b.Op(Neg, h)))
	square, f := two(b, st[spreadSquare], h)
	return []Val{
		sum, b.Op(Add, st[spreadSumError], b.Op(Add, e, rest)),
		square, b.Op(Add, st[spreadSquareError], b.Op(Add, f, l)),
		b.Op(Or, st[spreadBits], b.Op(Bits, d)),
	}
}

// End is the variance, or its root. Write u for 2^-53, d for the differences, S and Q for the sums
// of d and d^2. A step errs in S by less than 4 u^2 sum(|d|) and u times the error carried, which
// is below 2 n u sum(|d|); likewise in Q. As sum(|d|)^2 <= n Q, n Q - S^2 errs by less than (4 n^2
// + 64 n + 64) u^2 n Q, what is rounded here included.
func (s *Spread) End(b *Builder, st []Val) Val {
	float := func(f float64) Val { return b.Const(types.F64, math.Float64bits(f)) }
	sum, sumRest := two(b, st[spreadSum], st[spreadSumError])
	square, squareRest := two(b, st[spreadSquare], st[spreadSquareError])
	slack := b.Op(Mul, b.Op(Mul, s.n.val(b), square), s.n.polynomial(b, 0x4p-106, 0x40p-106, 0x40p-106).val(b))
	v := spreadFrom(b, s.class, s.elem, s.n, [2]Val{sum, sumRest}, [2]Val{square, squareRest}, slack)

	// Squares that f64 cannot hold, or not exactly, are none of this: neither of elements nor
	// of differences.
	size := b.Op(Abs, s.pivot)
	inRange := b.Op(And, b.Op(Le, size, float(0x1p500)), b.Op(Le, square, float(0x1p1000)))
	equal := b.Op(Eq, b.Op(Shl, st[spreadBits], b.Const(types.I64, 1)), b.Const(types.I64, 0))
	b.Check(Uncertain, b.Op(And, inRange, b.Op(Or, b.Op(And, equal, wholeSquare(b, s.pivot)), v.sure)))
	return v.result(b, equal)
}

// wholeSquare reports a number whose square and the error of it are floats.
func wholeSquare(b *Builder, x Val) Val {
	float := func(f float64) Val { return b.Const(types.F64, math.Float64bits(f)) }
	size := b.Op(Abs, x)
	return b.Op(Or, b.Op(Eq, size, float(0)), b.Op(Le, float(0x1p-450), size))
}

// spread is a variance of numbers that are not all equal, rounded to e, and whether it is sure.
type spread struct {
	class     Class
	elem      types.Elem
	out, sure Val
}

// spreadFrom is (n Q - S^2) / n^2 of sums that are pairs of floats; n Q - S^2 errs by at most slack
// and by what is rounded here, less than 32 u^2 n Q.
func spreadFrom(b *Builder, c Class, e types.Elem, many Number, s, q [2]Val, slack Val) spread {
	float := func(f float64) Val { return b.Const(types.F64, math.Float64bits(f)) }
	n := many.val
	squared := many.polynomial(b, 1, 0, 0)
	a := b.Op(Mul, n(b), q[0])
	aRest := b.Op(FMA, n(b), q[1], b.Op(FMA, n(b), q[0], b.Op(Neg, a)))
	d := b.Op(Mul, s[0], s[0])
	dRest := b.Op(FMA, b.Op(Add, s[0], s[0]), s[1], b.Op(FMA, s[0], s[0], b.Op(Neg, d)))
	high, rest := two(b, a, b.Op(Neg, d))
	high, low := two(b, high, b.Op(Add, rest, b.Op(Sub, aRest, dRest)))

	// A product with the reciprocal errs by two units at most, so what it lacks is a float. The
	// second one adds a part of 2^-104 to the errors.
	v := b.Op(Mul, high, squared.below(b, 1))
	w := b.Op(FMA, b.Op(Neg, v), squared.val(b), high)
	w = b.Op(Mul, b.Op(Add, w, low), squared.below(b, 1))
	high, low = two(b, v, w)
	slack = b.Op(Add, b.Op(Mul, slack, squared.below(b, 2)), b.Op(Mul, high, float(0x1p-98)))
	normal := b.Op(Le, float(0x1p-900), high)
	if many.v != NoVal { // its square is exact
		normal = b.Op(And, normal, b.Op(Le, many.v, float(1<<26)))
	}
	if c == Var && e == types.F32 { // rounded once
		word, one := b.Op(Bits, high), b.Const(types.I64, 1)
		below := b.to(types.F32, b.Op(F64Bits, b.Op(Sub, word, one)))
		above := b.to(types.F32, b.Op(F64Bits, b.Op(Add, word, one)))
		sure := b.Op(And, b.Op(Eq, below, above), b.Op(Lt, slack, b.Op(Mul, high, float(0x1p-54))))
		return spread{c, e, below, b.Op(And, normal, sure)}
	}
	sure := b.Op(And, b.Op(Eq, b.Op(Add, high, b.Op(Add, low, slack)), high), b.Op(Eq, b.Op(Add, high, b.Op(Sub, low, slack)), high))
	return spread{c, e, high, b.Op(And, normal, sure)}
}

// result is the variance, or its root, of numbers that may be equal.
func (v spread) result(b *Builder, equal Val) Val {
	out := b.Op(Select, equal, b.Const(b.Type(v.out), 0), v.out)
	if v.class == Stddev {
		out = b.to(floatOf(v.elem), b.Op(Sqrt, out))
	}
	return out
}
