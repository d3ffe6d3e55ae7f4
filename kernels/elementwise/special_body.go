package elementwise

// This file defines the bodies of the error function and the normal distribution, operation by
// operation as package vec computes them (vec/special.go), for all lanes at once: each way is
// computed for every number, and the right one is selected.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/vec"
)

// SpecialBodies are functions of an f64. gamma and lgamma have none: the rounds of their products
// differ from number to number.
var SpecialBodies = map[string]func(s specialBuilder, x loop.Val) loop.Val{
	"erf": specialBuilder.erf, "erfc": specialBuilder.erfc, "normcdf": specialBuilder.normcdf, "normquantile": specialBuilder.normquantile,
}

// specialBody is a function of f64 as a body; f32 are computed in f64 and rounded.
func specialBody(compute func(s specialBuilder, x loop.Val) loop.Val) define.Body {
	return func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
		return define.ConvertBody(b, out, compute(specialBuilder{b}, define.ConvertBody(b, types.F64, in[0])))
	}
}

// specialBuilder writes operations on f64.
type specialBuilder struct{ *loop.Builder }

func (s specialBuilder) num(x float64) loop.Val      { return s.Const(types.F64, math.Float64bits(x)) }
func (s specialBuilder) add(x, y loop.Val) loop.Val  { return s.Op(loop.Add, x, y) }
func (s specialBuilder) sub(x, y loop.Val) loop.Val  { return s.Op(loop.Sub, x, y) }
func (s specialBuilder) mul(x, y loop.Val) loop.Val  { return s.Op(loop.Mul, x, y) }
func (s specialBuilder) less(x, y loop.Val) loop.Val { return s.Op(loop.Lt, x, y) }

// either is x where c holds, y elsewhere.
func (s specialBuilder) either(c, x, y loop.Val) loop.Val { return s.Op(loop.Select, c, x, y) }

// piece is the polynomial of number i of a table at distance u from the middle of its interval, as
// the sum of two numbers. Without i the table has one piece.
func (s specialBuilder) piece(p vec.Pieces, i, u loop.Val) (hi, lo loop.Val) {
	column := func(k int) loop.Val {
		if len(p[k]) == 1 {
			return s.num(p[k][0])
		}
		words := make([]uint64, len(p[k]))
		for n, x := range p[k] {
			words[n] = math.Float64bits(x)
		}
		return s.Look(s.Table(types.F64, words), i)
	}
	sum := column(len(p) - 1)
	for k := len(p) - 2; k > 1; k-- {
		sum = s.add(column(k), s.mul(sum, u))
	}
	return column(0), s.add(column(1), s.mul(sum, u))
}

// place is the number of the interval of width 1/n that holds t, and how far t is from its middle.
// The number counts from first on.
func (s specialBuilder) place(t loop.Val, n, first int) (i, u loop.Val) {
	whole := s.Op(loop.ToI64, s.mul(t, s.num(float64(n))))
	middle := s.mul(s.add(s.Op(loop.ToF64, whole), s.num(0.5)), s.num(1/float64(n)))
	return s.Op(loop.Sub, whole, define.Numeral(s.Builder, types.I64, first)), s.sub(t, middle)
}

// scaledErfc is exp(x^2) erfc(x) where within holds, which says that x is from 1/4 to 28.
func (s specialBuilder) scaledErfc(within, x loop.Val) loop.Val {
	x = s.either(within, x, s.num(1))
	t := s.Op(loop.Div, s.num(4), s.add(s.num(4), x))
	i, u := s.place(t, 16, 2)
	hi, lo := s.piece(vec.SpecialPieces.ErfcScaled, i, u)
	return s.mul(t, s.add(hi, lo))
}

// smallErf is erf(x) for x from -1/2 to 1/2.
func (s specialBuilder) smallErf(x loop.Val) loop.Val {
	hi, lo := s.piece(vec.SpecialPieces.ErfOver, loop.NoVal, s.sub(s.mul(x, x), s.num(0.125)))
	return s.mul(x, s.add(hi, lo))
}

// expSquare is exp(-x^2 scale).
func (s specialBuilder) expSquare(x loop.Val, scale float64) loop.Val {
	h := s.mul(x, x)
	minus := s.Op(loop.Neg, h)
	l := s.Op(loop.FMA, x, x, minus)
	p := define.Apply(s.Builder, "exp", s.mul(minus, s.num(scale)))
	return s.sub(p, s.mul(p, s.mul(l, s.num(scale))))
}

// within reports that x is above lo and at most hi.
func (s specialBuilder) within(lo float64, x loop.Val, hi float64) loop.Val {
	return s.Op(loop.And, s.less(s.num(lo), x), s.Op(loop.Le, x, s.num(hi)))
}

func (s specialBuilder) erf(x loop.Val) loop.Val {
	y := s.Op(loop.Abs, x)
	far := s.sub(s.num(1), s.mul(s.expSquare(y, 1), s.scaledErfc(s.within(0.5, y, 6), y)))
	far = s.either(s.less(y, s.num(6)), far, s.num(1))
	far = s.either(s.less(x, s.num(0)), s.Op(loop.Neg, far), far)
	far = s.either(s.less(s.num(0.5), y), far, x) // a nan
	return s.either(s.Op(loop.Le, y, s.num(0.5)), s.smallErf(x), far)
}

func (s specialBuilder) erfc(x loop.Val) loop.Val {
	y := s.Op(loop.Abs, x)
	tail := s.mul(s.expSquare(x, 1), s.scaledErfc(s.within(0.5, y, 28), y))
	tail = s.either(s.less(y, s.num(28)), tail, s.num(0))
	below := s.either(s.less(x, s.num(-6)), s.num(2), s.sub(s.num(2), tail))
	far := s.either(s.less(x, s.num(0)), below, tail)
	far = s.either(s.less(s.num(0.5), y), far, x)
	return s.either(s.Op(loop.Le, y, s.num(0.5)), s.sub(s.num(1), s.smallErf(x)), far)
}

func (s specialBuilder) normcdf(x loop.Val) loop.Val {
	const root = 1 / math.Sqrt2
	y := s.mul(s.Op(loop.Abs, x), s.num(root))
	p := s.mul(s.mul(s.num(0.5), s.expSquare(x, 0.5)), s.scaledErfc(s.within(0.5, y, 28), y))
	p = s.either(s.less(y, s.num(28)), p, s.num(0))
	far := s.either(s.less(s.num(0), x), s.sub(s.num(1), p), p)
	far = s.either(s.less(s.num(0.5), y), far, x)
	near := s.add(s.num(0.5), s.mul(s.num(0.5), s.smallErf(s.mul(x, s.num(root)))))
	return s.either(s.Op(loop.Le, y, s.num(0.5)), near, far)
}

func (s specialBuilder) normquantile(p loop.Val) loop.Val {
	q := s.sub(p, s.num(0.5))
	near := s.less(s.Op(loop.Abs, q), s.num(0.43))
	square := s.mul(q, q)
	i, u := s.place(s.either(near, square, s.num(0)), 32, 0)
	hi, lo := s.piece(vec.SpecialPieces.QuantileMiddle, i, u)
	middle := s.mul(q, s.add(hi, lo))

	above := s.less(s.num(0.5), p)
	small := s.either(above, s.sub(s.num(1), p), p)
	small = s.either(s.within(0, small, 0.08), small, s.num(0.01))
	r := s.Op(loop.Sqrt, s.Op(loop.Neg, define.Apply(s.Builder, "log", small)))
	t := s.Op(loop.Div, s.num(1), r)
	i, u = s.place(t, 32, 1)
	hi, lo = s.piece(vec.SpecialPieces.QuantileTail, i, u)
	tail := s.mul(r, s.add(hi, lo))
	tail = s.either(above, tail, s.Op(loop.Neg, tail))

	out := s.either(near, middle, tail)
	out = s.either(s.Op(loop.Eq, p, s.num(0)), s.num(math.Inf(-1)), out)
	out = s.either(s.Op(loop.Eq, p, s.num(1)), s.num(math.Inf(1)), out)
	valid := s.Op(loop.And, s.Op(loop.Le, s.num(0), p), s.Op(loop.Le, p, s.num(1)))
	return s.either(valid, out, s.num(math.NaN()))
}
