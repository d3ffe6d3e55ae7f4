package main

// This file defines the logarithms.
//
// x = 2^e m, sqrt(1/2) <= m < sqrt(2), and with f = m - 1, s = f/(2+f): log(m) = 2 artanh(s) = 2s +
// s^3 (2/3 + 2/5 s^2 + ..), as in fdlibm's e_log.c. Here what is rounded off s is kept, too, by
// fused products, so that the logarithm is a sum of two numbers until the last rounding.

import (
	"math"
	"math/big"
)

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
