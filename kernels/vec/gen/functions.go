package main

// This file lists the functions, and defines roots, division without a fraction and the remainder.

import (
	"math/big"
	"slices"
)

// functions are those of one number, functions2 those of two, in the order of their links.
var functions = slices.Concat(expFunctions, logFunctions, trigFunctions, arcFunctions, rootFunctions, reciprocalFunctions)

var functions2 = slices.Concat(powFunctions, angleFunctions, divideFunctions)

// allFunctions is these, those of float32 and the special ones, in the order of their links.
var allFunctions = slices.Concat(functions, functions2, functions32, functions232, specialFunctions)

// The cube root:
// x = 2^(3q) m with m between 2^-1.5 and 2^1.5. A polynomial gives r near 1/cbrt(m), one step of
// third order makes 45 bits of it, and y = m r^2 is improved by the remainder m - y^3 in twice the
// precision (Newton), which leaves one rounding.

// minusThird is (1 + z)^(-1/3), by its binomial series.
var minusThird = func() series {
	c := []*big.Rat{big.NewRat(1, 1)}
	return func(k int64) *big.Rat {
		for int64(len(c)) <= k {
			n := int64(len(c)) // c[n] = c[n-1] (-1/3 - (n-1))/n
			c = append(c, new(big.Rat).Mul(c[n-1], big.NewRat(2-3*n, 3*n)))
		}
		return c[k]
	}
}()

// cubeRootOfTwo is Newton's iteration for 2^(1/3).
func cubeRootOfTwo() *big.Float {
	y := bigFloat(1.26)
	for range 12 { // y = (2y + 2/y^2)/3
		t := new(big.Float).Quo(bigFloat(2), new(big.Float).Mul(y, y))
		y.Quo(t.Add(t, new(big.Float).Add(y, y)), bigFloat(3))
	}
	return y
}

var rootFunctions = []*function{
	define("cbrt", "is the cube root of x.", func(f *function, x *value) *value {
		a := f.abs(x)
		e, m := f.significand(a)
		q, bits := f.integral(e, k(1./3))
		rest := f.fnma(q, k(3), e) // -1, 0 or 1
		r := f.polynomial(f.sub(m, k(1)), minusThird.polynomial(6, -.2929, .4143))
		up, _ := cubeRootOfTwo().Float64()
		down, _ := inverse(cubeRootOfTwo()).Float64()
		above, below := f.less(k(0), rest), f.less(rest, k(0))
		m = f.mul(m, f.pick(above, k(2), f.pick(below, k(.5), k(1))))
		r = f.mul(r, f.pick(above, k(down), f.pick(below, k(up), k(1))))
		s := f.mul(r, r)
		g := f.fnma(m, f.mul(s, r), k(1)) // r (1 - g)^(-1/3) is the root
		r = f.fma(f.mul(r, g), f.fma(g, k(2./9), k(1./3)), r)
		s = f.mul(r, r)
		y := f.mul(m, s)
		y2 := f.mul(y, y)
		y3 := f.mul(y2, y)
		low := f.fma(f.fms(y, y, y2), y, f.fms(y2, y, y3))
		left := f.sub(f.sub(m, y3), low)
		y = f.fma(f.mul(left, k(1./3)), s, y)
		y = f.or(f.mul(y, f.powerOf(bits, 0)), f.signOf(x))
		y = f.pick(f.less(a, k(inf)), y, x)
		return f.pick(f.equal(x, k(0)), x, y)
	}),
}

// The reciprocal square root:
// The bits of a positive number, read as an integer, are a straight line's worth of its logarithm:
// a constant less half of them is a first guess y of x^(-1/2) (C. Lomont, "Fast inverse square
// root", 2003). With e = 1 - x y^2 the root is y (1-e)^(-1/2): one step by a cubic in e, for |e| <
// 0.0682 of the guess, leaves |e| < 3.1e-6, the next, by the first three terms of the series, 0.08
// units of the last place (A. Householder, "The numerical treatment of a single nonlinear
// equation", 1970). Before the second y is cut to 26 bits: its square is exact then and e rounded
// once, so that little is lost but by the last rounding.

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

var divideFunctions = []*function{
	define2("floorDiv", "is the greatest integral number that is not above x/y, or that rounded once where it has more than 53 bits.",
		func(f *function, x, y *value) *value {
			// Rounded up, x/y may have become an integral number. Then x - n y, which is exact, has
			// not the sign of y.
			n := f.floor(f.div(x, y))
			rest := f.pick(f.equal(f.abs(y), k(inf)), x, f.fnma(n, y, x))
			above := f.pick(f.negative(f.bitsOf(f.xor(rest, y))), k(1), k(0))
			above = f.pick(f.equal(rest, k(0)), k(0), above)
			return f.sub(n, f.pick(f.less(f.abs(n), k(0x1p53+2)), above, k(0)))
		}),
	define2("mod", "is x - y n, n the floor of x/y, rounded once: it has the sign of y.", func(f *function, x, y *value) *value {
		// x - n |y| is a double for every quotient rounded to n (Muller et al., "Handbook of
		// Floating-Point Arithmetic", 2nd ed., 4.4), and 53 bits shorter than x as long as n is not
		// the nearest integer.
		b := f.abs(y)
		n := f.round(f.div(x, b))
		r := f.fnma(n, b, x)
		long := f.less(k(0x1p53), f.abs(n))
		r = f.when(long, r, func() *value {
			return f.repeat(x, func(r *value) (next, again *value) {
				b := f.abs(y)
				// where the quotient might be infinite, that of r 2^-550 by b 2^550
				huge := f.less(f.mul(b, k(0x1p500)), f.mul(f.abs(r), k(0x1p-500)))
				top, bottom := f.pick(huge, f.mul(r, k(0x1p-550)), r), f.pick(huge, f.mul(b, k(0x1p550)), b)
				q := f.div(top, bottom)
				more := f.pick(f.less(k(0x1p53), f.abs(q)), k(1), k(0))
				more = f.pick(huge, k(1), more)
				rest := f.fnma(f.pick(huge, q, f.round(q)), bottom, top)
				return f.pick(huge, f.mul(rest, k(0x1p550)), rest), f.equal(more, k(1))
			})
		})
		r = f.pick(f.equal(f.abs(y), k(inf)), x, r)
		m := f.pick(f.negative(f.bitsOf(f.xor(r, y))), f.add(r, y), r)
		m = f.pick(f.equal(r, k(0)), f.signOf(y), m)
		return f.pick(f.less(f.abs(x), k(inf)), m, nan)
	}),
}
