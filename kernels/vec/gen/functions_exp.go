package main

// This file defines the exponential and what is made of it.
//
// x = n log(2) + r, |r| <= log(2)/2, with log(2) in two parts of which the first has so few bits
// that n times it is exact (W. Cody & W. Waite, "Software Manual for the Elementary Functions",
// 1980), and r as a rounded number and its error. exp(r) = 1 + r + r^2 P(r); the two leading terms
// are added with their error (Dekker), so that what counts is the last rounding. sinh, cosh, tanh
// and expm1 keep exp(x) as a sum of two numbers until then.

import (
	"math"
	"math/big"
)

// exponent is exp(x) = 2^n (1 + q + ql): n and its bits, and 1 + r for those who want it.
type exponent struct{ n, bits, r, one, t *value }

// exponent takes |x| below 1500.
func (f *function) exponent(x *value) exponent { return f.exponentOf(x, nil) }

// exponentOf is that of x + low, of which low is at most half of x's last place, or of x if there
// is none.
func (f *function) exponentOf(x, low *value) exponent {
	l := parts(ln2(), 42, 53)
	inv, _ := inverse(ln2()).Float64()
	n, bits := f.integral(x, k(inv))
	far := f.fnma(n, k(l[0]), x) // exact
	var r, rl *value
	if low == nil {
		r = f.fnma(n, k(l[1]), far)
		rl = f.fnma(n, k(l[1]), f.sub(far, r))
	} else {
		r, rl = f.twoSum(far, f.fnma(n, k(l[1]), low))
	}
	// (exp(r) - 1 - r) / r^2, the sum of r^k/(k+2)!
	p := series(func(k int64) *big.Rat { return over(1, factorial(k+2)) }).polynomial(10, -0.3467, 0.3467)
	one := f.add(k(1), r)
	t := f.fma(rl, one, f.mul(f.mul(r, r), f.polynomial(r, p)))
	return exponent{n, bits, r, one, t}
}

// less1 is q + ql = exp(r) - 1.
func (f *function) less1(e exponent) (q, ql *value) { return f.fastTwoSum(e.r, e.t) }

// powerOf is 2^(n+d) for n + d from -1022 to 1023.
func (f *function) powerOf(bits *value, d int) *value {
	return f.numberOf(f.shiftLeft(f.plus(bits, w(uint64(1023+d))), 52))
}

// expm1Parts is (exp(x) - 1)/2 as u + v, u rounded, for x from -100 to 710.
func (f *function) expm1Parts(x *value) (u, v *value) {
	e := f.exponent(x)
	q, ql := f.less1(e)
	s := f.powerOf(e.bits, -1)
	t := f.sub(s, k(.5))
	tl := f.sub(f.sub(s, t), k(.5)) // of large s; of small ones it is 0 or does not count
	u, v = f.twoSum(t, f.mul(s, q))
	return u, f.fma(s, ql, f.add(v, tl))
}

// quarterExp is exp(x)/4 as g + gl, and 1/(16 g) as w + wl, for x from 0 to 710.6.
func (f *function) quarterExp(x *value) (g, gl, v, vl *value) {
	e := f.exponent(x)
	q, ql := f.less1(e)
	s := f.powerOf(e.bits, -2)
	a, b := f.twoSum(k(1), q)
	g, gl = f.mul(s, a), f.mul(s, f.add(b, ql))
	v = f.div(k(.0625), g)
	rest := f.fnma(v, gl, f.fnma(v, g, k(.0625)))
	return g, gl, v, f.mul(f.mul(rest, v), k(16))
}

// tiny is x where |x| < least, y elsewhere: it also keeps the sign of zeros.
func (f *function) tiny(x *value, least float64, y *value) *value {
	return f.pick(f.less(f.abs(x), k(least)), x, y)
}

// exp is e to the power x. Beyond the bounds of c the result is 0 or Inf as it is at them.
func (f *function) exp(x *value) *value {
	c := f.lesser(k(1000), x)
	c = f.pick(f.less(c, k(-1000)), k(-1000), c)
	e := f.exponent(c)
	low := f.add(f.sub(k(1), e.one), e.r)
	return f.scale(f.add(e.one, f.add(low, e.t)), e.n)
}

var expFunctions = []*function{
	define("exp", "is e to the power x.", (*function).exp),
	define("expm1", "is e to the power x, less 1.", func(f *function, x *value) *value {
		c := f.lesser(k(710), x)
		c = f.pick(f.less(c, k(-60)), k(-60), c)
		u, v := f.expm1Parts(c)
		y := f.add(u, v)
		return f.tiny(x, 0x1p-54, f.add(y, y))
	}),
	define("tanh", "is the hyperbolic tangent of x.", func(f *function, x *value) *value {
		a := f.abs(x) // tanh(a) = E/(E + 2), E = expm1(2a); here E/2 = u + v
		u, v := f.expm1Parts(f.lesser(k(60), f.add(a, a)))
		u, v = f.fastTwoSum(u, v)
		d, dl := f.twoSum(k(1), u)
		dl = f.add(dl, v)
		inv := f.div(k(1), d)
		q := f.mul(u, inv)
		rest := f.add(f.fnma(q, d, u), f.fnma(q, dl, v))
		y := f.fma(rest, inv, q)
		return f.tiny(x, 0x1p-28, f.or(y, f.signOf(x)))
	}),
	define("sinh", "is the hyperbolic sine of x.", func(f *function, x *value) *value {
		a := f.abs(x)
		g, gl, v, vl := f.quarterExp(f.lesser(k(710.6), a))
		h, hl := f.twoSum(g, f.xor(v, k(math.Copysign(0, -1))))
		far := f.add(h, f.add(hl, f.sub(gl, vl)))
		far = f.add(far, far)
		// Below 1, where that would cancel: x + x^3 P(x^2), the sum of x^(2k+3)/(2k+3)!
		p := series(func(k int64) *big.Rat { return over(1, factorial(2*k+3)) }).polynomial(7, 0, 1)
		z := f.mul(a, a)
		near := f.fma(f.mul(z, a), f.polynomial(z, p), a)
		return f.or(f.pick(f.less(a, k(1)), near, far), f.signOf(x))
	}),
	define("cosh", "is the hyperbolic cosine of x.", func(f *function, x *value) *value {
		g, gl, v, vl := f.quarterExp(f.lesser(k(710.6), f.abs(x)))
		h, hl := f.twoSum(g, v)
		y := f.add(h, f.add(hl, f.add(gl, vl)))
		return f.add(y, y)
	}),
	define("sigmoid", "is 1 / (1 + exp(-x)), the logistic function.", func(f *function, x *value) *value {
		// 1/(1 + E) or, below 0, E/(1 + E) with E = exp(-|x|) as a sum of two numbers
		c := f.or(x, k(math.Copysign(0, -1)))
		c = f.pick(f.less(c, k(-1000)), k(-1000), c)
		e := f.exponent(c)
		m, ml := f.fastTwoSum(e.one, f.add(f.add(f.sub(k(1), e.one), e.r), e.t))
		g, gl := f.scale(m, e.n), f.scale(ml, e.n)
		d, dl := f.fastTwoSum(k(1), g)
		dl = f.add(dl, gl)
		below := f.less(x, k(0))
		top, topl := f.pick(below, g, k(1)), f.pick(below, gl, k(0))
		inv := f.div(k(1), d)
		y := f.mul(top, inv)
		return f.fma(f.add(f.fnma(y, d, top), f.fnma(y, dl, topl)), inv, y)
	}),
}
