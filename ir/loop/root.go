package loop

// This file carries the root of a sum of squares, a Norm, as a pair of floats: the sum, and what it
// lacks. A square is not negative, so nothing cancels, and the pair errs by little of the sum. Its root
// is taken where a bound leaves no doubt how the sum is rounded; elsewhere the check Uncertain fails.

import (
	"math"

	"flow/ir/types"
)

// Number is how many elements there are.
type Number struct {
	f float64
	v Val // what the run tells, an f64; NoVal: it is f
}

// Known is a number of elements that is known.
func Known(n int) Number { return Number{float64(n), NoVal} }

// Told is a number of elements that the run tells.
func Told(b *Builder, n Val) Number { return Number{0, b.to(types.F64, n)} }

func (n Number) val(b *Builder) Val {
	if n.v != NoVal {
		return n.v
	}
	return b.Const(types.F64, math.Float64bits(n.f))
}

// polynomial is two n^2 + one n + zero.
func (n Number) polynomial(b *Builder, two, one, zero float64) Number {
	if n.v == NoVal {
		return Number{two*n.f*n.f + one*n.f + zero, NoVal}
	}
	float := func(f float64) Val { return b.Const(types.F64, math.Float64bits(f)) }
	return Number{0, b.Op(Add, b.Op(Mul, b.Op(Add, b.Op(Mul, float(two), n.v), float(one)), n.v), float(zero))}
}

// below is x / n.
func (n Number) below(b *Builder, x float64) Val {
	if n.v == NoVal {
		return b.Const(types.F64, math.Float64bits(x/n.f))
	}
	return b.Op(Div, b.Const(types.F64, math.Float64bits(x)), n.v)
}

// Root carries a Norm of f64.
type Root struct{ n Number }

// RootOf carries a Norm of n elements.
func RootOf(n Number) *Root { return &Root{n} }

// Begin is the state of no elements: the sum, what it lacks, and the bits of all elements.
func (x *Root) Begin(b *Builder) []Val {
	zero := b.Const(types.F64, 0)
	return []Val{zero, zero, b.Const(types.I64, 0)}
}

// First is the state of one element.
func (x *Root) First(b *Builder, v Val) []Val {
	h := b.Op(Mul, v, v)
	return []Val{h, restOfSquare(b, v, h, false), b.Op(Bits, v)}
}

// Add is the state after one more element.
func (x *Root) Add(b *Builder, st []Val, v Val) []Val {
	one := x.First(b, v)
	sum, e := two(b, st[0], one[0])
	return []Val{sum, b.Op(Add, st[1], b.Op(Add, e, one[1])), b.Op(Or, st[2], one[2])}
}

// End is the root. Write u for 2^-53 and s for the sum. No partial sum and no square is larger than s,
// so the errors of a step are at most 2 u s, and their sum is at most 2 n u s. A step rounds them by 2
// u^2 s, and adds them with an error of at most 2 k u^2 s in step k; the bound and the last additions
// err by at most 2 n u^2 s. Together that is less than (n^2 + 5 n + 4) u^2 s. The bound is twice as
// much. What underflows in squares is less than it, where s is not small. Numbers that are not finite
// have no bound. A sum of zeros is 0.
func (x *Root) End(b *Builder, st []Val) Val {
	sum, rest := st[0], st[1]
	slack := b.Op(Mul, sum, x.n.polynomial(b, 0x1p-105, 5*0x1p-105, 4*0x1p-105).val(b))
	low := b.Op(Add, sum, b.Op(Sub, rest, slack))
	sure := b.Op(Eq, low, b.Op(Add, sum, b.Op(Add, rest, slack)))
	zero := b.Op(Eq, b.Op(Shl, st[2], b.Const(types.I64, 1)), b.Const(types.I64, 0))
	normal := b.Op(Le, b.Const(types.F64, math.Float64bits(0x1p-900)), sum)
	b.Check(Uncertain, b.Op(And, sure, b.Op(Or, normal, zero)))
	return b.Op(Sqrt, low)
}
