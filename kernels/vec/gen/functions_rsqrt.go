package main

// This file defines the reciprocal square root.
//
// The bits of a positive number, read as an integer, are a straight line's worth of its logarithm:
// a constant less half of them is a first guess y of x^(-1/2) (C. Lomont, "Fast inverse square
// root", 2003). With e = 1 - x y^2 the root is y (1-e)^(-1/2): one step by a cubic in e, for |e| <
// 0.0682 of the guess, leaves |e| < 3.1e-6, the next, by the first three terms of the series, 0.08
// units of the last place (A. Householder, "The numerical treatment of a single nonlinear
// equation", 1970). Before the second y is cut to 26 bits: its square is exact then and e rounded
// once, so that little is lost but by the last rounding.

import "math/big"

// The bits of the ordinary arguments: 2^-1022 <= x < 2^1022.
const (
	rootLeast = 1 << 52
	rootMost  = 2045<<52 - 1
)

// reciprocalRoot is x^(-1/2) for ordinary x.
func (f *function) reciprocalRoot(x *value) *value {
	one := k(1)
	guess := f.minus(w(0x5fe6e8e000000000), f.shiftRight(f.bitsOf(x), 1))
	y := f.numberOf(guess)
	e := f.fnma(f.mul(x, y), y, one)
	// ((1-e)^(-1/2) - 1)/e, of coefficients (2k+2)!/((k+1)!^2 4^(k+1)), between the extremes of e
	p := series(func(k int64) *big.Rat {
		c := new(big.Int).Binomial(2*k+2, k+1)
		return new(big.Rat).SetFrac(c, new(big.Int).Lsh(big.NewInt(1), uint(2*k+2)))
	}).polynomial(2, -.0682, .0682)
	y = f.fma(f.mul(y, e), f.horner(e, p), y)
	y = f.numberOf(f.and(f.bitsOf(y), w(^uint64(1<<27-1))))
	e = f.fnma(f.mul(y, y), x, one)
	return f.fma(f.mul(y, e), f.horner(e, []float64{.5, .375}), y)
}

var reciprocalFunctions = []*function{
	define("rsqrt", "is 1 over the square root of x: of zeros infinity with their sign.", func(f *function, x *value) *value {
		y := f.reciprocalRoot(x)
		bits := f.bitsOf(x) // of what is not ordinary one of the differences has the top bit
		odd := f.negative(f.or(f.minus(bits, w(rootLeast)), f.minus(w(rootMost), bits)))
		return f.when(odd, y, func() *value {
			small := f.less(x, k(1))
			z := f.reciprocalRoot(f.mul(x, f.pick(small, k(0x1p54), k(0x1p-54))))
			z = f.mul(z, f.pick(small, k(0x1p27), k(0x1p-27)))
			z = f.pick(f.less(x, k(inf)), z, f.div(k(1), x)) // 0 of infinity
			z = f.pick(f.less(x, k(0)), nan, z)
			return f.pick(f.equal(x, k(0)), f.div(k(1), x), z)
		})
	}),
}
