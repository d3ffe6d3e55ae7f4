package main

// This file defines the functions of float32: in float64 arithmetic, which has 29 bits to spare, so
// that short polynomials and single roundings on the way leave little but the last rounding, to
// float32. Their arguments are float32 kept as float64: none is subnormal, none beyond 2^128. What
// holds at the ends is what the functions of float64 have there.

import (
	"math"
	"math/big"
)

// scaled is the coefficients c times x.
func scaled(c []float64, x float64) []float64 {
	out := make([]float64, len(c))
	for i, v := range c {
		out[i] = v * x
	}
	return out
}

// between brings x into lo..hi; nan stays.
func (f *function) between(x *value, lo, hi float64) *value {
	return f.greater(k(lo), f.lesser(k(hi), x))
}

// shortExponent is exp(x) = s (1 + q) for |x| < 700: s is a power of two and q accurate to 2^-38.
func (f *function) shortExponent(x *value) (s, q *value) {
	l, _ := ln2().Float64()
	n, bits := f.integral(x, k(1/l))
	return f.powerOf(bits, 0), f.shortLess1(f.fnma(n, k(l), x))
}

// shortLess1 is exp(r) - 1 for |r| <= log(2)/2, the sum of r^(k+1)/(k+1)!
func (f *function) shortLess1(r *value) *value {
	p := series(func(k int64) *big.Rat { return over(1, factorial(k+1)) }).polynomial(7, -0.3467, 0.3467)
	return f.mul(r, f.polynomial(r, p))
}

// shortLess is exp(x) - 1 for x from -60 to 700.
func (f *function) shortLess(x *value) *value {
	s, q := f.shortExponent(x)
	return f.fma(s, q, f.sub(s, k(1)))
}

// shortLog is log(x)/unit for positive normal x = 2^e m: (e log(2) + log(c) + log(m/c))/unit with c
// near m from a table, |m/c - 1| <= 1/32. At 1, c is 1, so that nothing cancels there. It is
// accurate to 2^-38 by a polynomial of degree 5.
func (f *function) shortLog(x *value, unit *big.Float, degree int) *value {
	const bias = 1023 << 52
	bits := f.bitsOf(x)
	place := f.plus(bits, w(bias-math.Float64bits(shortFrom)))
	exp := f.shiftRight(place, 52) // e + 1023
	bin := f.shiftRight(place, 48)
	m := f.numberOf(f.plus(f.minus(bits, f.shiftLeft(exp, 52)), w(bias)))
	e := f.sub(f.numberOf(f.or(exp, w(0x4330000000000000))), k(0x1p52+1023))
	u, _ := inverse(unit).Float64()
	d := f.fms(m, f.bin(shortInverses, bin), k(1))
	near := f.bin(shortLogs, bin)
	if u != 1 {
		near = f.mul(near, k(u))
	}
	step, _ := new(big.Float).Quo(ln2(), unit).Float64()
	far := f.fma(e, k(step), near)
	if step == 1 {
		far = f.add(e, near)
	}
	// log(1 + d)/d, the sum of (-1)^k/(k+1) d^k
	p := scaled(series(func(k int64) *big.Rat { return over(1-2*(k&1), big.NewInt(k+1)) }).polynomial(degree, -.024, .0313), u)
	return f.fma(d, f.polynomial(d, p), far)
}

// shortBins is how many c there are, shortFrom the least m. Bins are 1/32 wide below 1 and 1/16
// above, and 1 is a third into its own.
const (
	shortBins = 16
	shortFrom = 1 - 1./64 - 9./32
)

var shortInverses, shortLogs = func() (inverse, log *table) {
	inverse = &table{name: "logBins32Inverse", doc: "is 1/c for the bins of significands of the logarithms of float32."}
	log = &table{name: "logBins32", doc: "is log(c) for these bins."}
	edge := func(j int) float64 { return math.Float64frombits(math.Float64bits(shortFrom) + uint64(j)<<48) }
	for j := range shortBins {
		c := (edge(j) + edge(j+1)) / 2
		if edge(j) < 1 && 1 < edge(j+1) {
			c = 1
		}
		inverse.words = append(inverse.words, math.Float64bits(1/c))
		log.words = append(log.words, math.Float64bits(toFloat(logOfInverse(1/c))))
	}
	return inverse, log
}()

// shortRadians is x = n pi/2 + r; quadrant has n modulo 4 in its low bits.
func (f *function) shortRadians(x *value) (quadrant, r *value) {
	half := pi()
	half.Quo(half, big.NewFloat(2))
	p := parts(half, 53, 53, 53)
	inv, _ := inverse(half).Float64()
	n, quadrant := f.integral(x, k(inv))
	r = f.fnma(n, k(p[1]), f.fnma(n, k(p[0]), x))
	far := f.less(k(nearRadians), f.abs(x))
	out := f.whenAll(far, []*value{quadrant, r}, func() []*value {
		q, h, _ := f.farRadians(f.pick(far, x, k(2*nearRadians)), p)
		return []*value{q, f.pick(f.less(f.abs(x), k(inf)), h, nan)}
	})
	return out[0], out[1]
}

// shortCircle is sin(r) and cos(r) for |r| <= pi/4.
func (f *function) shortCircle(r *value) (s, c *value) {
	sign := func(k int64) int64 { return 1 - 2*(k&1) }
	ps := series(func(k int64) *big.Rat { return over(sign(k), factorial(2*k+1)) }).polynomial(4, 0, .62)
	pc := series(func(k int64) *big.Rat { return over(sign(k), factorial(2*k)) }).polynomial(5, 0, .62)
	z := f.mul(r, r)
	return f.mul(r, f.polynomial(z, ps)), f.polynomial(z, pc)
}

// shortCircular is sin(x + turns pi/2).
func (f *function) shortCircular(x *value, turns uint64) *value {
	quadrant, r := f.shortRadians(x)
	if turns > 0 {
		quadrant = f.plus(quadrant, w(turns))
	}
	s, c := f.shortCircle(r)
	y := f.pick(f.negative(f.shiftLeft(quadrant, 63)), c, s)
	return f.xor(y, f.numberOf(f.shiftLeft(f.and(quadrant, w(2)), 62)))
}

// shortArc is asin of |x|, or where big holds, of sqrt((1 - |x|)/2): nan where |x| > 1.
func (f *function) shortArc(x *value) (t, big *value) {
	a := f.abs(x)
	big = f.less(k(.5), a)
	z := f.pick(big, f.mul(f.sub(k(1), a), k(.5)), f.mul(x, x))
	s := f.pick(big, f.sqrt(z), a)
	return f.fma(f.mul(s, z), f.polynomial(z, arcsine.polynomial(7, 0, .25)), s), big
}

// shortAtan is atan(t) for |t| <= 1/2, the sum of (-1)^k/(2k+1) t^(2k+1).
func (f *function) shortAtan(t *value) *value {
	p := series(func(k int64) *big.Rat { return over(1-2*(k&1), big.NewInt(2*k+1)) }).polynomial(8, 0, .25)
	return f.mul(t, f.polynomial(f.mul(t, t), p))
}

// functions32 are those of one float32, in the order of their links.
var functions32 = []*function{
	define("exp32", "is e to the power x, a float32, before the last rounding.", func(f *function, x *value) *value {
		s, q := f.shortExponent(f.between(x, -150, 130))
		return f.fma(s, q, s)
	}),
	define("expm132", "is e to the power x, a float32, less 1, before the last rounding.", func(f *function, x *value) *value {
		return f.or(f.shortLess(f.between(x, -60, 130)), f.signOf(x))
	}),
	define("tanh32", "is the hyperbolic tangent of x, a float32, before the last rounding.", func(f *function, x *value) *value {
		a := f.abs(x)
		e := f.shortLess(f.lesser(k(60), f.add(a, a)))
		return f.or(f.div(e, f.add(e, k(2))), f.signOf(x))
	}),
	define("sinh32", "is the hyperbolic sine of x, a float32, before the last rounding.", func(f *function, x *value) *value {
		e := f.shortLess(f.lesser(k(130), f.abs(x)))
		y := f.mul(k(.5), f.add(e, f.div(e, f.add(e, k(1)))))
		return f.or(y, f.signOf(x))
	}),
	define("cosh32", "is the hyperbolic cosine of x, a float32, before the last rounding.", func(f *function, x *value) *value {
		s, q := f.shortExponent(f.lesser(k(130), f.abs(x)))
		e := f.fma(s, q, s)
		return f.mul(k(.5), f.add(e, f.div(k(1), e)))
	}),
	define("sigmoid32", "is 1 / (1 + exp(-x)), x a float32, before the last rounding.", func(f *function, x *value) *value {
		s, q := f.shortExponent(f.between(x, -150, 130))
		e := f.fma(s, q, s)
		return f.div(e, f.add(e, k(1)))
	}),
	define("log32", "is the natural logarithm of x, a float32, before the last rounding.", func(f *function, x *value) *value {
		return f.logDomain(x, x, f.shortLog(x, bigFloat(1), 5))
	}),
	define("log232", "is the logarithm of x, a float32, to base 2, before the last rounding.", func(f *function, x *value) *value {
		return f.logDomain(x, x, f.shortLog(x, ln2(), 5))
	}),
	define("log1032", "is the logarithm of x, a float32, to base 10, before the last rounding.", func(f *function, x *value) *value {
		return f.logDomain(x, x, f.shortLog(x, ln10(), 5))
	}),
	define("log1p32", "is the natural logarithm of 1 + x, x a float32, before the last rounding.", func(f *function, x *value) *value {
		u := f.add(k(1), x)
		lost := f.sub(x, f.sub(u, k(1))) // counts where u is near 1
		y := f.add(f.shortLog(u, bigFloat(1), 5), lost)
		return f.or(f.logDomain(x, u, y), f.signOf(x))
	}),
	define("sin32", "is the sine of x radians, a float32, before the last rounding.", func(f *function, x *value) *value {
		return f.shortCircular(x, 0)
	}),
	define("cos32", "is the cosine of x radians, a float32, before the last rounding.", func(f *function, x *value) *value {
		return f.shortCircular(x, 1)
	}),
	define("tan32", "is the tangent of x radians, a float32, before the last rounding.", func(f *function, x *value) *value {
		quadrant, r := f.shortRadians(x)
		s, c := f.shortCircle(r)
		odd := f.negative(f.shiftLeft(quadrant, 63))
		y := f.div(f.pick(odd, c, s), f.pick(odd, s, c))
		return f.xor(y, f.numberOf(f.shiftLeft(quadrant, 63))) // -1/tan in odd quadrants
	}),
	define("asin32", "is the angle whose sine is x, a float32, before the last rounding.", func(f *function, x *value) *value {
		t, big := f.shortArc(x)
		y := f.fma(f.pick(big, k(-2), k(1)), t, f.pick(big, k(halfPi()[0]), k(0)))
		return f.or(y, f.signOf(x))
	}),
	define("acos32", "is the angle whose cosine is x, a float32, before the last rounding.", func(f *function, x *value) *value {
		t, big := f.shortArc(x)
		// pi/2 - asin(x); of large |x| it is 2 asin(sqrt((1-x)/2)), and pi less that of -x
		below := f.less(x, k(0))
		units := f.pick(big, f.pick(below, k(2), k(0)), k(1))
		factor := f.pick(big, f.pick(below, k(-2), k(2)), f.pick(below, k(1), k(-1)))
		return f.fma(factor, t, f.mul(units, k(halfPi()[0])))
	}),
	define("atan32", "is the angle whose tangent is x, a float32, before the last rounding.", func(f *function, x *value) *value {
		a := f.lesser(k(0x1p60), f.abs(x)) // beyond, the result is the same
		// atan(a) = atan(c) + atan((a - c)/(1 + a c)) for c of 0, 1 or infinity, here -u/v
		middle, far := f.less(k(.5), a), f.less(k(2.5), a)
		u := f.pick(far, k(0), k(1))
		v := f.pick(middle, k(1), k(0))
		t := f.shortAtan(f.div(f.fms(u, a, v), f.fma(v, a, u)))
		units := f.pick(far, k(1), f.pick(middle, k(.5), k(0)))
		return f.or(f.fma(units, k(halfPi()[0]), t), f.signOf(x))
	}),
	define("cbrt32", "is the cube root of x, a float32, before the last rounding.", func(f *function, x *value) *value {
		// The bits of a number are nearly its logarithm, so a third of them, taken off a constant,
		// is a guess r of x^(-1/3). With 1 - g = |x| r^3 the root is r (1 - g)^(-1/3): two steps,
		// by four terms of the series and by three.
		const guess = 0x553ef0ff289dd796 // of least g
		a := f.abs(x)
		top := f.numberOf(f.or(f.shiftRight(f.bitsOf(a), 12), w(0x4330000000000000))) // 2^52 + what is above 12 bits
		third := f.fma(top, k(-1./3), k(0x1p52*4/3+guess>>12))
		r := f.numberOf(f.shiftLeft(f.bitsOf(third), 12))
		left := func() *value { return f.fnma(f.mul(a, r), f.mul(r, r), k(1)) }
		g := left()
		r = f.fma(f.mul(r, g), f.horner(g, []float64{1. / 3, 2. / 9, 14. / 81}), r)
		g = left()
		r = f.fma(f.mul(r, g), f.horner(g, []float64{1. / 3, 2. / 9}), r)
		return f.pick(f.less(a, k(inf)), f.mul(f.mul(x, r), r), x)
	}),
}

// functions232 are those of two.
var functions232 = []*function{
	define2("pow32", "is x to the power y, float32 both, before the last rounding.", func(f *function, x, y *value) *value {
		return f.powers(x, y, false, func(a, _ *value) *value {
			p := f.between(f.mul(y, f.shortLog(a, ln2(), 6)), -200, 200)
			n, bits := f.integral(p, k(1))
			l, _ := ln2().Float64()
			s := f.powerOf(bits, 0)
			return f.fma(s, f.shortLess1(f.mul(f.sub(p, n), k(l))), s)
		})
	}),
	define2("atan232", "is the angle of the point (y, x), float32 both, before the last rounding.", func(f *function, v, u *value) *value {
		quarter, _ := new(big.Float).Mul(pi(), big.NewFloat(.25)).Float64()
		a, b := f.abs(v), f.abs(u)
		steep := f.less(b, a)
		num, den := f.lesser(a, b), f.pick(steep, a, b)
		far := f.equal(den, k(inf))
		num = f.pick(far, f.pick(f.equal(num, k(inf)), k(1), k(0)), num)
		den = f.pick(far, k(1), den)
		den = f.pick(f.equal(den, k(0)), k(1), den)
		// n/d, or with atan(c) = pi/4 + atan((c - 1)/(c + 1)) where that is above 1/2
		middle := f.less(f.mul(den, k(.5)), num)
		t := f.shortAtan(f.div(f.pick(middle, f.sub(num, den), num), f.pick(middle, f.add(den, num), den)))
		// base pi/4 + sign atan(t)
		base := f.pick(middle, k(1), k(0))
		base = f.pick(steep, f.sub(k(2), base), base)
		base = f.pick(f.negative(f.bitsOf(u)), f.sub(k(4), base), base)
		t = f.xor(t, f.xor(f.pick(steep, k(math.Copysign(0, -1)), k(0)), f.signOf(u)))
		z := f.or(f.fma(base, k(quarter), t), f.signOf(v))
		return f.pick(f.equal(u, u), f.pick(f.equal(v, v), z, v), u)
	}),
}
