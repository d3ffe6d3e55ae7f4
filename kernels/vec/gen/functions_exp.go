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

// exp is e to the power x. Above 1000 the result is Inf, that of 1000. Below -746 the result 0 is
// selected: an underflow to 0 costs a processor some hundred cycles.
func (f *function) exp(x *value) *value {
	far := f.less(x, k(-746))
	e := f.exponent(f.pick(far, k(0), f.lesser(k(1000), x)))
	low := f.add(f.sub(k(1), e.one), e.r)
	return f.pick(far, k(0), f.scale(f.add(e.one, f.add(low, e.t)), e.n))
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

// Logarithms: x = 2^e m, sqrt(1/2) <= m < sqrt(2), and with f = m - 1, s = f/(2+f): log(m) = 2
// artanh(s) = 2s + s^3 (2/3 + 2/5 s^2 + ..), as in fdlibm's e_log.c. Here what is rounded off s is
// kept, too, by fused products, so that the logarithm is a sum of two numbers until the last rounding.

// significand is x = 2^e m for positive finite x.
func (f *function) significand(x *value) (e, m *value) {
	small := f.less(x, k(0x1p-1022))
	bits := f.bitsOf(f.pick(small, f.mul(x, k(0x1p54)), x))
	const bias = 1023 << 52
	exp := f.shiftRight(f.plus(bits, w(bias-math.Float64bits(math.Sqrt(.5)))), 52) // e + 1023
	m = f.numberOf(f.plus(f.minus(bits, f.shiftLeft(exp, 52)), w(bias)))
	number := f.numberOf(f.or(exp, w(0x4330000000000000))) // 2^52 + e + 1023
	return f.sub(number, f.pick(small, k(0x1p52+1023+54), k(0x1p52+1023))), m
}

// logarithm is log(1 + d) = hi + lo for sqrt(1/2) <= 1 + d < sqrt(2). |lo| is below |hi|/90, so
// what it is off by counts little.
func (f *function) logarithm(d *value) (hi, lo *value) {
	sum := f.add(k(2), d)
	lost := f.sub(d, f.sub(sum, k(2))) // 2 + d = sum + lost
	s := f.div(d, sum)
	rest := f.fnma(s, lost, f.fnma(s, sum, d)) // d - s (2 + d), the second product exactly
	z := f.mul(s, s)
	// (2 artanh(s)/s - 2)/s^2, the sum of 2/(2k+3) z^k; |s| <= 0.1716
	p := series(func(k int64) *big.Rat { return over(2, big.NewInt(2*k+3)) }).polynomial(7, 0, .02945)
	missing := f.mul(rest, f.sub(k(1), s)) // 2 rest/(2 + d), for 1 - s = 2/(2 + d)
	return f.add(s, s), f.fma(f.mul(s, z), f.polynomial(z, p), missing)
}

// logOf is a logarithm of x, whose exponent and significand's logarithm sum makes into one number.
func (f *function) logOf(x *value, sum func(e, hi, lo *value) *value) *value {
	e, m := f.significand(x)
	hi, lo := f.logarithm(f.sub(m, k(1)))
	return f.logDomain(x, x, sum(e, hi, lo))
}

// logDomain puts in the logarithm's values at the ends of its domain; u is what x is the logarithm of.
func (f *function) logDomain(x, u, y *value) *value {
	y = f.pick(f.less(u, k(math.Inf(1))), y, x)
	y = f.pick(f.less(u, k(0)), nan, y)
	return f.pick(f.equal(u, k(0)), k(math.Inf(-1)), y)
}

// natural is e log(2) + hi + lo + more.
func (f *function) natural(e, hi, lo *value) *value {
	l := parts(ln2(), 42, 53)
	s, t := f.fastTwoSum(f.mul(e, k(l[0])), hi)
	return f.add(s, f.add(t, f.fma(e, k(l[1]), lo)))
}

// inBase is (hi + lo)/log(base), times e of which is unit + unitLow.
func (f *function) inBase(e, hi, lo *value, base *big.Float, unit, unitLow float64) *value {
	inv := parts(inverse(base), 53, 53)
	p := f.mul(hi, k(inv[0]))
	pl := f.fma(hi, k(inv[1]), f.fma(lo, k(inv[0]), f.fms(hi, k(inv[0]), p)))
	if unit != 1 {
		pl = f.fma(e, k(unitLow), pl)
		e = f.mul(e, k(unit))
	}
	s, t := f.fastTwoSum(e, p)
	return f.add(s, f.add(t, pl))
}

var logFunctions = []*function{
	define("log", "is the natural logarithm of x.", func(f *function, x *value) *value {
		return f.logOf(x, f.natural)
	}),
	define("log2", "is the logarithm of x to base 2.", func(f *function, x *value) *value {
		return f.logOf(x, func(e, hi, lo *value) *value { return f.inBase(e, hi, lo, ln2(), 1, 0) })
	}),
	define("log10", "is the logarithm of x to base 10.", func(f *function, x *value) *value {
		two := ln2()
		two.Quo(two, ln10())
		l := parts(two, 42, 53)
		return f.logOf(x, func(e, hi, lo *value) *value { return f.inBase(e, hi, lo, ln10(), l[0], l[1]) })
	}),
	define("log1p", "is the natural logarithm of 1 + x.", func(f *function, x *value) *value {
		u, c := f.twoSum(k(1), x)
		e, m := f.significand(u)
		near := f.equal(e, k(0)) // then 1 + x is not rounded at all
		hi, lo := f.logarithm(f.pick(near, x, f.sub(m, k(1))))
		lo = f.add(lo, f.pick(near, k(0), f.div(c, u)))
		y := f.logDomain(x, u, f.natural(e, hi, lo))
		return f.pick(f.equal(x, k(0)), x, y)
	}),
}
