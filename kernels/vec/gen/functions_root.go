package main

// This file defines the cube root.
//
// x = 2^(3q) m with m between 2^-1.5 and 2^1.5. A polynomial gives r near 1/cbrt(m), one step of
// third order makes 45 bits of it, and y = m r^2 is improved by the remainder m - y^3 in twice the
// precision (Newton), which leaves one rounding.

import "math/big"

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
