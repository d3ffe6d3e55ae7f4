package main

// This file defines the error function and the normal distribution, by polynomials on pieces of
// equal width (special_tables.go). The error function's tail is exp(-x^2) times a function that
// changes slowly. Products are rounded before they are added.

import (
	"fmt"
	"math"
)

// columns makes tables of pieces, one for each coefficient, with the two halves of the constants
// first.
func columns(name string, pieces []piece) (out []*table) {
	for n := range 2 + len(pieces[0].c) {
		t := &table{name: fmt.Sprintf("%s%d", name, n), doc: "is a coefficient of each piece of a special function."}
		for _, p := range pieces {
			t.words = append(t.words, math.Float64bits(append([]float64{p.hi, p.lo}, p.c...)[n]))
		}
		out = append(out, t)
	}
	return out
}

var (
	erfcxColumns    = columns("erfcx", erfcxOf)
	quantileColumns = columns("quantile", quantileOver)
	tailColumns     = columns("quantileTail", quantileTail)
)

// piece is the polynomial on piece i at distance u from its middle.
func (f *function) piece(columns []*table, i, u *value) *value {
	return f.pieceOf(len(columns), u, func(n int) *value { return f.look(columns[n], i) })
}

// pieceOf is the polynomial with n such coefficients. The first has at least half of the value.
func (f *function) pieceOf(n int, u *value, coefficient func(n int) *value) *value {
	sum := coefficient(n - 1)
	for n -= 2; n > 0; n-- {
		sum = f.add(coefficient(n), f.mul(sum, u))
	}
	return f.add(coefficient(0), sum)
}

// place returns the number of the interval of width 1/n that holds t, minus first, and the distance of t from
// the middle of the interval.
func (f *function) place(t *value, n float64, first uint64) (i, u *value) {
	whole := f.floor(f.mul(t, k(n)))
	bits := f.bitsOf(f.add(whole, k(0x1p52)))
	return f.minus(bits, w(math.Float64bits(0x1p52)+first)), f.sub(t, f.mul(f.add(whole, k(.5)), k(1/n)))
}

// scaledErfc is exp(x^2) erfc(x) for x from 1/4 to 28. For other x it is a number without meaning.
func (f *function) scaledErfc(x *value) *value {
	x = f.greater(f.lesser(x, k(28)), k(.25))
	t := f.div(k(4), f.add(k(4), x))
	i, u := f.place(t, 16, 2)
	return f.mul(t, f.piece(erfcxColumns, i, u))
}

// smallErf is erf(x) for x from -1/2 to 1/2.
func (f *function) smallErf(x *value) *value {
	p := erfOver[0]
	c := append([]float64{p.hi, p.lo}, p.c...)
	return f.mul(x, f.pieceOf(len(c), f.sub(f.mul(x, x), k(.125)), func(n int) *value { return k(c[n]) }))
}

// expSquare is exp(-x^2 scale). scale is 1 or 1/2. It corrects for the rounding error of the square.
func (f *function) expSquare(x *value, scale float64) *value {
	h := f.mul(x, x)
	p := f.exp(f.mul(h, k(-scale)))
	return f.sub(p, f.mul(p, f.mul(f.fms(x, x, h), k(scale))))
}

// tail is the value of far if y is above 1/2, and near otherwise.
func (f *function) tail(near, y *value, far func() *value) *value {
	return f.when(f.less(k(.5), y), near, far)
}

// minus0 changes the sign of a number by exclusive or.
var minus0 = k(math.Copysign(0, -1))

var specialFunctions = []*function{
	define("erf", "is the error function of x, 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x.", func(f *function, x *value) *value {
		y := f.abs(x)
		return f.tail(f.smallErf(x), y, func() *value { // from 5.93 on it rounds to 1
			v := f.sub(k(1), f.mul(f.expSquare(y, 1), f.scaledErfc(y)))
			return f.or(f.pick(f.less(y, k(6)), v, k(1)), f.signOf(x))
		})
	}),
	define("erfc", "is 1 - erf(x), accurate where that is small.", func(f *function, x *value) *value {
		y := f.abs(x)
		return f.tail(f.sub(k(1), f.smallErf(x)), y, func() *value {
			v := f.mul(f.expSquare(x, 1), f.scaledErfc(y))
			v = f.pick(f.less(y, k(28)), v, k(0))
			below := f.pick(f.less(x, k(-6)), k(2), f.sub(k(2), v))
			return f.pick(f.less(x, k(0)), below, v)
		})
	}),
	define("normcdf", "is the distribution function of the standard normal distribution.", func(f *function, x *value) *value {
		const root = 1 / math.Sqrt2
		y := f.mul(f.abs(x), k(root))
		return f.tail(f.add(k(.5), f.mul(k(.5), f.smallErf(f.mul(x, k(root))))), y, func() *value {
			p := f.mul(f.mul(k(.5), f.expSquare(x, .5)), f.scaledErfc(y))
			p = f.pick(f.less(y, k(28)), p, k(0))
			return f.pick(f.less(k(0), x), f.sub(k(1), p), p)
		})
	}),
	define("normquantile", "is the inverse of Normcdf: -inf of 0, inf of 1, NaN outside.", func(f *function, p *value) *value {
		q := f.sub(p, k(.5))
		i, u := f.place(f.lesser(f.mul(q, q), k(.1874)), 32, 0)
		y := f.mul(q, f.piece(quantileColumns, i, u))
		y = f.when(f.less(k(math.Nextafter(.43, 0)), f.abs(q)), y, func() *value {
			above := f.less(k(.5), p)
			small := f.greater(f.lesser(f.pick(above, f.sub(k(1), p), p), k(.08)), k(math.SmallestNonzeroFloat64))
			r := f.sqrt(f.xor(f.logOf(small, f.natural), minus0))
			i, u := f.place(f.div(k(1), r), 32, 1)
			v := f.mul(r, f.piece(tailColumns, i, u))
			return f.pick(above, v, f.xor(v, minus0))
		})
		y = f.pick(f.equal(p, k(0)), k(math.Inf(-1)), y)
		y = f.pick(f.equal(p, k(1)), k(inf), y)
		y = f.pick(f.less(p, k(0)), nan, y)
		return f.pick(f.less(k(1), p), nan, y)
	}),
}
