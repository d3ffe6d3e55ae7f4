package loop

// This file carries sums, means, variances and norms of a known number of elements of one point by
// sums of numbers of about one size, as state_near.go has them for whole matrices: half of the
// operations of a cascade. How large the numbers are follows from a few of them. The result is
// rounded where bounds of what was lost leave no doubt; elsewhere, and where the few have said too
// little, the check Uncertain fails.

import (
	"math"
	"math/bits"
	"slices"

	"flow/ir/types"
)

// LeastNear is the fewest elements for which that pays, MostNear the most that the bounds allow.
const (
	LeastNear = 12
	MostNear  = 1 << 13
)

// mostNearSquares is the most elements whose squares are added.
const mostNearSquares = 1 << 10

const (
	// nearSpare is from the exponent of the numbers that are known to that of the largest for which
	// there is room, nearSpareSquares the same of squares.
	nearSpare        = 10
	nearSpareSquares = 14
	// nearFar bounds the exponents of the numbers: squares are normal.
	nearFar = 450
)

// Near carries such a reduction.
type Near struct {
	class Class
	n     int
	room  int // n < 2^room
	// watched says that errors that did not fit are noticed: see watchedBelow.
	watched bool
	// The exponents of the numbers and of their squares, as the bits of a power of two.
	size, sizeSquares Val
	pivot             Val // the first element that is known
	// Where sums begin.
	start, rest, squares Val
}

// Sums reports a class of exact sums.
func (c Class) Sums() bool { return c == Sum || c == Mean || c == Var || c == Stddev || c == Norm }

// NearOf begins a Sum, Mean, Var, Stddev or Norm of n elements. some are a few of the elements. It
// returns nil where the class or the number of elements has no near form.
func NearOf(b *Builder, c Class, n int, some []Val) *Near {
	x := &Near{class: c, n: n, room: bits.Len(uint(n)), pivot: some[0]}
	if n < LeastNear || n > MostNear || x.squared() && n > mostNearSquares || b.Type(some[0]) != types.F64 || !c.Sums() {
		return nil
	}
	x.watched = !x.squared() && (n < watchedBelow || b.Masked(some[0]))
	word := func(w Word) Val { return b.Const(types.I64, w) }
	const one = 1023 << 52
	size := NoVal
	for _, v := range some {
		e := b.Op(And, b.Op(Bits, v), word(0x7ff<<52))
		if size != NoVal {
			e = b.Op(Max, size, e)
		}
		size = e
	}
	size = b.Op(Select, b.Op(Eq, size, word(0)), word(one), size) // zeros say nothing
	x.size = b.Op(Min, b.Op(Max, size, word(one-nearFar<<52)), word(one+nearFar<<52))
	if x.added() {
		x.start = x.middle(b, x.size, x.top())
		x.rest = x.middle(b, x.size, x.top()-52+x.room)
	}
	if x.squared() {
		x.sizeSquares = b.Op(Sub, b.Op(Add, x.size, x.size), word(one))
		x.squares = x.middle(b, x.sizeSquares, x.topSquares())
	}
	return x
}

// added and squared report what the class adds: the elements, their squares.
func (x *Near) added() bool   { return x.class != Norm }
func (x *Near) squared() bool { return x.class != Sum && x.class != Mean }

// top is from the exponent of the numbers to that of their sum, topSquares the same of squares.
func (x *Near) top() int        { return x.room + nearSpare }
func (x *Near) topSquares() int { return x.room + 2 + nearSpareSquares }

// middle is 1.5 times the power of two 2^by times that with these bits.
func (x *Near) middle(b *Builder, size Val, by int) Val {
	return b.Op(F64Bits, b.Op(Add, size, b.Const(types.I64, Word(int64(by)<<52+1<<51))))
}

// power is the power of two itself.
func (x *Near) power(b *Builder, size Val, by int) Val {
	return b.Op(F64Bits, b.Op(Add, size, b.Const(types.I64, Word(int64(by)<<52))))
}

// Begin is the state of no elements: of a sum itself and that of its errors. Behind a sum without
// squares come the bits in which it differed from the one before, then what a class watches. Of squares
// the sum of errors begins with 0.
func (x *Near) Begin(b *Builder) (st []Val) {
	float, word := b.Const(types.F64, 0), b.Const(types.I64, 0)
	if x.added() {
		st = append(st, x.start, x.rest)
	}
	if !x.squared() {
		st = append(st, word)
	}
	if x.watched {
		st = append(st, word)
	}
	if x.squared() {
		st = append(st, x.squares, float)
	}
	if x.squared() && x.added() {
		st = append(st, word) // bits in which an element differs from the first
	}
	return st
}

// Add is the state after one more element.
func (x *Near) Add(b *Builder, st []Val, v Val) []Val {
	st = append([]Val{}, st...)
	differ := func(all, x, y Val) Val { return b.Op(Or, all, b.Op(Xor, b.Op(Bits, x), b.Op(Bits, y))) }
	k := 0
	if x.added() {
		s := b.Op(Add, st[0], v)
		d := b.Op(Sub, v, b.Op(Sub, s, st[0]))
		if !x.squared() {
			st[2] = differ(st[2], s, st[0])
		}
		e := b.Op(Add, st[1], d)
		if x.watched {
			st[3] = differ(st[3], d, b.Op(Sub, e, st[1]))
		}
		st[0], st[1] = s, e
		k = 2
	}
	if x.squared() {
		q := b.Op(FMA, v, v, st[k])
		st[k+1] = b.Op(Add, st[k+1], b.Op(FMA, v, v, b.Op(Neg, b.Op(Sub, q, st[k]))))
		st[k] = q
		if x.added() {
			st[k+2] = differ(st[k+2], v, x.pivot)
		}
	}
	return st
}

// End is the result. Write e for the exponent of the numbers that are known, P for that in which a
// sum began. A sum whose exponent never changed lies in [2^P, 2^(P+1)], as the sum before it, so
// that three operations gave its error exactly, at most 2^(P-53). The sum of errors begins with an
// exponent of P-52+room, which n errors do not leave, and each of its roundings errs by at most
// half a unit.
//
// A sum of squares never becomes smaller, rounded or not. So its exponent never changed if the last one
// is the first, and the squares add up to Q < 2^(2e+room+15). The sum of any of the n < 2^room elements
// is at most the root of nQ then (Cauchy), less than 2^(e+room+8). That is less than half of 2^P, so
// the exponent of their sum never changed either.
func (x *Near) End(b *Builder, st []Val) Val {
	float := func(f float64) Val { return b.Const(types.F64, math.Float64bits(f)) }
	stays := func(steps Val) Val {
		return b.Op(Eq, b.Op(Shr, steps, b.Const(types.I64, 52)), b.Const(types.I64, 0))
	}
	var sum, sumRest Val
	lost := x.top() - 104 + 2*x.room // the exponent of the bound of what the sum of errors lost
	if x.added() {
		sum, sumRest = b.Op(Sub, st[0], x.start), b.Op(Sub, st[1], x.rest)
	}
	sure := func(s, t, slack Val) Val {
		return b.Op(Eq, b.Op(Add, s, b.Op(Sub, t, slack)), b.Op(Add, s, b.Op(Add, t, slack)))
	}
	if !x.squared() {
		known := sure(sum, sumRest, x.power(b, x.size, lost))
		if x.watched {
			exact := b.Op(Eq, b.Op(Shl, st[3], b.Const(types.I64, 1)), b.Const(types.I64, 0))
			known = b.Op(Or, exact, known)
		}
		b.Check(Uncertain, b.Op(And, stays(st[2]), known))
		out := b.Op(Add, sum, sumRest)
		if x.class == Mean {
			out = b.Op(Div, out, float(float64(x.n)))
		}
		return out
	}
	k := 0
	if x.added() {
		k = 2
	}
	fine := stays(b.Op(Xor, b.Op(Bits, st[k]), b.Op(Bits, x.squares)))
	// The error of a sum of squares is at most 2^(P-53), and it is rounded once. The sum of n errors is
	// rounded once an element, and is less than n 2^(P-52). A square below the normal floats errs by less
	// than that, too.
	square, squareRest := b.Op(Sub, st[k], x.squares), st[k+1]
	lostSquares := x.topSquares() - 104 + 2*x.room
	if !x.added() {
		b.Check(Uncertain, b.Op(And, fine, sure(square, squareRest, x.power(b, x.sizeSquares, lostSquares))))
		return b.Op(Sqrt, b.Op(Add, square, squareRest))
	}
	sum, sumRest = two(b, sum, sumRest)
	square, squareRest = two(b, square, squareRest)
	// n Q - S^2 errs by n times what Q lost and by twice S times what S lost.
	slack := b.Op(Add, b.Op(Mul, b.Op(Abs, sum), x.power(b, x.size, lost+2)), x.power(b, x.sizeSquares, lostSquares+x.room+1))
	slack = b.Op(Add, slack, b.Op(Mul, square, float(float64(x.n)*0x1p-99)))
	v := spreadFrom(b, x.class, types.F64, Known(x.n), [2]Val{sum, sumRest}, [2]Val{square, squareRest}, slack)
	equal := b.Op(And, wholeSquare(b, x.pivot), b.Op(Eq, st[k+2], b.Const(types.I64, 0)))
	b.Check(Uncertain, b.Op(And, fine, b.Op(Or, equal, v.sure)))
	return v.result(b, equal)
}

// Masked reports whether a mask may make value v zero. Such a value is a choice between a value and
// zero, a minimum or maximum with zero, a truth value as a number, or a product or quotient of
// these. Few elements of a sum of such values may differ from zero, or none. Masked knows values of
// the open blocks alone. For others it returns false, which costs time and changes no bit.
func (b *Builder) Masked(v Val) bool {
	s := b.defines(v)
	if s == nil {
		return false
	}
	switch s.Code {
	case Select:
		return b.zero(s.Args[1]) || b.zero(s.Args[2])
	case Max, Min:
		return b.zero(s.Args[0]) || b.zero(s.Args[1])
	case Mul:
		return b.Masked(s.Args[0]) || b.Masked(s.Args[1])
	case Div, Neg, Abs, Sqrt:
		return b.Masked(s.Args[0])
	case ToF64, ToF32, ToI64:
		return b.Type(s.Args[0]) == types.Bool || b.Masked(s.Args[0])
	}
	return false
}

// zero reports whether v is the constant zero, perhaps converted to a float.
func (b *Builder) zero(v Val) bool {
	s := b.defines(v)
	if s != nil && (s.Code == ToF64 || s.Code == ToF32) {
		s = b.defines(s.Args[0])
	}
	return s != nil && s.Code == Const && s.Imm == 0
}

// defines returns the statement of an open block whose only result is v, or nil if there is none.
func (b *Builder) defines(v Val) *Stmt {
	for _, block := range slices.Backward(b.open) {
		for k := len(block.Stmts) - 1; k >= 0; k-- {
			s := &block.Stmts[k]
			if s.Dst == v && s.N == 1 {
				return s
			}
			if s.Dst != NoVal && s.Dst < v { // values are numbered in order
				break
			}
		}
	}
	return nil
}
